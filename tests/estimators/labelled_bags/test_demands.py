"""Bags that say more than a list: passes against enumeration, tilts against their definition, fits that count."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import sidelight as sl
from sidelight._core.simplex import log_softmax
from sidelight.errors import InvalidData
from sidelight.estimators._labelled_bags import demands as kernels
from sidelight.estimators._labelled_bags.coverage import coverage_posteriors
from sidelight.estimators._labelled_bags.supervision import plan_bags


def enumerated(P, class_of, said, member, others, known, wrong):
    """Go through all assignments of rows to clusters, and weigh those that the bag allows."""
    elements, least, most = said
    Q, total = np.zeros(P.shape), 0.0
    for z in product(range(P.shape[1]), repeat=len(P)):
        classes = class_of[list(z)]
        if any(k >= 0 and c != k for c, k in zip(classes, known)):
            continue
        carried = np.array([sum(c >= 0 and member[e, c] for c in classes) for e in elements])
        unnamed = sum(c >= 0 and not member[elements, c].any() for c in classes)
        if (carried > most).any():
            continue
        weight = np.prod(P[np.arange(len(P)), z]) * others**unnamed * wrong ** np.maximum(least - carried, 0).sum()
        Q[np.arange(len(P)), z] += weight
        total += weight
    return Q / (total or 1.0), np.log(total) if total else -np.inf


@pytest.mark.parametrize("seed", range(40))
def test_a_pass_is_the_sum_over_all_assignments(seed):
    generator = np.random.default_rng(seed)
    n, n_classes, n_novel = (int(generator.integers(*ends)) for ends in ((1, 6), (2, 5), (0, 2)))
    class_of = np.r_[np.arange(n_classes), [-1] * n_novel].astype(np.intp)
    P = generator.dirichlet(np.ones(len(class_of)), n)
    node = np.arange(n_classes) < 2  # the first two classes are below one inner node
    member = np.vstack([np.eye(n_classes, dtype=bool), node])
    elements = np.sort(generator.choice(n_classes + 1, generator.integers(1, n_classes + 2), replace=False))
    least = generator.integers(0, 3, len(elements)).astype(float)
    most = np.where(generator.random(len(elements)) < 0.4, np.inf, least + generator.integers(0, 3, len(elements)))
    known = np.full(n, -1, dtype=np.intp)
    known[0] = generator.integers(n_classes) if generator.random() < 0.3 else -1
    others, wrong = float(generator.integers(2)), float(generator.choice([0.0, 0.1]))
    expected, value = enumerated(P, class_of, (elements, least, most), member, others, known, wrong)
    for kernel in (kernels.demand_bag, kernels.demand_bag.py_func):
        Q = np.zeros_like(P)
        found = kernel(
            np.log(P),
            class_of,
            np.arange(n),
            elements.astype(np.intp),
            least,
            most,
            member,
            others,
            known,
            wrong,
            0.0,
            Q,
        )
        assert found == pytest.approx(value)
        if np.isfinite(value):
            np.testing.assert_allclose(Q, expected, atol=1e-12)


RANGES = [
    ((10.0, 8.0, 7.0, 5.0), (10.0, 8.0, 7.0, 5.0)),
    ((9.5, 8.0, 7.25, 5.25), (9.5, 8.0, 7.25, 5.25)),
    ((12.0, 2.0, 0.0, 3.0), (np.inf, 5.0, 4.0, 9.0)),
    ((0.0, 0.0, 0.0, 0.0), (30.0, 30.0, np.inf, 30.0)),
]


@pytest.mark.parametrize(("least", "most"), RANGES, ids=str)
def test_a_tilt_meets_what_is_asked_and_is_nearest_to_the_rows(least, most):
    """Its value is minus the divergence, and by the envelope theorem its derivative by the rows' logarithms is q."""
    n, K = 30, 4
    logits = np.random.default_rng(1).normal(size=(n, K))

    def tilted(flat):
        share = np.exp(log_softmax(flat.reshape(n, K)))
        worth = np.empty((n, K))
        value = kernels._tilt(share, np.array(least), np.array(most), np.eye(K, dtype=bool), worth)
        return value, share * worth, share

    value, q, share = tilted(logits.ravel())
    low, high = np.array(least), np.array(most)
    about = (low > 0) & (low < high) & np.isfinite(high)  # between such ends it is the middle that pulls

    def cost(q):
        sums = q.sum(axis=0)
        off = np.where(about, (sums - (low + high) / 2) ** 2 * 6 / np.where(about, high - low, 1.0) ** 2, 0.0)
        return (q * np.log(q / share)).sum() + off.sum()

    assert (q.sum(axis=0) >= low - 1e-6)[~about].all()
    assert (q.sum(axis=0) <= high + 1e-6)[~about].all()
    np.testing.assert_allclose(q.sum(axis=1), 1.0)
    assert value == pytest.approx(-cost(q), abs=1e-6)
    gradient = approx_fprime(logits.ravel(), lambda flat: tilted(flat)[0], 1e-6).reshape(n, K)
    np.testing.assert_allclose(gradient, q - share * q.sum(axis=1, keepdims=True), atol=1e-5)
    nearer = q * np.exp(0.05 * np.random.default_rng(2).normal(size=q.shape))  # the same sums, other rows
    for _ in range(200):
        nearer *= q.sum(axis=0) / nearer.sum(axis=0)
        nearer /= nearer.sum(axis=1, keepdims=True)
    assert cost(nearer) >= -value - 1e-9


