"""``sidelight cluster``: the relations job without answers, its ways, and what says that it fits."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.run import run


@pytest.fixture
def table(tmp_path):
    generator = np.random.default_rng(0)
    y = np.arange(90) % 3
    rows = generator.normal(size=(90, 4)) + 5.0 * np.eye(4)[y]
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d\n" + "\n".join(",".join(f"{cell:.4f}" for cell in row) for row in rows) + "\n")
    return path


def ran(job, table, out, **options):
    return run(RunConfig(job, str(table), options={"n_clusters": 3, **options}), out)


def test_the_page_says_which_way_won_and_how_the_others_did(table, tmp_path):
    result = ran("cluster", table, tmp_path / "out").result
    assert result.tables["ways"]["way"][0] == result.won
    assert len(result.tables["ways"]["way"]) == 4
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Of 4 ways to cluster" in page
    assert "Ways to cluster" in page


def test_a_way_by_name_is_the_only_one(table, tmp_path):
    result = ran("cluster", table, tmp_path / "out", method="k-means").result
    assert result.won == "k-means"
    assert "ways" not in result.tables


def test_relations_without_answers_is_the_same(table, tmp_path):
    alone = ran("relations", table, tmp_path / "one").result
    assert alone.model.predict(np.zeros((1, 4))).shape == (1,)
    same = ran("cluster", table, tmp_path / "two").result
    assert alone.assignments["cluster"] == same.assignments["cluster"]


def test_folders_of_texts_fall_into_their_kinds_and_are_offered_clusters_first(tmp_path):
    generator = np.random.default_rng(0)
    everywhere = [f"{a}{b}" for a in ("die", "der", "und", "mit") for b in ("", "ser", "sem", "sen")]
    folder = tmp_path / "texte"
    folder.mkdir()
    for number in range(150):
        own = [f"wort{'abcdefghij'[number % 5]}{chr(97 + k)}" for k in generator.integers(0, 26, 12)]
        words = [*own, *generator.choice(everywhere, 40)]
        (folder / f"{number:03d}.txt").write_text(" ".join(generator.permutation(words)))
    assert [fit.job for fit in describe(str(folder)).fits] == ["cluster", "coclusters"]
    result = run(RunConfig("cluster", str(folder)), tmp_path / "out").result
    found = np.array(result.assignments["cluster"])
    assert len(set(found)) == 5
    assert all(len(set(found[kind::5])) == 1 for kind in range(5))


def test_it_is_what_fits_any_table_until_there_are_answers(table, tmp_path):
    assert [fit.job for fit in describe(str(table)).fits] == ["cluster"]
    (tmp_path / "answers.csv").write_text(
        "left,right,answer\n1,2,different\n1,4,same\n2,5,same\n3,6,same\n2,3,different\n"
    )
    described = describe(str(table))
    assert [fit.job for fit in described.fits] == ["relations"]
    assert described.fits[0].roles["pairs"].endswith("answers.csv")
