"""Does a novel cluster explain rows that fit no list, or does it take rows of named kinds?

Held-out rows are judged by what lists say of each (:mod:`sidelight.estimators._labelled_bags.row_temperature`),
with and without a novel cluster, both at their best temperatures. Where a novel cluster loses, it has taken rows of
named kinds that happen to be hard. One that is wanted all the same then has to be more probable than the name divided
by the chance that the name is in the list of a row of another kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.estimators._labelled_bags.row_temperature import (
    CLEAR,
    HeldOutRows,
    chances,
    find_temperature,
    temper,
)

SLIP = 0.01  # chance of a wrong or forgotten label: without it one slip of a pen would prove something novel


@dataclass(frozen=True, slots=True)
class NovelRows:
    """What held-out lists say of novel clusters.

    Parameters
    ----------
    gains : ndarray of shape (n_bags,)
        How much better rows of each held-out bag are explained with a novel cluster, in nats.
    is_harmful : bool
        Whether they are clearly explained worse, and no list is empty.
    chance : ndarray of shape (n_known,)
        The chance that a label is in the list of a row that is something else.
    taken : ndarray of shape (n_known,)
        Of the held-out rows that bear each name without a novel cluster, the share that is novel with one; NaN where
        there are none.
    """

    gains: np.ndarray
    is_harmful: bool
    chance: np.ndarray
    taken: np.ndarray

    @classmethod
    def of(cls, novel: HeldOutRows, without: HeldOutRows, *, temperature: float = 1.0) -> NovelRows:
        """Compare the same rows by two rules; ``temperature`` is that of the rows of the first."""
        chance = chances(without)
        (_, _, with_it), (_, _, plain) = (find_temperature(rows, chance, SLIP, every=True) for rows in (novel, without))
        gains = np.bincount(novel.bag, weights=with_it - plain)
        gains = gains[np.unique(novel.bag)]
        is_worse = gains.sum() < -CLEAR * np.sqrt(np.square(gains - gains.mean()).sum())
        is_harmful = bool(is_worse and novel.listed.any(axis=1).all())
        n_known = novel.listed.shape[1]
        Q = by_chance(novel.P, novel.listed, chance, temperature) if is_harmful else novel.Q
        names, is_novel = without.Q[:, :n_known].argmax(axis=1), Q.argmax(axis=1) >= n_known
        rows = np.bincount(names, minlength=n_known)
        with np.errstate(invalid="ignore"):
            taken = np.bincount(names, weights=is_novel, minlength=n_known) / rows
        return cls(gains, is_harmful, chance, taken)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values and arrays, as part of a fitted attribute."""
        return {
            "gain": float(self.gains.sum()), "is_harmful": self.is_harmful, "chance": self.chance, "taken": self.taken
        }  # fmt: skip


def by_chance(P: np.ndarray, listed: np.ndarray, chance: np.ndarray, temperature: float) -> np.ndarray:
    """Return what rows are by their features and what their lists say of each: q(T) / pi in the list, novel q(T)."""
    R = temper(P, temperature)
    R[:, : listed.shape[1]] *= np.where(listed, 1.0 / chance, 0.0)
    R /= np.maximum(R.sum(axis=1, keepdims=True), 1e-300)  # a row that nothing allows is nothing
    return R
