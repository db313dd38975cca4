"""The bags job: clusters of bags whose labels nobody knows, by one of several methods.

A method is a module here with ``cluster(data, config) -> Result``, its options in
``jobs/options/bags.py`` and its page in ``report/pages``.
"""

from __future__ import annotations

from sidelight.jobs.config import RunConfig
from sidelight.jobs.methods import cluster_bags
from sidelight.results import Result


def work(config: RunConfig) -> Result:
    """Read the table, and let the method have its rows and bags."""
    return cluster_bags(config, __name__)