def test_nested_kinds_are_tilted_together():
    share = np.random.default_rng(0).dirichlet(np.ones(3), 40)
    kinds = np.array([[True, True], [False, True], [False, False]])  # wren, another bird, a frog: wrens, birds
    worth = np.empty((40, 3))
    kernels._tilt(share, np.array([5.0, 30.0]), np.array([5.0, 30.0]), kinds, worth)
    q = share * worth
    assert q[:, 0].sum() == pytest.approx(5.0, abs=1e-5)
    assert q[:, :2].sum() == pytest.approx(30.0, abs=1e-5)


def test_many_rows_are_tilted_to_nearly_what_a_pass_says():
    """Expected numbers stand for numbers: among forty rows the posteriors differ by little."""
    generator = np.random.default_rng(0)
    P = generator.dirichlet(np.full(3, 0.5), 40)
    said = np.arange(3), np.array([20.0, 12.0, 8.0])
    Q, exact = np.zeros_like(P), np.empty((40, 3))
    arguments = (np.arange(3), np.arange(40), said[0], said[1], said[1], np.eye(3, dtype=bool))
    kernels.demand_bag(np.log(P), *arguments, 0.0, np.full(40, -1), 0.0, 0.0, Q)
    value = kernels._tilt(P, said[1], said[1], np.eye(3, dtype=bool), exact)
    assert np.isfinite(value)
    assert np.abs(Q - P * exact).max() < 0.02


# ---- bags as people say them


def bags_of(said, sizes=(4, 3, 2), **more):
    return sl.Bags(np.repeat(np.arange(len(sizes)), sizes), labels=said, **more)


def test_bags_say_counts_ranges_maybes_and_absences():
    bags = bags_of({0: {"wren": 3, "owl": (1, None), "jay": "maybe", "hawk": 0}, 1: {"wren"}, 2: {"hawk": "absent"}})
    assert bags.said == {
        0: {"hawk": (0, 0), "jay": (0, None), "owl": (1, None), "wren": (3, 3)},
        2: {"hawk": (0, 0)},
    }
    assert bags.labels == {0: {"wren", "owl"}, 1: {"wren"}, 2: set()}
    assert bags.is_partial.tolist() == [True, False, True]  # maybe a jay; whatever is no hawk
    assert bags.classes == ("hawk", "jay", "owl", "wren")
    np.testing.assert_array_equal(bags.bag_label_mask(), [[0, 1, 1, 1], [0, 0, 0, 1], [0, 1, 1, 1]])
    assert bags_of({0: {"wren"}, 1: {"wren": True}}).said == {}  # a list in other words


