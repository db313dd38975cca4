"""The bags job: clusters of bags whose labels nobody knows, by one of several methods.

A method is a module here with ``cluster(data, config) -> Result``, its options in
``jobs/options/bags.py`` and its page in ``report/pages``.
"""

from __future__ import annotations

from importlib import import_module

from sidelight.jobs.config import RunConfig
from sidelight.jobs.reading import check_bags, check_rows, read_data
from sidelight.results import Result


def work(config: RunConfig) -> Result:
    """Read the table, and let the method have its rows and bags."""
    data = read_data(config.table, config.roles)
    check_bags(data, config.table)
    check_rows(data, config.table)
    method = config.options.settings()["method"].replace("-", "_")
    result: Result = import_module(f"sidelight.jobs.bags.{method}").cluster(data, config)
    return result
