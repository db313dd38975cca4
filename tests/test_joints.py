"""The joints: where weights, orders, thresholds and flags are handed from one part to the next.

A fault there spoils nothing that looks wrong: every shape stays, every number stays plausible. So each test here states
an exact number, or what must change when one thing changes.
"""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight._models import objective as blocks
from sidelight.active.label_chains import contract
from sidelight.data.relations import Pairs, Triplets
from sidelight.estimators.relations.answered import Answered

EPS = 0.1
HALF = np.log(np.array([[0.5, 0.5], [1.0 - 1e-9, 1e-9], [1e-9, 1.0 - 1e-9]]))  # unknown, the first, the second cluster


def torn(first: float, second: float) -> Answered:
    """Row 0 is said to be like row 1 and like row 2, which are in different clusters."""
    table = [(0, 1, "same", first), (0, 2, "same", second)]
    return Answered.evenly(Pairs.from_table(table, n_rows=3), Triplets.empty(3), EPS)


def test_an_answer_counts_as_often_as_its_weight_in_the_posterior():
    for first, second in [(3.0, 1.0), (1.0, 3.0), (0.0, 2.0), (1.0, 1.0)]:
        P = torn(first, second).posterior(HALF)
        odds = ((1.0 - EPS) / EPS) ** (first - second)
        assert P[0, 0] == pytest.approx(odds / (1.0 + odds), abs=1e-6)


def test_an_answer_counts_as_often_as_its_weight_in_the_mean_likelihood():
    P = np.exp(HALF)
    P[0] = [0.8, 0.2]
    logs = np.log([EPS + (1 - 2 * EPS) * 0.8, EPS + (1 - 2 * EPS) * 0.2])
    answered = torn(3.0, 0.5)
    assert answered.log_likelihood(P) == pytest.approx(logs @ [3.0, 0.5] / 3.5, abs=1e-6)
    value = sum(weight * float(term(P, np.log(P))[0]) for weight, term in answered.terms())
    assert value == pytest.approx(-answered.log_likelihood(P), abs=1e-6)


def two_groups(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    y = np.arange(n) % 2
    return np.random.default_rng(0).normal(size=(n, 2)) + 4.0 * y[:, None], y


def test_the_score_weighs_answers():
    X, y = two_groups()
    model = sl.DiscriminativeClustering(2, n_init=1, random_state=0).fit(X, pairs=Pairs.sample(y, 20, random_state=0))
    right, wrong = (0, 2, "same"), (0, 1, "same")
    alone = [model.score(X, pairs=Pairs.from_table([one], n_rows=40)) for one in (right, wrong)]
    both = Pairs.from_table([(*right, 3.0), (*wrong, 1.0)], n_rows=40)
    assert model.score(X, pairs=both) == pytest.approx(np.average(alone, weights=[3.0, 1.0]))
    assert alone[0] > alone[1]
    P = model.predict_proba(X)
    bayes = sl.BayesianActiveClustering(2, random_state=0).fit(X, pairs=Pairs.sample(y, 20, random_state=0))
    alone = [bayes.score(X, pairs=Pairs.from_table([one], n_rows=40)) for one in (right, wrong)]
    assert bayes.score(X, pairs=both) == pytest.approx(np.average(alone, weights=[3.0, 1.0]))
    assert P.shape == (40, 2)


@pytest.mark.parametrize("objective", ["answers", "variational"])
def test_labels_are_the_most_probable_clusters(objective):
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 1)) + 1.0 * y[:, None]  # they overlap, so that answers move some
    for start in range(4):  # in whatever order a start met the clusters
        rows = np.roll(np.arange(40), start)
        pairs = Pairs.sample(y[rows], 60, random_state=1)
        model = sl.DiscriminativeClustering(2, objective=objective, n_init=1, random_state=start)
        model.fit(X[rows], pairs=pairs)
        np.testing.assert_array_equal(model.labels_, model.probabilities_.argmax(axis=1))
        assert model.labels_[0] == 0  # clusters are numbered by their first rows
    X = X[rows]
    if objective == "answers":
        assert (model.predict(X) != model.labels_).any()  # else nothing was moved, and nothing was tested


