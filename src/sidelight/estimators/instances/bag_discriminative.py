"""Bag constraints in another clusterer: information maximisation with [PF14] eq. (2) as one more term on P."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight._core.params import check_n_clusters, check_number
from sidelight._terms.information import Balance, Confidence
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags
from sidelight.errors import SidelightWarning, warn
from sidelight.estimators._base import all_or_nothing, checks_y, rows_to_fit
from sidelight.estimators._linear_rule import LinearRule
from sidelight.estimators.instances.bag_constraint import BagConstraint

# A term that asks bags with like label sets to have like clusters: [PF14] eq. (2) for any posterior matrix.


@dataclass(frozen=True, slots=True)
class BagLikeness:
    """Minus the class-label likeness of bags times their cluster-label likeness, summed over pairs of bags.

    h[i, k] = sum of P[p, k] over the rows p of bag i,   size[k] = sum_p P[p, k]
    value   = -1/n sum_k h[:, k]' T h[:, k] / size[k]

    T is the constraint among bags, (Y'Y - mu I) as [PF14] eq. (12) prints it; ``constrain`` multiplies with it without
    forming it. With hard clusters and D = I this is minus the trace in [PF14] eq. (11), over n.

    ``gather`` (bags x rows, CSR) adds up the rows of each bag; ``codes`` is the bag of each row.
    """

    gather: Any
    codes: np.ndarray
    constrain: Callable[[np.ndarray], np.ndarray]

    def __call__(self, P: np.ndarray, log_P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = P.reshape(-1, *P.shape[-2:])
        done = [self._one(one) for one in flat]
        return np.array([v for v, _ in done]).reshape(P.shape[:-2]), np.stack([G for _, G in done]).reshape(P.shape)

    def _one(self, P: np.ndarray) -> tuple[float, np.ndarray]:
        n = P.shape[0]
        size = np.maximum(P.sum(axis=0), np.finfo(float).tiny)  # an empty cluster: 0 / tiny = 0
        h = self.gather @ P
        Th = self.constrain(h)
        likeness = (h * Th).sum(axis=0) / size
        slope = (2.0 * Th[self.codes] - likeness) / size
        return -float(likeness.sum()) / n, -P * slope / n


class BagDiscriminativeClustering(LinearRule):
    """Cluster the rows of labelled bags by a softmax-linear rule: information maximisation plus bag constraints.

    [PF14] says that its constraints "can be easily incorporated into any optimization based clustering"; this is one
    more. The objective is that of [P17] eq. (3.6) without answers, plus ``alpha`` times :class:`BagLikeness`. New rows
    need no bag: the rule is linear in the features.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    alpha : float, default=20.0
        Weight of the bag constraints; 0 is discriminative clustering without answers.
    tau : float, default=1.0
        Weight of the information.
    penalty : float, default=0.03125
        Weight of ``|W|^2 / 2``.
    n_init : int, default=4
        Number of k-means starts; the one with the lowest objective wins.
    max_iter : int, default=300
        Most L-BFGS iterations a start.
    tol : float, default=1e-6
        Relative change of the objective at which a start has converged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row.
    weights_, intercept_ : ndarray of shape (n_features, n_clusters) and (n_clusters,)
        The softmax rule.
    objective_, trace_, n_iter_ : float, ndarray, int
        The value of the best start, its course (it never rises), and its iterations.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0, 0.1], [0.2, 0.0], [5.0, 5.1], [5.2, 4.9]])
    >>> bags = sl.Bags(["a", "a", "b", "b"], labels={"a": {"wren"}, "b": {"owl"}})
    >>> labels = sl.estimators.BagDiscriminativeClustering(2, random_state=0).fit(X, bags=bags).labels_
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    __metadata_request__fit = {"bags": True}
    __metadata_request__predict = {"bags": True}
    __metadata_request__score = {"bags": True}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 20.0,
        tau: float = 1.0,
        penalty: float = 2.0**-5,
        n_init: int = 4,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.alpha = alpha
        self.tau = tau
        self.penalty = penalty
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> BagDiscriminativeClustering:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : Bags or ignored
            The bags, when they come in through scikit-learn's model selection.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in, and the label sets of bags. Without it every row is its own unlabelled bag.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        constraint = BagConstraint.from_bags(bags)
        if constraint.is_empty and (bags is not None or isinstance(y, Bags)):
            warn(
                "BagDiscriminativeClustering: no bag carries a label, so bags change nothing. Give some bags labels.",
                SidelightWarning,
                stacklevel=4,
            )
        terms: list[Any] = [(self.tau, Balance()), (self.tau, Confidence())]
        if self.alpha > 0 and not constraint.is_empty:
            likeness = BagLikeness(constraint.gather, constraint.codes, constraint.bag_product)
            terms.append((self.alpha, likeness))
        return self._learn(X, terms)

    def predict(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the most probable cluster of each row of X; bags change nothing, the rule knows features only."""
        return np.argmax(self._log_posterior(X), axis=1)

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Return information plus bag likeness on the rows of X; higher is better.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, usually held out.
        y : Bags or ignored
            The bags, when they come in through scikit-learn's model selection.
        bags : Bags, default=None
            Their bags.
        sample_weight : ignored
            Information is a property of all rows together.
        """
        log_P = self._log_posterior(X)
        P = np.exp(log_P)
        value = self.tau * float(Balance()(P, log_P)[0] + Confidence()(P, log_P)[0])
        constraint = BagConstraint.from_bags(as_bags(bags, n_rows=len(P), y=y))
        if not constraint.is_empty:
            likeness = BagLikeness(constraint.gather, constraint.codes, constraint.bag_product)
            value += self.alpha * float(likeness(P, log_P)[0])
        return -value

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number(self, "alpha", self.alpha, low=0, advice="alpha=0 ignores the bags.")
