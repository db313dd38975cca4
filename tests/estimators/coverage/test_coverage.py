"""Coverage clustering: what bags say is obeyed, what nobody said is left open, and what cannot be true is named."""

from __future__ import annotations

import json
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csr_array
from scipy.special import log_softmax, softmax
from threadpoolctl import threadpool_limits

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter, SidelightWarning, UnknownName, UnsafeArchive
from sidelight.metrics import adjusted_rand_index

CENTRES = np.array([[0.0, 0.0], [6.0, 0.0], [0.0, 6.0], [6.0, 6.0], [-6.0, 0.0], [0.0, -6.0]])
NAMES = np.array(["ant", "bee", "cat", "dog", "elk", "fox"], dtype=object)


def recordings(n_bags=60, n_kinds=3, size=5, seed=0):
    """Bags of rows around a few centres: X, the bags with full lists, and the true kind of each row."""
    generator = np.random.default_rng(seed)
    y = np.concatenate([generator.choice(generator.choice(n_kinds, 2), size) for _ in range(n_bags)])
    ids = np.repeat(np.arange(n_bags), size)
    X = CENTRES[y] + generator.normal(size=(len(y), 2))
    labels = {b: set(NAMES[y[ids == b]]) for b in range(n_bags)}
    return X, sl.Bags(ids, labels=labels), y


def test_rows_are_named_from_bag_labels_alone():
    X, bags, y = recordings()
    model = sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    assert np.mean(model.predict_labels(X) == NAMES[y]) > 0.95
    assert np.mean(model.predict_labels(X, bags=bags) == NAMES[y]) > 0.99
    assert model.cluster_names_ == ("ant", "bee", "cat")


def test_no_row_gets_a_label_outside_its_bag():
    X, bags, _ = recordings()
    names = sl.CoverageClustering(random_state=0).fit(X, bags=bags).predict_labels(X, bags=bags)
    for bag in bags.each():
        assert set(names[bag.rows]) <= bag.labels


def test_a_lone_row_that_must_carry_a_label_does():
    """By its features the third row is a plain 'ant'; somebody has to be the 'bee' of its bag."""
    X = np.array([[0.0], [5.0], [0.0], [0.4]])
    bags = sl.Bags([0, 1, 2, 2], labels={0: {"ant"}, 1: {"bee"}, 2: {"ant", "bee"}})
    model = sl.CoverageClustering().fit(X, bags=bags)
    assert model.predict_labels(X).tolist() == ["ant", "bee", "ant", "ant"]
    assert model.predict_labels(X, bags=bags).tolist() == ["ant", "bee", "ant", "bee"]


def test_the_likelihood_never_drops():
    X, bags, _ = recordings()
    ours = sl.CoverageClustering(n_subclusters=2, n_init=2, tol=1e-4, random_state=0)
    for model in (ours, sl.peers.OredLogisticRegression(tol=1e-4)):
        model.fit(X, bags=bags)
        assert (np.diff(model.trace_) >= -1e-9 * np.abs(model.trace_[:-1])).all()


def test_em_reaches_the_same_likelihood():
    X, bags, _ = recordings()
    plain = {"penalty": 1.5, "information": 0.0, "boundary": "straight", "calibrate": False}
    by_lbfgs = sl.CoverageClustering(**plain, random_state=0, tol=1e-9).fit(X, bags=bags)
    by_em = sl.peers.OredLogisticRegression(penalty=1.5, tol=1e-7, max_iter=1000).fit(X, bags=bags)
    assert by_lbfgs.trace_[-1] == pytest.approx(by_em.trace_[-1], rel=1e-4)  # EM's last steps are short
    np.testing.assert_array_equal(by_lbfgs.labels_, by_em.labels_)


def test_subclusters_recover_kinds_that_share_a_name():
    X, bags, _ = recordings(n_bags=100, n_kinds=4)
    merged = {
        name: {"low" if label in ("ant", "bee") else "high" for label in bags.labels[name]} for name in bags.names
    }
    model = sl.CoverageClustering(n_subclusters={"low": 2, "high": 2}, random_state=0)
    model.fit(X, bags=sl.Bags(list(bags), labels=merged))
    assert model.cluster_names_ == ("high/1", "high/2", "low/1", "low/2")
    assert (np.array(model.start_values_) <= model.trace_[-1] + 1e-9).all()


