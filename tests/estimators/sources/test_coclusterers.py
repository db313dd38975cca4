"""Claims about the co-clusterers: the thesis' example, empty codes, N axes, starts that are passed on, bad tables."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidInput
from sidelight.metrics import adjusted_rand_index, information_loss

P_THESIS = np.array([[0.1, 0.1, 0, 0], [0.1, 0.2, 0, 0], [0, 0, 0.05, 0.05], [0, 0, 0.15, 0.25]])  # [B04] 1.4.3
Q_THESIS = np.array([[0.08, 0.12, 0, 0], [0.12, 0.18, 0, 0], [0, 0, 0.04, 0.06], [0, 0, 0.16, 0.24]])

TWO_WAY = [
    sl.InformationCoclustering(2, random_state=0),
    sl.estimators.AnnealedCoclustering(2, random_state=0),
    sl.estimators.AnnealedCoclustering(2, objective="chi-square", random_state=0),
    sl.estimators.SpectralContingency(2, random_state=0),
    sl.estimators.WeightCoclustering(2, random_state=0),
]
each = pytest.mark.parametrize(
    "estimator",
    [*TWO_WAY[:-1], pytest.param(TWO_WAY[-1], marks=pytest.mark.slow)],  # takes seconds, and has a file of its own
    ids=lambda e: type(e).__name__,
)


def blocks(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table with three row groups and two column groups, and its truth."""
    rng = np.random.default_rng(seed)
    rows, columns = np.arange(24) % 3, np.arange(18) % 2
    rate = np.array([[9.0, 1.0], [1.0, 9.0], [5.0, 5.0]])[rows][:, columns]
    return rng.poisson(rate * 4).astype(float), rows, columns


def three_way() -> tuple[sl.CoOccurrence, np.ndarray]:
    """Codes of three channels that follow one hidden kind, with some noise."""
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=3000)
    codes = {name: kind * 4 + rng.integers(4, size=3000) for name in ("a", "b", "c")}
    codes["c"] = np.where(rng.random(3000) < 0.3, rng.integers(12, size=3000), codes["c"])
    return sl.CoOccurrence.from_codes(codes), np.arange(12) // 4


@each
def test_the_thesis_example_to_four_digits(estimator):
    found = estimator.fit(P_THESIS)
    np.testing.assert_allclose(found.approximation(), Q_THESIS, atol=1e-12)
    assert round(found.information_loss_ / np.log(2), 4) == 0.0137
    assert round(found.information_loss_, 5) == 0.00949
    assert round(float(np.linalg.norm(P_THESIS - found.approximation(), 2)), 4) == 0.04


def test_the_largest_energy_approximation_of_the_example_loses_more_information():
    U, s, Vt = np.linalg.svd(P_THESIS)
    P2 = (U[:, :2] * s[:2]) @ Vt[:2]
    assert round(float(np.linalg.norm(P_THESIS - P2, 2)), 4) == 0.0382
    P2 = P2 / P2.sum()  # the thesis' 0.0154 needs this
    there = P_THESIS > 0
    assert round(float((P_THESIS[there] * np.log2(P_THESIS[there] / P2[there])).sum()), 4) == 0.0154


@each
def test_labels_are_scikit_learns_biclusters(estimator):
    P, rows, _ = blocks()
    found = estimator.set_params(n_clusters=(3, 2)).fit(P)
    estimator.set_params(n_clusters=2)
    assert found.rows_.shape == (6, 24)
    assert found.columns_.shape == (6, 18)
    assert found.get_shape(1) == (int((found.row_labels_ == 0).sum()), int((found.column_labels_ == 1).sum()))
    if not isinstance(found, sl.estimators.WeightCoclustering):  # the weakest method: it often merges two of the three
        assert adjusted_rand_index(rows, found.row_labels_) == 1.0
    assert found.information_loss_ == pytest.approx(information_loss(P, [found.row_labels_, found.column_labels_]))
    np.testing.assert_allclose(found.approximation().sum(), 1.0)


@each
def test_empty_rows_and_columns_belong_to_no_cluster(estimator):
    P, _, _ = blocks()
    P[3], P[:, 5] = 0.0, 0.0
    found = estimator.fit(sp.csr_array(P))
    assert found.row_labels_[3] == found.column_labels_[5] == -1
    assert (np.delete(found.row_labels_, 3) >= 0).all()
    assert not found.rows_[:, 3].any()


def check_three_axes(estimator):
    table, truth = three_way()
    found = estimator.fit(table)
    for axis in "ab":
        assert adjusted_rand_index(truth, found.axis_labels_[axis]) == 1.0


def test_three_axes_are_clustered_together():
    for estimator in [
        sl.estimators.AnnealedCoclustering(3, random_state=0),
        sl.estimators.SpectralContingency(3, random_state=0),
        sl.estimators.InterleavedCoclustering(sl.InformationCoclustering(3), random_state=0),
        sl.estimators.InterleavedCoclustering(sl.estimators.AnnealedCoclustering(3, n_init=1), random_state=0),
    ]:
        check_three_axes(estimator)


