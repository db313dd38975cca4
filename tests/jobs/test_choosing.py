"""The number of clusters without labels: what was put in comes out, and the curve is written."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs

from sidelight.jobs.choosing import strongest
from sidelight.jobs.config import RunConfig
from sidelight.jobs.run import run


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_as_many_as_there_are_blobs(k):
    X, _ = make_blobs(600, n_features=5, centers=k, random_state=k)
    assert strongest(standardised(X), np.random.default_rng(0)).chosen == k


@pytest.mark.parametrize(("load", "k"), [(load_wine, 3), (load_breast_cancer, 2), (load_iris, 2)])
def test_real_rows(load, k):
    """Two of the three species of iris are one cluster: a finding, not a hope."""
    assert strongest(standardised(load().data), np.random.default_rng(0)).chosen == k


@pytest.mark.parametrize("n_rows", [1, 2, 3, 7])
def test_a_few_rows_are_no_trouble(n_rows):
    assert strongest(np.random.default_rng(0).normal(size=(n_rows, 3)), np.random.default_rng(0)).chosen <= 2


def test_a_run_chooses_and_shows_the_curve(tmp_path):
    X, _ = make_blobs(150, n_features=3, centers=3, random_state=1)
    (tmp_path / "t.csv").write_text("a,b,c\n" + "\n".join(",".join(f"{v:.4f}" for v in row) for row in X) + "\n")
    outcome = run(RunConfig("relations", str(tmp_path / "t.csv"), options={"n_clusters": "auto"}), tmp_path / "out")
    assert outcome.result.n_clusters_choice.chosen == 3
    assert outcome.result.numbers()["n_clusters_choice"]["chosen"] == 3
    assert "prediction strength" in (tmp_path / "out" / "report.html").read_text()
    assert (tmp_path / "out" / "stability.csv").read_text().startswith("clusters,strength,standard error\n2,")
