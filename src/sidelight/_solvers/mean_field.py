"""Mean-field inference over answers: rows are updated one after the other, so the bound never drops.

[P17] eq. (3.10): log q_i = log p_i + sum_j Q~_j log a_j over the answers j about row i, with a = (1 - eps) / eps for
a pair and 3 (1 - eps) / eps for a triplet; Q~ as in tables 3.3 and 3.4. Updates of all rows at once oscillate on chains
of "different". With eps = 0 only the labels that agree with most answers remain, eq. (3.11).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight._core.kernels import kernel

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

NONE = 3  # the code of "none" among a, b, c, none
ALMOST = 1e-9  # compatibilities closer than this are equal: they are sums of products of probabilities


def infer(
    log_P: Floats,
    pairs: Ints,
    same: Ints,
    triplets: Ints,
    odd: Ints,
    *,
    gain_pair: float,
    gain_triplet: float,
    max_sweeps: int = 50,
    tol: float = 1e-4,
) -> Floats:
    """Return q (n_rows, n_clusters) for the rows of ``log_P``; rows without answers keep P.

    Parameters
    ----------
    log_P : array of shape (n_rows, n_clusters)
        The belief from features alone.
    pairs, same : array of shape (n_pairs, 2) and (n_pairs,)
        Answers about pairs; ``same`` is 1 or 0.
    triplets, odd : array of shape (n_triplets, 3) and (n_triplets,)
        Answers about triplets; ``odd`` is 0, 1, 2, or 3 for none.
    gain_pair, gain_triplet : float
        log a of each kind; infinite for answers that are certain.
    max_sweeps, tol : int, float
        Most sweeps over all rows, and the largest change of an entry at which it stops.
    """
    starts, places = _answers_by_row(pairs, triplets, len(log_P))
    q = np.exp(log_P)
    hard = bool(np.isinf(gain_pair) or np.isinf(gain_triplet))
    gains = (1.0, 1.0) if hard else (float(gain_pair), float(gain_triplet))
    _sweep(
        np.ascontiguousarray(log_P), q, starts, places, _flat(pairs), _flat(same), _flat(triplets), _flat(odd),
        gains[0], gains[1], hard, max_sweeps, float(tol),
    )  # fmt: skip
    return q


def _flat(codes: Ints) -> Ints:
    return np.array(codes, dtype=np.intp).reshape(-1)  # a copy: answers are frozen, and kernels take writable arrays


def _answers_by_row(pairs: Ints, triplets: Ints, n_rows: int) -> tuple[Ints, Ints]:
    """Return, row after row, the places it stands at: 2 m + column for pairs, 2 n_pairs + 3 m + column for triplets."""
    at = np.concatenate([pairs.reshape(-1), triplets.reshape(-1)]).astype(np.intp)
    counts = np.bincount(at, minlength=n_rows)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)
    return starts, np.argsort(at, kind="stable").astype(np.intp)


@kernel(
    "void(float64[:, ::1], float64[:, ::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], intp[::1], "
    "float64, float64, boolean, intp, float64)"
)
def _sweep(
    log_P: Floats,
    q: Floats,
    starts: Ints,
    places: Ints,
    pairs: Ints,
    same: Ints,
    triplets: Ints,
    odd: Ints,
    gain_pair: float,
    gain_triplet: float,
    hard: bool,
    max_sweeps: int,
    tol: float,
) -> None:
    n, K = log_P.shape
    n_pair_places = 2 * len(same)
    score = np.empty(K)
    for _ in range(max_sweeps):
        largest_change = 0.0
        for i in range(n):
            if starts[i] == starts[i + 1]:
                continue
            score[:] = 0.0
            for s in range(starts[i], starts[i + 1]):
                place = places[s]
                if place < n_pair_places:
                    other = pairs[place ^ 1]  # the other end of a pair
                    for k in range(K):
                        agrees = q[other, k] if same[place // 2] else 1.0 - q[other, k]
                        score[k] += gain_pair * agrees
                else:
                    m, column = (place - n_pair_places) // 3, (place - n_pair_places) % 3
                    u, v = triplets[3 * m + (column + 1) % 3], triplets[3 * m + (column + 2) % 3]
                    u_column, v_column = (column + 1) % 3, (column + 2) % 3
                    together = 0.0
                    for k in range(K):
                        together += q[u, k] * q[v, k]
                    for k in range(K):
                        with_u = q[u, k] * (1.0 - q[v, k])  # v is odd
                        with_v = q[v, k] * (1.0 - q[u, k])  # u is odd
                        alone = together - q[u, k] * q[v, k]  # i itself is odd
                        if odd[m] == column:
                            agrees = alone
                        elif odd[m] == v_column:
                            agrees = with_u
                        elif odd[m] == u_column:
                            agrees = with_v
                        else:
                            agrees = 1.0 - with_u - with_v - alone
                        score[k] += gain_triplet * agrees
            if hard:
                top = score.max()
                for k in range(K):
                    score[k] = log_P[i, k] if score[k] >= top - ALMOST else -np.inf
            else:
                for k in range(K):
                    score[k] += log_P[i, k]
            top = score.max()
            total = 0.0
            for k in range(K):
                score[k] = np.exp(score[k] - top)
                total += score[k]
            for k in range(K):
                new = score[k] / total
                change = abs(new - q[i, k])
                if change > largest_change:
                    largest_change = change
                q[i, k] = new
        if largest_change < tol:
            break