def test_subclusters_bend_the_boundary_of_a_class():
    """Opposite corners share a name: no straight line separates them, two clusters a class do."""
    generator = np.random.default_rng(1)
    ids = np.repeat(np.arange(60), 4)
    y = generator.integers(4, size=240)
    X = CENTRES[y] + generator.normal(size=(240, 2))
    name = np.where((y == 0) | (y == 3), "even", "odd")
    bags = sl.Bags(ids, labels={b: set(name[ids == b].tolist()) for b in range(60)})
    straight = sl.CoverageClustering(boundary="straight").fit(X, bags=bags)
    bent = sl.CoverageClustering(n_subclusters=2, n_init=8, boundary="straight", random_state=0).fit(X, bags=bags)
    assert np.mean(straight.predict_labels(X) == name) < 0.8
    assert np.mean(bent.predict_labels(X) == name) > 0.95
    assert adjusted_rand_index(y, bent.labels_) > 0.9


def test_kinds_that_nobody_named_become_novel_clusters():
    X, bags, y = recordings(n_bags=120, n_kinds=4)
    bags = bags.without_classes(["cat", "dog"])
    model = sl.CoverageClustering(n_novel=2, n_init=6, random_state=0).fit(X, bags=bags)
    is_novel = y >= 2
    score = model.novelty_score(X)
    assert score[is_novel].mean() > 0.9 > 0.1 > score[~is_novel].mean()
    assert model.label_names_ == ("ant", "bee", "novel-1", "novel-2")


def test_unlabelled_bags_are_open_and_partial_ones_half_open():
    X, bags, y = recordings()
    some = bags.without_labels(range(20, 60))
    model = sl.CoverageClustering().fit(X, bags=some)
    assert np.mean(model.predict_labels(X) == NAMES[y]) > 0.95
    partial = sl.Bags(
        list(bags), labels={b: {sorted(bags.labels[b])[0]} for b in range(60)}, classes=bags.classes, partial=True
    )
    # "bee" and "cat" are listed only where "ant" is missing; a partial list must not forbid them.
    names = sl.CoverageClustering().fit(X, bags=partial).predict_labels(X, bags=partial)
    assert any(set(names[bag.rows]) - bag.labels for bag in partial.each())


def test_wrong_and_forgotten_labels_are_survived_when_allowed_for():
    X, bags, y = recordings(n_bags=150)
    generator = np.random.default_rng(3)
    spoiled = {}
    for bag in bags.each():
        labels = {label for label in bag.labels if generator.random() > 0.1}
        labels |= {label for label in bags.classes if generator.random() < 0.1}
        spoiled[bag.name] = labels or set(bag.labels)
    noisy = sl.Bags(list(bags), labels=spoiled, classes=bags.classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SidelightWarning)
        strict = sl.CoverageClustering().fit(X, bags=noisy)
    lenient = sl.CoverageClustering(wrong=0.1, forgotten=0.1).fit(X, bags=noisy)
    right = NAMES[y]
    assert np.mean(lenient.predict_labels(X, bags=noisy) == right) > np.mean(
        strict.predict_labels(X, bags=noisy) == right
    )
    assert np.mean(lenient.predict_labels(X, bags=noisy) == right) > 0.95


def test_known_rows_are_believed():
    X, bags, _ = recordings()
    told = {0: sorted(bags.labels[0])[-1], 7: sorted(bags.labels[1])[0]}
    model = sl.CoverageClustering().fit(X, bags=bags, row_labels=told)
    names = model.predict_labels(X, bags=bags, row_labels=told)
    assert {row: names[row] for row in told} == told
    np.testing.assert_array_equal(model.predict(X, bags=bags, row_labels=told), model.labels_)


def test_bags_with_fewer_rows_than_labels_are_named():
    X, bags, _ = recordings(n_bags=10)
    labels = dict(bags.labels)
    labels["small"] = {"ant", "bee", "cat"}
    X = np.vstack([X, CENTRES[:2]])
    bags = sl.Bags([*bags, "small", "small"], labels=labels)
    with pytest.warns(SidelightWarning, match=r"1 of 11 bags .* 'small': its rows can carry 2 of 'ant', 'bee', 'cat'"):
        model = sl.CoverageClustering().fit(X, bags=bags)
    assert model.uncovered_ == (("small", ("cat",)),)
    assert model.predict_labels(X, bags=bags.without_labels())[-2:].tolist() == ["ant", "bee"]


