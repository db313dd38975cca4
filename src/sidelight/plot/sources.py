"""Pictures of co-clusters: a table beside its approximation, errors over starts, weights, and information over k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from sidelight.errors import ConvergenceWarning, InvalidData, ignore_warnings
from sidelight.plot._axes import axes, colour, figure, plain, tidy
from sidelight.progress import report

_MOST_CODES = 400  # rows or columns that a picture can show; larger tables are added up by neighbours


class CoclusterDisplay:
    """A table P and what its clusters make of it, Q, side by side with the clusters in order: [B04] figure 4-11.

    Parameters
    ----------
    P, Q : ndarray of shape (n_rows, n_columns)
        Joint probabilities and their approximation, in the order they are drawn.
    row_breaks, column_breaks : ndarray
        Where a new cluster begins.
    axes_names : (str, str)
        What rows and columns are.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`; ``ax_`` is a pair.
    """

    def __init__(
        self,
        P: Any,
        Q: Any,
        row_breaks: Any = (),
        column_breaks: Any = (),
        axes_names: Sequence[str] = ("row", "column"),
    ) -> None:
        self.P, self.Q = np.asarray(P), np.asarray(Q)
        self.row_breaks, self.column_breaks = np.asarray(row_breaks), np.asarray(column_breaks)
        self.axes_names = tuple(axes_names)

    @classmethod
    def from_estimator(cls, estimator: Any, P: Any, *, axes_names: Sequence[str] | None = None) -> CoclusterDisplay:
        """Draw the table that a fitted co-clusterer saw; large ones are added up to 400 by 400 cells.

        Parameters
        ----------
        estimator : co-clusterer
            Fitted, with two axes.
        P : array, sparse matrix or CoOccurrence
            The table that ``fit`` saw.
        axes_names : (str, str), optional
            What rows and columns are called.
        """
        names = axes_names if axes_names is not None else getattr(estimator, "axes_", ("rows", "columns"))
        if len(names) != 2:
            raise InvalidData(
                f"CoclusterDisplay draws tables with two axes, got {len(names)} ({', '.join(names)}). Draw a margin: "
                "CoclusterDisplay.from_labels(table.margin(a, b), labels[a], labels[b]) with labels = axis_labels_."
            )
        return cls.from_labels(P, estimator.row_labels_, estimator.column_labels_, axes_names=names)

    @classmethod
    def from_labels(
        cls, P: Any, row_labels: Any, column_labels: Any, *, axes_names: Sequence[str] = ("row", "column")
    ) -> CoclusterDisplay:
        """Draw a table with given clusters of its rows and columns.

        Parameters
        ----------
        P : array, sparse matrix or CoOccurrence with two axes
            The table.
        row_labels, column_labels : arrays of int
            Clusters; -1 for none.
        axes_names : (str, str)
            What rows and columns are called.
        """
        matrix = P.to_csr() if hasattr(P, "to_csr") else P
        rows, columns = np.asarray(row_labels), np.asarray(column_labels)
        if matrix.shape != (rows.size, columns.size):
            raise InvalidData(
                f"CoclusterDisplay got a table of shape {matrix.shape} and labels of {(rows.size, columns.size)} "
                "rows and columns. Pass the table that fit saw."
            )
        by_row, by_column = np.argsort(rows, kind="stable"), np.argsort(columns, kind="stable")
        fold_rows, fold_columns = _fold(rows.size), _fold(columns.size)
        shown = _add_up(matrix, by_row, by_column, fold_rows, fold_columns)
        shown = shown / shown.sum()
        approximation = _approximation(shown, rows[by_row], columns[by_column], fold_rows, fold_columns)
        row_breaks = (np.flatnonzero(np.diff(rows[by_row])) + 1) * shown.shape[0] / rows.size
        column_breaks = (np.flatnonzero(np.diff(columns[by_column])) + 1) * shown.shape[1] / columns.size
        return cls(shown, approximation, row_breaks, column_breaks, axes_names)

    def plot(self, ax: Any = None) -> CoclusterDisplay:
        """Draw on a pair of axes, or on a new figure."""
        if ax is None:
            tall = float(np.clip(7.2 / 2 * self.P.shape[0] / self.P.shape[1] + 0.6, 2.4, 4.6))
            ax = figure((7.2, tall)).subplots(1, 2, sharex=True, sharey=True)
        self.ax_ = np.asarray(ax)
        self.figure_ = self.ax_[0].figure
        top = np.sqrt(max(self.P.max(), self.Q.max()))
        for panel, table, title in zip(self.ax_, (self.P, self.Q), ("P, as counted", "Q, from the clusters")):
            panel.imshow(np.sqrt(table), cmap="Blues", vmin=0.0, vmax=top, aspect="auto", interpolation="nearest")
            for at in self.row_breaks:
                panel.axhline(at - 0.5, color="#ee6677", lw=0.7)
            for at in self.column_breaks:
                panel.axvline(at - 0.5, color="#ee6677", lw=0.7)
            panel.set(title=title, xlabel=plain(self.axes_names[1]), xticks=[], yticks=[])
        self.ax_[0].set_ylabel(plain(self.axes_names[0]))
        return self


class StartErrorsDisplay:
    """Box plots of raw and final errors over starts: [B04] figure 4-4.

    Parameters
    ----------
    raw, final : mapping of str to array
        Errors of repeated starts, as shares, by method or table.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`; ``ax_`` is a pair.
    """

    def __init__(self, raw: Mapping[str, Any], final: Mapping[str, Any]) -> None:
        self.raw, self.final = dict(raw), dict(final)

    def plot(self, ax: Any = None) -> StartErrorsDisplay:
        """Draw on a pair of axes, or on a new figure."""
        if ax is None:
            ax = figure((7.2, 3.4)).subplots(1, 2, sharey=True)
        self.ax_ = np.asarray(ax)
        self.figure_ = self.ax_[0].figure
        for panel, errors, title in zip(self.ax_, (self.raw, self.final), ("raw error (RE)", "final error (FE)")):
            tidy(panel).boxplot([100 * np.asarray(v) for v in errors.values()], showfliers=True)
            panel.set_xticks(range(1, len(errors) + 1), [plain(name) for name in errors], rotation=20, fontsize=8)
            panel.set_title(title)
        self.ax_[0].set_ylabel("points in the wrong cluster, %")
        return self


class ClusterWeightsDisplay:
    """Converged row and column weights of :class:`~sidelight.estimators.WeightCoclustering`: [B04] figure 4-7.

    Parameters
    ----------
    rows, columns : ndarray of shape (n_codes, n_clusters)
        Weights between 0 and 1; dark is near 1, a blank line is a code that no cluster took.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`; ``ax_`` is a pair.
    """

    def __init__(self, rows: Any, columns: Any) -> None:
        self.rows, self.columns = np.asarray(rows), np.asarray(columns)

    @classmethod
    def from_estimator(cls, estimator: Any) -> ClusterWeightsDisplay:
        """Draw the weights of a fitted estimator."""
        if not hasattr(estimator, "row_weights_"):
            raise InvalidData(
                f"ClusterWeightsDisplay draws a fitted WeightCoclustering, got a {type(estimator).__name__}."
            )
        return cls(estimator.row_weights_, estimator.column_weights_)

    def plot(self, ax: Any = None) -> ClusterWeightsDisplay:
        """Draw on a pair of axes, or on a new figure."""
        if ax is None:
            ax = figure((7.2, 2.6)).subplots(1, 2)
        self.ax_ = np.asarray(ax)
        self.figure_ = self.ax_[0].figure
        for panel, weights, title in zip(self.ax_, (self.rows, self.columns), ("rows", "columns")):
            panel.imshow(weights.T, cmap="gray_r", vmin=0.0, vmax=1.0, aspect="auto", interpolation="nearest")
            panel.set(title=f"weights of {title}", xlabel="code", ylabel="cluster", yticks=range(weights.shape[1]))
        return self


class PreservedInformationDisplay:
    """The share of information that k clusters keep, over k: help with the number of clusters.

    Parameters
    ----------
    n_clusters : sequence of int
        The numbers tried, the same for every axis.
    shares : sequence of float
        Information kept, as a share of what the table has.
    floor : sequence of float, optional
        The same for a table of the same margins with nothing to find: what noise alone would seem to keep.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self, n_clusters: Sequence[int], shares: Sequence[float], floor: Sequence[float] | None = None
    ) -> None:
        self.n_clusters, self.shares = list(n_clusters), np.asarray(shares, dtype=float)
        self.floor = None if floor is None else np.asarray(floor, dtype=float)

    @classmethod
    def from_estimator(
        cls, estimator: Any, P: Any, n_clusters: Sequence[int], *, floor: bool = False, random_state: int = 0
    ) -> PreservedInformationDisplay:
        """Fit a clone for every number of clusters.

        Parameters
        ----------
        estimator : co-clusterer
            Its parameters are kept except ``n_clusters``.
        P : array, sparse matrix or CoOccurrence
            The table.
        n_clusters : sequence of int
            Numbers to try; those larger than an axis are left out.
        floor : bool
            Also fit a table drawn from the product of the margins (counts only), of the same total.
        random_state : int
            Seed of that draw.
        """
        shape = np.shape(P) if isinstance(P, (list, tuple)) else P.shape
        tried = [int(k) for k in n_clusters if k <= min(shape)]
        if not tried:
            raise InvalidData(
                f"PreservedInformationDisplay: none of {list(n_clusters)} clusters fits a table of shape {shape}. Try "
                f"numbers from 2 to {min(shape)}."
            )
        shares, noise = [], []
        independent = _independent(P, random_state) if floor else None
        with ignore_warnings(ConvergenceWarning):  # a curve of quick fits needs no last digit
            for number, k in enumerate(tried):
                report("numbers of clusters", number, len(tried))
                fitted = clone(estimator).set_params(n_clusters=k)
                shares.append(_share_kept(fitted.fit(P)))
                if independent is not None:
                    noise.append(_share_kept(fitted.fit(independent)))
        return cls(tried, shares, noise if floor else None)

    def columns(self) -> dict[str, list[Any]]:
        """Return what is drawn as a table, with shares to four digits."""
        table: dict[str, list[Any]] = {"clusters": self.n_clusters, "share kept": self.shares.round(4).tolist()}
        if self.floor is not None:
            table["share kept of nothing"] = self.floor.round(4).tolist()
        return table

    def plot(self, ax: Any = None) -> PreservedInformationDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.6, 3.4)))
        self.figure_ = self.ax_.figure
        self.ax_.plot(self.n_clusters, 100 * self.shares, "o-", color=colour(0), label="this table")
        if self.floor is not None:
            self.ax_.plot(self.n_clusters, 100 * self.floor, "o--", color="#999999", label="nothing to find")
            self.ax_.legend(frameon=False)
        self.ax_.set(xlabel="clusters of each axis", ylabel="information kept, %", ylim=(0, 103))
        self.ax_.xaxis.get_major_locator().set_params(integer=True)
        return self


def _share_kept(fitted: Any) -> float:
    return float(fitted.information_ / fitted.total_information_) if fitted.total_information_ > 0.0 else 1.0


def _fold(n: int) -> int:
    """How many neighbours are added up into one cell of a picture."""
    return -(-n // _MOST_CODES)


def _add_up(matrix: Any, rows: np.ndarray, columns: np.ndarray, fold_rows: int, fold_columns: int) -> np.ndarray:
    import scipy.sparse as sp

    coo = sp.csr_array(matrix).tocoo()
    at_row, at_column = np.empty(rows.size, dtype=np.intp), np.empty(columns.size, dtype=np.intp)
    at_row[rows], at_column[columns] = np.arange(rows.size), np.arange(columns.size)
    shape = (-(-rows.size // fold_rows), -(-columns.size // fold_columns))
    cell = (at_row[coo.row] // fold_rows) * shape[1] + at_column[coo.col] // fold_columns
    sums: Any = np.bincount(cell, coo.data, minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape), dtype=float)


def _approximation(
    P: np.ndarray, rows: np.ndarray, columns: np.ndarray, fold_rows: int, fold_columns: int
) -> np.ndarray:
    """Q of the table as drawn: P(x^, y^) P(x) / P(x^) P(y) / P(y^), [B04] theorem 1."""
    rows, columns = rows[::fold_rows][: P.shape[0]] + 1, columns[::fold_columns][: P.shape[1]] + 1  # -1: no cluster
    R, C = np.eye(rows.max() + 1)[rows], np.eye(columns.max() + 1)[columns]
    T = R.T @ P @ C
    row_share = P.sum(axis=1) / np.maximum((R @ T.sum(axis=1)), 1e-300)  # an empty cluster has no rows
    column_share = P.sum(axis=0) / np.maximum((C @ T.sum(axis=0)), 1e-300)
    return np.asarray((R @ T @ C.T) * row_share[:, None] * column_share[None, :])


def _independent(P: Any, seed: int) -> Any:
    """Draw a table with P's margins and total in which the axes know nothing of each other."""
    import scipy.sparse as sp

    from sidelight.data.cooccurrence import CoOccurrence

    table = P if isinstance(P, CoOccurrence) else CoOccurrence.from_matrix(P)
    rng, n = np.random.default_rng(seed), max(1, round(table.total))
    codes = {
        axis: rng.choice(size, n, p=table.marginal(axis) / table.total) for axis, size in zip(table.axes, table.shape)
    }
    drawn = CoOccurrence.from_codes(codes, sizes=dict(zip(table.axes, table.shape)))
    return drawn if isinstance(P, CoOccurrence) else sp.csr_array(drawn.to_csr())
