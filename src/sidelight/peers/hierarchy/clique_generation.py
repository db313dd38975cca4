"""Clique generation (Tan et al., CVPR 2015), tanCVPR of [P17] 5.5.2: a label graph grown with a structural SVM.

A label set y of a row x scores

    F(x, y) = sum_k y_k (w_k @ x + b_k) + sum over links (j, k) of theta_jk y_j y_k

and should score higher than any other set by the number of labels in which they differ. With the links that are there
this is a structural SVM, solved by cuts with one slack for all rows. The dual also says how much weight an absent link
would take: the links that would take most are added, and the machine is solved again, until a round of links lowers the
objective by little. The paper's links are cliques of any size; these are pairs, as in its experiments.

The best label set under a graph with loops has no closed form: labels are set in turn until none changes, from several
starts. While learning that may miss the worst set, as in Finley and Joachims 2008.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._core.params import check_number
from sidelight._core.process import one_blas_thread
from sidelight._models.label_logits import one_scale
from sidelight._models.scaled_rows import ScaledRows
from sidelight.data.coerce import as_label_matrix
from sidelight.estimators._base import all_or_nothing, reporting, rows_to_fit, rows_to_judge
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.bags.cutting_plane import dual
from sidelight.estimators.hierarchy.counts import Entries, Floats
from sidelight.estimators.hierarchy.decoding import LearnsLabelSets, labels_to_fit


class ScoredByF1(LearnsLabelSets):
    """An estimator whose ``predict`` names label sets, judged by the labels that were seen."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the micro F1 against the labels that were seen; unchecked entries do not count.

        Parameters
        ----------
        X, y
            Rows and what was seen of their labels.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        """
        on = self.predict(X)
        labels = as_label_matrix(y, n_rows=len(on), names=self.label_names_)
        weights = weights_of_rows(sample_weight, labels.n_rows)
        predicted = (on == 1) & labels.is_known
        hits = float(weights @ (predicted & labels.is_seen).sum(axis=1))
        return 2 * hits / (float(weights @ (predicted.sum(axis=1) + labels.is_seen.sum(axis=1))) or 1.0)


_SWEEPS = 20  # over all labels; the best set is mostly reached after three


_IDLE = 20  # a cut whose multiplier was 0 for so many rounds is dropped


_MAX_CUTS = 500  # rounds of one machine; a runaway stops here


_ENOUGH = 0.001  # share of the objective that a round of links must take off


class Machine(NamedTuple):
    """Weights, biases and links (symmetric, zero where there is none)."""

    W: Floats
    b: Floats
    links: Floats

    def unary(self, rows: ScaledRows) -> Floats:
        """Return the score of each label alone."""
        return rows.products(self.W) + self.b


class CliqueGeneration(ScoredByF1):
    """Learn a graph of labels and a max-margin classifier of label sets together (tanCVPR of [P17]).

    It takes every label that was not seen for absent.

    Parameters
    ----------
    C : float, default=100.0
        Price of the mean missed margin.
    n_links : int, default=5
        How many links a round adds at most.
    max_rounds : int, default=20
        Most rounds of links.
    tol : float, default=0.02
        How much the mean missed margin may exceed that of the cuts, in labels.

    Attributes
    ----------
    label_names_ : tuple of str
        The columns of everything that is returned.
    weights_, intercept_ : ndarrays of shape (n_features, n_labels) and (n_labels,)
        Score of each label alone: ``X @ weights_ + intercept_``.
    links_ : ndarray of shape (n_labels, n_labels)
        What two labels add when both are on; symmetric, 0 where they are not linked.
    trace_ : ndarray
        The objective after each round of links.
    n_iter_ : int
        Rounds of links.
    n_features_in_, data_fingerprint_ : int, str
        Number of features seen by ``fit``, and a short name of the rows.

    Examples
    --------
    >>> import sidelight as sl
    >>> sample = sl.data.make_label_tree(200, n_labels=4, missing=0.2, random_state=0)
    >>> sl.peers.CliqueGeneration().fit(sample.X, sample.Y_incomplete).predict(sample.X).shape
    (200, 4)
    """

    def __init__(self, *, C: float = 100.0, n_links: int = 5, max_rounds: int = 20, tol: float = 0.02) -> None:
        self.C = C
        self.n_links = n_links
        self.max_rounds = max_rounds
        self.tol = tol

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn links, weights and biases.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        y : LabelMatrix, matrix, data frame, or names of labels
            The labels of each row, as in :meth:`LatentHierarchyClassifier.fit`; where nobody looked counts as not seen.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        labels = labels_to_fit(self, X, y)
        rows = ScaledRows(X, *one_scale(X), np.ones(X.shape[0]))
        with one_blas_thread():
            machine = self._grow(rows, labels.is_seen.astype(np.float64))
        self.label_names_ = labels.names
        scaled = machine.W * rows.inverse_scale
        self.weights_, self.intercept_ = scaled.T.copy(), machine.b - scaled @ rows.mean
        self.links_ = machine.links
        return self

    def predict(self, X: Any) -> Entries:
        """Return the label set of each row as 0 and 1: the best one that is found."""
        check_is_fitted(self, "weights_")
        unary = np.asarray(rows_to_judge(self, X) @ self.weights_) + self.intercept_
        found: Entries = best_sets(unary, self.links_).astype(np.int8)
        return found

    def _grow(self, rows: ScaledRows, Y: Floats) -> Machine:
        """Add links and solve in turn."""
        K = Y.shape[1]
        linked = np.zeros((K, K), dtype=bool)
        cuts, trace = _Cuts(), list[float]()
        for done in range(self.max_rounds):
            machine, value = self._solve(rows, Y, linked, cuts)
            reporting("clique generation")(done + 1, self.max_rounds, f"objective {value:.4g}")
            trace.append(value)
            if len(trace) > 1 and trace[-2] - trace[-1] <= _ENOUGH * trace[-2]:
                break
            wanted = np.where(linked | ~np.triu(np.ones((K, K), dtype=bool), 1), 0.0, np.abs(cuts.wanted_links()))
            best = np.argsort(-wanted, axis=None, kind="stable")[: self.n_links]
            best = best[wanted.ravel()[best] > 0]
            if not len(best):
                break
            linked[np.unravel_index(best, (K, K))] = True
        self.trace_, self.n_iter_ = np.array(trace), len(trace)
        return machine

    def _solve(self, rows: ScaledRows, Y: Floats, linked: Any, cuts: _Cuts) -> tuple[Machine, float]:
        """Solve the structural SVM with these links; earlier cuts stay, they only see more links now."""
        machine, slack, value = cuts.solve(self.C, linked, like=(Y.shape[1], len(rows.mean)))
        for _ in range(_MAX_CUTS):
            unary, loss = machine.unary(rows), 1 - 2 * Y  # a label that differs from the truth adds 1
            worst = best_sets(unary + loss, machine.links, Y)
            missed = np.abs(worst - Y).sum(axis=1) - _set_scores(unary, machine.links, Y)
            missed += _set_scores(unary, machine.links, worst)
            if missed.mean() <= slack + self.tol:
                break
            cuts.add(rows, Y, worst)
            machine, slack, value = cuts.solve(self.C, linked, like=machine.W.shape)
        return machine, value

    def _check_parameters(self) -> None:
        check_number(self, "C", self.C, low=0, open_low=True)
        check_number(self, "n_links", self.n_links, integer=True, low=1)
        check_number(self, "max_rounds", self.max_rounds, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0, open_low=True)


class _Cuts:
    """Mean differences of features between the true label sets and wrong ones, with the mean number of wrong labels."""

    def __init__(self) -> None:
        self.W: list[Floats] = []
        self.b: list[Floats] = []
        self.links: list[Floats] = []
        self.shares: list[float] = []
        self.idle: list[int] = []
        self.alpha: Floats = np.zeros(0)

    def add(self, rows: ScaledRows, Y: Floats, worst: Floats) -> None:
        keep = [at for at, idle in enumerate(self.idle) if idle < _IDLE]
        for listed in (self.W, self.b, self.links, self.shares, self.idle):
            listed[:] = [listed[at] for at in keep]  # type: ignore[misc] # lists of several kinds
        n = len(Y)
        self.W.append(rows.combine((Y - worst) / n))
        self.b.append((Y - worst).mean(axis=0))
        self.links.append((Y.T @ Y - worst.T @ worst) / n)
        self.shares.append(float(np.abs(worst - Y).sum() / n))
        self.idle.append(0)

    def wanted_links(self) -> Floats:
        """Return the weight that every link would take if it were there."""
        return np.tensordot(self.alpha, np.array(self.links), axes=1) if self.links else np.zeros((0, 0))

    def solve(self, C: float, linked: Any, like: tuple[int, int]) -> tuple[Machine, float, float]:
        """Return the best machine under these cuts, its slack and its objective."""
        K, d = like
        if not self.shares:
            return Machine(np.zeros((K, d)), np.zeros(K), np.zeros((K, K))), 0.0, np.inf
        of_links = np.array(self.links)[:, linked]
        A = np.column_stack([np.array(self.W).reshape(len(self.W), -1), np.array(self.b), of_links])
        shares = np.array(self.shares)
        self.alpha, _, _ = dual(np.asfortranarray(A @ A.T), shares, C)
        v = self.alpha @ A
        self.idle = [0 if a > 1e-6 * self.alpha.max() else idle + 1 for a, idle in zip(self.alpha, self.idle)]
        links = np.zeros((K, K))
        links[linked] = v[K * d + K :]
        slack = max(0.0, float((shares - A @ v).max()))
        machine = Machine(v[: K * d].reshape(K, d), v[K * d : K * d + K], links + links.T)
        return machine, slack, float(0.5 * v @ v + C * slack)


def best_sets(unary: Floats, links: Floats, *starts: Floats) -> Floats:
    """Return the best label sets found from what each label prefers alone, from no label, from all, and ``starts``."""
    best, score = None, None
    for start in ((unary > 0).astype(np.float64), np.zeros_like(unary), np.ones_like(unary), *starts):
        Y = start.copy()
        for _ in range(_SWEEPS):
            before = Y.copy()
            for k in range(Y.shape[1]):
                Y[:, k] = unary[:, k] + Y @ links[:, k] > 0
            if np.array_equal(before, Y):
                break
        reached = _set_scores(unary, links, Y)
        if best is None or score is None:
            best, score = Y, reached
        better = reached > score
        best[better], score = Y[better], np.maximum(score, reached)
    assert best is not None  # there is at least one start
    return best


def _set_scores(unary: Floats, links: Floats, Y: Floats) -> Floats:
    return np.asarray((Y * unary).sum(axis=1) + 0.5 * (Y @ links * Y).sum(axis=1))