# -- novelty ----------------------------------------------------------------------------------------------------------


def test_points_and_sequences_have_thresholds_of_their_own():
    y = np.arange(60) % 2
    X = np.random.default_rng(0).normal(size=(60, 4)) + 6.0 * y[:, None]
    model = sl.MultiSourceClustering(2, method="information", channels={"a": [0, 1], "b": [2, 3]}, random_state=0)
    model.fit(X)
    sequences = np.arange(60) // 2
    channel = model.primary_
    model.novelty_thresholds_[channel] = (0.0, np.inf)
    assert model.is_new(X).all()
    assert not model.is_new(X, sequences=sequences).any()
    model.novelty_thresholds_[channel] = (np.inf, 0.0)
    assert not model.is_new(X).any()
    assert model.is_new(X, sequences=sequences).all()


# -- conversations ----------------------------------------------------------------------------------------------------


def test_answered_rows_keep_their_clusters_in_predict_proba():
    """Rows without any structure: only the answers say where these belong."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    session = sl.ActiveSession(X, 2, random_state=0)
    for rows, answer in [((0, 1), "same"), ((0, 2), "different"), ((2, 3), "same"), ((1, 3), "different")]:
        session.tell(rows, answer)
    P = session.predict_proba()
    assert (P[:4].max(axis=1) > 0.9).all()
    chosen = P[:4].argmax(axis=1)
    assert chosen[0] == chosen[1] != chosen[2] == chosen[3]
    assert (P[4:].max(axis=1) < 0.9).any()
    np.testing.assert_array_equal(session.labels_[:4], chosen)


def test_answers_that_cancel_out_join_nothing():
    """Two people who say the opposite have not voted: the sum is 0, and only rows with a vote are joined."""
    votes = np.zeros((3, 3))
    for a, b, vote in [(0, 1, 1.0), (0, 1, -1.0), (1, 2, 1.0)]:
        votes[a, b] += vote
        votes[b, a] += vote
    joined = contract(votes, 3)
    assert joined[0] != joined[1] == joined[2]


def test_agreement_counts_the_last_answer_and_no_question_of_one_person():
    told = [(0, 1, "same"), (0, 1, "different"), (2, 3, "same"), (4, 5, "same")]
    ann = Pairs.from_table([(*answer, 1.0, "ann") for answer in told], n_rows=6)
    told = [(0, 1, "different"), (2, 3, "different")]
    bob = Pairs.from_table([(*answer, 1.0, "bob") for answer in told], n_rows=6)
    (found,) = (ann + bob).agreement()
    assert (found.n_common, found.share) == (2, 0.5)


# -- blocks -----------------------------------------------------------------------------------------------------------


def test_bags_across_blocks_and_rows_in_any_order_give_the_same_fit(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 7)
    monkeypatch.setattr(blocks, "FEWEST", 40)
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(25), 8)
    y = (ids + rng.integers(2, size=200)) % 3  # two kinds in a bag
    X = 4.0 * np.eye(3)[y] + rng.normal(size=(200, 3))
    labels = {b: {"abc"[k] for k in y[ids == b]} for b in range(25)}
    order = rng.permutation(200)
    fits = []
    for rows in (np.arange(200), order):
        model = sl.CoverageClustering(boundary="straight", calibrate=False, tol=1e-10, max_iter=1000, random_state=0)
        fits.append(model.fit(X[rows], bags=sl.Bags(ids[rows], labels=labels)))
    np.testing.assert_array_equal(fits[0].labels_[order], fits[1].labels_)
    assert fits[0].log_likelihood_ == pytest.approx(fits[1].log_likelihood_, rel=1e-5)
    cuts = blocks.block_cuts(np.arange(0, 201, 8), 3)
    assert len(cuts) > 5
    assert not (cuts % 8).any()  # no bag lies in two blocks
