"""Information loss against the divergence itself; the error accounts against a plain recount."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

import sidelight as sl
from sidelight.errors import InvalidData, InvalidParameter, UnknownName
from sidelight.metrics import error_accounts, information_loss


@st.composite
def clustered_tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
    table = rng.integers(0, 4, size=shape).astype(float)
    table.flat[rng.integers(table.size)] += 1  # some mass
    return table, [rng.integers(0, 3, size=n) for n in shape]


def divergence(table, clusters):
    """D_KL(P || Q) with Q written out in full, one cell at a time."""
    P = table / table.sum()
    marginals = [P.sum(axis=tuple(b for b in range(P.ndim) if b != a)) for a in range(P.ndim)]
    loss = 0.0
    for cell in np.ndindex(P.shape):
        if P[cell] == 0:
            continue
        together = np.ix_(*(np.flatnonzero(c == c[x]) for c, x in zip(clusters, cell)))
        q = P[together].sum()
        for marginal, c, x in zip(marginals, clusters, cell):
            q *= marginal[x] / marginal[c == c[x]].sum()
        loss += P[cell] * np.log(P[cell] / q)
    return loss


@given(clustered_tables())
def test_loss_is_the_divergence_for_any_number_of_axes(case):
    table, clusters = case
    want = divergence(table, clusters)
    assert information_loss(table, clusters) == pytest.approx(want, abs=1e-12)  # rounding
    assert information_loss(7 * table, clusters, unit="bits") == pytest.approx(want / np.log(2), abs=1e-12)  # rounding
    if table.ndim == 2:
        assert information_loss(csr_array(table), clusters) == pytest.approx(want, abs=1e-12)  # rounding


@given(clustered_tables())
def test_clustering_never_gains_and_singletons_never_lose(case):
    table, clusters = case
    assert information_loss(table, clusters) >= 0
    assert information_loss(table, [None] * table.ndim) == pytest.approx(0, abs=1e-12)  # rounding
    names = [[f"g{c}" for c in groups] for groups in clusters]
    assert information_loss(table, names) == pytest.approx(information_loss(table, clusters))


def test_the_example_of_the_thesis():
    """[B04] 1.4.3: D_KL(P || Q) = 0.0137 bits, 0.00949 nats."""
    P = [[0.1, 0.1, 0, 0], [0.1, 0.2, 0, 0], [0, 0, 0.05, 0.05], [0, 0, 0.15, 0.25]]
    clusters = [[0, 0, 1, 1], [0, 0, 1, 1]]
    assert information_loss(P, clusters, unit="bits") == pytest.approx(0.0137, abs=5e-5)  # as many digits as printed
    assert information_loss(P, clusters) == pytest.approx(0.00949, abs=5e-6)  # the same


def test_a_table_with_named_axes_takes_a_mapping():
    dense = np.array([[2.0, 1.0, 0.0], [0.0, 1.0, 3.0]])
    table = sl.CoOccurrence.from_matrix(dense, axes=("face", "upper"))
    got = information_loss(table, {"upper": ["a", "a", "b"]})
    assert got == pytest.approx(information_loss(dense, [None, [0, 0, 1]]))
    with pytest.raises(UnknownName, match="Did you mean 'upper'"):
        information_loss(table, {"uper": [0, 0, 0]})


def test_cells_stored_twice_are_added_up():
    twice = coo_array(([1.0, 1.0, 2.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    assert information_loss(twice, [[0, 0], [0, 0]], unit="bits") == pytest.approx(1.0)


def test_bad_tables_and_clusters_are_refused():
    table = [[1, 2], [3, 4]]
    with pytest.raises(InvalidData, match="axis 1 has 2 codes, but 3"):
        information_loss(table, [[0, 1], [0, 1, 1]])
    with pytest.raises(InvalidData, match="2 axes"):
        information_loss(table, [[0, 1]])
    for bad in ([[1, -2], [3, 4]], [[0, 0], [0, 0]], [[np.nan, 1], [1, 1]], [1, 2]):
        with pytest.raises(InvalidData, match="information_loss needs a table"):
            information_loss(bad, [[0, 0], [0, 0]])
    with pytest.raises(InvalidParameter, match="'bits'"):
        information_loss(table, [None, None], unit="bit")


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=14))
def test_the_four_accounts_equal_a_plain_recount(points):
    classes, clusters, sequences, prototypes = map(list, zip(*points))

    def n_wrong(found):
        return min(sum(rename[f] != t for f, t in zip(found, classes)) for rename in permutations(range(3)))

    majority = {s: Counter(c for c, q in zip(clusters, sequences) if q == s) for s in set(sequences)}
    first = list(dict.fromkeys(clusters))
    settled = [max(majority[s], key=lambda c, s=s: (majority[s][c], -first.index(c))) for s in sequences]
    got = error_accounts(classes, clusters, sequences, prototypes)
    assert got.quantisation == sum(s != p for s, p in zip(sequences, prototypes))
    assert got.total == n_wrong(clusters)
    assert got.raw == got.total - got.quantisation
    assert got.final == n_wrong(settled)
    assert got.n_points == len(points)


def test_the_raw_error_may_be_negative():
    got = error_accounts(["ann"] * 4, [0] * 4, ["s", "s", "t", "t"], ["s", "t", "t", "s"])
    assert (got.quantisation, got.raw, got.total, got.final) == (2, -2, 0, 0)
    assert got.shares() == {"quantisation": 0.5, "raw": -0.5, "total": 0.0, "final": 0.0}


def test_accounts_of_different_lengths_are_refused():
    with pytest.raises(InvalidData, match="prototypes has 1"):
        error_accounts([0, 1], [0, 1], [0, 1], [0])
