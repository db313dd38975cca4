"""Commands that describe suggests, and their order."""

from __future__ import annotations

from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.samples import write_sample
from sidelight.files.source import Source


def test_columns_that_are_only_called_alike_are_not_channels_first(tmp_path):
    """sepal_length and petal_length may be channels; a table of flowers is clustered first."""
    write_sample("iris", str(tmp_path / "iris.csv"))
    jobs = [fit.job for fit in describe(Source(tmp_path / "iris.csv")).fits]
    assert jobs == ["cluster", "sources"]
