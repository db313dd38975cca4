"""Claims about the pipeline from channels to clusters, its foils and seeded merging."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidInput
from sidelight.metrics import adjusted_rand_index, normalized_mutual_information


@pytest.fixture(scope="module")
def seen():
    return sl.data.make_sources(4, n_sequences=16, n_points=1600, random_state=1)


@pytest.fixture(scope="module")
def stacked(seen):
    return sl.stack_channels(seen.channels)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "combine"), [("annealed", "interleaved"), ("annealed", "joint"), ("spectral", "interleaved")]
)
def test_people_are_told_apart_through_what_they_wear(seen, stacked, method, combine):
    X, channels = stacked
    ms = sl.MultiSourceClustering(4, channels=channels, primary="face", method=method, combine=combine, random_state=0)
    ms.fit(X, sequences=seen.sequences)
    assert normalized_mutual_information(seen.subjects, ms.labels_) > 0.7
    assert set(ms.channel_labels_) == set(channels)
    np.testing.assert_array_equal(ms.labels_, ms.channel_labels_["face"])


def test_codes_are_the_nearest_sequence_means(seen, stacked):
    X, channels = stacked
    ms = sl.MultiSourceClustering(4, channels=channels, method="information", random_state=0)
    ms.fit(X, sequences=seen.sequences)
    for name in channels:
        np.testing.assert_array_equal(ms.channel_codes_[name], seen.codes(name))


def test_predicting_the_training_rows_returns_their_labels(seen, stacked):
    X, channels = stacked
    ms = sl.MultiSourceClustering(4, channels=channels, primary="upper", method="information", random_state=0)
    ms.fit(X, sequences=seen.sequences)
    np.testing.assert_array_equal(ms.predict(X, sequences=seen.sequences), ms.labels_)
    np.testing.assert_array_equal(
        ms.predict_channel("face", seen.channels["face"], sequences=seen.sequences), ms.channel_labels_["face"]
    )
    plain = sl.MultiSourceClustering(4, channels=channels, method="information", reassign=False, random_state=0)
    np.testing.assert_array_equal(plain.fit(X, sequences=seen.sequences).predict(X), plain.labels_)


def test_reassignment_gives_every_sequence_one_cluster(seen, stacked):
    X, channels = stacked
    ms = sl.MultiSourceClustering(4, channels=channels, method="information", random_state=0)
    ms.fit(X, sequences=seen.sequences)
    for labels in ms.channel_labels_.values():
        assert len(set(zip(seen.sequences, labels))) == seen.n_sequences


def test_without_sequences_code_books_are_k_means(seen, stacked):
    X, channels = stacked
    ms = sl.MultiSourceClustering(4, channels=channels, n_codes=20, method="information", random_state=0).fit(X)
    assert ms.table_.shape == (20, 20, 20, 20)
    np.testing.assert_array_equal(ms.predict(X), ms.labels_)


@pytest.mark.slow
def test_a_new_person_is_said_to_be_new_and_known_ones_are_not():
    everybody = sl.data.make_sources(8, n_sequences=48, n_points=6000, random_state=3)
    stranger = everybody.subjects == 7
    X, channels = sl.stack_channels(everybody.channels)
    held_out = np.isin(everybody.sequences, np.unique(everybody.sequences)[::6]) & ~stranger
    known = ~stranger & ~held_out
    ms = sl.MultiSourceClustering(7, channels=channels, primary="upper", random_state=0)
    ms.fit(X[known], sequences=everybody.sequences[known])
    of = everybody.sequences
    assert ms.is_new(X[stranger], sequences=of[stranger]).mean() > 0.9
    assert ms.is_new(X[held_out], sequences=of[held_out]).mean() < 0.35  # two of six held-out days at most
    assert ms.is_new(X[known]).mean() < 0.05
    far = ms.is_new(X[known][:3] + 1e3)
    assert far.all()


def test_bad_channels_and_sequences_are_named(seen, stacked):
    X, channels = stacked
    make = sl.MultiSourceClustering
    with pytest.raises(InvalidInput, match=r"no channel 'fase'.*'face'"):
        make(4, channels=channels, primary="fase").fit(X)
    with pytest.raises(InvalidInput, match=r"row 2 \(counted from 0\) has no sequence"):
        make(2, channels=channels).fit(X[:5], sequences=["a", "a", None, "b", "b"])
    with pytest.raises(InvalidInput, match="1600 rows but sequences of shape"):
        make(4, channels=channels).fit(X, sequences=seen.sequences[:-1])
    with pytest.raises(InvalidInput, match="17 clusters of only 16 sequences"):
        make(17, channels=channels).fit(X, sequences=seen.sequences)
    with pytest.raises(InvalidInput, match="only 16 different codes"):
        make(17, channels=channels, method="annealed").fit(X, sequences=seen.sequences)
    with pytest.raises(InvalidInput, match="two channels at a time"):
        make(4, channels=channels, method="information", combine="joint").fit(X, sequences=seen.sequences)
    with pytest.raises(InvalidInput, match="channel 'height' wants the columns"):
        make(4, channels=channels).fit(X[:, :-1], sequences=seen.sequences)
    with pytest.raises(InvalidInput, match="Did you mean 'annealed'"):
        make(4, method="aneal").fit(X)


def test_seeded_merging_keeps_groups_together(seen):
    found = sl.peers.SeededAgglomerative(4, linkage="average").fit(seen.channels["upper"], groups=seen.sequences)
    assert len(set(zip(seen.sequences, found.labels_))) == seen.n_sequences
    assert adjusted_rand_index(seen.subjects, found.labels_) > 0.2
    assert (np.diff(found.heights_) >= 0).all()


def test_shared_product_is_one_mixture_over_all_columns():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = y[:, None] * 6.0 + rng.normal(size=(80, 3))
    for rule in ("leader", "entropy", "product"):
        found = sl.peers.SharedPosteriorMixture(2, channels={"a": [0, 1], "b": [2]}, rule=rule, random_state=0).fit(X)
        assert adjusted_rand_index(y, found.labels_) > 0.9
        np.testing.assert_array_equal(found.predict(X), found.labels_)


def test_balance_gives_a_channel_of_one_column_its_say():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = np.hstack([rng.normal(size=(100, 40)), y[:, None] * 8.0 + rng.normal(size=(100, 1))])
    channels = {"noise": slice(0, 40), "height": [40]}
    plain = sl.peers.ConcatenatedKMeans(2, channels=channels, random_state=0).fit(X)
    fair = sl.peers.ConcatenatedKMeans(2, channels=channels, balance=True, random_state=0).fit(X)
    assert adjusted_rand_index(y, fair.labels_) > 0.9 > adjusted_rand_index(y, plain.labels_)


def test_channels_that_share_columns_are_warned_about():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(sl.errors.SidelightWarning, match="'a' and 'b' share column 1"):
        sl.MultiSourceClustering(2, channels={"a": [0, 1], "b": [1, 2]}, random_state=0).fit(X)


def test_a_code_book_has_no_more_codes_than_rows_differ():
    book = sl.estimators.Codebook(8, random_state=0).fit(np.repeat([[0.0], [1.0]], 10, axis=0))
    assert len(book.prototypes_) == 2


def test_channels_may_be_masks_or_names_of_columns():
    polars = pytest.importorskip("polars")
    X = np.random.default_rng(0).normal(size=(40, 4))
    numbers = sl.MultiSourceClustering(2, channels={"a": [0, 1], "b": [2, 3]}, random_state=0).fit(X).labels_
    frame = polars.DataFrame({f"c{j}": X[:, j] for j in range(4)})
    for channels, rows in (
        ({"a": ["c0", "c1"], "b": ["c2", "c3"]}, frame),
        ({"a": np.arange(4) < 2, "b": np.arange(4) >= 2}, X),
    ):
        found = sl.MultiSourceClustering(2, channels=channels, random_state=0).fit(rows)
        np.testing.assert_array_equal(found.labels_, numbers)
    with pytest.raises(InvalidInput, match=r"MultiSourceClustering: channel 'a' wants the column 'c9'"):
        sl.MultiSourceClustering(2, channels={"a": ["c9"], "b": ["c1"]}).fit(frame)


@pytest.mark.slow
def test_points_of_a_channel_are_judged_by_its_own_width(seen, stacked):
    X, channels = stacked
    ms = sl.MultiSourceClustering(4, channels=channels, random_state=0).fit(X, sequences=seen.sequences)
    heights = np.asarray(seen.channels["height"])
    plain = ms.predict_channel("height", heights.ravel())
    np.testing.assert_array_equal(plain, ms.predict_channel("height", heights.reshape(-1, 1)))
    with pytest.raises(InvalidInput, match=r"channel 'height' has 1 columns, but the points have 3"):
        ms.predict_channel("height", np.zeros((2, 3)))


@pytest.mark.parametrize("method", [sl.InformationCoclustering, "information", 3])
def test_a_base_that_is_no_coclusterer_is_refused_by_name(method):
    table = sl.CoOccurrence.from_matrix(np.ones((3, 3)))
    with pytest.raises(InvalidInput, match=r"'base' parameter of InterleavedCoclustering must be a co-clusterer"):
        sl.estimators.InterleavedCoclustering(method).fit(table)


def test_mappings_that_miss_or_invent_an_axis_are_refused():
    table = sl.CoOccurrence.from_matrix(np.ones((3, 3)))
    base = sl.InformationCoclustering(2)
    with pytest.raises(InvalidInput, match="says nothing about the axis 'columns'"):
        sl.estimators.InterleavedCoclustering(base, n_clusters={"rows": 2}).fit(table)
    with pytest.raises(InvalidInput, match=r"names the axis 'row'.*'rows'"):
        sl.estimators.InterleavedCoclustering(base, n_clusters={"row": 2, "rows": 2, "columns": 2}).fit(table)
    with pytest.raises(InvalidInput, match="Stack it first"):
        sl.MultiSourceClustering(2).fit({"a": np.ones((4, 1))})
    with pytest.raises(InvalidInput, match="needs names for them"):
        sl.estimators.AnnealedCoclustering(2).fit(np.ones((3, 3, 3)))


def test_the_product_rule_is_em_on_the_concatenated_rows():
    from sklearn.mixture import GaussianMixture

    generator = np.random.default_rng(4)
    y = generator.random(400) < 0.25
    X = generator.normal(size=(400, 3)) + np.where(y[:, None], 2.0, 0.0)
    channels = {"a": [0], "b": [1, 2]}
    ours = sl.peers.SharedPosteriorMixture(
        2, channels=channels, rule="product", tol=1e-9, max_iter=2000, random_state=0
    )
    ours.fit(X)
    theirs = GaussianMixture(2, covariance_type="diag", tol=1e-9, max_iter=2000, n_init=5, random_state=0).fit(X)
    order, their_order = np.argsort(ours.weights_), np.argsort(theirs.weights_)
    np.testing.assert_allclose(ours.weights_[order], theirs.weights_[their_order], atol=1e-3)
    np.testing.assert_allclose(ours.means_[order], theirs.means_[their_order], atol=5e-3)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-6)
    assert (np.diff(ours.trace_) > -1e-9).all()  # EM never falls, up to rounding


def test_an_earlier_fit_changes_nothing():
    X = np.random.default_rng(5).normal(size=(80, 3))
    again = sl.peers.SharedPosteriorMixture(3, rule="product", tol=1e-3, max_iter=1000, random_state=0)
    first = again.fit(X[:40]).fit(X).weights_
    fresh = sl.peers.SharedPosteriorMixture(3, rule="product", tol=1e-3, max_iter=1000, random_state=0).fit(X).weights_
    np.testing.assert_array_equal(first, fresh)