def test_an_empty_list_needs_something_novel():
    X, bags, _ = recordings(n_bags=6)
    empty = bags.with_labels({**bags.labels, 3: set()})
    with pytest.raises(InvalidData, match=r"Bag 3 says that none of the known labels .* Set n_novel to 1"):
        sl.CoverageClustering().fit(X, bags=empty)
    model = sl.CoverageClustering(n_novel=1).fit(X, bags=empty)
    assert set(model.predict_labels(X, bags=empty)[bags.rows(3)]) == {"novel-1"}


def test_contradictions_are_named():
    X, bags, _ = recordings(n_bags=6)
    outside = next(name for name in bags.classes if name not in bags.labels[0])
    with pytest.raises(InvalidData, match=f"Row 0 is said to be '{outside}', but its bag 0 lists only"):
        sl.CoverageClustering().fit(X, bags=bags, row_labels={0: outside})
    with pytest.raises(InvalidData, match="row_labels names row 99"):
        sl.CoverageClustering().fit(X, bags=bags, row_labels={99: "ant"})
    with pytest.raises(UnknownName, match=r"'be'.* Did you mean 'bee'"):
        sl.CoverageClustering(n_subclusters={"be": 2}).fit(X, bags=bags)
    with pytest.raises(InvalidParameter, match="n_subclusters"):
        sl.CoverageClustering(n_subclusters="many").fit(X, bags=bags)
    with pytest.raises(InvalidParameter, match="wrong"):
        sl.CoverageClustering(wrong=1.0).fit(X, bags=bags)


def test_a_cut_bag_no_longer_promises_every_label():
    X, bags, _ = recordings(n_bags=20)
    with pytest.warns(SidelightWarning):
        cut = bags[np.arange(0, 100, 2)]
    sl.CoverageClustering().fit(X[::2], bags=cut)  # nothing to warn about: the bags say it themselves


def test_predict_bags_names_what_a_bag_carries():
    X, bags, _ = recordings()
    model = sl.CoverageClustering().fit(X, bags=bags)
    found = model.predict_bags(X, bags)
    assert np.mean([carried == bags.labels[name] for name, carried in zip(bags.names, found)]) > 0.7
    scores = model.predict_bags_proba(X, bags)
    assert scores.shape == (60, 3)
    assert ((scores >= 0) & (scores <= 1)).all()


