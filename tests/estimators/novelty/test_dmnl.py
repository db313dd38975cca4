"""DMNL: novel labels are found beside the known ones, the objective falls, and what cannot be is refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad

import sidelight as sl
from sidelight.errors import InvalidInput, SidelightWarning
from sidelight.estimators._labelled_bags.supervision import Layout
from sidelight.estimators.novelty.problem import Lists, Problem, allowed_labels, draw_labels
from sidelight.metrics import novel_instance_f1

CENTRES = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0], [7.0, 7.0]])
NAMES = np.array(["ant", "bee", "cat", "dog"], dtype=object)
KNOWN = ("ant", "bee")


def recordings(n_bags=60, size=5, seed=0):
    """Bags around four centres of which two have names: rows, bags and true names."""
    generator = np.random.default_rng(seed)
    y = np.concatenate([generator.choice(generator.choice(4, 2), size) for _ in range(n_bags)])
    ids = np.repeat(np.arange(n_bags), size)
    X = CENTRES[y] + generator.normal(size=(len(y), 2))
    labels = {b: set(NAMES[y[ids == b]]) & set(KNOWN) for b in range(n_bags)}
    return X, sl.Bags(ids, labels=labels, classes=KNOWN), NAMES[y]


@pytest.mark.parametrize("structure", ["clusters", "manifold"])
def test_novel_labels_are_found_and_told_apart(structure):
    X, bags, names = recordings()
    model = sl.DMNL(n_novel=2, structure=structure, n_init=3, random_state=0).fit(X, bags=bags)
    assert novel_instance_f1(names, model.predict_labels(X), KNOWN) > 0.9
    fresh, _, fresh_names = recordings(seed=1)
    assert novel_instance_f1(fresh_names, model.predict_labels(fresh), KNOWN) > 0.9
    is_novel = ~np.isin(fresh_names, KNOWN)
    assert model.novelty_score(fresh)[is_novel].min() > np.median(model.novelty_score(fresh)[~is_novel])
    assert set(model.novel_labels_) == {"novel-1", "novel-2"}
    for name, rows in model.novel_labels_.items():
        assert set(model.predict_labels(X, bags=bags)[rows]) == {name}
        assert len(set(names[rows])) == 1


def test_the_objective_and_the_residual_are_lower_at_the_end():
    for seed in range(3):
        generator = np.random.default_rng(seed)
        y = np.concatenate([generator.choice(generator.choice(8, 3, replace=False), 6) for _ in range(60)])
        X = generator.normal(size=(8, 6))[y] + generator.normal(size=(len(y), 6))  # kinds overlap: no start is right
        ids = np.repeat(np.arange(60), 6)
        bags = sl.Bags(ids, labels={b: {int(k) for k in y[ids == b] if k > 1} for b in range(60)})
        model = sl.DMNL(n_novel=2, n_init=2, random_state=seed).fit(X, bags=bags)
        assert model.trace_[-1] < model.trace_[0]
        assert model.constraint_residual_[-1] < model.constraint_residual_[0]
        assert model.trace_[-1] == model.start_values_.min()
        assert len(model.constraint_residual_) == len(model.trace_) == model.n_iter_ + 1


@pytest.mark.parametrize("structure", ["clusters", "manifold"])
def test_the_whole_gradient_agrees_with_finite_differences(structure):
    X, bags, _ = recordings(n_bags=6)
    layout = Layout.of(bags.classes, 1, 2)
    problem = Problem.of(X, bags, layout, sl.DMNL(structure=structure), np.random.default_rng(0))
    objective = problem.objective(draw_labels(X, bags, layout, np.random.default_rng(0)))
    theta = np.random.default_rng(1).normal(scale=0.3, size=problem.model.n_parameters)
    error = check_grad(lambda t: float(objective(t)[0]), lambda t: objective(t)[1], theta)
    assert error < 1e-5 * np.linalg.norm(objective(theta)[1])  # truncation error of forward differences


def test_eq_2_agrees_with_the_paper_written_out():
    X, bags, _ = recordings(n_bags=8)
    layout = Layout.of(bags.classes, 1, 2)
    centred = X - X.mean(axis=0)
    problem = Problem.of(centred, bags, layout, sl.DMNL(lam=0.7), np.random.default_rng(0))
    z = np.random.default_rng(2).integers(4, size=len(X))
    G = np.eye(4)[z]
    A = centred * np.sqrt(bags.n_bags / np.square(centred).sum())
    loss = 0.0
    for b, bag in enumerate(bags.each()):
        beta = 1.0 / np.array([(z[bag.rows] == z[i]).sum() for i in bag.rows])
        loss += np.square(bags.label_matrix.toarray()[b] - beta @ G[bag.rows][:, :2]).sum()
    H = G / np.sqrt(G.sum(axis=0))
    assert problem.hard_value(z) == pytest.approx(loss - 0.7 * np.trace(H.T @ A @ A.T @ H))


def test_a_start_keeps_to_the_lists():
    X, bags, _ = recordings()
    layout = Layout.of(bags.classes, 1, 2)
    z = draw_labels(X, bags, layout, np.random.default_rng(0))
    assert allowed_labels(bags, layout)[np.arange(len(z)), z].all()


def test_rows_keep_to_their_lists_where_bags_are_given():
    X, bags, _ = recordings()
    model = sl.DMNL(n_novel=2, n_init=2, random_state=0).fit(X, bags=bags)
    names = model.predict_labels(X, bags=bags)
    for bag in bags.each():
        assert set(names[bag.rows]) & set(KNOWN) <= bag.labels
    sets = model.predict_bags(X, bags)
    assert sets[0] == frozenset(model.predict_labels(X)[bags.rows(bags.names[0])])


def test_units_do_not_matter():
    X, bags, _ = recordings()
    plain = sl.DMNL(n_novel=2, n_init=1, random_state=0).fit(X, bags=bags)
    scaled = X * [1e-6, 1e9] + [5.0, 3e9]
    np.testing.assert_array_equal(
        sl.DMNL(n_novel=2, n_init=1, random_state=0).fit(scaled, bags=bags).labels_, plain.labels_
    )


def test_sparse_rows_have_the_same_objective():
    X, bags, _ = recordings(n_bags=10)
    layout = Layout.of(bags.classes, 1, 2)
    z = np.arange(len(X)) % 4
    dense, sparse = (
        Problem.of(rows, bags, layout, sl.DMNL(), np.random.default_rng(0))
        for rows in (X - X.mean(axis=0), sp.csr_array(X))
    )
    assert dense.hard_value(z) == pytest.approx(sparse.hard_value(z))


def test_partial_lists_and_cut_bags_demand_less():
    bags = sl.Bags([0, 0, 1, 1, 2], labels={0: {"a"}, 1: {"a"}}, partial=[1], classes=["a", "b"])
    assert Lists.of(bags).told.tolist() == [[1, 1], [1, 0], [0, 0]]


def test_labels_with_few_rows_are_noise():
    X, bags, _ = recordings()
    model = sl.DMNL(n_novel=2, noise=5.0, n_init=1, random_state=0).fit(X, bags=bags)  # nobody has five average shares
    assert model.novel_labels_ == {}
    assert model.noise_labels_ == ("novel-1", "novel-2")


def test_the_count_can_be_chosen():
    X, bags, _ = recordings(n_bags=30)
    model = sl.DMNL(n_init=1, max_iter=10, cv=3, max_novel=3, random_state=0)
    with pytest.warns(SidelightWarning, match="novel labels apart"):  # one novel label explains the lists as well
        model.fit(X, bags=bags)
    choice = model.choice_["n_novel"]
    assert choice["tried"][0] == 1  # some lists are empty, so something novel is there
    assert choice["chosen"] == model.layout.n_novel


def test_the_score_is_the_share_of_labels_told_rightly():
    X, bags, _ = recordings()
    model = sl.DMNL(n_novel=2, n_init=2, random_state=0).fit(X, bags=bags)
    right = [
        len(KNOWN) - len((bags.labels[n] ^ s) & set(KNOWN)) for n, s in zip(bags.names, model.predict_bags(X, bags))
    ]
    assert model.score(X, bags=bags) == pytest.approx(np.mean(right) / 2)
    with pytest.warns(SidelightWarning, match="the score is NaN"):
        assert np.isnan(model.score(X, bags=bags.without_labels()))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_novel": 1000}, "1000"),
        ({"n_novel": 0}, "nothing novel is allowed"),
        ({"n_novel": -1}, "n_novel"),
        ({"n_novel": "many"}, "n_novel"),
        ({"structure": "clots"}, "clusters"),
        ({"lam": -1.0}, "lam"),
        ({"n_novel": "auto", "cv": 70}, "cv=70"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    X, bags, _ = recordings()
    with pytest.raises(InvalidInput, match=message):
        sl.DMNL(**{"n_novel": 2, **options}).fit(X, bags=bags)


def test_odd_input_is_survived():
    X, bags, _ = recordings(n_bags=12)
    with pytest.warns(SidelightWarning, match="on no list"):
        model = sl.DMNL(n_novel=1, n_init=1, random_state=0).fit(X, bags=bags.with_classes([*KNOWN, "yak"]))
    assert "yak" not in model.predict_labels(X)
    only_yak = sl.Bags([0], labels={0: {"yak"}}, classes=[*KNOWN, "yak"])
    with pytest.warns(SidelightWarning, match="on no list"):
        known = sl.DMNL(n_novel=0, n_init=1, random_state=0).fit(
            X, bags=bags.with_labels({0: {"ant"}, 1: {"bee"}}, classes=[*KNOWN, "yak"])
        )
    np.testing.assert_array_equal(known.predict_proba(X[:1], bags=only_yak), [[0, 0, 1]])  # the list is believed
    alone = sl.Bags(np.arange(len(X)), labels={i: {"ant"} if i % 2 else {"bee"} for i in range(len(X))})
    assert len(sl.DMNL(n_novel=1, n_init=1, random_state=0).fit(X, bags=alone).labels_) == len(X)
    flat = np.hstack([X, np.ones((len(X), 1))])
    assert np.isfinite(sl.DMNL(n_novel=1, n_init=1, random_state=0).fit(flat, bags=bags).weights_).all()
    constant = sl.DMNL(n_novel=1, n_init=1, random_state=0).fit(np.ones((len(X), 2)), bags=bags)
    assert np.isfinite(constant.predict_proba(np.ones((1, 2)))).all()


def test_few_lists_are_all_held_out_an_eighth_at_a_time():
    for n_bags, held_out in ((32, 32), (64, 32)):
        X, bags, _ = recordings(n_bags=n_bags)
        model = sl.DMNL(n_novel=1, n_init=1, max_iter=5, random_state=0).fit(X, bags=bags)
        assert model.calibration_["n_bags"] == held_out
