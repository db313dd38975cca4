"""Questions about three rows: one that is to be placed, and one row of each of its two likeliest clusters.

The two known rows differ, so every answer says how the first row relates to both: "which is the odd one out?" places it
in one cluster, in the other, or, by "none", in neither. A triplet is asked where that buys more information a second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight._core.simplex import entropy

SURE = 0.9  # probability of their clusters from which two rows of different clusters count as different

Answer = tuple[int, int, str]


def better_triplet(
    belief: Any, pair: tuple[int, ...], asked: Any, differ: Any, seconds: tuple[float, float]
) -> tuple[int, ...] | None:
    """Return rows to ask about instead of ``pair``, or None where two rows buy more a second.

    Parameters
    ----------
    belief : object with ``places``, ``place``, ``n_known`` and ``representative``
        What is known.
    pair : tuple of int
        The row to be placed, and a row of its likeliest cluster.
    asked, differ : callable
        Whether two rows were asked about, and whether they are known to differ.
    seconds : tuple of float
        How long a person takes for two and for three rows.
    """
    row, first = pair
    if belief.n_known < 2 or belief.position[row] < 0:
        return None
    chances = np.asarray(belief.places()[belief.position[row]], dtype=float)
    for cluster in np.argsort(-chances[:-1], kind="stable")[:2]:
        second = belief.representative(row, int(cluster), lambda a, b: not asked(a, b))
        if second is None or second == first or not differ(first, second):
            continue
        other = _cluster_of(belief, first)
        if other in (-1, cluster):
            continue
        p, q = float(chances[other]), float(chances[cluster])
        two = float(entropy(np.clip([p, 1.0 - p], 1e-12, 1.0))) / seconds[0]
        three = float(entropy(np.clip([p, q, 1.0 - p - q], 1e-12, 1.0))) / seconds[1]
        return (row, first, int(second)) if three > two else None
    return None


def are_apart(belief: Any, a: int, b: int) -> bool:
    """Whether two rows are sure of different clusters."""
    if any(row not in belief.rows or belief.position[row] < 0 or belief.certainty(row) < SURE for row in (a, b)):
        return False
    return _cluster_of(belief, a) != _cluster_of(belief, b)


def _cluster_of(belief: Any, row: int) -> int:
    return int(np.argmax(belief.places()[belief.position[row]][:-1])) if belief.position[row] >= 0 else -1


def pairs_of(rows: tuple[int, ...], answer: str, relation: str | None) -> list[Answer]:
    """Return what the odd one out of three rows says about pairs.

    ``relation`` is what is known of the last two rows: with it "none" (all alike, or all different) says something.

    >>> pairs_of((0, 1, 2), "c", None)
    [(0, 1, 'same'), (0, 2, 'different')]
    >>> pairs_of((0, 1, 2), "none", "different")
    [(0, 1, 'different'), (0, 2, 'different')]
    >>> pairs_of((0, 1, 2), "none", None)
    []
    """
    a, b, c = rows
    if answer == "a":
        return [(b, c, "same"), (a, b, "different")]
    if answer == "b":
        return [(a, c, "same"), (a, b, "different")]
    if answer == "c":
        return [(a, b, "same"), (a, c, "different")]
    if relation == "different":
        return [(a, b, "different"), (a, c, "different")]
    return [(a, b, "same")] if relation == "same" else []
