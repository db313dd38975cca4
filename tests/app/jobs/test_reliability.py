"""What pages say of rows that are called sure: from held-out lists, or that nobody knows."""

from __future__ import annotations

import numpy as np

import sidelight as sl
from sidelight.app.jobs.reliability import (
    about_pairs,
    about_taken,
    most_taken,
    nearly_together,
    reliability_section,
    sure_and_right,
)

KNOWN = {
    "temperature": 1.5,
    "temperature_in_fit": 2.0,
    "forgotten": 0.12,
    "right": 0.67,
    "n_bags": 30,
    "n_rows": 120,
    "note": "",
    "reliability": {
        "said": np.array([0.35, 0.75, 0.95]), "right": np.array([0.3, 0.8, 0.88]), "rows": np.array([30, 40, 50]),
    },
}  # fmt: skip


def test_what_is_called_sure_is_told_with_how_right_it_is():
    told = " ".join(sure_and_right(KNOWN))
    assert "Of 50 rows" in told
    assert "about 88% are right" in told
    assert "About 67% of new rows" in told
    assert "forget about 12%" in told
    (section,) = reliability_section(KNOWN)
    assert "Of 50 rows that were called 95% sure, about 88% are right." in section.sentences[0]


def test_where_nothing_was_held_out_it_is_said():
    nothing = {**KNOWN, "n_rows": 0, "note": "with fewer than 20 labelled bags (12 here) nothing can be held out"}
    nothing["reliability"] = {name: np.zeros(0) for name in KNOWN["reliability"]}
    (told,) = sure_and_right(nothing)
    assert "fit's own opinion" in told
    assert "12 here" in told
    assert reliability_section(nothing) == []
    assert sure_and_right(None) == reliability_section(None) == []


def test_few_sure_rows_and_a_share_that_nobody_knows_are_left_out():
    few = {**KNOWN, "right": float("nan"), "forgotten": 0.0}
    few["reliability"] = {**KNOWN["reliability"], "rows": np.array([30, 40, 5])}
    (told,) = sure_and_right(few)
    assert told.startswith("Hardly any row")


def test_labels_that_nearly_always_come_together_are_named():
    lists = {b: {"sea", "boat"} if b < 9 else {"sea"} if b == 9 else {"cow"} for b in range(20)}
    bags = sl.Bags(np.arange(20), labels=lists)
    assert nearly_together(bags) == [("boat", "sea")]
    assert "'boat' and 'sea'" in about_pairs(nearly_together(bags))
    always = sl.Bags(np.arange(20), labels={b: {"sea", "boat"} if b < 9 else {"cow"} for b in range(20)})
    assert nearly_together(always) == []  # those are told before the fit
    assert about_pairs([]) is None


def test_how_much_novel_clusters_take_is_told():
    taken = most_taken(["cow", "sheep", "dog"], [0.04, 0.31, float("nan")])
    assert taken == [("sheep", 0.31)]
    well = {**KNOWN, "novel": {"gain": 20.0, "is_harmful": False}}
    assert "take 31% of 'sheep'" in about_taken(taken, well)
    assert "next to nothing" in about_taken([], well)
    badly = {**KNOWN, "novel": {"gain": -40.0, "is_harmful": True}}
    assert "worse than none, by 40 nats" in about_taken(taken, badly)
    assert about_taken(taken, KNOWN) is None
