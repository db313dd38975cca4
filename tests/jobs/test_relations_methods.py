"""Every method of the relations job runs from a table and a file of answers to a page."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import ConflictingAnswers, InvalidParameter, UnknownName
from sidelight.jobs.config import RunConfig
from sidelight.jobs.describe import describe
from sidelight.jobs.options.catalogue import find_job
from sidelight.jobs.options.relations import Peers
from sidelight.jobs.relations import work
from sidelight.report.pages.relations import page


@pytest.fixture
def files(tmp_path):
    y = np.arange(45) % 3
    X = 4 * np.eye(3)[y] + np.random.default_rng(0).normal(size=(45, 3))
    lines = [f"r{i},{','.join(map(str, x))}" for i, x in enumerate(X)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,a,b,c", *lines]))
    pairs = sl.Pairs.sample(y, 30, random_state=0)
    answers = [f"r{a.rows[0]},r{a.rows[1]},{a.answer}" for a in pairs.answers]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,answer", *answers]))
    return tmp_path, y


@pytest.mark.parametrize("method", ["discriminative", *get_args(Peers)])
def test_every_method_clusters_a_table(files, method):
    folder, y = files
    options = {"n_clusters": 3, "method": method, "pairs": str(folder / "pairs.csv")}
    config = RunConfig("relations", str(folder / "rows.csv"), {"id": "id"}, options, 0)
    result = work(config)
    assert result.n_pairs == 30
    assert sl.metrics.adjusted_rand_index(y, result.map.labels) > 0.5
    assert len(page(result).sentences) >= 2
    assert all(0 <= p <= 1 for p in result.assignments["probability"])


@pytest.mark.parametrize("method", ["discriminative", "cop-kmeans"])
def test_contradictions_are_told_with_the_names_of_the_rows(files, method):
    folder, _ = files
    (folder / "pairs.csv").write_text("a,b,answer\nr0,r3,same\nr3,r6,same\nr0,r6,different\n")
    options = {"n_clusters": 3, "method": method, "pairs": str(folder / "pairs.csv")}
    config = RunConfig("relations", str(folder / "rows.csv"), {"id": "id"}, options, 0)
    expected = "r0 and r6 belong together (r0, r3: same; r3, r6: same) and do not (r0, r6: different)"
    if method == "cop-kmeans":
        with pytest.raises(ConflictingAnswers, match=re.escape(expected)):
            work(config)
    else:
        result = work(config)
        heard = result.heard
        assert "as if 20% of them were wrong" in " ".join(map(str, page(result).sentences))  # too few to find out
        assert len(heard) == 1
        assert expected in heard[0]


def test_an_option_of_another_method_is_refused_by_name():
    with pytest.raises(InvalidParameter, match="option of the method 'discriminative'"):
        find_job("relations").options({"n_clusters": 3, "method": "itml", "eps": 0.1})
    with pytest.raises(UnknownName, match="Did you mean 'itml'"):
        find_job("relations").options({"n_clusters": 3, "method": "itlm"})


def test_describe_finds_answers_beside_a_table(files):
    folder, y = files
    (folder / "notes.csv").write_text("a,b\nhello,world\n")
    triplets = sl.Triplets.sample(y, 12, random_state=0)
    lines = [",".join([*(f"r{row}" for row in a.rows), a.answer]) for a in triplets.answers]
    (folder / "odd.csv").write_text("\n".join(lines))
    described = describe(str(folder / "rows.csv"))
    assert described.facts["answers beside it"] == {
        "odd.csv": "12 answers about triplets",
        "pairs.csv": "30 answers about pairs",
    }
    first = described.fits[0]
    assert first.job == "relations"
    assert first.roles["pairs"] == str(folder / "pairs.csv")
    assert first.roles["triplets"] == str(folder / "odd.csv")


def test_describe_finds_nothing_where_names_match_no_row(files):
    folder, _ = files
    (folder / "pairs.csv").write_text("a,b,answer\nx1,x2,same\n")
    assert "answers beside it" not in describe(str(folder / "rows.csv")).facts


def test_the_number_of_clusters_is_chosen_by_held_out_answers():
    y = np.arange(90) % 4
    X = 5 * np.eye(4)[y] + np.random.default_rng(0).normal(size=(90, 4))
    search = sl.DiscriminativeClusteringCV(
        None, estimator=sl.DiscriminativeClustering(n_init=1, eps=0.05), cv=2, random_state=0
    )
    assert search.fit(X, pairs=sl.Pairs.sample(y, 120, random_state=0)).n_clusters_ == 4
    assert max(settings[0] for settings in search.choice_["tried"]) == 12