def rare_labels(seed, n_bags=150, n_classes=15):
    """Bags of ten rows with at most two of fifteen labels; the other rows are of kinds that nobody named."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes + 1, 12))
    Y = rng.random((n_bags, n_classes)) < 0.05
    y = np.concatenate([rng.choice(np.r_[np.flatnonzero(row), n_classes], 10) for row in Y])
    ids = np.repeat(np.arange(n_bags), 10)
    Y = np.zeros((n_bags, n_classes + 1), dtype=np.int8)
    Y[ids, y] = 1
    return centres[y] + rng.normal(size=(len(y), 12)), sl.Bags.from_indicator(ids, Y[:, :-1])


@pytest.mark.slow
def test_rare_labels_are_not_predicted_too_often():
    X, bags = rare_labels(0)
    train, test = np.arange(0, 1000), np.arange(1000, 1500)
    told = bags[test].label_matrix.toarray()
    model = sl.CoverageClustering(n_novel=1, random_state=0).fit(X[train], bags=bags[train])
    plain = sl.CoverageClustering(n_novel=1, calibrate=False, random_state=0).fit(X[train], bags=bags[train])
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))  # names of rows are as they were
    ours, without = (m.predict_bags_proba(X[test], bags[test], labels=bags.classes) for m in (model, plain))
    assert np.abs(ours.mean() - told.mean()) < 0.5 * np.abs(without.mean() - told.mean())
    assert ((ours > 0.5) != told).mean() < min(((without > 0.5) != told).mean(), told.mean())
    assert plain.bag_slope_ == 1.0


def test_a_threshold_and_the_columns_of_bag_probabilities():
    X, bags = rare_labels(1, n_bags=60)
    model = sl.CoverageClustering(n_novel=1, random_state=0).fit(X, bags=bags)
    P = model.predict_bags_proba(X, bags)
    some = [bags.classes[3], "novel-1", bags.classes[0]]
    np.testing.assert_array_equal(model.predict_bags_proba(X, bags, labels=some), P[:, [3, 15, 0]])
    for threshold in (0.1, 0.9):
        sets = model.predict_bags(X, bags, threshold=threshold)
        assert [len(s) for s in sets] == (threshold < P).sum(axis=1).tolist()
    with pytest.raises(UnknownName, match="labels names 'eagle'"):
        model.predict_bags_proba(X, bags, labels=["eagle"])
    with pytest.raises(InvalidParameter, match="threshold"):
        model.predict_bags(X, bags, threshold=2)


def test_the_correction_survives_the_file(tmp_path):
    X, bags = rare_labels(2, n_bags=60)
    model = sl.CoverageClustering(n_novel=1, random_state=0).fit(X, bags=bags)
    assert model.bag_slope_ != 1.0
    sl.save(model, tmp_path / "model.sidelight")
    again = sl.load(tmp_path / "model.sidelight")
    np.testing.assert_array_equal(again.predict_bags_proba(X, bags), model.predict_bags_proba(X, bags))


def test_nothing_is_corrected_by_few_or_doubted_lists():
    X, bags, _ = recordings()
    few = bags.without_labels(bags.names[15:])
    assert sl.CoverageClustering(random_state=0).fit(X, bags=few).bag_slope_ == 1.0
    assert sl.CoverageClustering(forgotten=0.1, random_state=0).fit(X, bags=bags).bag_slope_ == 1.0


def test_score_is_the_mean_log_likelihood_of_labelled_bags():
    X, bags, _ = recordings()
    model = sl.CoverageClustering().fit(X, bags=bags)
    assert model.score(X, bags=bags) == pytest.approx(model.log_likelihood_ / 60)
    assert model.score(X, bags) == model.score(X, bags=bags)
    assert model.score(X, bags=bags.without_labels(range(1, 60))) == pytest.approx(model.bag_log_likelihood_[0])


@pytest.mark.slow
def test_sparse_rows_give_the_same_answer():
    X, bags, _ = recordings()
    for options in ({"n_subclusters": 2, "boundary": "straight"}, {"boundary": "curved"}):
        dense = sl.CoverageClustering(random_state=0, **options).fit(X, bags=bags)
        sparse = sl.CoverageClustering(random_state=0, **options).fit(csr_array(X), bags=bags)
        np.testing.assert_array_equal(dense.labels_, sparse.labels_)
        np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_array(X)))


def test_without_lists_labels_of_rows_are_enough():
    X, bags, _ = recordings(n_bags=5)
    with pytest.raises(InvalidData, match="label lists of bags"):
        sl.CoverageClustering().fit(X, bags=np.asarray(bags))
    model = sl.CoverageClustering(boundary="straight").fit(X, bags=np.asarray(bags), row_labels={0: "ant", 9: "bee"})
    assert model.classes_ == ("ant", "bee")


def test_ored_logistic_regression_is_coverage_by_em():
    X, bags, _ = recordings()
    orlr = sl.peers.OredLogisticRegression(penalty=1.0, tol=1e-6, max_iter=1000).fit(X, bags=bags)
    coverage = sl.CoverageClustering(penalty=1.0, information=0, boundary="straight", tol=1e-8).fit(X, bags=bags)
    assert orlr.log_likelihood_ == pytest.approx(coverage.log_likelihood_, rel=1e-2)
    np.testing.assert_array_equal(orlr.labels_, coverage.labels_)


def test_one_novel_class_takes_what_no_list_explains():
    X, bags, y = recordings(n_kinds=4)
    model = sl.peers.NovelClassLogisticRegression(penalty=0.1, tol=1e-4).fit(X, bags=bags.without_classes(["dog"]))
    assert np.mean((model.predict_labels(X) == "novel-1") == (y == 3)) > 0.95


def test_information_joins_the_likelihood():
    X, bags, y = recordings()
    few = bags.without_labels(range(8, 60))
    model = sl.CoverageClustering(information=0.1).fit(X, bags=few)
    assert np.mean(model.predict_labels(X) == NAMES[y]) > 0.95
    assert (np.diff(model.trace_) >= -1e-9 * np.abs(model.trace_[:-1])).all()


def test_counts_are_chosen_by_held_out_bags():
    """Two unnamed kinds on opposite sides of the named ones: one novel cluster cannot hold both."""
    generator = np.random.default_rng(0)
    ids = np.repeat(np.arange(40), 4)
    y = generator.integers(4, size=160)
    X = np.array([[-9.0], [-3.0], [3.0], [9.0]])[y] + generator.normal(scale=0.7, size=(160, 1))
    names = np.array(["", "ant", "bee", ""])[y]
    bags = sl.Bags(ids, labels={b: set(names[ids == b].tolist()) - {""} for b in range(40)})
    model = sl.CoverageClustering(n_novel="auto", n_init=2, random_state=0).fit(X, bags=bags)
    assert model.choice_["n_novel"]["chosen"] == 2
    assert model.label_names_ == ("ant", "bee", "novel-1", "novel-2")


def test_auto_needs_enough_labelled_bags():
    X, bags, _ = recordings(n_bags=3)
    with pytest.raises(InvalidParameter, match="at least 5 labelled bags"):
        sl.CoverageClustering(n_subclusters="auto").fit(X, bags=bags)


def test_score_of_bags_without_lists_is_not_the_best_one():
    X, bags, _ = recordings(n_bags=10)
    model = sl.CoverageClustering().fit(X, bags=bags)
    with pytest.warns(SidelightWarning, match="none of the 10 bags given has one"):
        assert np.isnan(model.score(X, bags=bags.without_labels()))


@pytest.mark.slow
def test_the_penalty_is_chosen_by_held_out_bags():
    """Many features of noise and few bags ask for a strong penalty; many bags and none of it for a weak one."""
    few, bags_few, _ = recordings(n_bags=15)
    rng = np.random.default_rng(0)
    few = np.hstack([few + 1.5 * rng.normal(size=few.shape), rng.normal(size=(len(few), 30))])
    many, bags_many, _ = recordings(n_bags=150)
    strong = sl.CoverageClustering(penalty="auto", random_state=0).fit(few, bags=bags_few)
    weak = sl.CoverageClustering(penalty="auto", random_state=0).fit(many, bags=bags_many)
    assert strong.penalty_ > weak.penalty_
    noted = weak.choice_["penalty"]
    assert noted["scores"][noted["tried"].index(weak.penalty_)] == max(noted["scores"])
    assert sl.CoverageClustering(penalty=3).fit(few, bags=bags_few).penalty_ == 3.0
    with pytest.raises(InvalidParameter, match=r"penalty.*\"auto\""):
        sl.CoverageClustering(penalty="strong").fit(few, bags=bags_few)


def test_even_clusters_are_not_forced_on_rows_that_nobody_spoke_of():
    """Nine rows in ten are of one kind. With a tenth of the bags labelled, balance must not outweigh their lists."""
    generator = np.random.default_rng(0)
    y = generator.choice(3, size=900, p=[0.9, 0.06, 0.04])
    X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])[y] + generator.normal(size=(900, 2))
    ids = np.repeat(np.arange(150), 6)
    told = sl.Bags(ids, labels={b: set(NAMES[y[ids == b]]) for b in range(15)}, classes=NAMES[:3].tolist())
    model = sl.CoverageClustering().fit(X, bags=told)
    assert np.mean(model.predict_labels(X) == NAMES[y]) > 0.85


def test_starts_race_and_only_the_best_are_followed():
    X, bags, _ = recordings(n_bags=40, n_kinds=4)
    merged = {b: {"low" if name in ("ant", "bee") else "high" for name in said} for b, said in bags.labels.items()}
    bags = sl.Bags(list(bags), labels=merged)
    model = sl.CoverageClustering(n_subclusters=2, n_init=8, penalty=1e-3, tol=1e-12, random_state=0).fit(X, bags=bags)
    assert len(model.start_values_) == 8
    assert model.trace_[-1] == model.start_values_.max()
    assert model.n_iter_ == len(model.trace_) - 1 > 30
    assert (np.diff(model.trace_) >= -1e-9 * np.abs(model.trace_[:-1])).all()


def test_weights_of_rows_are_checked():
    X, bags, _ = recordings(n_bags=6)
    model = sl.CoverageClustering().fit(X, bags=bags)
    only_first = np.repeat([1.0, 0.0], [5, 25])
    assert model.score(X, bags=bags, sample_weight=only_first) == pytest.approx(model.bag_log_likelihood_[0])
    for weights, words in (([1.0, 2.0], "X has 30 rows"), (np.full(30, -1.0), "Row 0 has -1"), (np.zeros(30), "Every")):
        with pytest.raises(InvalidData, match=words):
            model.score(X, bags=bags, sample_weight=weights)


def test_names_of_clusters_never_clash_with_labels():
    X, bags, _ = recordings(n_bags=6)
    strange = {0: {"novel-1"}, 1: {"x"}, 2: {"x/1"}}
    model = sl.CoverageClustering(n_subclusters={"x": 2}, n_novel=1, n_init=2, random_state=0)
    model.fit(X, bags=sl.Bags(list(bags), labels=strange))
    assert model.cluster_names_ == ("novel-1", "x/1'", "x/2", "x/1", "novel-1'")
    assert len(set(model.label_names_)) == 4


def test_gaps_in_row_labels_may_be_of_any_kind():
    class Neither:
        """What pandas.NA does: every comparison is neither true nor false."""

        def __ne__(self, other):
            return self

        def __bool__(self):
            raise TypeError("ambiguous")

        __hash__ = None

    X, bags, _ = recordings(n_bags=4)
    plain = sl.CoverageClustering().fit(X, bags=bags)
    gaps = [None, "", float("nan"), np.nan, Neither()] * 4
    np.testing.assert_array_equal(sl.CoverageClustering().fit(X, bags=bags, row_labels=gaps).labels_, plain.labels_)


def test_more_clusters_than_rows_are_refused():
    bags = sl.Bags([0, 0, 1, 1], labels={0: {"wren"}, 1: {"owl"}})
    with pytest.raises(InvalidParameter, match="n_samples=4"):
        sl.CoverageClustering(n_subclusters=3).fit(np.arange(8.0).reshape(4, 2), bags=bags)


@pytest.mark.parametrize("counts", [{"n_novel": 10**12}, {"n_subclusters": 10**12}])
def test_any_number_of_clusters_is_refused_at_once(counts):
    with pytest.raises(InvalidParameter, match="clusters of n_samples=4 rows"):
        sl.CoverageClustering(**counts).fit(np.eye(4), bags=sl.Bags([0, 0, 1, 1], labels={0: {"a"}, 1: {"b"}}))


def rings(n_bags=40, seed=0):
    """Two classes, one around the other: no straight boundary tells them apart."""
    generator = np.random.default_rng(seed)
    y = generator.integers(2, size=(n_bags, 4))
    y[: n_bags // 2] = y[: n_bags // 2, :1]  # half of the bags are of one class
    y = y.ravel()
    angle = generator.uniform(0, 2 * np.pi, size=len(y))
    radius = np.where(y == 1, 2.0, 0.5) + 0.15 * generator.normal(size=len(y))
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    ids = np.repeat(np.arange(n_bags), 4)
    bags = sl.Bags(ids, labels={b: {"in" if c == 0 else "out" for c in y[ids == b]} for b in range(n_bags)})
    return X, bags, y


def test_a_curved_boundary_tells_rings_apart_and_held_out_lists_know_it():
    X, bags, _ = rings()
    straight = sl.CoverageClustering(boundary="straight", random_state=0).fit(X, bags=bags)
    auto = sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    assert straight.boundary_ == "straight"
    assert "boundary" not in straight.choice_
    assert auto.boundary_ == auto.choice_["boundary"]["chosen"] == "curved"
    assert auto.choice_["boundary"]["scores"][1] > auto.choice_["boundary"]["scores"][0]
    new_X, _, new_y = rings(seed=1)
    assert np.mean((auto.predict_labels(new_X) == "out") == new_y) > 0.95
    assert np.mean((straight.predict_labels(new_X) == "out") == new_y) < 0.8


def test_straight_data_stay_straight():
    X, bags, _ = recordings()
    model = sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    if model.boundary_ == "curved":  # only where held-out lists gain by more than their standard error
        scores = model.choice_["boundary"]["scores"]
        assert scores[1] > scores[0]
    some = np.flatnonzero(bags.codes < 6)
    few = sl.CoverageClustering(random_state=0).fit(X[some], bags=bags[some])
    assert few.boundary_ == "straight"
    assert "too few" in few.choice_["boundary"]["note"]


def test_a_curved_model_is_saved_whole(tmp_path):
    X, bags, _ = rings()
    model = sl.CoverageClustering(boundary="curved", random_state=0).fit(X, bags=bags)
    sl.save(model, tmp_path / "m")
    np.testing.assert_array_equal(sl.load(tmp_path / "m").predict_proba(X), model.predict_proba(X))


def test_models_of_the_previous_version_still_load(tmp_path):
    X, bags, _ = rings()
    model = sl.CoverageClustering(boundary="straight").fit(X, bags=bags)
    for name in ("feature_map_", "reach_", "cluster_shares_", "boundary_"):
        delattr(model, name)  # what version 0.1 did not have
    sl.save(model, tmp_path / "m")
    np.testing.assert_array_equal(sl.load(tmp_path / "m").predict(X), model.predict(X))


def test_rows_far_away_are_believed_by_the_shares_of_the_clusters():
    X, bags, _ = rings()
    model = sl.CoverageClustering(boundary="curved", random_state=0).fit(X, bags=bags)
    angle = np.linspace(0, 2 * np.pi, 50)
    for distance, most in ((50.0, 0.75), (1e4, 0.01)):
        far = distance * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        assert np.abs(model.predict_proba(far) - model.cluster_shares_).max() < most
    np.testing.assert_array_equal(model.predict(X, bags=bags), model.labels_)


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda X: X, sp.csr_array], ids=["dense", "csr"])
def test_a_curved_boundary_takes_odd_rows(make):
    X, bags, _ = rings()
    odd = np.hstack([X, np.ones((len(X), 1)), X[:, :1]])  # a constant and a repeated column
    odd[:40] = odd[0]  # and rows that repeat
    model = sl.CoverageClustering(boundary="curved", random_state=0).fit(make(odd), bags=bags)
    assert np.isfinite(model.predict_proba(make(odd))).all()
    alike = sl.CoverageClustering(boundary="curved", random_state=0).fit(make(np.ones((8, 2))), bags=bags[:8])
    assert np.isfinite(alike.predict_proba(make(np.ones((8, 2))))).all()
    lone = sl.CoverageClustering(boundary="curved").fit(make(X[:4]), bags=sl.Bags([0] * 4, labels={0: {"in", "out"}}))
    assert np.isfinite(lone.predict_proba(make(X[:4]))).all()


def test_the_number_of_threads_changes_no_fit():
    X, bags, _ = rings(n_bags=600)  # several blocks
    order = np.random.default_rng(0).permutation(len(X))
    models = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            models.append(sl.CoverageClustering(boundary="straight", max_iter=40).fit(X[order], bags=bags[order]))
    np.testing.assert_array_equal(models[0].weights_, models[1].weights_)


def with_candidates(n=240, seed=0):
    """Rows of four groups; beside its own name each row has one or two others as candidates."""
    generator = np.random.default_rng(seed)
    y = generator.integers(4, size=n)
    X = CENTRES[y] + generator.normal(size=(n, 2))
    others = [
        generator.choice([c for c in range(4) if c != own], size=1 + i % 2, replace=False) for i, own in enumerate(y)
    ]
    return X, [{NAMES[own], *NAMES[more]} for own, more in zip(y, others)], NAMES[y]


def test_candidates_are_read_as_one_of_these():
    X, candidates, names = with_candidates()
    model = sl.CoverageClustering(boundary="straight").fit(X, candidates=candidates)
    assert np.mean(model.predict_labels(X) == names) > 0.95
    found = model.predict_labels(X, candidates=candidates)
    assert all(name in some for name, some in zip(found, candidates))
    np.testing.assert_array_equal(model.predict(X, candidates=candidates), model.labels_)
    plain = sl.CoverageClustering(boundary="straight", calibrate=False).fit(X, candidates=candidates)
    P = plain.predict_proba(X) @ model.layout.to_labels()
    inside = [P[i, [model.classes_.index(c) for c in some]].sum() for i, some in enumerate(candidates)]
    assert model.score(X, candidates=candidates) == pytest.approx(np.mean(np.log(inside)))
    assert model.log_likelihood_ == pytest.approx(np.sum(np.log(inside)))


def test_rows_without_candidates_are_open_and_novel_clusters_are_never_candidates():
    X, candidates, names = with_candidates()
    some = {row: labels for row, labels in enumerate(candidates) if row % 3}
    model = sl.CoverageClustering(n_novel=1, random_state=0).fit(X, candidates=some)
    found = model.predict_labels(X, candidates=some)
    assert all(found[row] in labels for row, labels in some.items())
    assert np.mean(model.predict_labels(X) == names) > 0.9


def test_candidates_that_cannot_be_read_are_refused():
    X, candidates, _ = with_candidates(8)
    for wrong, words in (
        (candidates[:3], "candidates has 3"),
        ({99: {"ant"}}, "names row 99"),
        ([*candidates[:7], set()], "Row 7 has no candidates"),
        (["ant"] * 8, "Row 0 has 'ant'"),
        (5, "one set of labels for each row"),
    ):
        with pytest.raises(InvalidData, match=words):
            sl.CoverageClustering().fit(X, candidates=wrong)
    with pytest.raises(InvalidData, match="both bags and candidates"):
        sl.CoverageClustering().fit(X, bags=sl.Bags(range(8)), candidates=candidates)


def test_a_row_with_several_labels_is_told_about_both_readings():
    X, candidates, _ = with_candidates(40)
    bags = sl.Bags(range(40), labels=dict(enumerate(candidates)))
    with pytest.warns(SidelightWarning, match=r"all of these are there.*one of these is it.*candidates="):
        sl.CoverageClustering(boundary="straight").fit(X, bags=bags)


def test_candidates_survive_model_selection():
    from sklearn import config_context
    from sklearn.model_selection import cross_validate

    X, candidates, _ = with_candidates()
    sets = np.empty(len(candidates), dtype=object)
    sets[:] = candidates
    with config_context(enable_metadata_routing=True):
        done = cross_validate(sl.CoverageClustering(), X, cv=3, params={"candidates": sets}, error_score="raise")
    assert (done["test_score"] > -1).all()


def test_rows_centred_within_their_bags_do_not_stall_at_zero():
    generator = np.random.default_rng(0)
    kind = generator.integers(0, 3, size=600)
    ids = np.repeat(np.arange(150), 4)
    X = 3 * np.eye(3)[kind] + generator.normal(scale=0.3, size=(600, 3))
    means = np.stack([np.bincount(ids, X[:, j]) / 4 for j in range(3)], axis=1)
    labels = {b: {"abc"[k] for k in kind[ids == b]} for b in range(150)}
    model = sl.CoverageClustering(random_state=0, boundary="straight").fit(
        X - means[ids], bags=sl.Bags(ids, labels=labels)
    )
    assert (model.predict_labels(X - means[ids]) == np.array(list("abc"))[kind]).mean() > 0.8


def test_probabilities_are_the_same_bits_on_one_thread_and_on_two():
    generator = np.random.default_rng(0)
    ids = np.arange(3000) // 6
    y = (ids + generator.integers(2, size=3000)) % 4
    X = generator.normal(size=(3000, 30)) + 2 * generator.normal(size=(4, 30))[y]
    bags = sl.Bags(ids, labels={b: set(NAMES[y[ids == b]]) for b in range(500)})
    model = sl.CoverageClustering(boundary="curved", calibrate=False, tol=1e-2, random_state=0).fit(X, bags=bags)
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append([model.predict_proba(X), model.predict_proba(X, bags=bags), model.predict_bags_proba(X, bags)])
    for one, two in zip(*found):
        np.testing.assert_array_equal(one, two)


def test_beyond_the_reach_belief_fades_with_the_squared_distance():
    X, bags, _ = rings()
    model = sl.CoverageClustering(boundary="curved", calibrate=False, random_state=0).fit(X, bags=bags)
    generator = np.random.default_rng(0)
    rows = np.vstack([X[:20], generator.normal(size=(20, 2)) * 4.0, generator.normal(size=(20, 2)) * 30.0])
    scores, squares = model.feature_map_.scores(rows, model.weights_, model.intercept_)
    log_P = log_softmax(scores, axis=1)
    trust = (model.reach_ / np.maximum(squares, model.reach_))[:, None]
    assert 10 < np.count_nonzero(trust == 1.0) < 50
    expected = softmax(trust * log_P + (1.0 - trust) * np.log(model.cluster_shares_), axis=1)
    np.testing.assert_allclose(model.predict_proba(rows), expected, atol=1e-9)


def test_parameters_that_are_gone_are_dropped_from_model_files_or_refused(tmp_path):
    X, bags, _ = recordings(n_bags=10)
    model = sl.Standardized(sl.CoverageClustering(random_state=0)).fit(X, bags=bags)
    sl.save(model, tmp_path / "new")

    def with_old(**changed):
        path = tmp_path / "old"
        with zipfile.ZipFile(tmp_path / "new") as new, zipfile.ZipFile(path, "w") as old:
            for name in new.namelist():
                content = new.read(name)
                if name == "manifest.json":
                    manifest = json.loads(content)
                    del manifest["fingerprint"]  # as files of 0.2
                    before = {**sl.CoverageClustering.RETIRED, **changed}
                    manifest["content"]["params"]["estimator"]["params"] |= before
                    manifest["content"]["fitted"]["estimator_"]["params"] |= before
                    content = json.dumps(manifest)
                old.writestr(name, content)
        return path

    loaded = sl.load(with_old())
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert set(loaded.estimator.get_params()) == set(sl.CoverageClustering().get_params())
    assert len(sl.CoverageClustering().get_params()) == 12
    for name, value in (("cap", 5), ("solver", "em")):
        with pytest.raises(
            UnsafeArchive, match=rf"CoverageClustering has no parameter '{name}' any more.*Got {value!r}"
        ):
            sl.load(with_old(**{name: value}))
