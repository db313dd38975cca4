"""Words of texts, counted: all that come back, or those that a model knows already."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
import scipy.sparse as sp

_WORD = re.compile(r"[^\W\d_]{2,}")
_known: ContextVar[tuple[str, ...] | None] = ContextVar("words that a model was fitted on", default=None)


@contextmanager
def counting_known(words: Sequence[str] | None) -> Iterator[None]:
    """Count these words and no others, in this order, while new texts are read for a model; None changes nothing."""
    token = _known.set(None if words is None else tuple(words))
    try:
        yield
    finally:
        _known.reset(token)


def count_words(texts: Sequence[str], least: int, *, before: str = "") -> tuple[Any, tuple[str, ...]]:
    """Count words of two letters or more, in small letters; words of fewer than ``least`` texts are left out.

    Parameters
    ----------
    texts : sequence of str
        The texts.
    least : int
        In how many texts a word must be; a model that knows its words has them counted however rare they are.
    before : str
        What the names of the words begin with, where several columns of texts are told apart by it.
    """
    known = _known.get()
    if known is not None:
        names = [name[len(before) :] for name in known if name.startswith(before)]
        return _counted(texts, {word: j for j, word in enumerate(names)}, grows=False)[0], tuple(names)
    X, code = _counted(texts, {}, grows=True)
    spread = np.bincount(X.indices, minlength=len(code))
    words = list(code)
    kept = sorted(np.flatnonzero(spread >= least).tolist(), key=words.__getitem__)
    return X[:, kept], tuple(words[j] for j in kept)


def knows_its_words() -> bool:
    """Say whether texts are read for a model, which knows its words."""
    return _known.get() is not None


def _counted(texts: Sequence[str], code: dict[str, int], *, grows: bool) -> tuple[Any, dict[str, int]]:
    indices: list[int] = []
    counts: list[int] = []
    indptr = [0]
    for text in texts:
        for word, count in Counter(_WORD.findall(text.lower())).items():
            place = code.setdefault(word, len(code)) if grows else code.get(word)
            if place is not None:
                indices.append(place)
                counts.append(count)
        indptr.append(len(indices))
    shape = (len(texts), len(code))
    return sp.csr_array(
        (np.array(counts, dtype=np.float64), np.array(indices, dtype=np.intp), indptr), shape=shape
    ), code
