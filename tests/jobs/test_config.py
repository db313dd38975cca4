"""Runs as TOML files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sidelight.jobs.config import RunConfig

text = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | text
mappings = st.dictionaries(text, scalars | st.lists(scalars), max_size=4)


@given(job=st.sampled_from(["relations", "bags"]), roles=mappings, options=mappings, seed=st.integers(0, 2**31))
def test_write_then_read_is_identity(tmp_path_factory, job, roles, options, seed):
    config = RunConfig(job, "table.csv", roles, options, seed)
    path = tmp_path_factory.mktemp("run") / "run.toml"
    path.write_text(config.to_toml(), encoding="utf-8")
    assert RunConfig.from_toml(path) == config
