"""Columns of all kinds: their names come back in the results, and no number in them breaks a run."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from tests.examples import but_slow


def test_kept_columns_and_dropped_rows_join_to_the_file(sidelight, tmp_path):
    rows = [["a", "b", "when"], *([i, i % 2 * 9, f"t{i}"] for i in range(1, 21))]
    rows[3][0] = ""
    with (tmp_path / "t.csv").open("w", newline="") as handle:
        csv.writer(handle).writerows(rows)
    words = ("--missing", "drop", "--id", "none", "--keep", "when", "--keep", "b", "--label", "none", "--show", "none")
    code, out, err = sidelight("relations", "t.csv", "-k", 2, "--out", "results", *words)
    assert code == 0, err
    assert "1 of 20 rows has a gap in 'a', in line 4: left out." in out
    with (tmp_path / "results" / "assignments.csv").open() as handle:
        found = list(csv.DictReader(handle))
    assert [row["row"] for row in found] == [str(i) for i in range(1, 21) if i != 3]
    assert all(row["when"] == f"t{row['row']}" for row in found)


def test_a_column_called_like_ours_is_told_apart(sidelight, tmp_path):
    (tmp_path / "t.csv").write_text("cluster,a,b\n" + "".join(f"n{i},{i % 2 * 9},{i}\n" for i in range(20)))
    code, _, err = sidelight("relations", "t.csv", "-k", 2, "--id", "cluster", "--out", "results")
    assert code == 0, err
    with (tmp_path / "results" / "assignments.csv").open() as handle:
        assert next(csv.DictReader(handle))["your cluster"] == "n0"


def test_columns_that_look_like_numbers_but_are_not_used_are_named(sidelight, tmp_path):
    cells = [("15 Stk", "1_000", "0x1f", i % 2 * 9, i) for i in range(20)]
    lines = ["rate,size,code,a,b", *(",".join(map(str, row)) for row in cells)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    code, out, err = sidelight("relations", "t.csv", "-k", 2, "--out", "results")
    assert code == 0, err
    for name in ("rate", "size", "code"):
        assert repr(name) in out
        assert f"<td>{name}</td>" in (tmp_path / "results" / "report.html").read_text()


@pytest.mark.parametrize("unit", but_slow([1e155, 1e300], 1e300))
def test_huge_features_are_scaled_safely(sidelight, tmp_path, unit):
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(60, 2)) + np.repeat([0.0, 9.0], 30)[:, None]
    for name, factor in (("plain.csv", 1.0), ("huge.csv", unit)):
        (tmp_path / name).write_text("f1,f2\n" + "".join(f"{a * factor!r},{b}\n" for a, b in rows.tolist()))
        code, _, err = sidelight("relations", name, "-k", 2, "--out", name[:4], "--quiet")
        assert (code, err) == (0, "")
    texts = [(tmp_path / name / "clusters.csv").read_text() for name in ("plai", "huge")]
    tables = [list(csv.DictReader(text.splitlines())) for text in texts]
    known = [sorted((row["rows"], row["stands_out_by"]) for row in table) for table in tables]
    assert known[0] == known[1]


def test_labels_that_would_not_fit_are_refused_with_the_numbers(sidelight, tmp_path):
    rows = "".join(f"b{i // 4},l{i // 4},{i}.5\n" for i in range(400))
    (tmp_path / "bags.csv").write_text("bag,label,f\n" + rows)
    words = ("instances", "bags.csv", "--bag", "bag", "--label", "label", "--out", "out", "--max-memory")
    code, _, err = sidelight(*words, "1MB")
    assert code == 2
    assert "400 rows with a probability for each of 100 labels would take about 2.56 MB" in err


def test_a_file_given_as_a_column_of_labels_is_told_where_it_goes(sidelight, table):
    code, _, err = sidelight("instances", table, "--bag", "photo", "--label", "heard.csv", "--out", "results")
    assert code == 2
    assert "there is no column 'heard.csv'" in err
    assert "A table of labels is given with --label-file heard.csv." in err
