"""How sure rows may be, by lists alone: what is found on rows whose truth is drawn, and what is never changed."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.estimators._labelled_bags.row_temperature import (
    Calibration,
    HeldOutRows,
    chances,
    find_temperature,
    list_evidence,
    matching_temperature,
    share_right,
    temper,
)


def drawn(heat=1.0, forgotten=0.0, n_bags=600, seed=0, n_labels=6, size=4, evenness=0.35):
    """Return rows that are what their probabilities say, told too surely by ``heat``, and the truth."""
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.full(n_labels, evenness), size=n_bags * size)
    y = (P.cumsum(axis=1) > rng.random((len(P), 1))).argmax(axis=1)
    bag = np.repeat(np.arange(n_bags), size)
    Y = np.zeros((n_bags, n_labels), dtype=bool)
    Y[bag, y] = True
    Y &= rng.random(Y.shape) >= forgotten
    listed = Y[bag]
    Q = np.where(listed, P, 1e-3 * P)
    return HeldOutRows(temper(P, 1.0 / heat), Q / Q.sum(axis=1, keepdims=True), listed, bag), y


def test_tempering_keeps_the_order_and_what_cannot_be():
    P = np.random.default_rng(0).dirichlet(np.ones(5), size=50)
    P[:, 2] = 0.0
    P /= P.sum(axis=1, keepdims=True)
    for temperature in (0.4, 1.0, 7.0, np.linspace(0.5, 5.0, 50)):
        Q = temper(P, temperature)
        np.testing.assert_allclose(Q.sum(axis=1), 1.0)
        np.testing.assert_array_equal(np.argsort(Q, axis=1), np.argsort(P, axis=1))
        assert (Q[:, 2] == 0).all()
    np.testing.assert_allclose(temper(P, 1.0), P)
    np.testing.assert_allclose(temper(P, np.full(50, 2.0)), temper(P, 2.0))


def test_the_evidence_of_a_row_is_the_sum_that_is_printed():
    rows, _ = drawn(n_bags=5)
    chance = chances(rows)
    q, f = temper(rows.P, 1.7), 0.1
    inside, beside, novel = list_evidence(rows, chance, 1.7)
    for i in range(len(rows)):
        plain = sum(
            ((1 - f) / chance[k] if rows.listed[i, k] else f / (1 - chance[k])) * q[i, k] for k in range(q.shape[1])
        )
        assert (1 - f) * inside[i] + f * beside[i] + novel[i] == pytest.approx(plain)


@pytest.mark.parametrize("heat", [0.6, 1.0, 2.0, 4.0])
def test_a_temperature_is_found_without_the_truth(heat):
    rows, y = drawn(heat)
    found = Calibration.of(rows)
    assert found.temperature == pytest.approx(heat, rel=0.15)
    assert found.forgotten == 0.0
    assert found.right == pytest.approx((rows.P.argmax(axis=1) == y).mean(), abs=0.04)
    table = found.reliability
    assert table.rows.sum() == len(rows)
    assert np.average(np.abs(table.said - table.right), weights=table.rows) < 0.05


def test_forgotten_labels_are_found_and_do_not_soften():
    rows, _ = drawn(2.0, forgotten=0.2, evenness=0.05)  # features that tell
    found = Calibration.of(rows)
    assert found.forgotten == pytest.approx(0.2, abs=0.06)
    assert found.temperature == pytest.approx(2.0, rel=0.4)
    believed = find_temperature(rows, chances(rows), 1e-4)[0]
    assert believed > 1.3 * found.temperature  # every forgotten label looks like a mistake
    assert Calibration.of(rows, forgotten=0.2).forgotten == 0.0  # nothing that the user did not say


def test_where_it_is_not_clear_that_labels_are_forgotten_rows_are_still_right():
    off = []
    for seed in range(12):
        rows, y = drawn(forgotten=0.15, evenness=0.1, n_bags=60, seed=seed)
        found = Calibration.of(rows)
        if not found.forgotten:
            off.append(found.right - (rows.P.argmax(axis=1) == y).mean())
    assert len(off) >= 3
    assert abs(np.mean(off)) < 0.06


def test_labels_on_every_list_say_nothing_and_spoil_nothing():
    rows, _ = drawn(2.0)
    always = HeldOutRows(
        np.c_[0.7 * rows.P, np.full(len(rows), 0.3)], np.c_[0.7 * rows.Q, np.full(len(rows), 0.3)],
        np.c_[rows.listed, np.ones(len(rows), dtype=bool)], rows.bag,
    )  # fmt: skip
    found = Calibration.of(always)
    assert 0.4 <= found.temperature <= 10.0
    assert np.isfinite(found.reliability.right).all()


def test_nothing_is_sharpened_where_rows_may_be_novel():
    rows, _ = drawn(0.5)
    assert Calibration.of(rows).temperature < 0.7
    novel = HeldOutRows(np.c_[0.99 * rows.P, np.full(len(rows), 0.01)], rows.Q, rows.listed, rows.bag)
    assert Calibration.of(novel).temperature >= 1.0


def test_the_share_of_right_rows():
    chance = np.full(40_000, 0.3)
    rng = np.random.default_rng(0)
    is_right, slips = rng.random(40_000) < 0.7, rng.random(40_000) < 0.1
    listed = np.where(is_right, ~slips, rng.random(40_000) < 0.3)
    assert share_right(listed, chance, 0.1).mean() == pytest.approx(0.7, abs=0.01)


def test_a_mean_sureness_is_matched():
    P = np.random.default_rng(0).dirichlet(np.full(5, 0.3), size=400)
    for wanted in (0.5, 0.6, 0.8):
        assert temper(P, matching_temperature(P, wanted)).max(axis=1).mean() == pytest.approx(wanted, abs=1e-6)
    assert matching_temperature(np.eye(3), 1.0) == 1.0


def recordings(seed=0, n_bags=80, spread=1.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(4, size=4 * n_bags)
    X = 2.0 * np.eye(4, 12)[y] + spread * rng.normal(size=(len(y), 12))
    bag = rng.permutation(np.arange(len(y)) // 4)
    lists = {int(b): {"abcd"[k] for k in y[bag == b]} for b in range(n_bags)}
    return X, sl.Bags(bag, labels=lists), np.array(list("abcd"))[y]


MODELS = {
    "coverage": lambda: sl.CoverageClustering(random_state=0),
    "subclusters": lambda: sl.CoverageClustering(n_subclusters=2, n_init=2, random_state=0),
    "novel": lambda: sl.CoverageClustering(n_novel=2, n_init=2, random_state=0),
    "dmnl": lambda: sl.DMNL(n_novel=1, n_init=1, random_state=0),
}


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_rows_are_as_sure_as_lists_allow_and_keep_their_names(make, tmp_path):
    X, bags, _ = recordings()
    model = make().fit(X, bags=bags)
    known = model.calibration_
    assert known["n_bags"] >= 20
    assert known["note"] == ""
    np.testing.assert_array_equal(model.predict(X, bags=bags), model.labels_)
    names = np.array(model.label_names_, dtype=object)
    for side in ({}, {"bags": bags}):
        P = model.predict_proba(X, **side)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        named = names[(P @ model.layout.to_labels()).argmax(axis=1)]
        np.testing.assert_array_equal(named, model.predict_labels(X, **side))
    assert known["temperature_in_fit"] != known["temperature"]
    whole = model.predict_proba(X, bags=bags).max(axis=1).mean()
    most = np.flatnonzero(np.asarray(bags.codes) > 0)
    some = model.predict_proba(X[most], bags=bags[most]).max(axis=1).mean()
    assert (whole < some) == (known["temperature_in_fit"] > known["temperature"])  # rows of the fit have their own
    sl.save(model, tmp_path / "m")
    again = sl.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict_proba(X, bags=bags), model.predict_proba(X, bags=bags))


def test_few_lists_calibrate_nothing_and_say_so():
    X, bags, _ = recordings()
    few = bags.without_labels(bags.names[19:])
    for make in (MODELS["coverage"], MODELS["dmnl"]):
        known = make().fit(X, bags=few).calibration_
        assert known["temperature"] == known["temperature_in_fit"] == 1.0
        assert "fewer than 20" in known["note"]
    plain = sl.CoverageClustering(calibrate=False, random_state=0).fit(X, bags=bags)
    assert plain.calibration_["temperature"] == 1.0


@pytest.mark.parametrize("kind", ["partial", "candidates", "forgotten", "wrong"])
def test_lists_of_every_kind_calibrate_rows(kind):
    X, bags, y = recordings()
    side, options = {"bags": bags}, {}
    if kind == "partial":
        side = {"bags": sl.Bags(list(bags), labels=bags.labels, partial=bags.names[:20])}
    elif kind == "candidates":
        side = {"candidates": [{name, "abcd"[i % 4]} for i, name in enumerate(y)]}
    else:
        options = {kind: 0.05}
    model = sl.CoverageClustering(random_state=0, **options).fit(X, **side)
    assert model.calibration_["n_rows"] > 50
    assert model.calibration_["right"] == pytest.approx((model.predict_labels(X) == y).mean(), abs=0.2)
    np.testing.assert_array_equal(model.predict(X, **side), model.labels_)


def test_tempered_rows_are_right_as_often_as_they_are_sure():
    """Overlapping kinds in few bags: a fit is too sure of new rows, and surer still of its own."""
    said, right = {True: [], False: []}, []
    for seed in range(3):
        X, bags, y = recordings(seed, n_bags=160, spread=1.5)
        train, test = np.flatnonzero(np.asarray(bags.codes) < 80), np.flatnonzero(np.asarray(bags.codes) >= 80)
        for calibrate in (True, False):
            model = sl.CoverageClustering(calibrate=calibrate, random_state=0, penalty=0.1).fit(
                X[train], bags=bags[train]
            )
            said[calibrate].append(model.predict_proba(X[test]).max(axis=1).mean())
        right.append((model.predict_labels(X[test]) == y[test]).mean())
    assert abs(np.mean(said[True]) - np.mean(right)) < 0.05
    assert np.mean(said[False]) - np.mean(right) > 0.1
