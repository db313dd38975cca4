"""Wrong answers: how many there are, whose they are, and which answers are mistaken for which."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import SidelightWarning

RNG = np.random.default_rng(0)
Y = np.arange(900) % 3
X = 3.0 * np.eye(3)[Y] @ RNG.normal(size=(3, 6)) + RNG.normal(size=(900, 6))


def fit(answers, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)  # wrong answers contradict each other
        return sl.DiscriminativeClustering(3, n_init=1, random_state=0, **options).fit(X, answers)


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("kind", [sl.Pairs, sl.Triplets])
def test_the_share_of_wrong_answers_is_learnt(kind, noise):
    answers = kind.sample(Y, 600, noise=noise, random_state=1)
    share = np.mean(kind.sample(Y, 600, random_state=1).codes != answers.codes)  # what the draw really holds
    assert fit(answers).eps_ == pytest.approx(share, abs=0.03)


def test_annotators_are_told_apart():
    rates = {"ann": 0.0, "bob": 0.1, "eve": 0.3}
    answers = sum(
        (sl.Pairs.sample(Y, 100, noise=r, random_state=i, annotator=n) for i, (n, r) in enumerate(rates.items())),
        sl.Pairs.empty(len(Y)),
    )
    learnt = fit(answers).annotator_errors_
    for name, rate in rates.items():
        assert learnt[name] == pytest.approx(rate, abs=0.1)  # one draw; the benchmark averages many
    assert learnt["ann"] < learnt["bob"] < learnt["eve"]


def test_uneven_confusions_are_learnt():
    pairs = sl.Pairs.sample(Y, 900, random_state=2)
    slips = pairs.same & (np.random.default_rng(0).random(900) < 0.4)  # alike rows are often called different
    told = sl.Pairs(pairs.left, pairs.right, pairs.same & ~slips, n_rows=len(Y))
    table = fit(told, errors="confusion").pair_confusion_
    assert table[1, 0] == pytest.approx(0.4, abs=0.1)
    assert table[0, 1] < 0.05
