"""Which columns are components: principal components, embeddings, condensed words; the others are measures.

Measures are in units of their own, and standardised. Components share a unit: the first ones vary most because they say
most, and to give all the same variance lets noise speak as loudly as the first. They come in families (``emb_0`` to
``emb_511``; the layers of a network), each with a name before its number.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import InvalidParameter

Ints = NDArray[np.intp]
_FEWEST = 8  # columns of a family that is guessed
_NAMED = re.compile(r"emb(ed(ding)?s?)?|pca?|svd|lsa|lsi|latent|components?|comp|principal[ _.-]?component", re.I)
_FALLS = -0.9  # rank correlation of place and size from which columns fall
_RATIO = 3.0  # first size over last of columns that fall
_APART = 0.1  # mean absolute correlation up to which columns are uncorrelated, as components of the same rows are
_LOOKED_AT = 2_000  # rows


def stem(name: str) -> str:
    """Return what stands before the number at the end of a name."""
    return re.sub(r"[ _.-]?\d+$", "", name)


def families_of(names: Sequence[str], patterns: Sequence[str]) -> Ints:
    """Return the family of each column, -1 for measures: columns that patterns name, parted by what their names say.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    patterns : sequence of str
        Names, or patterns such as ``emb_*``.
    """
    found: dict[str, int] = {}
    out = np.full(len(names), -1, dtype=np.intp)
    for j, name in enumerate(names):
        if any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns):
            out[j] = found.setdefault(stem(name), len(found))
    unused = [p for p in patterns if not any(name == p or fnmatchcase(name, p) for name in names)]
    if unused:
        raise InvalidParameter(f"No column is called {unused[0]!r}: components are names of columns, or patterns.")
    return out


def guess_components(X: Any, names: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return patterns of columns that look like components, one a family, and why; nothing where none do.

    Numbered columns whose name says so; and numbered columns that fall in size and are uncorrelated, as the components
    of rows are, while measures never are.

    Parameters
    ----------
    X : ndarray or CSR of shape (n_rows, n_columns)
        The rows.
    names : sequence of str
        Of the columns.
    """
    groups: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        if re.search(r"\d$", name):
            groups.setdefault(stem(name), []).append(j)
    found, why = [], []
    for before, columns in groups.items():
        if len(columns) < _FEWEST:
            continue
        told = f"{names[columns[0]]} to {names[columns[-1]]}"
        if _NAMED.match(before.split("_")[0]) and _is_word(before):
            why.append(f"{told}: their names say so")
        elif isinstance(X, np.ndarray) and _fall_apart(X, columns):
            why.append(f"{told}: they fall in size and are uncorrelated")
        else:
            continue
        mark = re.sub(r"\d+$", "", names[columns[0]])[len(before) :]
        found.append("".join(f"[{c}]" if c in "*?[" else c for c in before + mark) + "[0-9]*")
    return tuple(found), "; ".join(why)


def _is_word(before: str) -> bool:
    """Say whether the beginning of a name is a whole word: emb_stage5, and no embarked_1."""
    first = re.split(r"[_ .-]", before)[0]
    return _NAMED.fullmatch(first) is not None or _NAMED.fullmatch(before) is not None


def _fall_apart(X: NDArray[Any], columns: Sequence[int]) -> bool:
    rows = X[:: max(1, X.shape[0] // _LOOKED_AT), columns]
    if rows.shape[0] < 3 * _FEWEST or not np.isfinite(rows).all():
        return False
    sizes = np.sqrt((rows**2).mean(axis=0))
    if sizes[-1] <= 0 or sizes[0] < _RATIO * sizes[-1] or (sizes[:-1] < 0.5 * sizes[1:]).any():
        return False
    ranks = np.argsort(np.argsort(sizes))
    if np.corrcoef(ranks, np.arange(len(ranks)))[0, 1] > _FALLS:
        return False
    spread = rows.std(axis=0)
    if not (spread > 1e-12 * sizes).all():
        return False
    together = np.abs(np.corrcoef(rows, rowvar=False))
    n = len(columns)
    chance = np.sqrt(2 / (np.pi * rows.shape[0]))  # of columns that have nothing to do with each other
    return bool((together.sum() - n) / (n * (n - 1)) < min(_APART, 3 * chance))
