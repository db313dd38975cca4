"""How often answers are wrong, by answers that test each other: along closed paths, or two about one pair.

Of three rows, "same" twice and "different" once cannot all be true. So the kinds of closed triangles tell mistakes from
rows whose classes overlap, which surprise every fit without anybody being wrong. A triangle is truly all alike, has one
pair alike, or none; each of its answers is wrong with probability eps. The shares of the three kinds and eps are what
makes the kinds that were seen likeliest; triangles share answers, so they count for no more than the answers in them.
With two clusters every closed path is a test: an odd number of "different" on it cannot be true. With more, and nothing
contradicting anything, answers "same" on closed paths were all right.
"""

from __future__ import annotations

from collections import deque
from math import comb

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from sidelight.data.relations import Pairs

Floats = npt.NDArray[np.float64]

GRID = np.linspace(0.0025, 0.45, 180)
ROUNDS = 40
MOST_UNTESTED = 0.2  # surprise alone proves no more; see UNKNOWN in trust.py
WORTH = 10.0  # tested answers that an estimate by held-out answers counts for


def error_rate(pairs: Pairs, n_clusters: int, surprise: float) -> float:
    """Return the share of wrong answers, given how large held-out answers make it seem.

    Parameters
    ----------
    pairs : Pairs
        The answers.
    n_clusters : int
        With two, three rows cannot all differ.
    surprise : float
        The estimate by held-out answers, which stands up to a limit where no answers test each other.
    """
    surprise = min(surprise, MOST_UNTESTED)
    prior = float(np.clip(surprise, GRID[0], GRID[-1]))
    log_p = (WORTH * prior - 1.0) * np.log(GRID) + (WORTH * (1.0 - prior) - 1.0) * np.log1p(-GRID)
    tests = _parity(pairs) if n_clusters == 2 else _triangles(pairs)
    if tests is None:
        return surprise
    log_p = log_p + tests
    p = np.exp(log_p - log_p.max())
    found = float(GRID @ p / p.sum())
    return found if n_clusters == 2 or pairs.contradictions(limit=1) else min(found, surprise)


def _parity(pairs: Pairs) -> Floats | None:
    """Return the log likelihood of closed paths at every eps, if there are two clusters; None where no path closes."""
    n, apart = pairs.n_rows, pairs.codes != pairs.WORDS.index("same")
    lengths, odd = [], []
    near: dict[int, list[tuple[int, int]]] = {}
    for number, (a, b) in enumerate(pairs.rows.tolist()):
        near.setdefault(a, []).append((b, number))
        near.setdefault(b, []).append((a, number))
    above, depth, side = np.full(n, -1), np.full(n, -1), np.zeros(n, dtype=bool)
    in_tree = np.zeros(pairs.n_answers, dtype=bool)
    for start in near:
        if depth[start] >= 0:
            continue
        depth[start], waiting = 0, deque([start])
        while waiting:
            row = waiting.popleft()
            for other, number in near[row]:
                if depth[other] < 0:
                    above[other], depth[other], side[other] = row, depth[row] + 1, side[row] ^ apart[number]
                    in_tree[number] = True
                    waiting.append(other)
    for number in np.flatnonzero(~in_tree).tolist():
        a, b = pairs.rows[number].tolist()
        odd.append(side[a] ^ side[b] ^ apart[number])
        length = 1
        while a != b:
            if depth[a] < depth[b]:
                a, b = b, a
            a, length = int(above[a]), length + 1
        lengths.append(length)
    if not lengths:
        return None
    keeps = (1.0 - 2.0 * GRID[:, None]) ** np.array(lengths)
    return np.asarray(np.log(np.where(odd, 1.0 - keeps, 1.0 + keeps) / 2.0).sum(axis=1))


def _triangles(pairs: Pairs) -> Floats | None:
    """Return the log likelihood of triangles and repeated answers at every eps; None where there are none."""
    ends, same = np.sort(pairs.rows, axis=1), pairs.codes == pairs.WORDS.index("same")
    n = pairs.n_rows
    votes = [csr_array((word.astype(float), (ends[:, 0], ends[:, 1])), shape=(n, n)) for word in (same, ~same)]
    differ = float(votes[0].multiply(votes[1]).sum())
    agree = sum(float((one.multiply(one) - one).sum()) / 2.0 for one in votes)
    S, D = (csr_array((one + one.T) > 0).astype(float) for one in votes)
    SS, DD = S @ S, D @ D
    kinds = [
        D.multiply(DD).sum() / 6.0,
        S.multiply(DD).sum() / 2.0,
        D.multiply(SS).sum() / 2.0,
        S.multiply(SS).sum() / 6,
    ]
    counts, whole = np.array(kinds), csr_array((S + D) > 0).astype(float)
    n_closed = 0 if pairs.contradictions(limit=1) else int(same.sum()) - _rank(pairs.rows[same], n)
    if not counts.sum() + agree + differ + n_closed:
        return None
    twice = 2.0 * GRID * (1.0 - GRID)
    log_p = agree * np.log1p(-twice) + differ * np.log(twice) + n_closed * np.log1p(-GRID)
    if counts.sum():
        n_answers = float(whole.multiply(whole @ whole).astype(bool).sum()) / 2.0
        fits = np.array([_fit(counts, np.array([_seen(true, eps) for true in (3, 1, 0)])) for eps in GRID])
        log_p = log_p + min(n_answers / (3.0 * counts.sum()), 1.0) * fits
    return np.asarray(log_p)


def _rank(ends: npt.NDArray[np.intp], n: int) -> int:
    """Return how many answers a forest over the same rows has."""
    graph = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return n - int(connected_components(graph, directed=False)[0])


def _seen(n_alike: int, eps: float) -> Floats:
    """Return the chance of 0 to 3 answers "same" about three rows of which so many pairs are alike."""
    alike = np.array([comb(n_alike, k) * (1 - eps) ** k * eps ** (n_alike - k) for k in range(n_alike + 1)])
    n_apart = 3 - n_alike
    apart = np.array([comb(n_apart, k) * eps**k * (1 - eps) ** (n_apart - k) for k in range(n_apart + 1)])
    return np.convolve(alike, apart)


def _fit(counts: Floats, chances: Floats) -> float:
    """Return the log likelihood of counts at the best shares of what is true (expectation maximisation)."""
    shares = np.full(len(chances), 1.0 / len(chances))
    for _ in range(ROUNDS):
        joint = shares[:, None] * chances
        shares = (joint / joint.sum(axis=0) * counts).sum(axis=1) / counts.sum()
    return float(counts @ np.log(shares @ chances))
