"""Answers as other tools export them: Label Studio, Prodigy, a column a person, words of their own."""

from __future__ import annotations

import json

import pytest

import sidelight as sl
from sidelight.app.jobs.describe import describe
from sidelight.errors import InvalidInput, SidelightWarning
from sidelight.files.answers import read_answers

ROWS = ["p1", "p2", "p3", "p4"]
LONG = """annotation_id,annotator,choice,image_a,image_b,created_at
1,eva,same,p1,p2,2024-01-01
2,tom,different,p1,p3,2024-01-02
3,tom,skip,p2,p3,2024-01-02
4,ann,same,p3,p4,2024-01-02
"""
WIDE = "left,right,anna,ben,carl\np1,p2,1,1,0\np1,p3,0,,0\np2,p3,yes,no,unsicher\np3,p4,0,1,1\n"
PRODIGY = [
    {"left": "p1", "right": "p2", "answer": "accept", "_annotator_id": "eva", "_timestamp": 17},
    {"left": "p1", "right": "p3", "answer": "reject", "_annotator_id": "tom", "_timestamp": 18},
    {"left": "p2", "right": "p3", "answer": "ignore", "_annotator_id": "tom", "_timestamp": 19},
]


def task(left, right, *said):
    """Return a task of Label Studio with what people said."""
    annotations = [
        {
            "id": k,
            "completed_by": {"id": k, "email": who},
            "result": [{"type": "choices", "value": {"choices": [word]}}],
        }
        for k, (who, word) in enumerate(said)
    ]
    return {"data": {"left": left, "right": right}, "annotations": annotations}


STUDIO = [task("p1", "p2", ("eva", "same"), ("tom", "different")), task("p1", "p3", ("tom", "different"))]
TABLES = {
    "long.csv": (LONG, [(0, 1, "same", "eva"), (0, 2, "different", "tom"), (2, 3, "same", "ann")]),
    "prodigy.jsonl": ("\n".join(map(json.dumps, PRODIGY)), [(0, 1, "same", "eva"), (0, 2, "different", "tom")]),
    "studio.json": (
        json.dumps(STUDIO),
        [(0, 1, "same", "eva"), (0, 1, "different", "tom"), (0, 2, "different", "tom")],
    ),
    "wide.csv": (
        WIDE,
        [
            (0, 1, "same", "anna"), (0, 2, "different", "anna"), (1, 2, "same", "anna"), (2, 3, "different", "anna"),
            (0, 1, "same", "ben"), (1, 2, "different", "ben"), (2, 3, "same", "ben"),
            (0, 1, "different", "carl"), (0, 2, "different", "carl"), (2, 3, "same", "carl"),
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_other_tools_are_read_and_described(tmp_path, name):
    text, expected = TABLES[name]
    (tmp_path / name).write_text(text, encoding="utf-8")
    pairs = read_answers(tmp_path / name, sl.Pairs, ROWS)
    assert [(*one.rows, one.answer, one.annotator) for one in pairs.answers] == expected
    told = describe(str(tmp_path / name))
    assert [(fit.job, dict(fit.roles)) for fit in told.fits] == [("relations", {"pairs": str(tmp_path / name)})]


def test_words_are_asked_about_and_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(LONG.replace("skip", "hm") + "5,ann,hm,p1,p4,2024\n")
    with pytest.warns(SidelightWarning, match="2 of 5 answers were left out.*'hm'") as told:
        read_answers(path, sl.Pairs, ROWS)
    assert told[0].message.do[1].value == {"hm": "unsure"}
    assert read_answers(path, sl.Pairs, ROWS, {"HM": "unsure"}).n_answers == 3
    assert read_answers(path, sl.Pairs, ROWS, {"hm": "different"}).n_answers == 5
    with pytest.raises(InvalidInput, match="same, different or unsure"):
        read_answers(path, sl.Pairs, ROWS, {"hm": "so-so"})


def test_a_table_of_matches_is_no_table_of_answers(tmp_path):
    lines = [f"t{i % 7},t{(i + 3) % 7},{i % 2},{i * 1.5},{i % 5}" for i in range(30)]
    (tmp_path / "games.csv").write_text("\n".join(["home,away,won,odds,shots", *lines]))
    assert all(fit.job != "relations" for fit in describe(str(tmp_path / "games.csv")).fits)


def test_what_the_studio_exports_is_described(tmp_path):
    rows = [f"p{k}" for k in range(9)]
    pairs = ["left,right,answer,annotator,seconds", *(f"{rows[k]},{rows[k + 1]},same,eva,1.5" for k in range(8))]
    odd = [
        "a,b,c,odd,annotator,seconds",
        *(f"{rows[k]},{rows[k + 1]},{rows[k + 2]},{'abc'[k % 3]},eva,1" for k in range(7)),
    ]
    for word, lines in (("pairs", pairs), ("triplets", odd)):
        path = tmp_path / word / "answers.csv"
        path.parent.mkdir()
        path.write_text("\n".join(lines))
        assert [dict(fit.roles) for fit in describe(str(path)).fits] == [{word: str(path)}]
