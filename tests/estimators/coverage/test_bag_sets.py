"""Sets of names that hold what is asked for: thresholds by a plain loop, and what is reached on new bags."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.estimators._labelled_bags.row_temperature import names_that_reach
from sidelight.estimators.coverage.judging import threshold_of_all, threshold_of_share


def lists(seed, n_bags=40):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, size=n_bags)
    return rng.random(sizes.sum()).round(2), np.repeat(rng.permutation(n_bags), sizes)  # with ties, in any order


def share_missed(p, bag, t):
    return np.array([np.mean(p[bag == b] < t) for b in np.unique(bag)])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.02, 0.1, 0.3])
def test_thresholds_are_the_highest_that_keep_the_promise(seed, alpha):
    p, bag = lists(seed)
    n, tried = 40, np.unique(p)
    slow = [t for t in tried if (share_missed(p, bag, t).sum() + 1) / (n + 1) <= alpha + 1e-12]
    assert threshold_of_share(p, bag, alpha) == max(slow, default=0.0)
    slow = [t for t in tried if ((share_missed(p, bag, t) > 0).sum() + 1) / (n + 1) <= alpha + 1e-12]
    assert threshold_of_all(p, bag, alpha) == max(slow, default=0.0)


def test_without_lists_everything_is_held():
    nothing = np.zeros(0), np.zeros(0, dtype=int)
    assert threshold_of_all(*nothing, 0.1) == threshold_of_share(*nothing, 0.1) == 0.0


def test_on_new_bags_sets_hold_what_was_asked_for():
    rng = np.random.default_rng(0)
    held = {"all": [], "share": []}
    for _ in range(300):
        p, bag = lists(int(rng.integers(1 << 30)), n_bags=60)
        seen = bag < 59
        new = p[~seen]
        held["all"].append((new >= threshold_of_all(p[seen], bag[seen], 0.2)).all())
        held["share"].append((new >= threshold_of_share(p[seen], bag[seen], 0.2)).mean())
    for values in held.values():
        assert np.mean(values) == pytest.approx(0.8, abs=0.06)


def test_the_fewest_names():
    P = np.array([[0.5, 0.3, 0.2], [0.05, 0.95, 0.0], [0.2, 0.2, 0.6]])
    assert names_that_reach(P, 0.8).tolist() == [[True, True, False], [False, True, False], [True, False, True]]
    assert names_that_reach(P, 0.5).sum(axis=1).tolist() == [1, 1, 1]
    assert names_that_reach(P, 0.999).sum(axis=1).tolist() == [3, 2, 3]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    y = rng.integers(4, size=480)
    X = 2.0 * np.eye(4, 6)[y] + 1.2 * rng.normal(size=(480, 6))
    bag = rng.permutation(np.arange(480) // 3)
    bags = sl.Bags(bag, labels={int(b): {"abcd"[k] for k in y[bag == b]} for b in range(160)})
    train, test = np.flatnonzero(bag < 80), np.flatnonzero(bag >= 80)
    model = sl.CoverageClustering(random_state=0, n_novel=1).fit(X[train], bags=bags[train])
    return model, X[test], bags[test], np.array(list("abcd"))[y[test]], (X[train], bags[train])


def test_bags_and_rows_are_held(fitted, tmp_path):
    model, X, bags, y, _ = fitted
    truth = [bags.labels[name] for name in bags.names]
    shares = model.predict_bag_sets(X, bags)
    assert np.mean([len(s & t) / len(t) for s, t in zip(shares, truth)]) > 0.82
    every = model.predict_bag_sets(X, bags, of="all")
    error = np.sqrt(0.9 * 0.1 * (1 / 80 + 1 / 80))  # of 80 lists that settled the thresholds, and of 80 new bags
    assert np.mean([t <= s for s, t in zip(every, truth)]) > 0.9 - 3 * error
    assert sum(map(len, every)) > sum(map(len, shares))
    assert all(a <= b for a, b in zip(model.predict_bag_sets(X, bags, coverage=0.5), shares))
    assert not any("novel-1" in names for names in every)
    sets = model.predict_sets(X)
    assert np.mean([name in names for name, names in zip(y, sets)]) > 0.86
    assert all(a <= b for a, b in zip(model.predict_sets(X, coverage=0.4), sets))
    sl.save(model, tmp_path / "m")
    assert sl.load(tmp_path / "m").predict_bag_sets(X, bags).tolist() == shares.tolist()


def test_what_cannot_be_promised_is_refused(fitted):
    model, X, bags, _, (rows, told) = fitted
    for wrong in ({"coverage": 1.0}, {"coverage": 0}, {"of": "some"}):
        with pytest.raises(InvalidParameter):
            model.predict_bag_sets(X, bags, **wrong)
    with pytest.raises(InvalidParameter, match="coverage"):
        model.predict_sets(X, coverage=2)
    few = sl.CoverageClustering(random_state=0).fit(rows, bags=told.without_labels(told.names[10:]))
    with pytest.raises(InvalidData, match="fewer than 20"):
        few.predict_bag_sets(X, bags)