def test_what_bags_say_goes_with_their_rows():
    bags = bags_of({0: {"wren": 3, "owl": 1}, 1: {"owl": 3}})
    turned = bags[[8, 4, 5, 6, 3, 2, 1, 0, 7]]
    assert turned.said == bags.said
    assert bags[np.arange(9)] == bags
    assert bags[np.r_[0:4, 0:4]].said[0] == {"owl": (2, 2), "wren": (6, 6)}  # every row twice
    with pytest.warns(sl.errors.BagsWereCut):
        cut = bags[[0, 1]]
    assert cut.said[0] == {"owl": (1, 1), "wren": (3, 3)}  # as it was said; a plan asks nothing of a cut bag
    assert plan_bags(cut, np.full(2, -1), anything_novel=False, wrong=0.0, forgotten=0.0).demands.least.max() == 0
    drawn = bags.drawn(np.array([0, 1, 4, 5, 6]))
    assert drawn.said[0] == {"owl": (0.5, 0.5), "wren": (1.5, 1.5)}  # half of the rows
    assert bags.without_labels([0]).said == {1: {"owl": (3, 3)}}
    assert bags.without_classes(["owl"]).said == {0: {"wren": (3, 3)}}
    assert bags.with_classes(["wren", "tit", "owl"]).said == bags.said
    assert bags != bags_of({0: {"wren": 3, "owl": 1}, 1: {"owl": (2, 3)}})


def test_bags_that_count_come_back_from_a_file():
    bags = bags_of(
        {0: {"warblers", "owl"}, 1: {"wren": (1, 2), "owl": "maybe"}}, tree=["birds/warblers/wren", "birds/owl"]
    )
    again = sl.Bags.__unarchive__(bags.__archive__())
    assert again == bags
    assert again.said == bags.said
    state = bags.__archive__()
    state["demands"] = state["demands"] | {"elements": state["demands"]["elements"] + 9}
    with pytest.raises(InvalidData, match="damaged"):
        sl.Bags.__unarchive__(state)


def test_kinds_of_labels_may_be_named():
    for tree in (
        ["birds/warblers/wren", "birds/warblers/chiffchaff", "birds/owl"],
        {"birds": {"warblers": ["wren", "chiffchaff"], "owl": None}},
        sl.LabelTree.from_edges(
            [(None, "birds"), ("birds", "warblers"), ("warblers", "wren"), ("warblers", "chiffchaff"), ("birds", "owl")]
        ),
    ):
        bags = bags_of({0: {"warblers", "owl"}, 1: {"wren": 2, "owl": 1}}, tree=tree)
        assert bags.classes == ("chiffchaff", "owl", "wren")
        assert bags.said[0] == {"owl": (1, None), "warblers": (1, None)}
        assert bags.labels[0] == {"owl"}  # which warbler, nobody said
        assert bags.bag_label_mask()[0].all()


