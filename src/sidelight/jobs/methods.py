"""A job with several methods: a module for each, named as the option spells it, with ``cluster(data, config)``."""

from __future__ import annotations

from importlib import import_module

from sidelight.jobs.config import RunConfig
from sidelight.jobs.reading import check_bags, check_rows, read_data
from sidelight.results import Result


def cluster_bags(config: RunConfig, package: str) -> Result:
    """Read a table of rows in bags, and let the chosen method of the package have it."""
    data = read_data(config.table, config.roles)
    check_bags(data, config.table)
    check_rows(data, config.table)
    method = config.options.settings()["method"].replace("-", "_")
    result: Result = import_module(f"{package}.{method}").cluster(data, config)
    return result
