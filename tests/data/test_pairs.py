"""Pairs: reading, what follows, contradictions, agreement, and what is refused."""

from __future__ import annotations

import math
import pickle
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

import sidelight as sl
from sidelight.data.coerce import as_pairs, as_triplets
from sidelight.errors import ConflictingAnswers, InvalidData, InvalidParameter, OutOfRange, UnknownName

TABLE = [(0, 1, "same"), (1, 2, "same"), (2, 3, "different"), (4, 5, "different")]


@pytest.fixture
def pairs() -> sl.Pairs:
    return sl.Pairs.from_table(TABLE, n_rows=7)


def test_every_way_in_gives_the_same_answers(pairs: sl.Pairs) -> None:
    left, right, said = zip(*TABLE)
    frame = pl.DataFrame(TABLE, schema=["x", "y", "said"], orient="row")
    names = [f"row{i}" for i in range(7)]
    assert sl.Pairs(left, right, said, n_rows=7) == pairs
    assert sl.Pairs(np.array(left), pd.Series(right), [s == "same" for s in said], n_rows=7) == pairs
    assert sl.Pairs.from_table(frame, n_rows=7) == pairs
    assert sl.Pairs.from_table(frame.to_pandas()[["said", "y", "x"]], a="x", b="y", answer="said", n_rows=7) == pairs
    assert sl.Pairs.from_table([(f"row{a}", f"row{b}", s) for a, b, s in TABLE], ids=names) == pairs
    assert as_pairs(TABLE, n_rows=7) == pairs


def test_answers_keep_weight_annotator_and_time() -> None:
    frame = pd.DataFrame({"a": [0, 1], "b": [1, 2], "answer": ["same", "different"]})
    frame["annotator"] = ["ann", None]
    frame["weight"] = [2, None]
    frame["time"] = [None, datetime(1970, 1, 1, 0, 1, tzinfo=UTC)]
    pairs = sl.Pairs.from_table(frame, n_rows=3)
    assert pairs.answers[0][:4] == ((0, 1), "same", 2.0, "ann")
    assert math.isnan(pairs.answers[0].time)
    assert pairs.answers[1] == ((1, 2), "different", 1.0, None, 60.0)
    tuples = [(0, 1, "same", 2, "ann", None), (1, 2, "different", 1, None, 60)]
    assert sl.Pairs.from_table(tuples, n_rows=3) == pairs


def test_alike_is_transitive_and_unlike_spreads_over_groups(pairs: sl.Pairs) -> None:
    assert pairs.groups().tolist() == [0, 0, 0, 1, 2, 3, 4]
    assert [pairs.implies(*rows) for rows in [(0, 2), (3, 0), (4, 5), (3, 4)]] == [
        "same",
        "different",
        "different",
        None,
    ]
    implied = [(a.rows, a.answer) for a in pairs.implied().answers]
    assert implied == [((0, 2), "same"), ((0, 3), "different"), ((1, 3), "different")]
    assert pairs.closure().n_answers == 7


def test_a_contradiction_names_the_shortest_chain_behind_it() -> None:
    table = [(0, 1, "same"), (1, 2, "same"), (2, 3, "same"), (0, 2, "same"), (3, 0, "different")]
    pairs = sl.Pairs.from_table(table, n_rows=4)
    (found,) = pairs.contradictions()
    assert found == ((3, 0), (2, 3), (4,))
    with pytest.raises(ConflictingAnswers) as caught:
        pairs.closure()
    assert str(caught.value) == (
        "Rows 3 and 0 must link (answers 2, 3) but cannot link (answer 4). Drop one, for example with pairs.without(4)."
    )
    assert pairs.without(4).contradictions() == ()
    assert pairs.without(found.chain[0]).contradictions() == ()


def test_two_people_who_disagree_about_a_pair_contradict_each_other() -> None:
    pairs = sl.Pairs([0, 1], [1, 0], ["same", "different"], n_rows=2, annotators=["ann", "bob"])
    assert pairs.contradictions() == (((1, 0), (0,), (1,)),)


def test_a_closure_too_long_to_list_is_refused() -> None:
    chain = sl.Pairs(range(99), range(1, 100), [True] * 99, n_rows=100)
    with pytest.raises(InvalidData, match=r"4950 answers.*limit=100"):
        chain.closure(limit=100)
    assert chain.implies(0, 99) == "same"


def test_selecting_rows_renumbers_them_and_drops_their_answers(pairs: sl.Pairs) -> None:
    kept = pairs[[3, 2, 1, 5]]
    assert [(a.rows, a.answer) for a in kept.answers] == [((2, 1), "same"), ((1, 0), "different")]
    assert kept.shape == (4,)
    assert len(kept) == 4
    assert pairs[pairs.groups() == 0, ...].n_answers == 2
    assert pairs[:] == pairs


