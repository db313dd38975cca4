"""Co-clustering by gradient ascent over logistic weights: [B04] chapter 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from sidelight._core.params import as_generator, as_sequence, check_number
from sidelight.errors import ConvergenceWarning, InvalidParameter, nearest, warn
from sidelight.estimators._base import all_or_nothing
from sidelight.estimators.sources._coclusterer import (
    Coclusterer,
    Floats,
    Ints,
    clusters_of_axes,
    labels_to_start,
    table_to_fit,
)
from sidelight.estimators.sources._sweeps.alternating import follow
from sidelight.progress import report

# Gradient ascent over logistic row and column weights: [B04] chapter 3, Algorithm 4, vectorised.
#
# Where we leave the print: W^r and W^c are swapped in both derivatives of 3.1.1; P(x^)P(y^) are the margins of P-hat,
# as (3.10) has them; the multipliers are minimised over, not maximised; (3.7) is an inequality, so its multiplier
# stays <= 0; and the multipliers start at zero, so that information leads and the constraints follow.
#
# A property worth knowing: when weights need not sum to one, P-hat has mass s < 1, and its "information" is
# s * I - s log s, which is largest at s = exp(I - 1). Below one nat of information the objective itself prefers to
# leave mass out, and rows end unassigned.


CONSTRAINTS = ("unique", "assigned", "filled")  # (3.3), (3.5), (3.7)
PATIENCE = 0.01  # multipliers move this much slower than weights; faster ones freeze weights before they mean anything
RESTS = 0.01  # share of the information that may still move in twenty epochs: clusters no longer change then
TINY = 1e-300  # the log of an empty cell stays finite; its weight is zero


@dataclass(frozen=True, slots=True)
class Weights:
    """Converged weights (rows x clusters, columns x clusters) and the information after every epoch."""

    rows: Floats
    columns: Floats
    trace: list[float]
    converged: bool


@dataclass(slots=True)
class Multipliers:
    """The Lagrange multipliers of one side: lambda and xi per row, zeta per cluster."""

    unique: Floats
    assigned: Floats
    filled: Floats

    @classmethod
    def zeros(cls, n: int, k: int) -> Multipliers:
        return cls(np.zeros(n), np.zeros(n), np.zeros(k))


def weighted_information(P: Any, R: Floats, C: Floats) -> tuple[float, Floats, Floats]:
    """Return I(X^; Y^) of P-hat = R' P C and its gradients in R and C, [B04] eq. (3.10) and (3.11).

    d I / d R[x, u] = sum_v (P C)[x, v] * (log(P-hat[u, v] / (P-hat[u] P-hat[v])) - 1)
    """
    by_column_cluster, by_row_cluster = P @ C, P.T @ R
    T = R.T @ by_column_cluster
    log_ratio = np.log(np.maximum(T, TINY))
    log_ratio -= np.log(np.maximum(T.sum(axis=1, keepdims=True), TINY))
    log_ratio -= np.log(np.maximum(T.sum(axis=0, keepdims=True), TINY))
    slope = log_ratio - 1.0
    return float((T * log_ratio).sum()), by_column_cluster @ slope.T, by_row_cluster @ slope


def penalty(W: Floats, multipliers: Multipliers) -> tuple[float, Floats]:
    """Return the constraint terms of the Lagrangian (3.9) for one side, and their gradient in W."""
    sums = W.sum(axis=1)
    overlap = 0.5 * (sums**2 - (W**2).sum(axis=1))
    value = multipliers.unique @ overlap + multipliers.assigned @ (sums - 1.0)
    value += multipliers.filled @ (W.sum(axis=0) - 1.0)
    gradient = multipliers.unique[:, None] * (sums[:, None] - W)
    gradient += multipliers.assigned[:, None] + multipliers.filled[None, :]
    return float(value), gradient


def ascend(
    P: Any,
    R: Floats,
    C: Floats,
    *,
    constraints: tuple[str, ...] = ("unique",),
    n_epochs: int = 1000,
    rate: float = 1.0,
    tol: float = 1e-9,
    stage: str = "weights",
) -> Weights:
    """Climb the Lagrangian from weights R (rows x clusters) and C (columns x clusters), strictly inside (0, 1).

    Steps are taken per unit of row mass, so that one ``rate`` fits tables of any size; ``tol`` is the smallest change
    of information that counts as movement, watched over twenty epochs.
    """
    g_rows, g_columns = logit(R), logit(C)
    on_rows, on_columns = Multipliers.zeros(*R.shape), Multipliers.zeros(*C.shape)
    trace: list[float] = []
    for epoch in range(n_epochs):
        if epoch % 50 == 0:
            report(stage, epoch, n_epochs)
        R, C = expit(g_rows), expit(g_columns)
        value, d_rows, d_columns = weighted_information(P, R, C)
        trace.append(value)
        for g, W, slope, multipliers in ((g_rows, R, d_rows, on_rows), (g_columns, C, d_columns, on_columns)):
            step = rate * len(W)
            g += step * (slope - penalty(W, multipliers)[1]) * W * (1.0 - W)
            np.clip(g, -30.0, 30.0, out=g)  # beyond this the logistic function has no slope left in float64
            _tighten(multipliers, W, constraints, rate)
        if epoch > 40 and abs(trace[-1] - trace[-21]) < tol:
            return Weights(expit(g_rows), expit(g_columns), trace, True)
    rests = len(trace) > 20 and abs(trace[-1] - trace[-21]) <= RESTS * abs(trace[-1])
    return Weights(expit(g_rows), expit(g_columns), trace, rests)


def _tighten(multipliers: Multipliers, W: Floats, constraints: tuple[str, ...], rate: float) -> None:
    """Minimise the Lagrangian over the multipliers by one step, in the units of a row's share of the information."""
    sums, step = W.sum(axis=1), PATIENCE * rate / len(W)
    if "unique" in constraints:
        multipliers.unique += step * 0.5 * (sums**2 - (W**2).sum(axis=1))
    if "assigned" in constraints:
        multipliers.assigned += step * (sums - 1.0)
    if "filled" in constraints:
        multipliers.filled[:] = np.minimum(0.0, multipliers.filled + step * (W.sum(axis=0) - 1.0))


