"""The thesis' own method: its bound, its special cases, and what it learns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import sidelight as sl
from sidelight.errors import ConflictingAnswers

X, Y = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)


def fit(**options):
    side = {key: options.pop(key) for key in ("pairs", "triplets") if key in options}
    return sl.DiscriminativeClustering(3, objective="variational", random_state=0, **options).fit(X, **side)


def test_the_bound_never_drops():
    fitted = fit(pairs=sl.Pairs.sample(Y, 60, random_state=0), triplets=sl.Triplets.sample(Y, 30, random_state=1))
    assert len(fitted.trace_) > 3
    assert (np.diff(fitted.trace_) <= 1e-10).all()


@pytest.mark.parametrize("kind", ["pairs", "triplets"])
def test_answers_improve_on_none(kind):
    answers = {"pairs": sl.Pairs, "triplets": sl.Triplets}[kind].sample(Y, 75, random_state=0)
    assert adjusted_rand_score(Y, fit(**{kind: answers}).labels_) > adjusted_rand_score(Y, fit().labels_) + 0.05


def test_certain_answers_are_broken_less_often():
    pairs = sl.Pairs.sample(Y, 40, random_state=0)
    unaware = fit(penalty=2.0**-8).labels_
    n_broken = np.count_nonzero((unaware[pairs.left] == unaware[pairs.right]) != pairs.same)
    assert len(fit(pairs=pairs, eps=0, penalty=2.0**-8).violated_["pairs"]) < n_broken


def test_certain_answers_must_not_contradict():
    with pytest.raises(ConflictingAnswers, match="must link"):
        fit(pairs=[(0, 1, "same"), (1, 2, "same"), (0, 2, "different")], eps=0)


def test_without_answers_it_is_information_maximisation():
    fitted = fit(tau=1.0, penalty=0.05)
    P = fitted.predict_proba(X)
    share = P.mean(axis=0)
    information = -(share * np.log(share)).sum() + (P * np.log(P)).sum(axis=1).mean()
    assert fitted.objective_ == pytest.approx(-information + 0.025 * np.square(fitted.weights_).sum())


def test_when_every_row_has_an_answer_the_confidence_is_absent():
    ring = [(i, (i + 1) % len(Y), "same" if Y[i] == Y[(i + 1) % len(Y)] else "different") for i in range(len(Y))]
    assert np.isfinite(fit(pairs=ring).objective_)
