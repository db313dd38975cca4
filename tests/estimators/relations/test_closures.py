"""How often answers are wrong, by answers that test each other, and not by rows whose classes overlap."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.estimators.relations.closures import error_rate


def drawn(y, n, noise, seed=0):
    """Answers about random pairs, some of them wrong."""
    return sl.Pairs.sample(y, n, noise=noise, random_state=seed)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("noise", "low", "high"), [(0.0, 0.0, 0.03), (0.2, 0.13, 0.28)])
def test_the_share_of_wrong_answers_is_found_whatever_a_fit_was_surprised_by(n_classes, noise, low, high):
    y = np.arange(80) % n_classes
    for surprise in (0.02, 0.35):
        assert low <= error_rate(drawn(y, 500, noise), n_classes, surprise) <= high


def test_where_no_answers_test_each_other_the_surprise_stands_and_accuses_nobody_of_much():
    chain = sl.Pairs([0, 1, 2], [1, 2, 3], ["same", "different", "same"], n_rows=5)
    assert error_rate(chain, 2, 0.15) == error_rate(chain, 3, 0.15) == 0.15
    assert error_rate(chain, 2, 0.4) == error_rate(chain, 3, 0.4) == 0.2


def test_one_answer_repeated_and_contradicted_is_a_test():
    agree = sl.Pairs([0] * 6, [1] * 6, ["same"] * 6, n_rows=4)
    differ = sl.Pairs([0] * 6, [1] * 6, ["same", "different"] * 3, n_rows=4)
    for n_clusters in (2, 3):
        assert error_rate(agree, n_clusters, 0.15) < 0.15 < error_rate(differ, n_clusters, 0.15)


def test_honest_people_are_not_doubted_where_classes_overlap():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=150)
    X = rng.normal(size=(150, 4)) + 0.4 * y[:, None]
    model = sl.DiscriminativeClustering(2, random_state=0).fit(X, pairs=drawn(y, 300, 0.0))
    assert model.eps_ < 0.03


@pytest.mark.filterwarnings("ignore::sidelight.errors.AnswersDisagree")
def test_more_answers_do_not_hurt_where_a_fifth_is_wrong():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 4)) + 1.2 * np.eye(4)[y]
    few, many = (
        np.mean(
            [
                sl.metrics.adjusted_rand_index(
                    y, sl.DiscriminativeClustering(3, random_state=0).fit(X, pairs=drawn(y, n, 0.2, seed)).labels_
                )
                for seed in range(3)
            ]
        )
        for n in (300, 900)
    )
    assert many >= few - 0.02