def test_shares_are_ranges_of_rows():
    exact = sl.Bags([0] * 10, shares={0: {"a": 60, "b": 40}})
    assert exact.said == {0: {"a": (6, 6), "b": (4, 4)}}
    poll = sl.Bags([0] * 10, shares={0: {"a": 0.6, "b": 0.4}}, share_rows=5)
    least, most = poll.said[0]["a"]
    assert least < 6 < most


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({0: {"wren": 5}}, "5 of 'wren', but has only 4 rows"),
        ({0: {"wren": 3, "owl": 2}}, "5 rows of 2 labels, but has only 4"),
        ({0: {"wren": (4, 1)}}, "at least 4 and at most 1 of 'wren'"),
        ({0: {"wren": 0.5}}, "whole number"),
        ({0: {"wren": -1}}, "whole number"),
        ({0: {"wren": "perhaps"}}, '"present", "maybe" or "absent"'),
        ({0: {"wren": (1, 2, 3)}}, r"\(least, most\)"),
        ({0: {"wren": {"owl"}}}, "Give a number of rows"),
        ({"nobody": {"wren": 1}}, "nobody"),
    ],
)
def test_what_no_rows_can_fill_is_refused_by_bag_and_label(said, message):
    with pytest.raises(sl.errors.InvalidInput, match=message):
        bags_of(said)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"shares": {0: {"a": 0.5}}}, r"bag 0 \('a': 0.5\) add up to 0.5"),
        ({"shares": {0: {"a": "much"}}}, "bag 0 has 'much' for 'a'"),
        ({"shares": {0: {"a": 1.5, "b": -0.5}}}, "bag 0 has -0.5 for 'b'"),
        ({"shares": {0: {"a": 1.0}}, "share_rows": 0}, "rest on 0"),
        ({"shares": 3}, "expected a mapping"),
        ({"tree": ["a/wren", "b/wren"]}, "'wren' stands at two places"),
        ({"tree": 3}, "expected a LabelTree"),
        (
            {"labels": {0: {"a"}}, "tree": ["a/wren"], "classes": ["owl"]},
            "names 'a', but no label of the classes",
        ),
        (
            {"labels": {0: {"a": "absent", "wren": 1}}, "tree": ["a/wren"]},
            "at most 0 of 'a', but at least 1 of what is below it, such as 'wren'",
        ),
        ({"labels": {0: {"a": 1}}, "shares": {0: {"a": 1.0}}}, "both labels and shares"),
    ],
)
def test_shares_and_trees_that_contradict_themselves_are_refused(more, message):
    with pytest.raises(sl.errors.InvalidInput, match=message):
        sl.Bags([0, 0], **more)


def test_rows_that_counts_leave_over_need_something_novel():
    bags = bags_of({0: {"wren": 3}, 1: {"owl": 3}})
    X = np.random.default_rng(0).normal(size=(9, 2))
    with pytest.raises(InvalidData, match=r"Bag 0 says what 3 of its 4 rows are.*n_novel"):
        sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    fitted = sl.CoverageClustering(n_novel=1, random_state=0).fit(X, bags=bags)
    Q = fitted.predict_proba(X, bags=bags)
    assert Q[:4, :2].sum(axis=0) == pytest.approx([0.0, 3.0], abs=0.2)
    with pytest.raises(InvalidData, match="2 rows of bag 0 are said to be 'wren', but the bag says at most 1"):
        sl.CoverageClustering(n_novel=1).fit(X, bags=bags_of({0: {"wren": 1}}), row_labels={0: "wren", 1: "wren"})


# ---- fits


def blobs(size, seed=0, n=600):
    generator = np.random.default_rng(seed)
    y = generator.integers(4, size=n)
    X = 2.2 * np.eye(4)[y] + generator.normal(size=(n, 4))
    ids = np.arange(n) // size
    counts = {int(b): {f"k{c}": int(m) for c, m in enumerate(np.bincount(y[ids == b]))} for b in range(ids[-1] + 1)}
    return X, y, ids, counts


def right(model, X, y):
    return float(np.mean(model.predict_labels(X) == np.array([f"k{c}" for c in y])))