def test_copies_of_rows_and_iteration_are_refused(pairs: sl.Pairs) -> None:
    with pytest.raises(InvalidData, match="row 2 is selected more than once"):
        pairs[[1, 2, 2]]
    with pytest.raises(TypeError, match=r"pairs\.answers"):
        iter(pairs)
    with pytest.raises(InvalidData, match=r"pairs\.answers\[3\]"):
        pairs[3]
    with pytest.raises(OutOfRange, match="7"):
        pairs[[7]]


def test_answers_are_added_and_taken_away(pairs: sl.Pairs) -> None:
    more = sl.Pairs([5], [6], ["same"], n_rows=7, annotators=["ann"])
    both = pairs + more
    assert both.n_answers == 5
    assert both.annotators == (None, None, None, None, "ann")
    assert both.without(4) == pairs
    assert both.only([4]) == more
    assert both.without(slice(4)) == more
    with pytest.raises(InvalidData, match="7 rows and about 8"):
        pairs + sl.Pairs.empty(8)
    with pytest.raises(OutOfRange, match="no answer 9"):
        pairs.without(9)
    with pytest.raises(TypeError):
        pairs + 1


def test_agreement_counts_the_questions_two_people_share() -> None:
    ann = sl.Pairs([0, 1, 2, 3], [1, 2, 3, 4], [True, True, False, False], n_rows=9, annotators=["ann"] * 4)
    bob = sl.Pairs(
        [1, 2, 3, 4, 7], [0, 1, 2, 3, 8], [True, False, False, False, True], n_rows=9, annotators=["bob"] * 5
    )
    eve = sl.Pairs([5], [6], [True], n_rows=9, annotators=["eve"])
    (found,) = (ann + bob + eve).agreement()
    assert found[:4] == ("ann", "bob", 4, 0.75)
    assert found.kappa == pytest.approx(0.5)


def test_sampling_asks_different_questions_and_errs_as_often_as_told() -> None:
    y = np.arange(400) % 4
    pairs = sl.Pairs.sample(y, 20_000, noise=0.1, random_state=0)
    assert len(np.unique(pairs.question_codes)) == 20_000
    wrong = pairs.same != (y[pairs.left] == y[pairs.right])
    assert 0.09 < wrong.mean() < 0.11  # 20,000 draws: 4.7 standard errors
    assert sl.Pairs.sample(y, 50, random_state=3) == sl.Pairs.sample(y, 50, random_state=3)
    assert sl.Pairs.sample(list("aab"), 3, random_state=0).summary()["same"] == 1
    with pytest.raises(InvalidData, match="3 different questions"):
        sl.Pairs.sample(list("aab"), 4)
    with pytest.raises(InvalidParameter, match="noise"):
        sl.Pairs.sample(y, 3, noise=2)


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        ({"right": [1, 7]}, "answer 1 is about row 7, but there are 4 rows"),
        ({"left": [0, -1]}, "answer 1 is about row -1"),
        ({"left": [0, 3]}, r"answer 1 is about the rows \(3, 3\)"),
        ({"left": [0]}, "equally long"),
        ({"left": ["a", "b"]}, "from_table"),
        ({"left": [0.0, 1.0]}, "answer 0 is about row 0.0"),
        ({"left": [0, None]}, "answer 1 is about row None"),
        ({"left": [0, 2**70]}, "answer 1 is about row 1180591620717411303424"),
        ({"left": [[0], [1, 2]]}, "differ in length"),
        ({"answers": ["same", "differnt"]}, "answer 1 is 'differnt'.*Did you mean 'different'"),
        ({"answers": ["same", "unsure"]}, "leave it out"),
        ({"answers": ["same", None]}, "answer 1 is None.*leave it out"),
        ({"answers": [1, 2]}, r"answer 0 is 1.*True \(same\)"),
        ({"answers": "same"}, "one answer per question.*'same'"),
        ({"weights": 2.0}, "one weight per answer.*2.0"),
        ({"answers": ["same"]}, "2 questions but 1 answers"),
        ({"weights": [1, -1]}, "weight of answer 1 is -1"),
        ({"weights": [1, "x"]}, "weight of answer 1 is 'x'"),
        ({"weights": [1]}, "1 weights"),
        ({"times": ["x", 1]}, "time of answer 0 is 'x'"),
        ({"annotators": ["ann"]}, "1 annotators"),
        ({"annotators": [["ann"], "bob"]}, "hashable"),
        ({"n_rows": -1}, "n_rows"),
        ({"n_rows": 2.5}, "n_rows"),
    ],
)
def test_bad_input_is_named(arguments: dict, culprit: str) -> None:
    good = {"left": [0, 1], "right": [1, 3], "answers": ["same", "different"], "n_rows": 4}
    with pytest.raises((InvalidData, UnknownName), match=culprit):
        sl.Pairs(**{**good, **arguments})


