"""What bags hold, in the words that people used of the bags of the fit: numbers, shares, and kinds above labels.

Bags that were held out say how far found numbers are from the true ones, and how often a name that is said of a bag is
right. Both are risks of a new bag that are controlled as in :mod:`sidelight.estimators.coverage.judging`: a bound is
moved until at most a share alpha of held-out numbers (names) lies outside it, one bag more counted as wrong.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bags import Bags

Floats = NDArray[np.float64]
LEAST_VARIANCE = 0.25  # of a number of rows: half a row is no error
THRESHOLDS = np.linspace(0.5, 0.99, 50)  # of the probability from which on a name is said


def sums_of(P: Floats, bags: Bags) -> tuple[Floats, Floats]:
    """Return how many rows of each bag carry each label, as expected, and the standard error of that."""
    order, starts = bags.order, bags.starts[:-1]
    variance = np.add.reduceat((P * (1.0 - P))[order], starts, axis=0)
    return np.add.reduceat(P[order], starts, axis=0), np.sqrt(variance + LEAST_VARIANCE)


def carried(P: Floats, bags: Bags, member: NDArray[np.bool_]) -> Floats:
    """Return the probability that each bag carries one of the labels of each element, if errors were independent."""
    missed = np.log1p(-np.minimum(P @ member.T, 1.0 - 1e-12))
    return np.asarray(-np.expm1(np.add.reduceat(missed[bags.order], bags.starts[:-1], axis=0)))


def most_specific(chance: Floats, member: NDArray[np.bool_], threshold: float) -> NDArray[np.bool_]:
    """Return which elements are said: those that are probable enough, and have none inside them that is."""
    likely = chance > threshold
    within = (member[:, None] & ~member[None]).any(axis=2) & ~(member[None] & ~member[:, None]).any(axis=2)
    return np.asarray(likely & ~((likely @ within.T.astype(float)) > 0))


@dataclass(frozen=True, slots=True)
class Words:
    """Of held-out bags: how far numbers are from what was found, and how probable elements and whether they are there.

    ``off`` are absolute errors in standard errors, each of bag ``bag``. ``chance`` and ``truth`` are bags x elements,
    the truth 1 or 0 where what the bag says settles it, else NaN.
    """

    off: Floats
    bag: NDArray[np.intp]
    chance: Floats
    truth: Floats

    @classmethod
    def of(cls, P: Floats, bags: Bags) -> Words:
        """Compare what bags say with what their rows say."""
        none = np.zeros(0)
        if bags.demands is None:
            empty = np.zeros((0, P.shape[1]))
            return cls(none, none.astype(np.intp), empty, empty)
        said, member = bags.demands, bags.demands.member
        kept = bags.is_labelled & bags.whole
        found, error = sums_of(P @ member.T, bags)
        exact = (said.most - said.least < 1.0) & kept[said.bags]
        b, e = said.bags[exact], said.elements[exact]
        off = np.abs(0.5 * (said.least + said.most)[exact] - found[b, e]) / error[b, e]
        truth = np.full((bags.n_bags, len(member)), np.nan)
        truth[(bags.bag_label_mask().astype(float) @ member.T) == 0] = 0.0
        there = said.least >= 1.0
        above = np.asarray((member[:, None] | ~member[None]).all(axis=2))  # [a, e]: a has all labels of e
        for bag, element in zip(said.bags[there].tolist(), said.elements[there].tolist()):
            truth[bag, above[:, element]] = 1.0
        return cls(off, b.astype(np.intp), carried(P, bags, member)[kept], truth[kept])

    @classmethod
    def join(cls, parts: Sequence[Words]) -> Words:
        """Put folds together; bags of different folds are different."""
        first = np.cumsum([0, *(int(part.bag.max(initial=-1)) + 1 for part in parts)])
        bag = np.concatenate([part.bag + start for part, start in zip(parts, first)])
        off, chance, truth = (
            np.concatenate([getattr(part, what) for part in parts]) for what in ("off", "chance", "truth")
        )
        return cls(off, np.unique(bag, return_inverse=True)[1].astype(np.intp), chance, truth)

    def as_dict(self, member: NDArray[np.bool_]) -> dict[str, Any]:
        """Return what a fitted model keeps: errors of numbers, and how often names are wrong by threshold."""
        kept: dict[str, Any] = {}
        if len(self.off):
            kept["numbers"] = {"nearness": np.exp(-self.off), "bag": self.bag}
        if len(self.chance) and len(member) > member.shape[1]:
            kept["kinds"] = {"threshold": THRESHOLDS, "wrong": np.array([self._wrong(member, t) for t in THRESHOLDS])}
        return kept

    def _wrong(self, member: NDArray[np.bool_], threshold: float) -> float:
        """Return the mean share of names said of a bag that are wrong, one bag more counted as wrong.

        Where a bag does not settle whether a name is right ("a warbler" of a wren), it is as wrong as the same name is
        where bags do settle it: leaving it out would leave out the names that are hardest to tell.
        """
        said = most_specific(self.chance, member, threshold)
        settled = said & ~np.isnan(self.truth)
        wrong = (settled & (self.truth == 0)).astype(float)
        n_settled = settled.sum(axis=0)
        rate = np.where(n_settled > 0, wrong.sum(axis=0) / np.maximum(n_settled, 1), 1.0)
        wrong += np.where(said & ~settled, rate, 0.0)
        n_said = said.sum(axis=1)
        shares = wrong.sum(axis=1)[n_said > 0] / n_said[n_said > 0]
        return float((shares.sum() + 1.0) / (len(shares) + 1.0))


def threshold_of_kinds(known: Mapping[str, Any], coverage: float) -> float:
    """Return the lowest probability from which on names are right often enough, whichever higher one is taken."""
    fails = np.flatnonzero(np.asarray(known["wrong"]) > 1.0 - coverage)
    thresholds = np.asarray(known["threshold"])
    if not len(fails):
        return float(thresholds[0])
    return float(thresholds[fails[-1] + 1]) if fails[-1] + 1 < len(thresholds) else 1.0


def said_of(
    names: Sequence[Hashable], chosen: NDArray[np.bool_], low: NDArray[Any] | None, high: NDArray[Any] | None
) -> NDArray[np.object_]:
    """Return what each bag says as :class:`Bags` takes it: label or kind to (least, most) rows."""
    said = np.empty(len(chosen), dtype=object)
    for b, row in enumerate(chosen):
        some = np.flatnonzero(row).tolist()
        said[b] = {
            names[e]: (1, None) if low is None or high is None else (float(low[b, e]), float(high[b, e])) for e in some
        }
    return said