def test_counts_name_rows_where_lists_say_nothing():
    """In bags of fifty every list names all kinds; how many there are of each is enough."""
    X, y, ids, counts = blobs(50)
    new, truth, *_ = blobs(50, seed=1)
    counted = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=counts))
    assert right(counted, new, truth) > 0.82
    told = sl.CoverageClustering(random_state=0).fit(X, row_labels=[f"k{c}" for c in y])
    assert right(counted, new, truth) > right(told, new, truth) - 0.06
    lists = {b: {name for name, m in some.items() if m} for b, some in counts.items()}
    listed = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=lists))
    assert right(listed, new, truth) < 0.6
    shares = {b: {name: m / 50 for name, m in some.items()} for b, some in counts.items()}
    shared = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, shares=shares))
    np.testing.assert_array_equal(shared.predict(new), counted.predict(new))


def test_the_posteriors_of_a_fit_count_what_the_bags_said():
    X, _, ids, counts = blobs(50)
    bags = sl.Bags(ids, labels=counts)
    model = sl.CoverageClustering(random_state=0, calibrate=False).fit(X, bags=bags)
    Q = model.predict_proba(X, bags=bags)
    for b, some in counts.items():
        np.testing.assert_allclose(Q[ids == b].sum(axis=0), [some.get(f"k{c}", 0) for c in range(4)], atol=1e-4)
    found, error = model.predict_bag_counts(X, bags)
    assert found.shape == error.shape == (12, 4)
    said = np.array([[some.get(f"k{c}", 0) for c in range(4)] for some in counts.values()])
    assert np.mean(np.abs(found - said) < 3 * error) > 0.9


def test_absences_alone_teach():
    """No list says what is there; each says one kind of four that is not."""
    X, y, ids, counts = blobs(3, n=900)
    generator = np.random.default_rng(0)
    absent = {b: [k for k in ("k0", "k1", "k2", "k3") if not some.get(k)] for b, some in counts.items()}
    said = {b: {str(generator.choice(names)): "absent"} for b, names in absent.items()}
    model = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=said))
    assert right(model, X, y) > 0.75


def test_a_third_of_the_names_at_an_inner_kind_costs_little():
    X, _, ids, counts = blobs(3, n=900)
    new, truth, *_ = blobs(3, seed=1)
    generator = np.random.default_rng(0)
    tree, above = ["low/k0", "low/k1", "high/k2", "high/k3"], {"k0": "low", "k1": "low", "k2": "high", "k3": "high"}
    full = {b: {name for name, m in some.items() if m} for b, some in counts.items()}
    lifted = {b: {above[k] if generator.random() < 1 / 3 else k for k in names} for b, names in full.items()}
    lifted = {
        b: names - {k for k in names if above.get(k) in names} for b, names in lifted.items()
    }  # one level a label
    exact = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=full))
    rough = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=lifted, tree=tree))
    assert right(rough, new, truth) > right(exact, new, truth) - 0.03


def test_the_objective_of_counts_has_the_gradient_that_it_says():
    _, _, ids, counts = blobs(6, n=60)
    bags = sl.Bags(ids, labels=counts)
    plan = plan_bags(bags, np.full(60, -1), anything_novel=False, wrong=0.0, forgotten=0.0)
    logits = np.random.default_rng(0).normal(size=(60, 4))

    def value(flat):
        log_P = log_softmax(flat.reshape(60, 4))
        return coverage_posteriors(np.exp(log_P), log_P, np.arange(4), plan)[1].sum()

    log_P = log_softmax(logits)
    Q, _ = coverage_posteriors(np.exp(log_P), log_P, np.arange(4), plan)
    expected = Q - np.exp(log_P) * Q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(approx_fprime(logits.ravel(), value, 1e-6).reshape(60, 4), expected, atol=1e-5)


# ---- what comes out


def calls(n_bags, size, seed):
    """Return rows of four kinds, of which two are hard to tell apart, and the kind and bag of each."""
    generator = np.random.default_rng(seed)
    y = np.concatenate([generator.choice(4, size=size, p=generator.dirichlet(np.ones(4))) for _ in range(n_bags)])
    X = np.array([[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 3, 0], [0, 0, 2.2, 0]])[y] + generator.normal(size=(len(y), 4))
    return X, np.array(["jay", "owl", "robin", "wren"])[y], np.repeat(np.arange(n_bags), size)


