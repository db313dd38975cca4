"""From what users pass to supervision objects: the only place that guesses."""

from __future__ import annotations

from typing import Any

import numpy as np

from sidelight.data.bags import Bags
from sidelight.errors import InvalidData


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
