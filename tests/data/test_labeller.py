"""People who answer, with mistakes and times."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidInput

Y = np.random.default_rng(0).integers(3, size=400)


def confusion(answers, n_words):
    truth = type(answers)._truth(Y[answers.rows])
    table = np.zeros((n_words, n_words))
    np.add.at(table, (truth, answers.codes), 1)
    return table / table.sum(axis=1, keepdims=True)


def test_answers_are_confused_as_told():
    person = sl.data.Labeller(pair_confusion=[[9, 1], [3, 7]], pair_seconds=[2, 4])
    pairs = sl.Pairs.sample(Y, 20_000, labeller=person, random_state=0)
    np.testing.assert_allclose(confusion(pairs, 2), [[0.9, 0.1], [0.3, 0.7]], atol=0.02)
    same = pairs.rows[Y[pairs.left] == Y[pairs.right]]
    assert len(same)
    is_same = Y[pairs.left] == Y[pairs.right]
    assert pairs.times[is_same].mean() == pytest.approx(4, rel=0.05)
    assert pairs.times[~is_same].mean() == pytest.approx(2, rel=0.05)


def test_the_people_of_the_study_answer_as_its_tables_say():
    person = sl.data.Labeller.of_study("birdsong")
    triplets = sl.Triplets.sample(Y, 20_000, labeller=person, random_state=0)
    np.testing.assert_allclose(confusion(triplets, 4), person.triplet_confusion, atol=0.02)
    assert person.triplet_confusion[3, 3] == pytest.approx(59.88 / 70.34, abs=1e-6)
    assert triplets.annotators[0] == "birdsong"
    # the means of table 3.8 give .921 for pairs and .827 for triplets
    assert 1 - person.error([148.92, 46.07], 2) == pytest.approx(179.57 / 194.99, abs=1e-6)


def test_even_mistakes_are_those_of_noise():
    by_noise = sl.Pairs.sample(Y, 500, noise=0.2, random_state=3)
    by_person = sl.Pairs.sample(Y, 500, labeller=sl.data.Labeller(noise=0.2), random_state=3)
    np.testing.assert_array_equal(by_noise.codes, by_person.codes)
    assert np.isnan(by_person.times).all()


def test_an_oracle_with_a_labeller_errs_as_the_labeller_does():
    oracle = sl.Oracle(Y, labeller=sl.data.Labeller(pair_confusion=[[1, 0], [1, 0]]), random_state=0)
    assert {oracle(sl.active.Question((i, i + 1), i)) for i in range(100)} == {"different"}
    wrong = sl.Oracle(Y, noise=1.0)
    same = int(np.flatnonzero(Y[1:] == Y[:-1])[0])
    assert wrong(sl.active.Question((same, same + 1), 0)) == "different"


@pytest.mark.parametrize(
    "settings",
    [
        {"pair_confusion": [[1, 0]]},
        {"pair_confusion": [[0, 0], [0, 1]]},
        {"triplet_confusion": "high"},
        {"pair_seconds": -1},
        {"triplet_seconds": [1, 2]},
        {"noise": 2},
    ],
)
def test_impossible_people_are_refused(settings):
    with pytest.raises(InvalidInput, match="Labeller"):
        sl.data.Labeller(**settings)
    with pytest.raises(InvalidInput, match="birdsong"):
        sl.data.Labeller.of_study("birds")