def counted_bags(y, ids):
    return {
        int(b): {name: int((y[ids == b] == name).sum()) for name in ("jay", "owl", "robin", "wren")} for b in set(ids)
    }


def test_counted_bags_are_told_in_ranges_that_hold_the_true_number():
    """Over three splits, as promised; what is promised less is told in narrower ranges."""
    held, narrow, wide = [], [], []
    for seed in range(3):
        X, y, ids = calls(60, 12, seed)
        new, truth, new_ids = calls(200, 12, seed + 10)
        model = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=counted_bags(y, ids)))
        assert model.counts_rows_ == "counts"
        said, numbers = model.predict_bags_said(new, new_ids), counted_bags(truth, new_ids)
        held += [low <= numbers[b][k] <= high for b, some in enumerate(said) for k, (low, high) in some.items()]
        wide += [high - low for some in said for low, high in some.values()]
        half = model.predict_bags_said(new, new_ids, coverage=0.5)
        narrow += [high - low for some in half for low, high in some.values()]
    assert 0.88 < np.mean(held) < 0.98
    assert np.mean(narrow) < 0.7 * np.mean(wide)
    again = sl.Bags(new_ids, labels=dict(enumerate(said)))  # the words of the answer are those of the question
    assert again.said[0] == {k: (low, high) for k, (low, high) in said[0].items()}


def test_shares_are_told_in_rows_too():
    X, y, ids = calls(40, 12, 0)
    shares = {
        b: {k: n / 12 + 0.001 * (k == "jay") for k, n in some.items()} for b, some in counted_bags(y, ids).items()
    }
    model = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, shares=shares))
    assert model.counts_rows_ == "shares"
    assert set(model.predict_bags_said(X, ids)[0]) == {"jay", "owl", "robin", "wren"}


def test_kinds_are_said_where_rows_cannot_tell_labels_apart():
    """Names of new bags are right as often as asked, over four splits; more is said where less is asked."""
    tree = ["songbird/wren", "songbird/robin", "owl", "jay"]
    rights, rows, labels, kinds = [], [], 0, 0
    for seed in range(4):
        X, y, ids = calls(200, 4, seed)
        generator = np.random.default_rng(seed)
        lifted = {"wren": "songbird", "robin": "songbird"}
        said = {
            int(b): {lifted.get(k, k) if generator.random() < 0.4 else k for k in sorted(set(y[ids == b].tolist()))}
            for b in set(ids)
        }
        model = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=said, tree=tree))
        assert model.kinds_ == {"songbird": ("robin", "wren")}
        new, truth, new_ids = calls(300, 4, seed + 10)
        for b, some in enumerate(model.predict_bags_said(new, new_ids)):
            there = set(truth[new_ids == b].tolist())
            there |= {lifted[k] for k in there if k in lifted}
            rights += [name in there for name in some]
            kinds += "songbird" in some
            labels += len(some)
            assert not ("songbird" in some and some.keys() & {"wren", "robin"})  # the most specific name
        named = model.predict_kinds(new)
        rows += [name in (k, lifted.get(k)) for name, k in zip(named, truth) if name is not None]
        assert np.mean([name is None for name in named]) < 0.5
    assert np.mean(rights) > 0.87
    assert np.mean(rows) > 0.9
    assert 0.05 < kinds / labels < 0.6


def test_a_model_of_lists_says_lists():
    X, y, ids = calls(60, 4, 0)
    lists = {int(b): set(y[ids == b].tolist()) for b in set(ids)}
    model = sl.CoverageClustering(random_state=0).fit(X, bags=sl.Bags(ids, labels=lists))
    assert (model.counts_rows_, model.kinds_) == ("", {})
    assert all(ends == (1, None) for some in model.predict_bags_said(X, ids) for ends in some.values())
