"""What the clusterers of bags share: what they take, how many clusters fit, and labels from bags to rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import ClusterMixin

from sidelight._core.content import content_order
from sidelight._core.params import check_number
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidParameter, warn
from sidelight.estimators._base import Estimator


class BagClusterer(ClusterMixin, Estimator, ABC):
    """Rows and bags in, a cluster per bag out; ``_bag_labels(X, bags)`` is what a member adds."""

    _of_bags: tuple[str, ...] = ("bag_labels_", "witnesses_")  # what is learnt of every bag
    __metadata_request__fit = {"bags": True}
    __metadata_request__predict = {"bags": True}
    __metadata_request__score = {"bags": True}

    def fit_predict(self, X: Any, y: Any = None, *, bags: Any = None) -> np.ndarray:
        """Fit, and return the cluster of each row's bag.

        Parameters
        ----------
        X, y, bags
            As in ``fit``.
        """
        labels: np.ndarray = self.fit(X, y, bags=bags).labels_
        return labels

    def predict(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the cluster of each row's bag; without ``bags`` every row is judged alone.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids, optional
            The bag of each row.
        """
        bags, rows = self._judged(X, bags)
        return self._bag_labels(rows, bags)[bags.codes]

    def predict_bag_clusters(self, X: Any, bags: Any = None) -> np.ndarray:
        """Return the cluster of each bag, in the order of ``bags.names``.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids, optional
            The bag of each row.
        """
        bags, rows = self._judged(X, bags)
        return self._bag_labels(rows, bags)

    def __getattr__(self, name: str) -> Any:
        if name == "predict_bags":
            raise AttributeError(
                f"{type(self).__name__} has no predict_bags: that names the label sets of bags, and here a bag has a "
                "cluster. Call predict_bag_clusters(X, bags)."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _rows(self, X: Any) -> Any:
        from sklearn.utils.validation import check_is_fitted

        from sidelight.estimators._base import rows_to_judge

        check_is_fitted(self)
        return rows_to_judge(self, X)

    def _judged(self, X: Any, bags: Any) -> tuple[Bags, Any]:
        X = self._rows(X)
        if bags is None and len(self.bag_labels_) < len(self.labels_):
            warn(
                f"{type(self).__name__} learnt clusters of bags with several rows, and takes each of these "
                f"{X.shape[0]} rows for a bag of its own. Say which bag each row is in: bags=.",
                stacklevel=4,
            )
        return as_bags(bags, n_rows=X.shape[0]), X

    def _learn_by_content(self, X: Any, bags: Bags, learn: Callable[[Any, Bags], None]) -> None:
        """Learn from the rows in the order of their content, and tell of them in the order they came in."""
        order = content_order(X, bags.codes, bags.n_bags)
        own = bags[order]
        learn(X[order], own)
        place_of = {name: place for place, name in enumerate(own.names)}
        place = np.array([place_of[name] for name in bags.names], dtype=np.intp)
        for name in self._of_bags:
            setattr(self, name, getattr(self, name)[place])
        self.witnesses_: np.ndarray = order[self.witnesses_]
        self.labels_ = self.bag_labels_[bags.codes]

    @abstractmethod
    def _bag_labels(self, X: Any, bags: Bags) -> np.ndarray:
        """Return the cluster of each bag."""

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def check_bag_clusters(owner: object, n_clusters: Any, bags: Bags) -> None:
    """Raise unless ``bags`` can fall into ``n_clusters`` clusters."""
    check_number(owner, "n_clusters", n_clusters, integer=True, low=1)
    if n_clusters > bags.n_bags:
        raise InvalidParameter(
            f"{type(owner).__name__} was asked for n_clusters={n_clusters} clusters but got {bags.n_bags} bags "
            f"(n_samples={bags.n_rows} rows). Ask for at most {bags.n_bags} clusters, or bring more bags."
        )
