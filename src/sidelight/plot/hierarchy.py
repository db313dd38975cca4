"""Pictures of label trees: one line a label, why it hangs there, what another tree has instead, and rates of loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.data.hierarchy import LabelTree
from sidelight.errors import InvalidData
from sidelight.estimators.hierarchy.evidence import NOT_RANDOM
from sidelight.plot._axes import axes, colour, tidy

_MOST_LABELS = 60  # lines that can be read on one page
_INDENT = 1.0
_GREY, _RED, _ORANGE = "#999999", "#cc3311", "#cc6600"


class LabelTreeDisplay:
    """A label tree as an indented outline: one line a label, its edge as strong as its evidence.

    Large trees are folded: levels are shown from the top as long as they fit, and a folded label says how many are
    below it.

    Parameters
    ----------
    tree : LabelTree
        The tree.
    evidence : array-like of shape (n_labels,), optional
        Nats for the parent of each label; NaN where there are none.
    gap_p_values : array-like of shape (n_labels,), optional
        Whether the gaps of each label's parent look like forgetting; a label where they do not is orange.
    counts : array-like of shape (n_labels, 2), optional
        Rows with label and parent seen, and rows with the label seen.
    extra_parents : sequence of (parent, child, nats), optional
        Further parents, written behind the label.
    compared_with : LabelTree, optional
        Another tree of the same labels, usually the true one: edges that it lacks are red, with its parent behind them.
    most : int
        Most lines.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    shown_ : ndarray of int
        The labels that were drawn, from top to bottom.
    """

    def __init__(
        self,
        tree: LabelTree,
        *,
        evidence: Any = None,
        counts: Any = None,
        gap_p_values: Any = None,
        extra_parents: Sequence[tuple[str, str, float]] = (),
        compared_with: LabelTree | None = None,
        most: int = _MOST_LABELS,
    ) -> None:
        if compared_with is not None and set(compared_with.names) != set(tree.names):
            raise InvalidData("LabelTreeDisplay compares trees of the same labels; these have different names.")
        self.tree = tree
        self.evidence = None if evidence is None else np.asarray(evidence, dtype=np.float64)
        self.counts = None if counts is None else np.asarray(counts)
        self.gap_p_values = None if gap_p_values is None else np.asarray(gap_p_values, dtype=np.float64)
        self.extra_parents = list(extra_parents)
        self.compared_with = compared_with
        self.most = most

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, compared_with: LabelTree | None = None, most: int = _MOST_LABELS
    ) -> LabelTreeDisplay:
        """Draw the tree that a fitted estimator has learned.

        Parameters
        ----------
        estimator : LatentHierarchyClassifier or ChowLiuTree
            Fitted.
        compared_with : LabelTree, optional
            Another tree of the same labels, usually the true one.
        most : int
            Most lines.
        """
        return cls(
            estimator.tree_,
            evidence=getattr(estimator, "edge_evidence_", None),
            counts=getattr(estimator, "edge_counts_", None),
            gap_p_values=getattr(estimator, "gap_p_values_", None),
            extra_parents=getattr(estimator, "extra_parents_", ()),
            compared_with=compared_with,
            most=most,
        )

    def plot(self, ax: Any = None) -> LabelTreeDisplay:
        """Draw on ``ax``, or on a new figure that is as tall as the tree."""
        self.shown_, below = _folded(self.tree, self.most)
        self.ax_ = axes(ax, size=(7.0, 0.6 + 0.22 * len(self.shown_)))
        self.figure_ = self.ax_.figure
        line = {int(label): -float(place) for place, label in enumerate(self.shown_)}
        line[-1] = 1.0
        depths = np.asarray(self.tree.depths)
        for label in self.shown_.tolist():
            self._edge(label, line, float(depths[label]))
            self.ax_.text(
                _INDENT * depths[label] + 0.12,
                line[label],
                self._caption(label, int(below[label])),
                va="center",
                fontsize=8,
                color=self._tint(label, "black"),
            )
        self.ax_.plot(0, 1.0, "o", color="black", markersize=4)
        self.ax_.text(0.12, 1.0, "(every row)", va="center", fontsize=8, color=_GREY)
        self.ax_.set(xlim=(-0.3, _INDENT * depths[self.shown_].max() + 5), ylim=(-len(self.shown_), 2))
        self.ax_.set_axis_off()
        return self

    def _edge(self, label: int, line: Mapping[int, float], depth: float) -> None:
        """Draw the branch from the parent's trunk; its width grows with the evidence, dashed when it is weak."""
        parent = int(self.tree.parents[label])
        nats = np.nan if self.evidence is None else self.evidence[label]
        width = 1.2 if np.isnan(nats) else float(np.clip(0.6 + 0.35 * np.log1p(max(nats, 0.0)), 0.6, 3.0))
        weak = not np.isnan(nats) and nats < 3  # e^3 = 20 to 1
        x, tint = _INDENT * (depth - 1), self._tint(label, "#4477aa")
        style = "--" if weak else "-"
        trunk = line[parent] - 0.25 if parent >= 0 else line[parent]
        self.ax_.plot([x, x], [trunk, line[label]], "-", color="#bbbbbb", lw=0.8, zorder=1)
        self.ax_.plot([x, x + 0.9 * _INDENT], [line[label], line[label]], style, color=tint, lw=width, zorder=2)
        self.ax_.plot(x + 0.9 * _INDENT, line[label], "o", color=tint, markersize=3)

    def _tint(self, label: int, usual: str) -> str:
        """Red where another tree differs, orange where the gaps do not look like forgetting."""
        if self._differs(label):
            return _RED
        p = np.nan if self.gap_p_values is None else self.gap_p_values[label]
        return _ORANGE if p < NOT_RANDOM else usual

    def _caption(self, label: int, below: int) -> str:
        text = _plain(self.tree.names[label])
        if below:
            text += f"  (+{below} below)"
        if self.counts is not None and self.tree.parents[label] >= 0:
            both, seen = (int(value) for value in self.counts[label])
            text += f"   {both} of {seen}"
        further = [parent for parent, child, _ in self.extra_parents if child == self.tree.names[label]]
        if further:
            text += "   also under " + ", ".join(_plain(name) for name in further)
        if self._differs(label):
            text += f"   [{_plain(self._other_parent(label))}]"
        return text

    def _differs(self, label: int) -> bool:
        if self.compared_with is None:
            return False
        parent = int(self.tree.parents[label])
        return self._other_parent(label) != ("root" if parent < 0 else self.tree.names[parent])

    def _other_parent(self, label: int) -> str:
        other = self.compared_with
        if other is None:
            return ""
        parent = int(other.parents[other.index(self.tree.names[label])])
        return "root" if parent < 0 else other.names[parent]


