"""Weights of answers mean the same everywhere: 0 is not there, 2 is twice, in everything that a fit leaves behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.examples import but_slow
from tests.laws.registry import CASES, Case, each

import sidelight as sl

ANSWERED = [case for case in CASES if case.supervision in ("pairs", "triplets")]
OURS = ("DiscriminativeClustering", "SSSVaD", "MPCKMeans", "ITML")  # the others wait for make test-slow
NUMBERS = ("violated_",)  # numbers of answers, which differ where there are more of them


def answers(kind: Any, rows: Any, codes: Any, weights: Any, people: Any, n_rows: int) -> Any:
    return kind(*rows.T, [kind.WORDS[code] for code in codes], n_rows=n_rows, weights=weights, annotators=people)


def left_behind(case: Case, given: Any) -> dict[str, str]:
    from sklearn.base import clone

    fitted = clone(case.estimator).fit(case.rows(), **{case.supervision: given})
    learnt = {name: value for name, value in vars(fitted).items() if name.endswith("_") and name not in NUMBERS}
    plain = (np.ndarray, float, int, str, tuple, dict, list)
    return {
        name: repr(np.asarray(v).tolist()) if isinstance(v, np.ndarray) else repr(v)
        for name, v in learnt.items()
        if isinstance(v, plain)
    }


@pytest.mark.parametrize("case", but_slow(ANSWERED, *(case for case in ANSWERED if case.name in OURS)))
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")  # wrong answers disagree, as they should
def test_weight_0_is_not_there_and_weight_2_is_twice(case: Case):
    given = case.side()[case.supervision]
    kind, rows, codes, n = type(given), given.rows, given.codes, given.n_answers
    people = [("ann", "bob", None)[number % 3] for number in range(n)]
    wrong = (codes + 1) % len(kind.WORDS)
    plain = answers(kind, rows, codes, np.ones(n), people, given.n_rows)
    with_nothing = answers(
        kind,
        np.r_[rows, rows],
        np.r_[wrong, codes],
        np.r_[np.zeros(n), np.ones(n)],
        people[::-1] + people,
        given.n_rows,
    )
    assert left_behind(case, with_nothing) == left_behind(case, plain)
    some = np.arange(n) % 2 == 0
    heavy = answers(kind, rows, codes, np.where(some, 2.0, 1.0), people, given.n_rows)
    again = [person for person, twice in zip(people, some) if twice]
    twice = answers(
        kind, np.r_[rows, rows[some]], np.r_[codes, codes[some]], np.ones(n + some.sum()), people + again, given.n_rows
    )
    assert left_behind(case, heavy) == left_behind(case, twice)


@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_wrong_answers_of_weight_0_do_not_cast_doubt():
    """150 wrong answers of weight 0 once moved ``eps_`` from .02 to .21."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    right, wrong = sl.Pairs.sample(y, 150, random_state=0), sl.Pairs.sample(y, 150, noise=1.0, random_state=1)
    nothing = sl.Pairs(wrong.left, wrong.right, wrong.same, n_rows=150, weights=np.zeros(150))
    alone = sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=right)
    both = sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=nothing + right)
    assert both.eps_ == alone.eps_
    assert (both.violated_["pairs"] - 150).tolist() == alone.violated_["pairs"].tolist()  # numbered as they were given


def test_answers_of_weight_0_contradict_nobody():
    pairs = sl.Pairs([0, 1, 0], [1, 2, 2], ["same", "same", "different"], n_rows=3, weights=[1, 1, 0])
    assert not pairs.contradictions()
    assert pairs.implies(0, 2) == "same"
    back = sl.Pairs([0, 1, 0], [1, 2, 2], ["different", "same", "same"], n_rows=3, weights=[0, 1, 1])
    assert back.groups().tolist() == [0, 0, 0]
    triplets = sl.Triplets([0, 0], [1, 1], [2, 2], ["c", "a"], n_rows=3, weights=[1, 0])
    assert not triplets.contradictions()
    assert triplets.implies(0, 1) == "same"


def test_each_once_keeps_people_and_order_apart():
    pairs = sl.Pairs(
        [3, 0, 1, 1, 0], [4, 1, 0, 0, 1], ["same", "same", "same", "same", "different"],
        n_rows=5, weights=[1, 1, 2, 0.5, 1], annotators=["ann", "ann", "ann", "bob", "ann"],
    )  # fmt: skip
    once = pairs.each_once()
    assert once.rows.tolist() == [[3, 4], [0, 1], [1, 0], [0, 1]]
    assert once.weights.tolist() == [1.0, 3.0, 0.5, 1.0]
    assert once.annotators == ("ann", "ann", "bob", "ann")
    assert once.each_once() is once


SCORED = [
    case
    for case in CASES
    if hasattr(case.estimator, "score") and case.supervision not in ("pairs", "triplets")
    if case.name not in ("BagDiscriminativeClustering", "Standardized")  # information of all rows together; another's
]


@each(SCORED)
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_rows_and_bags_of_weight_0_are_not_judged_and_of_weight_2_twice(case: Case):
    fitted, X, y, n = case.fit(), case.rows(), case.target(), 60
    bags = case.side().get("bags")
    some = np.arange(n) % 2 == 0 if bags is None else bags.codes % 2 == 0
    kept = np.flatnonzero(some)
    twice = np.r_[np.arange(n), kept]

    def judged(rows: np.ndarray, weights: np.ndarray | None = None) -> float:
        target = y if y is None or len(rows) == n else y[rows]
        side = {}
        if bags is not None:
            ids = [
                (int(bags.codes[row]), place >= n) for place, row in enumerate(rows)
            ]  # a second bag, not a longer one
            names = {one: bags.labels[bags.names[one[0]]] for one in ids}
            side = {
                "bags": sl.Bags([f"{a} {b}" for a, b in ids], labels={f"{a} {b}": v for (a, b), v in names.items()})
            }
        return fitted.score(X[rows], target, **side, sample_weight=weights)

    everything = np.arange(n)
    assert judged(everything, some.astype(float)) == pytest.approx(judged(kept))
    assert judged(everything, np.where(some, 2.0, 1.0)) == pytest.approx(judged(twice))