@pytest.mark.slow
def test_each_margin_may_have_a_method_of_its_own():
    bases = [
        sl.estimators.SpectralContingency(3), sl.InformationCoclustering(3), sl.estimators.WeightCoclustering(3),
    ]  # fmt: skip
    check_three_axes(sl.estimators.InterleavedCoclustering(bases, random_state=0))


def test_interleaving_puts_the_strongest_margin_last_and_stops_when_labels_stand_still():
    table, _ = three_way()
    found = sl.estimators.InterleavedCoclustering(sl.InformationCoclustering(3), margins="a", random_state=0).fit(table)
    assert found.margins_ == (("a", "c"), ("a", "b"))
    assert found.n_rounds_ < 15


@each
def test_a_start_is_passed_on(estimator):
    P, rows, columns = blocks()
    found = estimator.set_params(n_clusters=(3, 2)).fit(P, init=(rows, columns))
    estimator.set_params(n_clusters=2)
    assert adjusted_rand_index(rows, found.row_labels_) == 1.0
    assert adjusted_rand_index(columns, found.column_labels_) == 1.0


def test_spectral_start_keeps_the_numbers_of_an_earlier_mapping():
    P, rows, _ = blocks()
    relabelled = np.array([2, 0, 1])[rows]
    found = sl.estimators.SpectralContingency((3, 2), random_state=0).fit(P, init=(relabelled, None))
    np.testing.assert_array_equal(found.row_labels_, relabelled)


@pytest.mark.slow
def test_weights_report_and_place_rows_that_no_cluster_took():
    P, _, _ = blocks()
    found = sl.estimators.WeightCoclustering((3, 2), constraints=("unique",), random_state=0).fit(P)
    assert found.row_weights_.shape == (24, 3)
    assert (found.row_labels_ >= 0).all()
    without = np.flatnonzero(found.row_weights_.max(axis=1) < 0.5)
    np.testing.assert_array_equal(found.unassigned_rows_, without)


@each
@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.array([[1.0, -2.0], [1.0, 1.0]]), "-2"),
        (np.zeros((3, 3)), "all zero"),
        (np.array([[1.0, np.inf], [1.0, 1.0]]), "infinity"),
        (np.ones((1, 4)), "n_samples=1"),
        (np.ones((4, 1)), "n_features=1"),
    ],
    ids=["negative", "zero", "infinite", "few-rows", "few-columns"],
)
def test_a_bad_table_is_refused_and_leaves_nothing(estimator, table, words):
    from sklearn.base import clone

    fresh = clone(estimator)
    with pytest.raises(ValueError, match=words):
        fresh.fit(table)
    assert not [name for name in vars(fresh) if name.endswith("_")]


def test_wrong_names_and_shapes_are_named():
    table, _ = three_way()
    with pytest.raises(InvalidInput, match=r"'d'.*Known names"):
        sl.estimators.InterleavedCoclustering(margins=[("a", "d")]).fit(table)
    with pytest.raises(InvalidInput, match="two axes, got 3"):
        sl.InformationCoclustering(2).fit(table)
    with pytest.raises(InvalidInput, match="3 axes"):
        sl.estimators.AnnealedCoclustering((2, 2)).fit(table)
    with pytest.raises(InvalidInput, match=r"says nothing about the axis 'c'"):
        sl.estimators.AnnealedCoclustering({"a": 2, "b": 2}).fit(table)
    with pytest.raises(InvalidInput, match="init of the axis 'rows'"):
        sl.InformationCoclustering(2).fit(np.ones((4, 4)), init=([0, 1], None))
    with pytest.raises(InvalidInput, match="2 bases for 3 margins"):
        sl.estimators.InterleavedCoclustering([sl.InformationCoclustering(2)] * 2).fit(table)
    with pytest.raises(InvalidInput, match="Did you mean 'unique'"):
        sl.estimators.WeightCoclustering(2, constraints=("uniqe",)).fit(np.ones((4, 4)))
    with pytest.raises(InvalidInput, match="fewer clusters or axes"):
        sl.estimators.AnnealedCoclustering(1000).fit(sl.CoOccurrence.from_codes({a: [999] for a in "abc"}))


def test_more_starts_keep_no_less():
    """The starts of a smaller n_init are finished by a larger one too, whatever the race says."""
    for seed in range(4):
        rng = np.random.default_rng([3, seed])
        rates = rng.gamma(0.3, size=(5, 4))
        counts = rng.poisson(rates[rng.integers(5, size=120)][:, rng.integers(4, size=90)])
        kept = [
            sl.InformationCoclustering((5, 2), n_init=n, tol=0, random_state=seed).fit(counts).information_
            for n in (1, 3, 10, 30)
        ]
        assert kept == sorted(kept)
