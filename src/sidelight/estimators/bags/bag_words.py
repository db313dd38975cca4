"""Bags as the words they hold: rows become words of several small code books, bags become counts of words.

A code book cuts the rows into cells, its words. A bag is then described by the words that occur in it, and a word that
occurs in few bags weighs more: weight * log(bags / bags with the word). No single way of counting suits all data, so
four are put side by side, each of length one for every bag: presence or log(1 + count), in rows that are standardised
or whitened. The scaling of rows moves into the centres of the words, so X is never copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sidelight._core.process import for_each_in_threads, map_in_threads, one_blas_thread
from sidelight._core.prototypes import kmeans_prototypes
from sidelight._models.scaled_rows import column_scaling, whitening

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Words = npt.NDArray[np.int32]

RIDGE = 0.1  # of the mean eigenvalue: directions that hold almost nothing are not blown up
_SAMPLE = 8000  # rows that each code book is learnt from
_STEPS = 15  # of k-means for a code book; words need not be optimal, and there are many books
_ROWS_A_WORD = 20  # fewer words than asked for where there are few rows: a word that occurs once joins nothing
_SEEDING, _FEW = 10, 250  # rows for each word among which the first centres are drawn, and the fewest in all
_WIDE = 1000  # features; beyond it whitening would cost more than it tells, and rows are standardised only
_SCORES = 2_000_000  # distances to words that a thread holds at a time
_CELLS = 8_000_000  # weights of bags by words held at a time


@dataclass(frozen=True, slots=True)
class WordBooks:
    """Code books side by side: the word of row x in book b minimises ``offsets + (x - mean) @ directions.T`` there.

    Attributes
    ----------
    mean : array of shape (n_features,)
        Mean of the rows.
    directions, offsets : array of shape (n_words, n_features), (n_words,)
        Squared distances to the words up to a number for each row, whatever the scaling of the book.
    starts : array of shape (n_books + 1,)
        Words of book b are ``starts[b]:starts[b + 1]``.
    groups : array of shape (n_books,)
        Books of the same scaling and size have the same number.
    """

    mean: Floats
    directions: Floats
    offsets: Floats
    starts: Ints
    groups: Ints

    @property
    def n_books(self) -> int:
        """How many code books there are."""
        return len(self.groups)

    def words(self, X: Any) -> Words:
        """Return the word of every row in every book, of shape (n_rows, n_books)."""
        words = np.empty((X.shape[0], self.n_books), dtype=np.int32)
        step = max(1, _SCORES // len(self.offsets))
        shift = self.offsets - (self.directions @ self.mean if sp.issparse(X) else 0.0)

        def speak(begin: int) -> None:
            block = X[begin : begin + step]
            scores = np.asarray((block if sp.issparse(X) else block - self.mean) @ self.directions.T)
            scores += shift
            for book, (first, last) in enumerate(zip(self.starts[:-1], self.starts[1:])):
                words[begin : begin + step, book] = scores[:, first:last].argmin(axis=1) + first

        for_each_in_threads(speak, range(0, X.shape[0], step))
        return words

    def some(self, books: Ints) -> WordBooks:
        """Return these books alone."""
        columns = self.columns(books)
        starts = np.append(0, np.cumsum(np.diff(self.starts)[books]))
        return WordBooks(self.mean, self.directions[columns], self.offsets[columns], starts, self.groups[books])

    def columns(self, books: Ints) -> Ints:
        """Return the words of these books."""
        return np.concatenate([np.arange(self.starts[b], self.starts[b + 1]) for b in books])


@dataclass(frozen=True, slots=True)
class _Draft:
    """One code book before it is learnt: the scaling of its rows, the rows, how many words, and a seed."""

    group: int
    scaling: Floats
    rows: Ints | slice
    n_words: int
    seed: int


def learn_books(
    X: Any,
    scales: Sequence[str],
    sizes: Sequence[int],
    n_books: int,
    generator: np.random.Generator,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> WordBooks:
    """Learn code books of every scaling and size, in threads.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_rows, n_features)
        The rows.
    scales : sequence of {"standard", "whitened"}
        Scalings of the rows.
    sizes : sequence of int
        Numbers of words.
    n_books : int
        Books of each scaling and size.
    generator : Generator
        Draws the rows that each book is learnt from.
    report : callable
        MessageWithAdvice how many books are done, and of how many.
    """
    mean, inverse_scale = column_scaling(X)
    drafts = _drafts(X, mean, inverse_scale, scales, sizes, n_books, generator)
    done = count(1)

    def learn(draft: _Draft) -> Floats:
        Z = _scaled(X[draft.rows], mean, draft.scaling)
        n_seeding = max(_FEW, _SEEDING * draft.n_words)
        centres = kmeans_prototypes(Z, draft.n_words, draft.seed, max_iter=_STEPS, n_seeding=n_seeding)
        report(next(done), len(drafts))
        return np.asarray(centres, dtype=np.float64)

    books = map_in_threads(learn, drafts)
    directions = [
        -2.0 * (centres * draft.scaling if draft.scaling.ndim == 1 else centres @ draft.scaling.T)
        for draft, centres in zip(drafts, books)
    ]
    offsets = np.concatenate([np.square(centres).sum(axis=1) for centres in books])
    starts = np.append(0, np.cumsum([len(centres) for centres in books])).astype(np.intp)
    groups = np.array([draft.group for draft in drafts], dtype=np.intp)
    return WordBooks(mean, np.vstack(directions), offsets, starts, groups)


def _drafts(
    X: Any,
    mean: Floats,
    inverse_scale: Floats,
    scales: Sequence[str],
    sizes: Sequence[int],
    n_books: int,
    generator: np.random.Generator,
) -> list[_Draft]:
    """Draw everything that is left to chance, so that books can be learnt in any order."""
    n_most = max(2, X.shape[0] // _ROWS_A_WORD)
    drafts = []
    for s, scale in enumerate(scales):
        scaling = _scaling(X, mean, inverse_scale, scale, generator)
        for g, size in enumerate(sizes):
            for _ in range(n_books):
                rows = _some_rows(X.shape[0], generator)
                n_words = min(size, n_most, X.shape[0], _SAMPLE)
                drafts.append(_Draft(s * len(sizes) + g, scaling, rows, n_words, int(generator.integers(2**31))))
    return drafts


def _scaling(X: Any, mean: Floats, inverse_scale: Floats, scale: str, generator: np.random.Generator) -> Floats:
    """Return what scales the rows: a number for each feature, or a matrix that whitens with a ridge."""
    if scale == "standard" or X.shape[1] > _WIDE:
        return inverse_scale
    Z = _scaled(X[_some_rows(X.shape[0], generator)], mean, inverse_scale, dtype=np.float64)
    with one_blas_thread():
        return np.asarray(inverse_scale[:, None] * whitening(Z.T @ Z / len(Z), RIDGE), dtype=np.float64)


def _some_rows(n_rows: int, generator: np.random.Generator) -> Ints | slice:
    return slice(None) if n_rows <= _SAMPLE else np.sort(generator.choice(n_rows, _SAMPLE, replace=False))


def _scaled(rows: Any, mean: Floats, scaling: Floats, *, dtype: Any = np.float32) -> Any:
    """Return scaled rows; wide sparse ones stay sparse, for k-means does not mind a shift."""
    if sp.issparse(rows) and rows.shape[1] > _WIDE:
        return sp.csr_array(rows @ sp.diags_array(scaling))
    Z = (rows.toarray() if sp.issparse(rows) else rows) - mean
    return (Z * scaling if scaling.ndim == 1 else Z @ scaling).astype(dtype, copy=False)


@dataclass(frozen=True, slots=True)
class BagWords:
    """How many rows of each bag have each word, known a block of bags at a time.

    Attributes
    ----------
    words : array of shape (n_rows, n_books)
        The word of every row in every book; the rows of a bag lie together.
    bag_starts : array of shape (n_bags + 1,)
        Rows of bag b are ``bag_starts[b]:bag_starts[b + 1]``.
    books : WordBooks
        The books.
    """

    words: Words
    bag_starts: Ints
    books: WordBooks

    @property
    def n_bags(self) -> int:
        """How many bags there are."""
        return len(self.bag_starts) - 1

    def rarity(self) -> Floats:
        """Return log(bags / bags with the word) for every word."""
        holding = np.zeros(len(self.books.offsets))
        for _, counts in self.blocks():
            holding += (counts > 0).sum(axis=0)
        return np.log(self.n_bags / np.maximum(holding, 1.0))

    def vectors(self, rarity: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of bags and their vectors: presence, then log(1 + count), times rarity; each group a unit."""
        for block, counts in self.blocks():
            n_words = counts.shape[1]
            vectors = np.hstack([(counts > 0) * rarity, np.log1p(counts) * rarity])
            for first, last in self._group_columns():
                for half in (0, n_words):
                    vectors[:, half + first : half + last] /= lengths(vectors[:, half + first : half + last])
            yield block, vectors

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of bags and their counts, of shape (bags in the block, n_words)."""
        starts = self.books.starts
        step = max(1, _CELLS // int(starts[-1]))
        for first in range(0, self.n_bags, step):
            last = min(first + step, self.n_bags)
            words = self.words[self.bag_starts[first] : self.bag_starts[last]]
            bag = np.repeat(np.arange(last - first), np.diff(self.bag_starts[first : last + 1]))
            counts = np.empty((last - first, int(starts[-1])))
            for book, (begin, end) in enumerate(zip(starts[:-1].tolist(), starts[1:].tolist())):
                cells = bag * (end - begin) + (words[:, book] - begin)
                counts[:, begin:end] = np.bincount(cells, minlength=(last - first) * (end - begin)).reshape(
                    last - first, end - begin
                )
            yield slice(first, last), counts

    def _group_columns(self) -> Iterator[tuple[int, int]]:
        groups, starts = self.books.groups, self.books.starts
        for group in np.unique(groups):
            books = np.flatnonzero(groups == group)
            yield int(starts[books[0]]), int(starts[books[-1] + 1])


def lengths(vectors: Floats) -> Floats:
    """Return the length of every row as a column; 1 for a row of zeros."""
    squares = np.einsum("ij,ij->i", vectors, vectors)[:, None]
    return np.sqrt(np.where(squares > 0, squares, 1.0))
