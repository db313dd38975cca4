"""Every method of the relations job runs from a table and a file of answers to a page."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter, UnknownName
from sidelight.jobs.config import RunConfig
from sidelight.jobs.options.catalogue import find_job
from sidelight.jobs.options.relations import Peers
from sidelight.jobs.relations import work
from sidelight.report.pages.relations import page


@pytest.fixture
def files(tmp_path):
    y = np.arange(45) % 3
    X = 4 * np.eye(3)[y] + np.random.default_rng(0).normal(size=(45, 3))
    lines = [f"r{i},{','.join(map(str, x))}" for i, x in enumerate(X)]
    (tmp_path / "rows.csv").write_text("\n".join(["name,a,b,c", *lines]))
    pairs = sl.Pairs.sample(y, 30, random_state=0)
    answers = [f"r{a.rows[0]},r{a.rows[1]},{a.answer}" for a in pairs.answers]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,answer", *answers]))
    return tmp_path, y


@pytest.mark.parametrize("method", ["discriminative", *get_args(Peers)])
def test_every_method_clusters_a_table(files, method):
    folder, y = files
    options = {"n_clusters": 3, "method": method, "pairs": str(folder / "pairs.csv")}
    config = RunConfig("relations", str(folder / "rows.csv"), {"id": "name"}, options, 0)
    result = work(config)
    assert result.n_pairs == 30
    assert sl.metrics.adjusted_rand_index(y, result.map.labels) > 0.5
    assert len(page(result).sentences) >= 2
    assert ("probability" in result.assignments) == (method in ("discriminative", "gaussian-mixture"))


def test_an_option_of_another_method_is_refused_by_name():
    with pytest.raises(InvalidParameter, match="option of the method 'discriminative'"):
        find_job("relations").options({"n_clusters": 3, "method": "itml", "eps": 0.1})
    with pytest.raises(UnknownName, match="Did you mean 'itml'"):
        find_job("relations").options({"n_clusters": 3, "method": "itlm"})
