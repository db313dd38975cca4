"""What the spectral methods for labelled bags share: similarities, eigenvectors, rounding, and the way to new rows.

A method says what it adds to the similarities (:meth:`SpectralFamily._embed`); everything else is the same, so that
figures of one against the other compare that alone. Components of the similarities that are far smaller than a cluster
are set aside before the eigenproblem and join the cluster of their nearest rows afterwards.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from sidelight._affinity.links import coupled_components, fragments
from sidelight._affinity.neighbours import METRICS, as_metric_rows, nearest_of
from sidelight._affinity.similarities import Similarities, make_similarities, similarities_of_new_rows
from sidelight._affinity.spectral import leading_eigenvectors, unit_rows
from sidelight._core.params import as_generator, check_choice, check_n_clusters, check_number
from sidelight._core.simplex import log_softmax
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags, warn_if_more_than_lists
from sidelight.data.parts import PartedRows
from sidelight.errors import InvalidParameter, SidelightWarning, warn
from sidelight.estimators._base import Estimator, all_or_nothing, checks_y, rows_to_fit, rows_to_judge
from sidelight.estimators._columns import ProbabilityColumns
from sidelight.estimators._large import fit_on_sample
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.instances.class_shares import class_shares
from sidelight.estimators.instances.rounding import ROUNDINGS, round_embedding
from sidelight.progress import report
from sidelight.words import counted

AFFINITIES = ("auto", "dense", "neighbours", "precomputed")
_BLOCK = 4_000_000  # similarities to new rows held at a time


LANDMARKS = 20_000  # rows of Parts that are fitted


class Embedded(NamedTuple):
    """Eigenvalues and eigenvectors V of the rows ``kept``, and the vector D^-1/2 that turns V into coordinates."""

    kept: np.ndarray
    values: np.ndarray
    V: np.ndarray
    root: np.ndarray


class SpectralFamily(ProbabilityColumns, ClusterMixin, Estimator, ABC):
    """Similarities plus what bags say, leading eigenvectors, rounding. Subclasses say what is added."""

    __metadata_request__fit = {"bags": True}
    __metadata_request__predict = {"bags": True}
    __metadata_request__score = {"bags": True}

    n_clusters: int
    affinity: Any
    metric: str
    n_neighbors: int
    scale_neighbor: int
    rounding: str
    n_init: int
    eigen_tol: float
    random_state: Any

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> Any:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features), or Parts
            The rows; with ``affinity="precomputed"`` their similarities, shape (n_rows, n_rows). Of Parts, 20,000 rows
            in whole bags are fitted and the others join them as new rows would: kinds that few of the fitted rows are
            of are lost. ``labels_`` is then made part by part, everything else is about the fitted rows.
        y : Bags or ignored
            The bags, when they come in through scikit-learn's model selection.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in, and the label sets of bags. Without it every row is its own unlabelled bag.
        """
        self._check_parameters()
        if isinstance(X, PartedRows):
            return fit_on_sample(self, X, LANDMARKS, y=y, bags=bags)
        X = rows_to_fit(self, X)
        check_n_clusters(self, self.n_clusters, X.shape[0])
        has_bags = bags is not None or isinstance(y, Bags)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        if has_bags:
            self._warn_if_unlabelled(bags)
            warn_if_more_than_lists(self, bags)
        generator = as_generator(self.random_state)
        similar = make_similarities(
            X, self.affinity, metric=self.metric, n_neighbors=self.n_neighbors, t=self.scale_neighbor,
            generator=generator,
        )  # fmt: skip
        embedded = self._embed(X, bags, similar, generator)
        self._publish(X, bags, similar, embedded, generator)
        return self

    def predict(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the cluster of each row of X.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows; with ``affinity="precomputed"`` their similarities to the rows of ``fit``.
        bags : Bags, default=None
            Label sets of the new rows' bags. The training rows with their bags get ``labels_``; a row whose bag is
            labelled is placed by its similarities and by these labels. Any other row, and every row without
            ``bags``, joins the cluster that its nearest known rows vote for: features alone decide.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        if bags is None:
            return self._vote(X)
        bags = as_bags(bags, n_rows=X.shape[0])
        if self._is_training(X, bags):
            return self._labels.copy()
        labels = self._vote(X)
        U, pulled = self._pulled(X, bags)
        labels[pulled] = self._nearest_centre(U)
        return labels

    def predict_proba(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return how surely each row belongs to each cluster, shape (n_rows, n_clusters); rows sum to 1.

        By features alone it is the share of the nearest known rows' votes. With labelled bags, and for the training
        rows with theirs, it falls with the squared distance to the centres of the embedding, in units of the spread
        inside clusters. The most probable cluster is the one that :meth:`predict` returns.

        Parameters
        ----------
        X, bags
            As in :meth:`predict`.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        found = None if bags is None else as_bags(bags, n_rows=X.shape[0])
        if found is not None and self._is_training(X, found):
            return _with_the_lead(self._near_centres(self.embedding_), self._labels)
        votes = self._spread_over(X, np.eye(self.n_clusters)[self._labels])
        total = votes.sum(axis=1, keepdims=True)
        P = np.where(total > 0, votes / np.where(total > 0, total, 1.0), np.eye(self.n_clusters)[votes.argmax(axis=1)])
        if found is not None:
            U, pulled = self._pulled(X, found)
            P[pulled] = _with_the_lead(self._near_centres(U), self._nearest_centre(U))
        return np.asarray(P)

    def _near_centres(self, U: np.ndarray) -> np.ndarray:
        """Turn squared distances to the centres into probabilities, by the spread inside clusters."""
        inside = ((self.embedding_ - self.centres_[self._labels]) ** 2).sum(axis=1).mean()
        squares = (U**2).sum(axis=1)[:, None] - 2 * U @ self.centres_.T + (self.centres_**2).sum(axis=1)
        squares[:, np.bincount(self._labels, minlength=self.n_clusters) == 0] = np.inf  # an empty cluster has no centre
        return np.exp(log_softmax(-squares / (2.0 * inside if inside > 0 else 1.0)))

    def embed(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return where the rows of X lie in the embedding: unit rows, one coordinate per eigenvector."""
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        found = None if bags is None else as_bags(bags, n_rows=X.shape[0])
        if found is not None and self._is_training(X, found):
            return self.embedding_.copy()
        U = unit_rows(self._spread_over(X, self.embedding_))
        if found is not None:
            moved, pulled = self._pulled(X, found)
            U[pulled] = moved
        return U

    @checks_y
    def score(self, X: Any, y: Any = None, *, bags: Any = None, sample_weight: Any = None) -> float:
        """Judge the clusters of rows by their bags' labels; higher is better.

        With labelled bags: the mean log-probability that a row's class is among its bag's labels, where a cluster's
        classes were learnt in ``fit`` from bag labels. The rows are placed by their features alone. Without labelled
        bags: minus the mean squared distance to the nearest centre in the embedding.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, usually held out.
        y : Bags or ignored
            The bags, when they come in through scikit-learn's model selection.
        bags : Bags, default=None
            Their bags.
        sample_weight : array of shape (n_rows,), default=None
            Weight of each row.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        labels = self._vote(X)
        weight = weights_of_rows(sample_weight, X.shape[0])
        in_labelled_bag = bags.is_labelled[bags.codes]
        if not in_labelled_bag.any() or not self.class_shares_.size:
            gaps = ((unit_rows(self._spread_over(X, self.embedding_)) - self.centres_[labels]) ** 2).sum(axis=1)
            return -float(np.average(gaps, weights=weight))
        allowed = bags.with_classes(_all_classes(self.bags_, bags)).row_label_mask()[:, : self.class_shares_.shape[1]]
        inside = (self.class_shares_[labels] * allowed).sum(axis=1)
        floor = 1.0 / (len(self._labels) + 1)  # a class never seen in a cluster is unlikely, not impossible
        return float(np.average(np.log(np.maximum(inside, floor))[in_labelled_bag], weights=weight[in_labelled_bag]))

    # -- what a method adds -------------------------------------------------------------------------------------------

    @abstractmethod
    def _embed(self, X: Any, bags: Bags, similar: Similarities, generator: np.random.Generator) -> Embedded:
        """Return the leading eigenvectors of the similarities and what the method adds to them; see ``_solve``."""

    def _label_pull(self, bags: Bags, coordinates: np.ndarray) -> np.ndarray:
        """Return how strongly each class pulls a row of a bag with its label; zeros when labels do not act that way."""
        return np.zeros((len(bags.classes), coordinates.shape[1]))

    # -- the steps of fit ---------------------------------------------------------------------------------------------

    def _solve(self, operator: Any, parts: np.ndarray, generator: np.random.Generator) -> Embedded:
        """Return the leading eigenvectors of an operator whose similarities have these connected parts."""
        kept = np.flatnonzero(~fragments(parts, self.n_clusters))
        if len(kept) < self.n_clusters:
            kept = np.arange(len(parts))
        if len(kept) < len(parts):
            operator, parts = operator.take(kept), np.unique(parts[kept], return_inverse=True)[1]
        report("eigenvectors", 0, 1)
        values, V = leading_eigenvectors(
            operator, self.n_clusters, parts=coupled_components(parts, operator.couplings()), generator=generator,
            tol=self.eigen_tol, dtype=operator.W.dtype,
        )  # fmt: skip
        return Embedded(kept, values, V, getattr(operator, "root", np.ones(len(kept))))

    def _say(self, similar: Similarities, n_aside: int) -> None:
        notes = list(similar.notes)
        if n_aside:
            lie = counted(n_aside, "row lies", "rows lie")
            where = "of the nearest row" if similar.kind != "given" else "of the most similar row, or else the largest"
            notes.append(f"{lie} in parts far smaller than a cluster and joined the cluster {where}.")
            warn(SidelightWarning(" ".join(notes), who=type(self).__name__), stacklevel=6)
        self.notes_ = notes

    def _publish(
        self, X: Any, bags: Bags, similar: Similarities, embedded: Embedded, generator: np.random.Generator
    ) -> None:
        kept, values, V, root = embedded
        self._say(similar, X.shape[0] - len(kept))
        report("rounding", 0, 1)
        U = unit_rows(V.astype(np.float64))
        labels = round_embedding(U, self.rounding, self.n_clusters, generator=generator, n_init=self.n_init)
        n_rows = X.shape[0]
        self.eigenvalues_ = values
        self.embedding_, self.labels_ = np.zeros((n_rows, self.n_clusters)), np.zeros(n_rows, dtype=np.intp)
        self.coordinates_ = np.zeros((n_rows, self.n_clusters))
        self.embedding_[kept], self.labels_[kept] = U, labels
        self.coordinates_[kept] = root[:, None] * V
        aside = np.setdiff1d(np.arange(n_rows), kept)
        if len(aside):
            near = _nearest_kept(X, similar, kept, aside, self.metric)
            near[near < 0] = kept[np.argmax(labels == np.bincount(labels).argmax())]
            self.embedding_[aside], self.labels_[aside] = self.embedding_[near], self.labels_[near]
            self.coordinates_[aside] = self.coordinates_[near]
        self.landmark_labels_ = self.labels_
        self.centres_ = _means(self.embedding_, self.labels_, self.n_clusters)
        self.affinity_, self.recall_ = similar.kind, similar.recall
        self.n_parts_ = int(similar.parts.max(initial=0)) + 1
        self.scales_ = similar.scales
        self.rows_ = np.empty((0, 0)) if self.affinity == "precomputed" else X
        self.bags_ = bags
        self.label_pull_ = self._label_pull(bags, self.coordinates_)
        self.class_shares_ = class_shares(self.labels_, bags, self.n_clusters)

    # -- new rows -----------------------------------------------------------------------------------------------------

    @property
    def _labels(self) -> np.ndarray:
        """The cluster of each fitted row; ``labels_`` of Parts is about all rows, and made from these."""
        labels: np.ndarray = vars(self).get("landmark_labels_", self.labels_)  # models of 0.1 have only labels_
        return labels

    def _is_training(self, X: Any, bags: Bags) -> bool:
        return bool(bags == self.bags_) and _same_rows(X, self)

    def _vote(self, X: Any) -> np.ndarray:
        """Let the nearest known rows vote for their clusters, weighted by similarity."""
        return self._spread_over(X, np.eye(self.n_clusters)[self._labels]).argmax(axis=1)

    def _spread_over(self, X: Any, values: np.ndarray) -> np.ndarray:
        """Return the sum of ``values`` of the nearest known rows, weighted by similarity."""
        return np.asarray(self._similarity(X, "neighbours") @ values)

    def _pulled(self, X: Any, bags: Bags) -> tuple[np.ndarray, np.ndarray]:
        """Place the rows whose bag carries a known label: where they lie, and which rows they are.

        The eigenvectors satisfy lambda v = D^-1/2 (W + alpha Q) D^-1/2 v row by row, which also places a new row: what
        its bag's labels add is ``label_pull_``. Missing is only -mu from the other rows of its own bag.
        """
        known = bags.with_classes(_all_classes(self.bags_, bags)).label_matrix[:, : len(self.bags_.classes)].tocsr()
        weights = sparse.diags_array(1.0 / np.maximum(np.diff(known.indptr), 1)) @ known
        pull = np.asarray(weights @ self.label_pull_)[bags.codes]
        pulled = np.flatnonzero(np.any(pull != 0, axis=1))
        values = np.where(np.abs(self.eigenvalues_) > 1e-9, self.eigenvalues_, 1.0)  # such a coordinate says nothing
        out = np.empty((len(pulled), self.n_clusters))
        step = max(1, _BLOCK // max(1, len(self._labels)))
        for at in range(0, len(pulled), step):
            rows = pulled[at : at + step]
            near = np.asarray(self._similarity(X[rows], self.affinity_) @ self.coordinates_)
            out[at : at + step] = (near + pull[rows]) / values
        return unit_rows(out), pulled

    def _similarity(self, X: Any, kind: str) -> Any:
        if self.affinity == "precomputed":
            return X
        if callable(self.affinity):
            return _called(self.affinity, X, self.rows_)
        return similarities_of_new_rows(
            kind, self.rows_, self.scales_, X, metric=self.metric, n_neighbors=self.n_neighbors, t=self.scale_neighbor
        )

    def _nearest_centre(self, U: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(np.bincount(self._labels, minlength=self.n_clusters))
        return used[(U @ self.centres_[used].T - 0.5 * (self.centres_[used] ** 2).sum(axis=1)).argmax(axis=1)]

    # -- checks -------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        check_number(self, "n_clusters", self.n_clusters, integer=True, low=1)
        if not callable(self.affinity):
            check_choice(self, "affinity", self.affinity, AFFINITIES)
        check_choice(self, "metric", self.metric, METRICS)
        check_number(self, "n_neighbors", self.n_neighbors, integer=True, low=1)
        check_number(self, "scale_neighbor", self.scale_neighbor, integer=True, low=1)
        check_choice(self, "rounding", self.rounding, ROUNDINGS)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "eigen_tol", self.eigen_tol, low=0)

    def _warn_if_unlabelled(self, bags: Bags) -> None:
        if bags.label_matrix.nnz == 0:
            warn(
                f"{type(self).__name__}: no bag carries a label, so bags change nothing and the result is that of the "
                "unconstrained method. Give some bags labels.",
                SidelightWarning,
                stacklevel=5,
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.n_clusters)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn what X may be."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.affinity, str) and self.affinity == "precomputed"
        return tags


def _with_the_lead(P: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Give the cluster that rounding chose at least the probability of any other."""
    rows = np.arange(len(P))
    P[rows, labels] = P.max(axis=1) * (1 + 1e-12)  # by a hair, so that the largest entry is unique
    return np.asarray(P / P.sum(axis=1, keepdims=True))


def _nearest_kept(X: Any, similar: Similarities, kept: np.ndarray, aside: np.ndarray, metric: str) -> np.ndarray:
    """Return the kept row nearest to each row set aside; -1 where given similarities to all kept rows are 0."""
    if similar.kind == "given":
        W = sparse.csr_array(similar.W[aside])[:, kept]
        near = kept[np.asarray(W.argmax(axis=1)).ravel()]
        return np.where(np.asarray(W.max(axis=1).todense()).ravel() > 0, near, -1)
    rows = as_metric_rows(X, metric)
    return kept[nearest_of(rows[kept], rows[aside], 1)[0][:, 0]]


def _means(U: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    counts = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    sums = np.stack([np.bincount(labels, weights=column, minlength=n_clusters) for column in U.T], axis=1)
    return np.asarray(sums / counts[:, None])


def _all_classes(known: Bags, new: Bags) -> list[Any]:
    """Return the classes seen in fit, then those that only the new bags name."""
    return [*known.classes, *(name for name in new.classes if name not in set(known.classes))]


def _called(affinity: Any, X: Any, known: Any) -> Any:
    """Ask the caller's function for the similarities of new rows to known ones."""
    try:
        inspect.signature(affinity).bind(X, known)
    except TypeError as error:
        raise InvalidParameter(
            "New rows need their similarities to those of fit, so affinity must also work as affinity(X_new, X). "
            f"Got a function that does not: {error}. Give it a second argument that defaults to None."
        ) from error
    return affinity(X, known)


def _same_rows(X: Any, fitted: SpectralFamily) -> bool:
    if fitted.affinity == "precomputed":
        from sidelight.estimators._base import fingerprint

        return bool(X.shape[0] == len(fitted._labels) and fingerprint(X) == fitted.data_fingerprint_)
    if X.shape != fitted.rows_.shape:
        return False
    gap = fitted.rows_ != X
    return not (gap.nnz if sparse.issparse(gap) else gap.any())
