"""Samples of bags by a hash of their names: whole bags, and some rows of long ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import sidelight as sl
from sidelight.data import parts
from sidelight.data.array_parts import ArrayRows
from sidelight.data.bag_lists import WHOLE, is_drawn


def drawn(sizes, share, *, first=0):
    names, home = np.arange(len(sizes)), np.repeat(np.arange(len(sizes)), sizes)
    return is_drawn(names, home, first + np.arange(len(home)), share), home


def test_short_bags_are_drawn_as_a_whole_by_their_names_alone():
    sizes = np.tile([1, 20, WHOLE], 200)
    kept, home = drawn(sizes, 0.2)
    assert set(np.bincount(home[kept], minlength=600)[np.unique(home[kept])]) <= {1, 20, WHOLE}
    assert kept.mean() == pytest.approx(0.2, abs=0.05)
    np.testing.assert_array_equal(drawn(sizes, 0.2, first=10**6)[0], kept)


@pytest.mark.slow
@pytest.mark.parametrize("n_bags", [1, 3, 40])
def test_every_one_of_a_few_long_bags_is_in_the_sample_with_its_share(n_bags):
    kept, home = drawn(np.full(n_bags, 100_000), 0.02)
    np.testing.assert_allclose(np.bincount(home[kept], minlength=n_bags) / 100_000, 0.02, atol=0.002)


def test_of_many_long_bags_some_are_drawn_with_about_a_thousand_rows_each():
    kept, home = drawn(np.full(2000, 3 * WHOLE), 0.05)
    own = np.bincount(home[kept], minlength=2000)
    assert np.mean(own > 0) == pytest.approx(0.15, abs=0.03)
    np.testing.assert_allclose(own[own > 0], WHOLE, rtol=0.15)


def test_a_share_of_one_is_everything():
    assert drawn([5, 4 * WHOLE], 1.0)[0].all()
    assert drawn([5, 4 * WHOLE], 3.0)[0].all()


def test_parts_of_a_few_long_bags_have_a_sample_with_all_of_them():
    ids = np.repeat([0, 1, 2], 4000)
    rows = sl.Parts.from_arrays(np.arange(24_000.0).reshape(-1, 2), sl.Bags(ids, labels={1: {"wren"}}))
    X, bags = rows.sample(6000)
    assert bags is not None
    assert set(bags) == {0, 1, 2}
    assert len(X) == len(bags) == pytest.approx(6000, abs=300)
    np.testing.assert_array_equal(X[:, 0] // 8000, np.asarray(list(bags)))
    assert bags.labels[1] == frozenset({"wren"})


@pytest.mark.parametrize("shuffled", [False, True])
def test_bags_of_some_rows_are_those_of_the_rows(shuffled):
    """Also where a range begins or ends within a bag: a bag that was cut has the rows that are there."""
    ids = np.repeat(np.arange(5), [3, 1, 4, 2, 2])
    ids = np.random.default_rng(0).permutation(ids) if shuffled else ids
    source = ArrayRows.of(np.arange(12.0)[:, None], sl.Bags(ids.tolist(), labels={2: {"wren"}}))
    home = ids[source.numbers(0, 12)]
    for first, last in itertools.combinations(range(13), 2):
        lists = source.lists(first, last)
        np.testing.assert_array_equal(lists.names[lists.home], home[first:last])
        assert [lists.sets[code] is not None for code in lists.codes] == [name == 2 for name in lists.names]
        np.testing.assert_array_equal(source.rows(first, last)[:, 0], source.numbers(first, last))


@pytest.mark.parametrize("sizes", [[64] * 8, [63, 65, 64, 1, 191, 128], [512], [1] * 512])
def test_blocks_of_parts_end_where_bags_end(monkeypatch, sizes):
    monkeypatch.setattr(parts, "BLOCK", 64)
    starts = np.cumsum([0, *sizes])
    wanted = {int(starts[starts >= place].min()) for place in range(64, 512, 64)}
    assert parts.block_cuts(starts, 512).tolist() == sorted({0, 512} | wanted)
