"""One temperature for the probabilities of all rows, from lists alone: nobody needs to know the truth of a row.

A rule that did not see a bag gives one of its rows probabilities q. What the bag's list says of this one row has, up to
a factor that is the same for all labels, the likelihood

    sum_k A_k q_k(T),   A_k = (1 - f) / pi_k for labels in the list, f / (1 - pi_k) for others, 1 for a novel cluster,

with q(T) proportional to q^(1/T), f the share of labels that lists forget, and pi_k the chance that label k is in the
list of a row that is something else: base_k = s_k + (1 - s_k) pi_k, where base_k is the share of rows whose list has k
and s_k the share of rows that are k. T and f maximise the sum over rows; nothing is assumed about the other rows of a
bag. The same ratio says how many rows are right: the name of a wrong row is in its list by chance only.

Names are never changed: every q(T) has the order of q.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST_BAGS = 20  # labelled bags below which no temperature is looked for
FORGOTTEN = (1e-4, 0.003, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3)  # shares of forgotten labels that are tried
COLDEST, HOTTEST = 0.4, 10.0
TEMPERATURES = np.exp(
    np.concatenate([np.linspace(np.log(COLDEST), 0.0, 13), np.linspace(0.0, np.log(HOTTEST), 31)[1:]])
)
SPREAD = 1.0  # standard deviation of log T around 0
BINS = 10
TINY = 1e-12
CLEAR = 2.0  # standard errors by which a share of forgotten labels must explain lists better than none
LEAST_SAID = 0.05  # 1 - pi of a label that is in nearly every list: then the list says next to nothing


@dataclass(frozen=True, slots=True)
class HeldOutRows:
    """Rows of labelled bags that a rule did not see.

    Parameters
    ----------
    P : array of shape (n_rows, n_labels)
        Probabilities by features alone: known labels first, then novel clusters.
    Q : array of shape (n_rows, n_labels)
        The same with the lists known.
    listed : bool array of shape (n_rows, n_known)
        Whether the list of the row's bag has the label.
    bag : intp array of shape (n_rows,)
        The bag of each row, as a number.
    """

    P: Floats
    Q: Floats
    listed: NDArray[np.bool_]
    bag: NDArray[np.intp]

    @classmethod
    def join(cls, parts: list[HeldOutRows]) -> HeldOutRows:
        """Put folds together; bags of different folds are different."""
        first = np.cumsum([0, *(int(part.bag.max(initial=-1)) + 1 for part in parts)])
        bag = np.concatenate([part.bag + start for part, start in zip(parts, first)])
        P, Q, listed = (np.concatenate([getattr(part, what) for part in parts]) for what in ("P", "Q", "listed"))
        return cls(P, Q, listed, bag)

    def take(self, some: NDArray[np.bool_]) -> HeldOutRows:
        """Some of the rows."""
        return HeldOutRows(self.P[some], self.Q[some], self.listed[some], self.bag[some])

    def __len__(self) -> int:
        return len(self.P)


def temper(P: Floats, temperature: float | Floats) -> Floats:
    """Return P^(1/T), normalised; ``temperature`` is one number, or one for each row."""
    with np.errstate(divide="ignore"):
        scores = np.log(P) / (temperature if np.ndim(temperature) == 0 else np.asarray(temperature)[:, None])
    scores -= scores.max(axis=1, keepdims=True)
    Q = np.exp(scores)
    Q /= Q.sum(axis=1, keepdims=True)
    return np.asarray(Q)


def names_that_reach(P: Floats, coverage: float) -> NDArray[np.bool_]:
    """Return the fewest names of each row whose probabilities sum to ``coverage``, as a mask."""
    order = np.argsort(-P, axis=1, kind="stable")
    reached = np.cumsum(np.take_along_axis(P, order, axis=1), axis=1)
    before = np.concatenate([np.zeros((len(P), 1)), reached[:, :-1]], axis=1) < coverage - 1e-12  # rounding of sums
    chosen = np.empty(P.shape, dtype=bool)
    np.put_along_axis(chosen, order, before, axis=1)
    return chosen


def chances(rows: HeldOutRows) -> Floats:
    """Return pi: the chance that each label is in the list of a row that is something else."""
    base = rows.listed.mean(axis=0)
    own = np.minimum(rows.Q[:, : rows.listed.shape[1]].mean(axis=0), 0.999 * base)  # all rows of k list k
    return np.asarray(np.clip((base - own) / (1.0 - own), 1e-3, 1.0 - 1e-3))


def list_evidence(rows: HeldOutRows, chance: Floats, temperature: float) -> Floats:
    """Return what lists say of each row: the sums of q / pi in the list, q / (1 - pi) beside it, and novel q."""
    q = temper(rows.P, temperature)
    known = q[:, : rows.listed.shape[1]]
    inside = np.where(rows.listed, known / chance, 0.0).sum(axis=1)
    beside = np.where(rows.listed, 0.0, known / (1.0 - chance)).sum(axis=1)
    return np.stack([inside, beside, q[:, rows.listed.shape[1] :].sum(axis=1)])


def find_temperature(
    rows: HeldOutRows, chance: Floats, forgotten: float | None = None, *, every: bool = False
) -> tuple[float, float, Floats]:
    """Return the temperature, the share of forgotten labels (found, unless given), and the log evidence of each row.

    Rows whose list is empty say nothing about the temperature: such a list is evidence of something novel. Where rows
    may be novel, no list can say that they are, so that nothing is sharpened. With ``every`` all rows and temperatures
    count, for a comparison.
    """
    sharpens = every or rows.P.shape[1] == rows.listed.shape[1]
    temperatures = TEMPERATURES if sharpens else TEMPERATURES[TEMPERATURES >= 1.0]
    counts = rows.listed.any(axis=1) | every
    shares = np.array(FORGOTTEN if forgotten is None else (forgotten,))
    best: tuple[float, float, float, Floats] | None = None
    for temperature in temperatures.tolist():
        inside, beside, novel = list_evidence(rows, chance, temperature)
        each = np.log(np.maximum(np.outer(1.0 - shares, inside) + np.outer(shares, beside) + novel, TINY))
        values = each[:, counts].sum(axis=1) - 0.5 * (np.log(temperature) / SPREAD) ** 2
        j = int(values.argmax())
        if best is None or values[j] > best[0]:
            best = float(values[j]), temperature, float(shares[j]), each[j]
    assert best is not None
    return best[1:]


def matching_temperature(P: Floats, sureness: float) -> float:
    """Return the temperature under which the mean of the largest probabilities is ``sureness``."""
    low, high = np.log(COLDEST), np.log(4 * HOTTEST)
    if P.max(axis=1).min() > 1.0 - 1e-9:  # lists of one label leave nothing open
        return 1.0
    with np.errstate(divide="ignore"):
        below = np.log(P)
    below -= below.max(axis=1, keepdims=True)  # logarithms under the largest of each row, which tempers to 1 / the sum
    for _ in range(30):  # to a billionth of the interval
        middle = 0.5 * (low + high)
        if (1.0 / np.exp(below / np.exp(middle)).sum(axis=1)).mean() > sureness:
            low = middle
        else:
            high = middle
    return float(np.exp(0.5 * (low + high)))


def share_right(top_listed: NDArray[np.bool_], chance: Floats, forgotten: float = 0.0) -> Floats:
    """Return one number for each row, whose mean is about the share of rows that are named right.

    A wrong name is in the list with probability pi (``chance``), a right one is not with probability f, so that
    1 - (beside the list - f) / (1 - pi - f) has the mean 1 over right rows and 0 over wrong ones.
    """
    beside = np.where(top_listed, 0.0, 1.0)
    return np.asarray(1.0 - (beside - forgotten) / np.maximum(1.0 - chance - forgotten, LEAST_SAID))


@dataclass(frozen=True, slots=True)
class Reliability:
    """Held-out rows by how sure they are: what is said, about how many are right, and how many rows there are."""

    said: Floats
    right: Floats
    rows: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Calibration:
    """What held-out lists say of the probabilities of rows.

    Parameters
    ----------
    temperature : float
        Of rows that were not in the fit.
    temperature_in_fit : float
        Of rows of the fit whose lists are known.
    forgotten : float
        The share of labels that lists seem to forget; 0 where that is not clear, and where it was given.
    right : float
        About the share of new rows that features alone name right; NaN where lists cannot tell.
    n_bags, n_rows : int
        What was held out.
    reliability : Reliability
        Of tempered probabilities; each half of the held-out bags is judged by the temperature of the other half.
    note : str
        Why nothing was held out, where that is so.
    """

    temperature: float = 1.0
    temperature_in_fit: float = 1.0
    forgotten: float = 0.0
    right: float = float("nan")
    n_bags: int = 0
    n_rows: int = 0
    reliability: Reliability | None = None
    note: str = ""

    @classmethod
    def of(cls, rows: HeldOutRows, Q_in_fit: Floats | None = None, *, forgotten: float | None = None) -> Calibration:
        """Find both temperatures; ``Q_in_fit`` are probabilities of rows of the fit, lists known, by names."""
        chance = chances(rows)
        temperature, share, each = find_temperature(rows, chance, forgotten)
        found = 0.0
        if forgotten is None:
            plain = find_temperature(rows, chance, FORGOTTEN[0])[2]
            gains = np.bincount(rows.bag, weights=each - plain)
            is_clear = gains.sum() > CLEAR * np.sqrt(np.square(gains - gains.mean()).sum())
            found = share if is_clear else 0.0  # what is not clear is not reported; the temperature goes with it still
        in_fit = temperature
        if Q_in_fit is not None and len(Q_in_fit):
            in_fit = matching_temperature(Q_in_fit, float(temper(rows.Q, temperature).max(axis=1).mean()))
        said, right = _judged(rows, chance, forgotten, share)
        counts = np.isfinite(right)
        place = np.minimum((said * BINS).astype(np.intp), BINS - 1)[counts]
        n_rows = np.bincount(place, minlength=BINS)
        used = np.flatnonzero(n_rows)
        means = [np.bincount(place, weights=of[counts], minlength=BINS)[used] / n_rows[used] for of in (said, right)]
        table = Reliability(means[0], np.clip(means[1], 0.0, 1.0), n_rows[used])
        about = float(np.clip(right[counts].mean(), 0.0, 1.0)) if counts.mean() > 0.5 else float("nan")
        return cls(temperature, in_fit, found, about, len(np.unique(rows.bag)), len(rows), table)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values and arrays, as a fitted attribute."""
        own = {name: getattr(self, name) for name in self.__slots__ if name != "reliability"}
        table = self.reliability or Reliability(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.intp))
        return own | {"reliability": {"said": table.said, "right": table.right, "rows": table.rows}}


def _judged(rows: HeldOutRows, chance: Floats, forgotten: float | None, share: float) -> tuple[Floats, Floats]:
    """Return how sure each row is, and how right it seems (NaN where lists say nothing of its name)."""
    n_known = rows.listed.shape[1]
    top = rows.P.argmax(axis=1)
    said, half = np.empty(len(rows)), rows.bag % 2
    for one in (0, 1):
        mine, other = half == one, half != one
        if mine.any():
            learnt = find_temperature(rows.take(other if other.any() else mine), chance, forgotten)[0]
            said[mine] = temper(rows.P[mine], learnt).max(axis=1)
    known = np.minimum(top, n_known - 1)
    right = share_right(rows.listed[np.arange(len(rows)), known], chance[known], share)
    right[(top >= n_known) | (chance[known] > 1.0 - 2.0 * LEAST_SAID)] = np.nan
    return said, right
