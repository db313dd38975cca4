"""What every method that names rows and bags answers, from the probabilities of a row's labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidParameter
from sidelight.estimators._base import checks_y, count_rows, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._labelled_bags.supervision import Layout, mean_over_lists
from sidelight.estimators.novelty.problem import Lists


def check_enough_rows(estimator: Any, n_novel: int, n_rows: int) -> None:
    """Refuse more novel labels than rows."""
    if n_novel > n_rows:
        raise InvalidParameter(
            f"{type(estimator).__name__} was asked for n_novel={n_novel} novel labels of n_samples={n_rows} rows. "
            "Lower n_novel, or bring more rows."
        )


class NamesRows(ProbabilityColumns, ABC):
    """Rows and bags named by ``predict_proba``, with classes_, class_of_, cluster_names_ and label_names_."""

    __metadata_request__fit = {"bags": True}
    __metadata_request__predict = {"bags": True}
    __metadata_request__score = {"bags": True}

    classes_: tuple[Any, ...]
    class_of_: np.ndarray
    cluster_names_: tuple[str, ...]
    label_names_: tuple[Any, ...]

    def predict_proba(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the probability of each label for each row; with bags, of those that the bag's list allows.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags, default=None
            The bags of these rows, when their lists are known.
        """
        check_is_fitted(self)
        return self._probabilities(rows_to_judge(self, X), bags)

    @abstractmethod
    def _probabilities(self, X: Any, bags: Any) -> np.ndarray:
        """Do the same for rows that have passed the door, as those of ``fit`` have."""

    def predict(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the most probable label of each row, as a number: by features alone, or within its bag's list.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags, default=None
            The bags of these rows, when their lists are known.
        """
        return np.argmax(self.predict_proba(X, bags=bags), axis=1)

    def predict_labels(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the name of each row's most probable label: a known one, or that of a novel one."""
        chosen = self.predict(X, bags=bags)
        names = np.empty(len(self.label_names_), dtype=object)
        names[:] = self.label_names_
        return names[chosen]

    def predict_bags(self, X: Any, bags: Any) -> np.ndarray:
        """Return what each bag carries by the features of its rows: the union of their labels, as [Z17] has it.

        The sets come in the order of ``bags.names``.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags or sequence of bag ids
            Which bag each row is in; labels that it may hold are not looked at.
        """
        names = self.predict_labels(X)
        bags = as_bags(bags, n_rows=len(names))
        sets = np.empty(bags.n_bags, dtype=object)
        sets[:] = [frozenset(names[bag.rows].tolist()) for bag in bags.each()]
        return sets

    def novelty_score(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the probability that each row has a label that nobody named."""
        P = self.predict_proba(X, bags=bags)
        return P[:, self.class_of_ < 0].sum(axis=1)

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Return 1 - Hamming loss of the known labels of these bags: the paper's criterion; 1 is best.

        Unlabelled bags do not count; NaN, with a warning, when there are no others.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, usually of held-out bags.
        y : Bags, default=None
            May hold the bags; anything else is ignored.
        bags : Bags, default=None
            The labelled bags.
        sample_weight : array of shape (n_rows,), default=None
            A bag counts as much as the mean weight of its rows.
        """
        n_rows = count_rows(self, X)
        bags = as_bags(bags, n_rows=n_rows, y=y)
        return mean_over_lists(self, self.bag_scores(X, bags), bags, sample_weight)

    def bag_scores(self, X: Any, bags: Any) -> np.ndarray:
        """Return the share of known labels that is told rightly of each labelled bag, by features alone."""
        carried_sets = self.predict_bags(X, bags)
        bags = as_bags(bags, n_rows=count_rows(self, X), classes=self.classes_)
        lists = Lists.of(bags)
        carried = np.array([[name in carried for name in self.classes_] for carried in carried_sets], dtype=float)
        wrong = lists.told * np.abs(lists.Y - carried.reshape(bags.n_bags, len(self.classes_)))
        share = wrong.sum(axis=1) / np.maximum(lists.told.sum(axis=1), 1.0)
        return np.asarray(1.0 - share[bags.is_labelled])

    @property
    def layout(self) -> Layout:
        """Which labels there are: the known ones, then the novel ones."""
        check_is_fitted(self)
        return Layout(self.classes_, self.class_of_, self.cluster_names_)

    @property
    def _n_features_out(self) -> int:
        return len(self.class_of_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
