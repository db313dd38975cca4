"""Laws of every supervision object: selecting twice is selecting once, and bad input is refused by name."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
        accept(make)


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
