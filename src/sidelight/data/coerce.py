"""From what users pass to supervision objects: the only place that guesses."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from sidelight.data.bags import Bags
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import InvalidData

A = TypeVar("A", Pairs, Triplets)


def as_bags(bags: Any, *, n_rows: int, y: Any = None, classes: Any = None) -> Bags:
    """Return the bags of ``n_rows`` rows.

    Parameters
    ----------
    bags : Bags, sequence of bag ids, or None
        None: ``y``, when that is a Bags object, else every row is its own unlabelled bag.
    n_rows : int
        How many rows there are.
    y : object, default=None
        What the estimator got as ``y``; anything but Bags is ignored.
    classes : sequence, default=None
        Put the labels into these classes, in this order.
    """
    if isinstance(y, Bags):
        if bags is not None and bags is not y and as_bags(bags, n_rows=n_rows) != y:
            raise InvalidData("Got two different answers to which bag a row is in: y and bags. Pass one of them.")
        bags = y
    if bags is None:
        bags = np.arange(n_rows)
    found = bags if isinstance(bags, Bags) else Bags(bags, classes=classes)
    if found.n_rows != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but bags has {found.n_rows}. Give one bag id for each row of X, in the same order."
        )
    return found if classes is None or tuple(classes) == found.classes else found.with_classes(classes)


def as_pairs(pairs: Any, *, n_rows: int, y: Any = None) -> Pairs:
    """Return the answers about pairs of ``n_rows`` rows.

    Parameters
    ----------
    pairs : Pairs, list of (row, row, answer), data frame, or None
        None: ``y``, when that is a Pairs object, else no answers.
    n_rows : int
        How many rows there are.
    y : object, default=None
        What the estimator got as ``y``; anything but Pairs is ignored.
    """
    return _as_answers(Pairs, pairs, n_rows, y)


def as_triplets(triplets: Any, *, n_rows: int, y: Any = None) -> Triplets:
    """Return the answers about triplets of ``n_rows`` rows.

    Parameters
    ----------
    triplets : Triplets, list of (row, row, row, answer), data frame, or None
        None: ``y``, when that is a Triplets object, else no answers.
    n_rows : int
        How many rows there are.
    y : object, default=None
        What the estimator got as ``y``; anything but Triplets is ignored.
    """
    return _as_answers(Triplets, triplets, n_rows, y)


def _as_answers(kind: type[A], answers: Any, n_rows: int, y: Any) -> A:
    name = kind.__name__.lower()
    if isinstance(y, kind):
        if answers is not None and answers is not y and _as_answers(kind, answers, n_rows, None) != y:
            raise InvalidData(f"Got two different sets of answers: y and {name}. Pass one of them, or their sum.")
        answers = y
    if answers is None:
        return kind.empty(n_rows)
    found = answers if isinstance(answers, kind) else kind.from_table(answers, n_rows=n_rows)
    if found.n_rows != n_rows:
        raise InvalidData(
            f"X has {n_rows} rows but {name} is about {found.n_rows}. Make it with n_rows={n_rows}, "
            f"or select the same rows of both: {name}[rows]."
        )
    return found
