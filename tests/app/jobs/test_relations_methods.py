"""Every method of the relations job runs from a table and a file of answers to a page."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.jobs.catalogue import find_job
from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.describe import describe
from sidelight.app.jobs.page import page_of
from sidelight.app.jobs.predict import predict
from sidelight.app.jobs.relations import Peers
from sidelight.app.jobs.relations.work import work
from sidelight.app.jobs.roles import Roles
from sidelight.app.jobs.run import run
from sidelight.errors import ConflictingAnswers, InvalidParameter, UnknownName


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
    assert len(result.page().sentences) >= 2
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
        assert "as if 20% of them were wrong" in " ".join(map(str, result.page().sentences))  # too few to find out
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


def test_describe_and_the_error_name_the_column_that_answers_call_rows_by(files):
    folder, _ = files
    (folder / "rows.csv").write_text((folder / "rows.csv").read_text().replace("id,", "photo,", 1))
    described = describe(str(folder / "rows.csv"), Roles(id=False))
    assert described.facts["answers beside it"] == {"pairs.csv": "30 answers about pairs"}
    assert described.fits[0].roles["id"] == "photo"
    options = {"n_clusters": 3, "pairs": str(folder / "pairs.csv")}
    with pytest.raises(UnknownName, match="The column 'photo' has such names: name the rows by it, id='photo'"):
        work(RunConfig("relations", str(folder / "rows.csv"), {"id": False}, options, 0))


def test_describe_says_what_a_file_of_answers_is_for(files):
    folder, _ = files
    fits = describe(str(folder / "pairs.csv")).fits
    assert [(fit.job, fit.table, dict(fit.roles)) for fit in fits] == [
        ("relations", "TABLE", {"pairs": str(folder / "pairs.csv")})
    ]


def test_rows_that_answers_moved_are_told_on_the_page_and_by_predict(tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    X = 1.5 * np.eye(2)[y] + rng.normal(size=(80, 2))  # classes overlap, so answers place rows that no boundary could
    lines = [f"r{i},{x[0]},{x[1]}" for i, x in enumerate(X)]
    (tmp_path / "rows.csv").write_text("\n".join(["id,a,b", *lines]))
    pairs = sl.Pairs.sample(y, 200, random_state=0)
    answers = [f"r{a.rows[0]},r{a.rows[1]},{a.answer}" for a in pairs.answers]
    (tmp_path / "pairs.csv").write_text("\n".join(["a,b,answer", *answers]))
    options = {"n_clusters": 2, "pairs": str(tmp_path / "pairs.csv"), "n_init": 1}
    done = run(RunConfig("relations", str(tmp_path / "rows.csv"), {"id": "id"}, options, 0), tmp_path / "run")
    result = done.result
    columns = result.assignments
    moved = sum(a != b for a, b in zip(columns["cluster"], columns["by features alone"]))
    assert result.n_moved == moved > 0
    shown = page_of(result)
    assert any(f"The answers put {moved} rows" in str(sentence) for sentence in shown.sure)
    assert any("column 'answer' of check.csv" in str(sentence) for sentence in shown.next)
    placed = predict(str(tmp_path / "run"), str(tmp_path / "rows.csv"), tmp_path / "placed.csv", Roles())
    assert any("by their features alone" in sentence for sentence in placed.sentences)
    again = Columns(str(tmp_path / "placed.csv")).cells("cluster")
    assert again == [str(k) for k in columns["by features alone"]]


def test_rows_beyond_doubt_are_not_asked_about(files):
    folder, _ = files
    options = {"n_clusters": 3, "pairs": str(folder / "pairs.csv")}
    result = work(RunConfig("relations", str(folder / "rows.csv"), {"id": "id"}, options, 0))
    doubtful = {name for name, p in zip(result.assignments["id"], result.assignments["probability"]) if p < 0.99}
    asked = set(result.tables["check"]["left"])
    assert len(asked) <= max(5, len(doubtful))


@pytest.mark.parametrize("method", ["discriminative", "pck-means"])
def test_rows_that_somebody_sorted_say_what_pairs_would(files, method):
    folder, y = files
    kinds = np.where(y == 2, 0, y)  # the person sees two kinds of the three
    lines = [f"r{row},{'ab'[kind]}" for row, kind in enumerate(kinds[:30])]
    (folder / "piles.csv").write_text("\n".join(["row,pile", *lines]))
    options = {"n_clusters": 2, "method": method, "placements": str(folder / "piles.csv")}
    config = RunConfig("relations", str(folder / "rows.csv"), {"id": "id"}, options, 0)
    result = work(config)
    assert result.n_pairs > 30
    assert sl.metrics.adjusted_rand_index(kinds, result.map.labels) > 0.9
    (folder / "piles.csv").write_text("row,pile\nx1,a\nx2,b\n")
    with pytest.raises(UnknownName, match="x1"):
        work(config)
