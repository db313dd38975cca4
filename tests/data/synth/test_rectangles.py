"""The six rectangles of [Z17]."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight as sl
from sidelight.errors import InvalidParameter


def test_the_toy_has_the_counts_of_the_paper():
    toy = sl.data.make_rectangles(random_state=0)
    assert toy.X.shape == (3000, 2)
    assert toy.X_test.shape == (10_000, 2)
    assert toy.bags.n_bags == 300
    assert (toy.bags.sizes == 10).all()
    assert toy.novel == (0, 5)
    assert toy.bags.classes == (1, 2, 3, 4)
    n_labels = [len(np.unique(toy.y[toy.bags.rows(b)])) for b in toy.bags.names]
    assert np.mean(n_labels) == pytest.approx(2.47)


def test_points_lie_in_their_rectangles_and_in_no_other():
    for seed in range(3):
        toy = sl.data.make_rectangles(20, gap=0, random_state=seed)
        for X, y in ((toy.X, toy.y), (toy.X_test, toy.y_test)):
            left, right, bottom, top = toy.rectangles.T
            x, z = X[:, [0]], X[:, [1]]
            inside = (left <= x) & (x < right) & (bottom <= z) & (z < top)
            assert np.array_equal(inside, np.eye(6, dtype=bool)[y])


def test_label_sets_name_what_is_inside_but_for_the_novel():
    toy = sl.data.make_rectangles(random_state=1)
    for name in toy.bags.names:
        assert toy.bags.labels[name] == set(toy.y[toy.bags.rows(name)].tolist()) - {0, 5}
    assert any(not labels for labels in toy.bags.labels.values())  # bags of novel rows only


def test_the_average_number_of_labels_is_met():
    for mean in [1, 1.5, 3.3, 6]:
        toy = sl.data.make_rectangles(50, labels_per_bag=mean, novel=(), random_state=0)
        assert toy.bags.label_matrix.nnz == round(50 * mean)


def test_the_same_seed_draws_the_same_points():
    first, again = (sl.data.make_rectangles(5, random_state=0) for _ in range(2))
    assert np.array_equal(first.X, again.X)
    assert first.bags == again.bags


@pytest.mark.parametrize("bad", [{"labels_per_bag": 7}, {"novel": (6,)}, {"n_bags": 0}, {"gap": -0.1}])
def test_bad_parameters_are_refused_by_name(bad):
    with pytest.raises(InvalidParameter, match=next(iter(bad))):
        sl.data.make_rectangles(**bad)