class LossRateDisplay:
    """Estimated rate of loss over the true one, figure 5.5 of [P17].

    Parameters
    ----------
    true : sequence of float
        The rates that labels were dropped with.
    estimates : mapping of str to array-like of shape (n_rates, n_runs)
        What each method estimated.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, true: Sequence[float], estimates: Mapping[str, Any]) -> None:
        self.true = np.asarray(true, dtype=np.float64)
        self.estimates = {name: np.asarray(runs, dtype=np.float64) for name, runs in estimates.items()}
        for name, runs in self.estimates.items():
            if runs.ndim != 2 or len(runs) != len(self.true):
                raise InvalidData(
                    f"LossRateDisplay needs one row of runs for each of {len(self.true)} rates; {name!r} has shape "
                    f"{runs.shape}."
                )

    def plot(self, ax: Any = None) -> LossRateDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.0, 3.8)))
        self.figure_ = self.ax_.figure
        self.ax_.plot(self.true, self.true, "--", color=_GREY, lw=1, label="truth")
        for number, (name, runs) in enumerate(self.estimates.items()):
            mean, spread = runs.mean(axis=1), runs.std(axis=1)
            self.ax_.errorbar(self.true, mean, yerr=spread, fmt="o-", ms=4, color=colour(number), label=name, capsize=2)
        self.ax_.legend(fontsize=8, frameon=False)
        self.ax_.set(xlabel="share of labels dropped", ylabel="estimated alpha")
        return self


def _folded(tree: LabelTree, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels to show in preorder, and how many are hidden below each of them."""
    depths = np.asarray(tree.depths)
    deepest = max([d for d in range(1, tree.depth + 1) if (depths <= d).sum() <= most], default=1)
    shown = np.asarray(tree.preorder)[depths[np.asarray(tree.preorder)] <= deepest][: max(most, 1)]
    below = np.zeros(tree.n_labels, dtype=np.intp)
    for label in np.flatnonzero(depths > deepest):
        top = int(label)
        while depths[top] > deepest:
            top = int(tree.parents[top])
        below[top] += 1
    return shown, below


def _plain(name: str) -> str:
    """Show a name as it is: a dollar sign must not start mathematics."""
    return name.replace("$", r"\$")