_EPOCHS = 4_000_000  # epochs times weights of a start, where nobody says how many
_ON = 0.5  # a row whose largest weight stays below a half belongs to no cluster by its weights


class WeightCoclustering(Coclusterer):
    """Cluster rows and columns of a table by continuous weights, one per row and row cluster.

    The gentlest of the methods to look into, and the weakest: kept for comparison and because any differentiable
    criterion could be added to its objective.

    Parameters
    ----------
    n_clusters : int or (int, int), default=3
        Clusters of rows and of columns.
    constraints : tuple of {"unique", "assigned", "filled"}, default=("unique",)
        Each row in at most one cluster (3.3), in at least one (3.5), no cluster empty (3.7). As in the thesis,
        more constraints make worse clusters; without ``"assigned"`` some rows are left out, and placed afterwards.
    n_init : int, default=4
        Random starts; the one whose clusters keep most information wins.
    max_iter : int, default=None
        Most epochs of a start. None takes 1000 for up to four thousand weights and fewer for more, at least 100: with
        many weights each moves little, and rows are placed by their nearest profile in the end.
    learning_rate : float, default=1.0
        Step per unit of row mass.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts.

    Attributes
    ----------
    row_labels_, column_labels_ : ndarray of intp
        Cluster of each row and column; -1 where the table has no mass.
    rows_, columns_ : ndarray of bool
        Membership of each bicluster, as scikit-learn's SpectralBiclustering has it.
    row_weights_, column_weights_ : ndarray of shape (n_rows, n_clusters), (n_columns, n_clusters)
        Converged weights, between 0 and 1.
    unassigned_rows_, unassigned_columns_ : ndarray of intp
        Rows and columns whose weights chose no cluster; their labels come from the nearest profile instead.
    cluster_table_ : ndarray
        Joint probability of row and column clusters.
    information_, information_loss_, total_information_ : float
        Mutual information kept and lost by the clusters, and that of the table, in nats.
    trace_ : ndarray
        Information of the weighted table after each epoch of the best start.
    start_values_ : ndarray of shape (n_init,)
        Information kept by the clusters of each start.
    axis_labels_, axes_, margins_, n_features_in_, data_fingerprint_ : dict, tuple, dict, int, str
        Labels by axis name, names of the axes, mass of every code, number of columns, a short name of the table.

    Examples
    --------
    >>> import sidelight as sl
    >>> P = [[5, 5, 0, 0], [4, 6, 0, 0], [0, 0, 3, 3], [0, 1, 2, 3]]
    >>> co = sl.estimators.WeightCoclustering(2, random_state=0).fit(P)
    >>> bool(co.row_labels_[0] == co.row_labels_[1] != co.row_labels_[2] == co.row_labels_[3])
    True
    """

    def __init__(
        self,
        n_clusters: Any = 3,
        *,
        constraints: Any = ("unique",),
        n_init: int = 4,
        max_iter: int | None = None,
        learning_rate: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.constraints = constraints
        self.n_init = n_init
        self.max_iter = max_iter
        self.learning_rate = learning_rate
        self.random_state = random_state

    @all_or_nothing
    def fit(self, P: Any, y: Any = None, *, init: Any = None) -> WeightCoclustering:
        """Co-cluster a table.

        Parameters
        ----------
        P : array, CSR matrix, data frame or CoOccurrence with two axes
            Counts or weights, none negative.
        y : ignored
            Present for scikit-learn.
        init : (labels, labels) or dict of axis to labels, optional
            Where to start: weights lean towards these clusters.
        """
        constraints = self._check_parameters()
        joint = table_to_fit(self, P)
        clusters = clusters_of_axes(self, joint)
        table, k = joint.two_way(self), (clusters[0], clusters[1])
        starts = labels_to_start(self, init, joint, clusters)
        rng = as_generator(self.random_state)
        n_epochs = self.max_iter or min(1000, max(100, _EPOCHS // int(np.prod([joint.shape, clusters], axis=0).sum())))

        runs = []
        for number in range(self.n_init):
            R, C = (_start(start, n, m, rng) for start, n, m in zip(starts, joint.shape, clusters))
            weights = ascend(
                joint.csr, R, C, constraints=constraints, n_epochs=n_epochs, rate=self.learning_rate,
                stage=f"start {number + 1}",
            )  # fmt: skip
            rows, columns = weights.rows.argmax(axis=1), weights.columns.argmax(axis=1)
            lost = _lost(weights.rows), _lost(weights.columns)
            if lost[0].size:
                rows[lost[0]] = follow(table, rows, columns, k, leader=1)[0][lost[0]]
            if lost[1].size:
                columns[lost[1]] = follow(table, rows, columns, k, leader=0)[1][lost[1]]
            self._publish(joint, clusters, [rows, columns])
            runs.append((self.information_, weights, rows, columns, lost))
        self._publish_best(joint, clusters, runs)
        return self

    def _publish_best(self, joint: Any, clusters: tuple[int, ...], runs: list[Any]) -> None:
        weights: Weights
        _, weights, rows, columns, lost = max(runs, key=lambda run: run[0])
        if not weights.converged:
            warn(
                f"WeightCoclustering stopped after {len(weights.trace)} epochs while its information still moved. "
                "Raise max_iter.",
                ConvergenceWarning,
                stacklevel=4,
            )
        self._publish(joint, clusters, [rows, columns])
        self.row_weights_, self.column_weights_ = weights.rows, weights.columns
        self.unassigned_rows_, self.unassigned_columns_ = lost
        self.trace_ = np.array(weights.trace)
        self.start_values_ = np.array([run[0] for run in runs])

    def _check_parameters(self) -> tuple[str, ...]:
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1, none=True)
        check_number(self, "learning_rate", self.learning_rate, low=0, open_low=True)
        constraints = (
            (self.constraints,)
            if isinstance(self.constraints, str)
            else tuple(as_sequence(self, "constraints", self.constraints))
        )
        for name in constraints:
            if not isinstance(name, str) or name not in CONSTRAINTS:
                raise InvalidParameter(
                    f"The 'constraints' parameter of WeightCoclustering must be some of {', '.join(CONSTRAINTS)}. "
                    f"Got {name!r}. {nearest(name, CONSTRAINTS)}"
                )
        return constraints


def _start(labels: Ints | None, n: int, k: int, rng: np.random.Generator) -> Floats:
    """Draw weights at random, as the thesis does, or leaning towards ``labels`` where there are any."""
    W = rng.uniform(0.05, 0.95, size=(n, k))  # logits stay finite
    if labels is not None:
        W *= 0.5
        W[np.arange(n), labels] = 0.8
    return W


def _lost(W: Floats) -> NDArray[np.intp]:
    return np.flatnonzero(W.max(axis=1) < _ON)