@pytest.mark.parametrize(
    ("table", "arguments", "culprit"),
    [
        ([(0, 1, "same")], {}, "n_rows="),
        ([("x", "z", "same")], {"ids": ["x", "y"]}, "unknown row id 'z'"),
        ([("x", "y", "same")], {"ids": ["x", "x"]}, "'x' appears more than once"),
        ([("x", "y", "same")], {"ids": ["x", "y"], "n_rows": 3}, "2 ids"),
        ([(0, 1)], {"n_rows": 2}, "tuple of 3"),
        ([(0, 1, "same"), 5], {"n_rows": 2}, "entry 1"),
        (pd.DataFrame({"a": [0], "b": [1]}), {"n_rows": 2}, "3 columns"),
        (pd.DataFrame({"a": [0], "b": [1], "s": ["same"]}), {"n_rows": 2, "weight": "w"}, "no column 'w'"),
    ],
)
def test_bad_tables_are_named(table: object, arguments: dict, culprit: str) -> None:
    with pytest.raises((InvalidData, UnknownName), match=culprit):
        sl.Pairs.from_table(table, **arguments)


def test_pairs_are_frozen_compare_print_and_pickle(pairs: sl.Pairs) -> None:
    assert repr(pairs) == "Pairs(4 answers about 6 of 7 rows: 2 different, 2 same)"
    assert repr(sl.Pairs.empty(3)) == "Pairs(0 answers about 0 of 3 rows)"
    assert "<table>" in pairs._repr_html_()
    assert pickle.loads(pickle.dumps(pairs)) == pairs
    assert hash(pairs) == hash(sl.Pairs.from_table(TABLE, n_rows=7))
    assert pairs != sl.Pairs.from_table(TABLE, n_rows=8)
    assert pairs != pairs.without(0)
    with pytest.raises(AttributeError, match="frozen"):
        pairs.rows = None
    with pytest.raises(ValueError, match="read-only"):
        pairs.rows[0, 0] = 3


def test_as_pairs_guesses_only_what_is_documented(pairs: sl.Pairs) -> None:
    assert as_pairs(None, n_rows=5) == sl.Pairs.empty(5)
    assert as_pairs(None, n_rows=7, y=pairs) is pairs
    assert as_pairs(pairs, n_rows=7, y=np.zeros(7)) is pairs
    with pytest.raises(InvalidData, match="X has 6 rows but pairs is about 7"):
        as_pairs(pairs, n_rows=6)
    with pytest.raises(InvalidData, match="their sum"):
        as_pairs(pairs.without(0), n_rows=7, y=pairs)


@pytest.mark.parametrize(
    "damage",
    [{"rows": [[0, 1]]}, {"answers": [0, 1, 2, 0]}, {"annotator_codes": [5] * 4}, {"n_rows": 3}, {"weights": [1]}],
)
def test_a_damaged_file_is_refused(pairs: sl.Pairs, damage: dict) -> None:
    with pytest.raises(InvalidData):
        sl.Pairs.__unarchive__({**pairs.__archive__(), **damage})


def test_answers_of_the_other_kind_are_refused_with_the_name_they_go_by():
    triplets = sl.Triplets.from_table([(0, 1, 2, "c")], n_rows=4)
    with pytest.raises(InvalidData, match="Got Triplets: pass them as triplets="):
        as_pairs(triplets, n_rows=4)
    with pytest.raises(InvalidData, match="Got Bags: pass them as bags="):
        as_triplets(sl.Bags([0, 0, 1, 1]), n_rows=4)


def test_a_column_of_people_is_one_of_annotators_unless_it_names_rows() -> None:
    frame = pl.DataFrame({"a": [0, 1], "b": [1, 2], "answer": ["same", "different"], "person": ["anna", "ben"]})
    assert sl.Pairs.from_table(frame, n_rows=3).annotator_names == ("anna", "ben")
    rows = pl.DataFrame({"person": [0, 1], "other": [1, 2], "answer": ["same", "different"]})
    assert sl.Pairs.from_table(rows, n_rows=3).annotator_names == ()
    chosen = sl.Pairs.from_table(frame.rename({"answer": "rater"}), n_rows=3, answer="rater")
    assert chosen.annotator_names == ("anna", "ben")


@pytest.mark.parametrize("clusters", ["none", 3, [0, 1], [[0], [1], [0]]], ids=str)
def test_clusters_of_other_rows_are_refused(clusters):
    pairs = sl.Pairs.from_table([(0, 1, "same")], n_rows=3)
    assert pairs.broken_by([0, 1, 0]).tolist() == [0]
    with pytest.raises(InvalidData, match="broken_by"):
        pairs.broken_by(clusters)
