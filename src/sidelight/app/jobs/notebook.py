"""The page of a fitted model, in a notebook: what the commands write, without the files.

A model does not keep its rows, so they are handed in again, with what was known about them.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, check_is_fitted

from sidelight._core.atomic import replacing
from sidelight.app.jobs.catalogue import JOBS
from sidelight.data.coerce import as_bags
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, InvalidParameter, as_invalid_data
from sidelight.estimators.scaling import Standardized


@dataclass(frozen=True, slots=True)
class ModelPage:
    """A page about a model: notebooks display it, ``save`` writes it, ``html`` is its text.

    Attributes
    ----------
    html : str
        The whole page, self-contained.
    n_rows : int
        How many rows it is about.
    """

    html: str
    n_rows: int

    def _repr_html_(self) -> str:
        """Return the page in a frame of its own, so that its style touches nothing else."""
        from sidelight.app.report.components.markup import element

        return str(element("iframe", srcdoc=self.html, style="width:100%;height:40rem;border:0", title="Sidelight"))

    def __repr__(self) -> str:
        """Say what it is where nothing can display it."""
        return f"<a page about {self.n_rows} rows; in a notebook it is displayed, .save(path) writes it>"

    def save(self, path: str | Path) -> None:
        """Write the page; the file appears whole or not at all.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        with replacing(path) as file:
            file.write(self.html.encode("utf-8"))


def show(model: Any, X: Any, *, bags: Any = None, pairs: Any = None, triplets: Any = None, y: Any = None) -> ModelPage:
    """Make the page about a fitted model that the commands write, for a notebook.

    Parameters
    ----------
    model : estimator
        A fitted model: one that names rows of labelled bags, clusters bags by words, or clusters rows by answers.
    X : array, CSR matrix or data frame of shape (n_rows, n_features)
        The rows of the fit: a model does not keep them. Names of columns are used.
    bags : Bags, default=None
        The bags of the fit.
    pairs, triplets : Pairs and Triplets, default=None
        The answers of the fit.
    y : sequence, default=None
        The true class of each row where it is known: the page then compares.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> page = sl.show(sl.DiscriminativeClustering(2, random_state=0).fit(X), X)
    >>> page
    <a page about 4 rows; in a notebook it is displayed, .save(path) writes it>
    """
    from sidelight.app.jobs.page import page_of
    from sidelight.app.report import to_html

    if not isinstance(model, BaseEstimator):
        raise InvalidParameter(
            f"show wants a fitted model, such as sl.CoverageClustering(). Got {type(model).__name__}."
        )
    check_is_fitted(model)
    inner = model.estimator_ if isinstance(model, Standardized) else model
    shows = {name: shown for job in JOBS.values() for name, shown in job.shows.items()}
    if type(inner).__name__ not in shows:
        raise InvalidParameter(
            f"show has no page for {type(inner).__name__}. It shows {', '.join(sorted(shows))}; the commands write "
            "pages for the others."
        )
    needs, result_of = shows[type(inner).__name__].needs, shows[type(inner).__name__].result_of
    data = _dataset(X, bags, y)
    if data.X.shape[0] != len(inner.labels_):
        raise InvalidData(f"show wants the {len(inner.labels_)} rows that the model was fitted to. Got {data.n_rows}.")
    if needs == "bags" and bags is None:
        raise InvalidData("show needs the bags that the model was fitted with. Pass bags=.")
    known = getattr(model, "feature_names_in_", None)
    if known is not None and list(known) != list(data.feature_names):
        raise InvalidData(
            f"show wants the columns of the fit ({', '.join(known)}). Got {', '.join(data.feature_names)}."
        )
    if inner is model:
        model = copy(model)
        vars(model).pop("feature_names_in_", None)  # compared above; plain rows would get a warning
    result = result_of(data, data.bags, model) if needs == "bags" else result_of(data, model, pairs, triplets)
    if y is not None:
        from sidelight.app.jobs.checking import checked

        result = checked(result, data)
    return ModelPage(to_html(page_of(result)), data.n_rows)


def _dataset(X: Any, bags: Any, y: Any) -> Dataset:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    names = tuple(map(str, frame.columns)) if isinstance(frame, nw.DataFrame) else None
    with as_invalid_data("show"):
        rows = check_array(X, accept_sparse="csr", dtype="float64")
    names = names or tuple(f"column {j}" for j in range(rows.shape[1]))
    truth = None if y is None else np.array([str(name) for name in y], dtype=object)
    return Dataset(
        rows, names, bags=None if bags is None else as_bags(bags, n_rows=rows.shape[0]), path="rows", y=truth
    )
