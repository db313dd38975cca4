"""One sample that settles, all rows that refine: how families are fitted to more rows than they can look at often.

A family says what it asks of all rows before anything is drawn, what it settles on a sample, and how it climbs from
there; who goes over all rows (this process with rows in memory or on disk, the workers of a cluster) is no concern of
it. A family that only settles lets all rows be placed by its model, part by part.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from sidelight._models.passes import Engine, Passes
from sidelight._solvers.descent import Coordinates, Solution, ValueAndGradient, descend
from sidelight.data.bag_lists import WHOLE, Sample
from sidelight.data.parts import PartedRows
from sidelight.estimators._base import refuse_beside_parts, reporting


class Family(Protocol):
    """The questions of a family; they are asked in this order."""

    def look(self, passes: Passes) -> None:
        """Ask all rows what has to be known before anything is drawn."""
        ...

    def settle(self, sample: Sample) -> None:
        """Make every choice on a sample, and find a place to set out from."""
        ...

    def refine(self, passes: Passes) -> Solution:
        """Climb on all rows, from there."""
        ...

    def publish(self, passes: Passes, solution: Solution) -> None:
        """Write down what was found."""
        ...


def fit_large(family: Family, rows: PartedRows, engine: Engine, n_rows: int) -> None:
    """Settle on about ``n_rows`` rows, refine on all."""
    with engine.over(rows) as passes:
        family.look(passes)
        family.settle(passes.sample(n_rows))
        family.publish(passes, family.refine(passes))


def refine(
    objective: ValueAndGradient, start: np.ndarray, dtype: Any, *, coordinates: Coordinates | None = None, **how: Any
) -> Solution:
    """Go down an objective of all rows from where a sample has ended.

    ``dtype`` is the precision of the columns that rules are about; ``how`` as for ``descend``.
    """
    resolution = float(np.finfo(dtype).eps)
    return descend(
        objective, start, coordinates=coordinates, resolution=resolution, report=reporting("all rows"), **how
    )


def fit_on_sample(
    estimator: Any, parts: PartedRows, n_rows: int, *, whole: int = WHOLE, as_what: str = "bags", **sides: Any
) -> Any:
    """Fit an estimator to a sample, and let all rows be asked about part by part.

    Parameters
    ----------
    estimator : estimator
        One whose ``predict`` extends its clusters to new rows.
    parts : PartedRows
        All rows.
    n_rows : int
        About how many rows the sample has.
    whole : int
        Rows up to which a bag is in the sample as a whole or not at all.
    as_what : {"bags", "sequences"}
        What the estimator takes the bags of the parts for.
    **sides : objects
        What came beside the parts, which bring their own bags.
    """
    refuse_beside_parts(estimator, **sides)
    X, bags = parts.sample(n_rows, whole=whole)
    in_bags = {} if bags is None else {as_what: bags if as_what == "bags" else list(bags)}
    estimator.fit(np.asarray(X, dtype=np.float64), **in_bags)
    estimator.labels_ = parts.apply(PredictRows(estimator, as_what), bags=parts.in_bags)
    return estimator


class PredictRows:
    """Asks a model about rows and what they stand together in."""

    def __init__(self, model: Any, as_what: str) -> None:
        self.model, self.as_what = model, as_what

    def __call__(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the cluster of each row."""
        told = None if bags is None else bags if self.as_what == "bags" else list(bags)
        return np.asarray(self.model.predict(X, **({} if told is None else {self.as_what: told})))
