"""Laws of every supervision object: selecting twice is selecting once, and bad input is refused by name."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import up_to

import sidelight as sl
from sidelight.errors import BagsWereCut, InvalidInput

pytestmark = pytest.mark.filterwarnings("ignore::sidelight.errors.BagsWereCut")

names = st.one_of(st.text(max_size=2), st.integers(0, 4), st.tuples(st.integers(0, 1), st.text(max_size=1)))
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def some_bags(draw: st.DrawFn) -> sl.Bags:
    ids = draw(st.lists(names, min_size=1, max_size=8))
    sets = st.none() | st.sets(st.sampled_from("xyz"))
    labels = {bag: draw(sets) for bag in ids}
    partial = [bag for bag in labels if labels[bag] is not None and draw(st.booleans())]
    return sl.Bags(ids, labels, classes=list("zyx"), partial=partial)


def rows_of(n_rows: int, *, repeated: bool) -> st.SearchStrategy[np.ndarray]:
    if n_rows == 0:
        return st.just(np.zeros(0, dtype=int))
    rows = st.lists(st.integers(0, n_rows - 1), max_size=10, unique=not repeated)
    return rows.map(lambda found: np.array(found, dtype=int))


@given(st.data())
def test_selecting_twice_is_selecting_once_for_bags(data: st.DataObject) -> None:
    bags = data.draw(some_bags())
    first = data.draw(rows_of(len(bags), repeated=True))
    second = data.draw(rows_of(len(first), repeated=True))
    assert bags[first][second] == bags[first[second]]


@given(some_bags(), st.randoms())
def test_whole_bags_stay_whole_in_any_order(bags: sl.Bags, random: object) -> None:
    rows = list(range(len(bags)))
    random.shuffle(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error", BagsWereCut)
        turned = bags[rows]
    assert turned.whole.all()
    assert dict(turned.labels) == dict(bags.labels)


@given(ids=anything, labels=anything, classes=anything, partial=anything, whole=anything)
def test_bags_are_valid_or_refused(
    ids: object, labels: object, classes: object, partial: object, whole: object
) -> None:
    for arguments in ({}, {"labels": labels}, {"classes": classes}, {"partial": partial}, {"whole": whole}):
        check_bags(ids, arguments)
        check_bags(["a", "b"], arguments)


@given(labels=st.dictionaries(names | st.none(), anything, max_size=3))
def test_label_sets_are_valid_or_refused(labels: dict) -> None:
    check_bags(["", "0", 0, 1, (0, "")], {"labels": labels})


@given(table=anything | st.lists(st.tuples(anything, anything), max_size=3), Y=anything, bag_names=anything)
def test_tables_and_indicators_are_valid_or_refused(table: object, Y: object, bag_names: object) -> None:
    for make in (
        lambda: sl.Bags.from_table(["a", ""], table),
        lambda: sl.Bags.from_indicator(["a", ""], Y),
        lambda: sl.Bags.from_indicator(["a", ""], [[1], [0]], names=bag_names),
    ):
        bags = accept(make)
        assert bags is None or bags == sl.Bags(["a", ""], bags.labels, classes=bags.classes)


@st.composite
def some_answers(draw: st.DrawFn) -> sl.Pairs | sl.Triplets:
    kind = draw(st.sampled_from([sl.Pairs, sl.Triplets]))
    n_rows = draw(st.integers(kind.WIDTH, 7))
    rows = st.lists(st.integers(0, n_rows - 1), min_size=kind.WIDTH, max_size=kind.WIDTH, unique=True)
    people = st.sampled_from([None, "ann", "bob", ("c", 1)])
    told = st.tuples(rows, st.sampled_from(kind.WORDS), st.floats(0, 9), people, st.none() | st.floats(0, 9))
    table = draw(st.lists(told, max_size=6))
    return kind.from_table([(*rows, *rest) for rows, *rest in table], n_rows=n_rows)


@given(st.data())
def test_selecting_twice_is_selecting_once_for_answers(data: st.DataObject) -> None:
    answers = data.draw(some_answers())
    first = data.draw(rows_of(len(answers), repeated=False))
    second = data.draw(rows_of(len(first), repeated=False))
    assert answers[first][second] == answers[first[second]]


@given(some_answers())
def test_closing_twice_is_closing_once(answers: sl.Pairs | sl.Triplets) -> None:
    closed = accept(answers.closure)
    assert (closed is None) == bool(answers.contradictions())
    if closed is not None:
        assert closed.closure() == closed
        assert closed.implied().n_answers == 0
        assert np.array_equal(closed.groups(), answers.groups())


@given(some_answers())
def test_dropping_a_link_of_each_chain_leaves_no_contradiction(answers: sl.Pairs | sl.Triplets) -> None:
    while found := answers.contradictions():
        answers = answers.without(found[0].chain[0])
    closed = answers.closure()  # contradicting answers have none: ConflictingAnswers is raised
    assert closed.closure() == closed


@given(st.data())
def test_answers_can_be_taken_apart_and_added_again(data: st.DataObject) -> None:
    answers = data.draw(some_answers())
    cut = data.draw(st.integers(0, answers.n_answers))
    assert answers.only(slice(cut)) + answers.only(slice(cut, None)) == answers


@given(column=anything, words=anything, n_rows=anything, more=anything)
def test_answers_are_valid_or_refused(column: object, words: object, n_rows: object, more: object) -> None:
    good = {"left": [0, 1], "right": [2, 3], "answers": ["same", "different"], "n_rows": 4}
    bad = {"left": column, "answers": words, "n_rows": n_rows, "weights": more, "annotators": more, "times": more}
    for name, value in bad.items():
        pairs = accept(lambda name=name, value=value: sl.Pairs(**{**good, name: value}))
        if pairs is not None:
            assert pairs.n_answers == len(pairs.answers) == len(pairs.weights) == len(pairs.times)
            assert len(pairs) > 1000 or pairs[:] == pairs  # a billion rows may be claimed, but not listed
    accept(lambda: sl.Pairs.from_table(column, n_rows=3))
    accept(lambda: sl.Triplets.from_table(column, n_rows=3, ids=words))
    accept(lambda: sl.Triplets.from_ranking(column, n_rows=3, n_alike=more))
    accept(lambda: sl.Pairs.sample(column, 1, random_state=0))


@settings(max_examples=up_to(25))  # each one writes a file
@given(some_bags() | some_answers(), st.data())
def test_writing_and_reading_changes_nothing(thing: sl.Bags | sl.Pairs | sl.Triplets, data: st.DataObject) -> None:
    thing = thing[data.draw(rows_of(len(thing), repeated=isinstance(thing, sl.Bags)))]
    with tempfile.TemporaryDirectory() as folder:
        sl.save(thing, Path(folder) / "it.sidelight")
        again = sl.load(Path(folder) / "it.sidelight")
    assert again == thing
    half = slice(None, None, 2)
    assert again[half] == thing[half]


def check_bags(ids: object, arguments: dict) -> None:
    bags = accept(lambda: sl.Bags(ids, **arguments))
    if bags is not None:
        assert len(bags) == bags.n_rows == bags.sizes.sum() == len(bags.order)
        assert bags.label_matrix.shape == (bags.n_bags, bags.n_classes)
        assert sl.Bags(list(bags), bags.labels, classes=bags.classes).label_matrix.nnz == bags.label_matrix.nnz


def accept(make: object) -> object:
    try:
        return make()
    except InvalidInput:
        return None
