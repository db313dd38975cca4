"""Tables of co-occurrences: what comes in, where clusters start, what is said of them; and the parts of channels."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight.errors import InvalidInput
from sidelight.estimators.sources import annealed, codebook
from sidelight.estimators.sources._coclusterer import clusters_of_axes, labels_to_start, table_to_fit
from sidelight.estimators.sources.interleaved import _same_partition

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(1.5, size=(6, 5)) + 0.0
COUNTS[2] = 0.0  # a code without mass
THREE = sl.CoOccurrence.from_codes({name: RNG.integers(5, size=90) for name in "abc"})
ours = sl.estimators


def test_every_shape_of_a_table_is_the_same_table():
    expected = COUNTS / COUNTS.sum()
    coo = sp.coo_array(COUNTS)
    twice = sp.csr_array(
        (np.r_[coo.data / 2, coo.data / 2], (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])), shape=(6, 5)
    )
    zeros = sp.csr_array((np.r_[coo.data, 0.0], (np.r_[coo.row, 2], np.r_[coo.col, 1])), shape=(6, 5))
    for made in (COUNTS, sp.csr_array(COUNTS), twice, zeros, sl.CoOccurrence.from_matrix(COUNTS)):
        joint = table_to_fit(sl.InformationCoclustering(), made)
        np.testing.assert_allclose(joint.csr.toarray(), expected)
        assert joint.csr.nnz == np.count_nonzero(COUNTS)
        np.testing.assert_allclose(joint.margins[0], expected.sum(axis=1))
        np.testing.assert_allclose(joint.margins[1], expected.sum(axis=0))
        coords, values = joint.coordinates()
        np.testing.assert_allclose(values, expected[tuple(coords)])
        inside = expected > 0
        product = np.outer(expected.sum(axis=1), expected.sum(axis=0))
        information = (expected[inside] * np.log(expected[inside] / product[inside])).sum()
        assert joint.information == pytest.approx(information)
    model = sl.InformationCoclustering()
    table_to_fit(model, THREE)
    assert model.n_features_in_ == THREE.shape[1]
    for bad in (-COUNTS, np.zeros((3, 3)), np.ones((2, 2, 2)), sp.csr_array((3, 3))):
        with pytest.raises(InvalidInput):
            table_to_fit(model, bad)


def test_numbers_of_clusters_are_one_for_all_or_one_an_axis():
    for n_clusters, expected in [
        (2, (2, 2, 2)),
        ([2, 3, 4], (2, 3, 4)),
        (np.array([5, 1, 2]), (5, 1, 2)),
        ({"c": 1, "a": 2, "b": 5}, (2, 5, 1)),
    ]:
        joint = table_to_fit(ours.AnnealedCoclustering(), THREE)
        assert clusters_of_axes(ours.AnnealedCoclustering(n_clusters), joint) == expected


@pytest.mark.parametrize("n_clusters", [6, [2, 2], {"a": 2}, {"a": 2, "b": 2, "c": 2, "d": 2}, "two", [2, 2, 6], 0])
def test_numbers_of_clusters_that_cannot_be_are_refused(n_clusters):
    joint = table_to_fit(ours.AnnealedCoclustering(), THREE)
    with pytest.raises(InvalidInput):
        clusters_of_axes(ours.AnnealedCoclustering(n_clusters), joint)


def test_labels_to_start_from_are_named_or_in_order():
    joint = table_to_fit(ours.AnnealedCoclustering(), THREE)
    b = np.array([0, 1, -1, 1, 0])
    for init in ({"b": b}, [None, b, None]):
        starts = labels_to_start(ours.AnnealedCoclustering(), init, joint, (2, 2, 2))
        assert starts[0] is None
        assert starts[1].tolist() == [0, 1, 0, 1, 0]  # codes without mass carry -1
        assert starts[2] is None
    assert labels_to_start(ours.AnnealedCoclustering(), None, joint, (2, 2, 2)) == [None] * 3
    for bad in ({"d": b}, [None, b], [None, b + 1, None], [None, b[:4], None], [None, b + 0.5, None], 3):
        with pytest.raises(InvalidInput):
            labels_to_start(ours.AnnealedCoclustering(), bad, joint, (2, 2, 2))


@pytest.mark.parametrize(
    "model",
    [
        sl.InformationCoclustering((2, 3), random_state=0),
        ours.AnnealedCoclustering((2, 3), n_init=1, random_state=0),
        ours.SpectralContingency((2, 3), random_state=0),
        ours.WeightCoclustering((2, 3), n_init=1, max_iter=50, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::sidelight.errors.ConvergenceWarning")
def test_what_is_said_of_clusters_is_what_they_make_of_the_table(model):
    model.fit(COUNTS)
    P = COUNTS / COUNTS.sum()
    rows, columns = model.row_labels_, model.column_labels_
    assert rows[2] == -1
    assert (rows[[0, 1, 3, 4, 5]] >= 0).all()
    small = np.zeros((2, 3))
    for i, r in enumerate(rows):
        for j, c in enumerate(columns):
            small[r, c] += P[i, j]
    np.testing.assert_allclose(model.cluster_table_, small)
    outer = np.outer(small.sum(axis=1), small.sum(axis=0))
    kept = (small[small > 0] * np.log(small[small > 0] / outer[small > 0])).sum()
    assert model.information_ == pytest.approx(kept)
    assert model.information_loss_ == pytest.approx(model.total_information_ - kept)
    Q = model.approximation()
    assert Q.shape == P.shape
    np.testing.assert_allclose(Q.sum(), 1.0)
    assert (Q[2] == 0).all()
    for i, r in enumerate(rows):
        for j, c in enumerate(columns):
            if r >= 0:
                share = P.sum(axis=1)[i] / small.sum(axis=1)[r] * P.sum(axis=0)[j] / small.sum(axis=0)[c]
                assert Q[i, j] == pytest.approx(small[r, c] * share)
    assert model.rows_.shape == (6, 6)
    assert model.columns_.shape == (6, 5)
    for cell, (k, m) in enumerate(np.ndindex(2, 3)):
        assert model.rows_[cell].tolist() == (rows == k).tolist()
        assert model.columns_[cell].tolist() == (columns == m).tolist()


def test_a_cluster_more_than_two_axes_has_no_rows_and_columns():
    model = ours.AnnealedCoclustering(2, n_init=1, random_state=0).fit(THREE)
    with pytest.raises(AttributeError, match="two axes only"):
        _ = model.rows_
    assert model.approximation().shape == THREE.shape


def test_an_axis_without_labels_follows_the_other():
    block = np.kron(np.eye(3), np.ones((4, 3))) * 5 + RNG.random((12, 9))
    rows, columns = np.repeat(np.arange(3), 4), np.repeat(np.arange(3), 3)
    for init in ([rows, None], [None, columns], {"rows": rows}):
        model = sl.InformationCoclustering(3, n_init=1, max_iter=1, tol=0.0, random_state=0)
        with sl.errors.ignore_warnings():
            model.fit(block, init=init)
        assert _same_partition(model.row_labels_, rows)
        assert _same_partition(model.column_labels_, columns)


@pytest.mark.parametrize("missing", [None, 1, 2])
def test_an_earlier_mapping_starts_k_means_unless_a_cluster_of_it_is_empty(missing):
    block = np.kron(np.eye(3), np.ones((4, 3))) * 5 + RNG.random((12, 9))
    rows = np.repeat({None: [2, 0, 1], 1: [2, 0, 0], 2: [1, 0, 0]}[missing], 4)
    found = ours.SpectralContingency(3, random_state=0).fit(block, init=[rows, None]).row_labels_
    if missing is None:
        np.testing.assert_array_equal(found, rows)
    assert len(set(zip(found.tolist(), np.repeat(np.arange(3), 4).tolist()))) == 3


def test_margins_are_all_or_those_of_an_axis_the_weakest_first():
    make = ours.InterleavedCoclustering
    base = sl.InformationCoclustering(2, n_init=1)
    for margins, pairs in ((None, {("a", "b"), ("a", "c"), ("b", "c")}), ("b", {("b", "a"), ("b", "c")})):
        found = make(base, margins=margins, random_state=0).fit(THREE)
        assert set(found.margins_) == pairs
        strength = [THREE.mutual_information(*pair) for pair in found.margins_]
        assert strength == sorted(strength)
        assert set(found.information_) == pairs
    given = make(base, margins=[("c", "a"), ("a", "b")], random_state=0).fit(THREE)
    assert given.margins_ == (("c", "a"), ("a", "b"))
    for bad in ("d", [("a", "d")], [("a", "a")], [("a", "b", "c")], [], [("a", 1)], [("a", ["b"])]):
        with pytest.raises(InvalidInput):
            make(base, margins=bad).fit(THREE)


def test_rounds_end_where_labels_stand_still_and_information_is_that_of_the_labels():
    found = ours.InterleavedCoclustering(sl.InformationCoclustering(2, n_init=1), max_rounds=1, random_state=0).fit(
        THREE
    )
    assert found.n_rounds_ == 1
    longer = ours.InterleavedCoclustering(sl.InformationCoclustering(2, n_init=1), random_state=0).fit(THREE)
    assert 1 < longer.n_rounds_ < 15
    lost = 0.0
    for pair, kept in longer.information_.items():
        margin = THREE.margin(*pair)
        small = margin.aggregate({axis: longer.axis_labels_[axis] for axis in pair})
        assert kept == pytest.approx(small.mutual_information())
        lost += margin.mutual_information() - kept
    assert longer.information_loss_ == pytest.approx(lost)
    assert _same_partition(np.array([0, 0, 1]), np.array([5, 5, 2]))
    assert not _same_partition(np.array([0, 0, 1]), np.array([5, 2, 2]))
    assert not _same_partition(np.array([0, 0, 0]), np.array([5, 2, 2]))
    assert not _same_partition(np.array([0, 1, 2]), np.array([5, 2, 2]))


def test_a_code_book_of_many_rows_is_learnt_from_some(monkeypatch):
    X = RNG.normal(size=(60, 2))
    whole = ours.Codebook(3, random_state=0).fit(X).prototypes_
    monkeypatch.setattr(codebook, "_MOST_ROWS", 30)
    monkeypatch.setattr(codebook, "_ROWS_EACH", 5)
    some = ours.Codebook(3, random_state=0).fit(X)
    assert np.abs(some.prototypes_ - whole).max() > 1e-6
    assert some.labels_.shape == (60,)
    monkeypatch.setattr(codebook, "_ROWS_EACH", 20)
    np.testing.assert_array_equal(ours.Codebook(3, random_state=0).fit(X).prototypes_, whole)
    book = ours.Codebook(3, random_state=0).fit(X)
    weights = RNG.uniform(size=60)
    gaps = np.square(X[:, None] - book.prototypes_).sum(axis=2).min(axis=1)
    assert book.score(X) == pytest.approx(-gaps.mean())
    assert book.score(X, sample_weight=weights) == pytest.approx(-np.average(gaps, weights=weights))


@pytest.mark.parametrize(
    "sequences", [["a", None, "b"], ["a", np.nan, "b"], ["a", "", "b"], ["a", "b"], [["a", "b", "c"]]]
)
def test_rows_without_a_sequence_are_refused(sequences):
    with pytest.raises(InvalidInput):
        codebook.sequence_codes(sequences, 3, "Codebook")
    assert codebook.sequence_codes(["b", "a", "b"], 3, "Codebook")[0].tolist() in ([0, 1, 0], [1, 0, 1])


def channels(n=60):
    y = np.arange(n) % 3
    return (
        np.hstack([6 * np.eye(3)[y] + RNG.normal(size=(n, 3)) for _ in range(2)]),
        {"a": [0, 1, 2], "b": [3, 4, 5]},
        y,
    )


def test_as_many_clusters_as_sequences_and_rows_that_all_lack_something():
    X, where, y = channels()
    model = sl.MultiSourceClustering(3, channels=where, method="graphs", random_state=0).fit(X, sequences=y)
    assert len(set(zip(y.tolist(), model.labels_.tolist()))) == 3
    gaps = X.copy()
    gaps[::2, :3], gaps[1::2, 3:] = np.nan, np.nan
    torn = sl.MultiSourceClustering(3, channels=where, method="graphs", random_state=0).fit(gaps)
    assert torn.table_.total == 60
    gaps[4] = X[4]
    assert sl.MultiSourceClustering(3, channels=where, method="graphs", random_state=0).fit(gaps).table_.total == 1


def test_bags_of_parts_are_sequences():
    X, where, y = channels()
    days = y * 4 + RNG.integers(4, size=60)
    parts = sl.Parts.from_arrays(X, sl.Bags(days))
    model = sl.MultiSourceClustering(3, channels=where, random_state=0).fit(parts)
    assert len(model.codebooks_["a"].prototypes_) == len(np.unique(days))
    assert len(set(zip(days.tolist(), np.asarray(model.labels_).tolist()))) == len(np.unique(days))
    with pytest.raises(InvalidInput, match="Parts bring their bags, sequences"):
        sl.MultiSourceClustering(3, channels=where).fit(parts, sequences=days)


def test_shares_of_a_sequence_are_those_of_its_rows():
    X, where, y = channels()
    days = RNG.integers(12, size=60)
    for method in ("graphs", "information"):
        model = sl.MultiSourceClustering(3, channels=where, method=method, random_state=0).fit(X)
        alone = model.predict(X)
        P = model.predict_proba(X, sequences=days)
        for day in range(12):
            expected = np.bincount(alone[days == day], minlength=3) / (days == day).sum()
            np.testing.assert_allclose(P[days == day], np.tile(expected, ((days == day).sum(), 1)))
        following = model.predict(X, sequences=days)
        assert (P[np.arange(60), following] == P.max(axis=1)).all()
        free = sl.MultiSourceClustering(3, channels=where, method=method, reassign=False, random_state=0).fit(X)
        np.testing.assert_array_equal(free.predict(X, sequences=days), free.predict(X))
        np.testing.assert_array_equal(free.predict_proba(X, sequences=days), free.predict_proba(X))
    assert (y >= 0).all()


def test_a_point_is_new_beyond_its_threshold_and_rows_without_the_channel_are_not():
    X, where, _ = channels()
    days = np.arange(60) // 5
    model = sl.MultiSourceClustering(3, channels=where, method="graphs", random_state=0).fit(X, sequences=days)
    book, used = model._book("a")
    gaps = np.sqrt(np.square(X[:, None, :3] - book.prototypes_[used]).sum(axis=2)).min(axis=1)
    of_point, of_sequence = model.novelty_thresholds_["a"]
    far = X * 1.5
    np.testing.assert_array_equal(model.is_new(X), gaps > of_point)
    np.testing.assert_array_equal(model.is_new(X[:, :3], channel="a"), gaps > of_point)
    means = np.array([far[days == day, :3].mean(axis=0) for day in range(12)])
    of_days = np.sqrt(np.square(means[:, None] - book.prototypes_[used]).sum(axis=2)).min(axis=1)
    np.testing.assert_array_equal(model.is_new(far, sequences=days), (of_days > of_sequence)[days])
    lacking = np.vstack([far * 9, far * 9])
    lacking[:60, :3] = np.nan
    assert model.is_new(lacking).tolist() == [False] * 60 + [True] * 60
    assert model.is_new(lacking, sequences=np.r_[days, days]).all()  # the other rows of their sequences are new
    assert not model.is_new(lacking[:60]).any()


def test_scores_are_information_between_channels_by_weight():
    X, where, _ = channels()
    model = sl.MultiSourceClustering(3, channels=where, method="information", random_state=0).fit(X)
    weights = RNG.uniform(size=60)
    labels = {name: model.predict_channel(name, X[:, columns]) for name, columns in where.items()}
    for sample_weight in (None, weights):
        expected = sl.CoOccurrence.from_codes(labels, weights=sample_weight).total_correlation()
        assert model.score(X, sample_weight=sample_weight) == pytest.approx(expected)


def test_two_channels_may_be_clustered_jointly_by_a_method_for_two():
    X, where, _ = channels()
    model = sl.MultiSourceClustering(3, channels=where, method="information", combine="joint", random_state=0).fit(X)
    assert isinstance(model.clusterer_, sl.InformationCoclustering)
    with pytest.raises(InvalidInput, match="n_codes"):
        ours.Codebook(61).fit(X)


def test_a_product_of_clusters_may_be_as_large_as_memory_allows(monkeypatch):
    sums = 10 * 3 * 4 + 7 * 2 * 4 + 5 * 2 * 3  # the codes of each axis times the clusters of the others
    monkeypatch.setattr(annealed, "MOST_SUMS", sums)
    annealed._check_size(ours.AnnealedCoclustering(), (10, 7, 5), (2, 3, 4))
    monkeypatch.setattr(annealed, "MOST_SUMS", sums - 1)
    with pytest.raises(InvalidInput, match="InterleavedCoclustering"):
        annealed._check_size(ours.AnnealedCoclustering(), (10, 7, 5), (2, 3, 4))
