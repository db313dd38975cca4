"""How numbers lie in memory, and of what type, says nothing: the same numbers give the same fit, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from tests.examples import but_slow
from tests.laws.registry import CASES, Case, each

import sidelight as sl


def strided(A: np.ndarray) -> np.ndarray:
    wide = np.full((2 * A.shape[0], 3 * A.shape[1]), 77, A.dtype)
    wide[::2, ::3] = A
    return wide[::2, ::3]


def read_only(A: np.ndarray) -> np.ndarray:
    copy = A.copy()
    copy.flags.writeable = False
    return copy


def unaligned(A: np.ndarray) -> np.ndarray:
    return np.frombuffer(b"\0" + np.ascontiguousarray(A).tobytes(), np.uint8)[1:].view(A.dtype).reshape(A.shape)


DENSE = {
    "columns first": np.asfortranarray,
    "strided": strided,
    "backwards": lambda A: A[::-1].copy()[::-1],
    "read-only": read_only,
    "big-endian": lambda A: A.astype(A.dtype.newbyteorder(">")),
    "objects": lambda A: A.astype(object),
    "lists": lambda A: A.tolist(),
    "unaligned": unaligned,
    "float16": lambda A: A.astype(np.float16),
    "float32": lambda A: A.astype(np.float32),
    "int8": lambda A: A.astype(np.int8),
    "big-endian int16": lambda A: A.astype(">i2"),
}


def mapped(A: np.ndarray, path: Any) -> np.ndarray:
    np.save(path, A)
    return np.load(path, mmap_mode="r")


def counts(case: Case) -> np.ndarray:
    """Whole numbers, which every type holds exactly."""
    return np.round(4 * case.rows())


def what_is_learnt(case: Case, X: Any, y: Any) -> dict[str, np.ndarray]:
    fitted = clone(case.estimator).fit(X, y, **case.side())
    learnt = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    found = {name: value for name, value in learnt.items() if isinstance(value, np.ndarray)}
    for method in ("predict", "predict_proba", "transform"):
        if hasattr(fitted, method):
            found[method] = np.asarray(getattr(fitted, method)(X))
    return found


def assert_same(here: dict[str, np.ndarray], there: dict[str, np.ndarray], what: str) -> None:
    assert here.keys() == there.keys()
    for name, value in here.items():
        np.testing.assert_array_equal(value, there[name], f"{name}, {what}")


QUICK = [case for case in CASES if case.name in ("CoverageClustering", "DiscriminativeClustering")]


@pytest.mark.parametrize("case", but_slow(CASES, *QUICK))
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_dense_rows_and_targets_in_any_layout(case: Case, tmp_path: Any):
    X, y = counts(case), case.target()
    y = None if y is None else np.asarray(y.values)
    plain = what_is_learnt(case, X, y)
    for name, lay in DENSE.items():
        assert_same(plain, what_is_learnt(case, lay(X), None if y is None else lay(y)), name)
    kept = what_is_learnt(case, mapped(X, tmp_path / "X.npy"), None if y is None else mapped(y, tmp_path / "y.npy"))
    assert_same(plain, kept, "mapped")
    flags = np.median(X, axis=0) < X
    assert_same(what_is_learnt(case, flags.astype(float), y), what_is_learnt(case, flags, y), "bool")


def big_endian(A: sp.csr_array) -> sp.csr_array:
    A.data = A.data.astype(">f8")
    return A


def all_read_only(A: sp.csr_array) -> sp.csr_array:
    for part in (A.data, A.indices, A.indptr):
        part.flags.writeable = False
    return A


def backwards(A: sp.csr_array) -> sp.csr_array:
    order = np.concatenate([np.arange(A.indptr[i], A.indptr[i + 1])[::-1] for i in range(A.shape[0])])
    return sp.csr_array((A.data[order], A.indices[order], A.indptr), shape=A.shape)


def long_indices(A: sp.csr_array) -> sp.csr_array:
    A.indices, A.indptr = A.indices.astype(np.int64), A.indptr.astype(np.int64)
    return A


SPARSE = {
    "cells twice": lambda A: sp.csr_array((np.repeat(A.data / 2, 2), np.repeat(A.indices, 2), A.indptr * 2), A.shape),
    "columns backwards": backwards,
    "long indices": long_indices,
    "read-only": all_read_only,
    "big-endian": big_endian,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "matrix": sp.csr_matrix,
    "int8": lambda A: A.astype(np.int8),
}


@each([case for case in CASES if case.estimator.__sklearn_tags__().input_tags.sparse])
@pytest.mark.filterwarnings("ignore::sidelight.errors.SidelightWarning")
def test_sparse_rows_in_any_layout(case: Case):
    X = counts(case)
    X[X < 6] = 0.0
    plain = what_is_learnt(case, sp.csr_array(X), case.target())
    every = SPARSE if case.name in ("CoverageClustering", "InformationCoclustering") else list(SPARSE)[:5]
    for name in every:
        assert_same(plain, what_is_learnt(case, SPARSE[name](sp.csr_array(X)), case.target()), name)
    given = SPARSE["cells twice"](sp.csr_array(X))
    what_is_learnt(case, given, case.target())
    assert given.nnz == 2 * np.count_nonzero(X)  # what somebody gave stays as it was


@pytest.mark.parametrize("name", [name for name in DENSE if not name.startswith("float")])  # 3.0 is no number of a row
def test_answers_bags_and_weights_in_any_layout(name: str):
    def lay(values: Any) -> Any:
        laid = DENSE[name](np.asarray(values)[:, None])
        return [one for (one,) in laid] if isinstance(laid, list) else laid[:, 0]

    left, right, weights = np.arange(20), 20 + np.arange(20)[::-1], np.arange(20) % 3
    plain = sl.Pairs(left, right, left % 2 == 0, n_rows=40, weights=weights)
    moved = sl.Pairs(lay(left), lay(right), (left % 2 == 0).tolist(), n_rows=40, weights=lay(weights))
    np.testing.assert_array_equal(plain.rows, moved.rows)
    np.testing.assert_array_equal(plain.weights, moved.weights)
    np.testing.assert_array_equal(sl.Bags(lay(left // 3)).codes, sl.Bags(left // 3).codes)
