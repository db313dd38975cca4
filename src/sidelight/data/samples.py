"""Samples that need no download."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.params import as_generator, as_sequence, check_number
from sidelight.data.bags import Bags
from sidelight.errors import InvalidParameter

_N_DIGITS = 10


@dataclass(frozen=True, slots=True, repr=False)
class DigitBags:
    """What :func:`load_digit_bags` put into bags.

    Attributes
    ----------
    X : ndarray of shape (1797, 64)
        Grey values from 0 to 16.
    bags : Bags
        The bag of each row; label sets name the digits inside, but for the novel ones.
    y : ndarray of shape (1797,)
        The truth: the digit of each row.
    images : ndarray of shape (1797, 8, 8)
        The same rows as pictures.
    novel : tuple of int
        The digits that no label set names.
    """

    X: NDArray[np.float64]
    bags: Bags
    y: NDArray[np.intp]
    images: NDArray[np.float64]
    novel: tuple[int, ...]

    def __repr__(self) -> str:
        unnamed = f"; novel {', '.join(map(str, self.novel))}" if self.novel else ""
        return f"DigitBags({len(self.X)} digits in {self.bags.n_bags} bags{unnamed})"


def load_digit_bags(
    n_bags: int = 200,
    *,
    labels_per_bag: float = 3.0,
    novel: Iterable[int] = (),
    labelled: float = 1.0,
    random_state: Any = 0,
) -> DigitBags:
    """Put scikit-learn's handwritten digits into bags that say which digits they hold.

    Every row is used once. A bag holds every digit it was dealt at least once, and no other.

    Parameters
    ----------
    n_bags : int
        How many bags, 10 to 300.
    labels_per_bag : float
        The average number of different digits in a bag.
    novel : iterable of int
        Digits left out of the label sets; a bag that holds only these has an empty set.
    labelled : float
        The share of bags that have a label set at all.
    random_state : int, RandomState, Generator or None
        The seed; fixed by default, since this is a sample.

    Returns
    -------
    DigitBags
        With ``X``, ``bags``, ``y``, ``images`` and ``novel``.

    Examples
    --------
    >>> import sidelight as sl
    >>> digits = sl.data.load_digit_bags(novel=(8, 9))
    >>> digits
    DigitBags(1797 digits in 200 bags; novel 8, 9)
    """
    check_number("load_digit_bags", "n_bags", n_bags, integer=True, low=_N_DIGITS, high=300)
    check_number("load_digit_bags", "labels_per_bag", labels_per_bag, low=1, high=5)
    check_number("load_digit_bags", "labelled", labelled, low=0, high=1)
    hidden = tuple(as_sequence("load_digit_bags", "novel", novel, "a sequence of digits"))
    if (
        not all(type(d) is int or isinstance(d, np.integer) for d in hidden)
        or not set(hidden) <= set(range(_N_DIGITS))
        or len(set(hidden)) < len(hidden)
    ):
        raise InvalidParameter(
            f"The 'novel' parameter of load_digit_bags must name different digits from 0 to 9. Got {hidden!r} instead."
        )
    from sklearn.datasets import load_digits  # takes seconds to import: only who asks for digits waits

    digits = load_digits()
    rng = as_generator(random_state)
    y = digits.target.astype(np.intp)
    dealt = _deal(draw_label_counts(n_bags, labels_per_bag, _N_DIGITS, rng), rng)
    ids = _bags_of_rows(y, dealt, rng)
    has_labels = np.zeros(n_bags, dtype=bool)
    has_labels[rng.choice(n_bags, round(labelled * n_bags), replace=False)] = True
    sets = {b: set(np.flatnonzero(dealt[b]).tolist()) - set(hidden) for b in np.flatnonzero(has_labels).tolist()}
    known = [digit for digit in range(_N_DIGITS) if digit not in hidden]
    return DigitBags(
        X=digits.data,
        bags=Bags(ids, labels=sets, classes=known),
        y=y,
        images=digits.images,
        novel=tuple(int(digit) for digit in hidden),
    )


def _deal(n_labels: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Deal that many different digits to each bag, every digit about equally often."""
    dealt = np.zeros((len(n_labels), _N_DIGITS), dtype=bool)
    for bag in rng.permutation(len(n_labels)):
        times = dealt.sum(axis=0)
        rarest_first = np.lexsort((rng.random(_N_DIGITS), times // 8, times > 0))  # by eighths: balanced, not regular
        dealt[bag, rarest_first[: n_labels[bag]]] = True
    return dealt


def _bags_of_rows(y: NDArray[np.intp], dealt: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.intp]:
    """Place each row in a bag that was dealt its digit; every such bag gets one at least."""
    ids = np.empty(len(y), dtype=np.intp)
    for digit in range(_N_DIGITS):
        rows, takers = rng.permutation(np.flatnonzero(y == digit)), np.flatnonzero(dealt[:, digit])
        ids[rows] = np.concatenate([takers, rng.choice(takers, size=len(rows) - len(takers))])
    return ids


# How many labels each bag carries, when only their average is given.


def draw_label_counts(n_bags: int, mean: float, most: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw a number of labels from 1 to ``most`` for each bag, so that the average is ``mean`` to the nearest label.

    The numbers are 1 + Binomial(most - 1, p); then single labels are added or taken at random until the sum fits.
    """
    share = (mean - 1) / (most - 1) if most > 1 else 0.0
    counts = 1 + rng.binomial(most - 1, min(1.0, share), size=n_bags)
    missing = round(mean * n_bags) - int(counts.sum())
    while missing:
        step = 1 if missing > 0 else -1
        able = np.flatnonzero(counts < most) if step > 0 else np.flatnonzero(counts > 1)
        chosen = rng.choice(able, size=min(abs(missing), len(able)), replace=False)
        counts[chosen] += step
        missing -= step * len(chosen)
    return counts.astype(np.intp)
