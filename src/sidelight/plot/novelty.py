"""Pictures of novel labels: decision regions, the influence of their number, their nearest rows, score curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight.data.coerce import as_bags
from sidelight.errors import InvalidData, InvalidParameter, ignore_warnings
from sidelight.metrics import novel_instance_f1
from sidelight.plot._axes import axes, colour, plain, tidy

_MARGIN = 0.1  # of the range of the rows, around the picture


class DecisionRegionsDisplay:
    """What a method would call every place of a plane, as in figure 1 of [Z17]; for rows with two features.

    Parameters
    ----------
    regions : ndarray of shape (n_down, n_across)
        The number of the label of each place, the lowest line first.
    extent : tuple of float
        Left, right, bottom and top of the picture.
    names : sequence of str
        Name of each label.
    boxes : ndarray of shape (n_boxes, 4), optional
        Rectangles of the truth (left, right, bottom, top), drawn with dashes.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(
        self, regions: np.ndarray, extent: tuple[float, float, float, float], names: Sequence[Any], boxes: Any = None
    ) -> None:
        self.regions, self.extent = np.asarray(regions, dtype=np.intp), extent
        self.names = [str(name) for name in names]
        self.boxes = np.empty((0, 4)) if boxes is None else np.asarray(boxes, dtype=float)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, boxes: Any = None, resolution: int = 150
    ) -> DecisionRegionsDisplay:
        """Ask a fitted method about every place around the rows X, which have two features."""
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise InvalidData(
                f"DecisionRegionsDisplay draws rows with 2 features, got an array of shape {rows.shape}. Fit on two "
                "features, or look at the rows with ClusterScatterDisplay."
            )
        low, high = rows.min(axis=0), rows.max(axis=0)
        room = _MARGIN * np.where(high > low, high - low, 1.0)
        (left, bottom), (right, top) = low - room, high + room
        across, down = np.meshgrid(np.linspace(left, right, resolution), np.linspace(bottom, top, resolution))
        regions = np.asarray(estimator.predict(np.column_stack([across.ravel(), down.ravel()])))
        extent = (float(left), float(right), float(bottom), float(top))
        return cls(regions.reshape(across.shape), extent, estimator.cluster_names_, boxes)

    def plot(self, ax: Any = None) -> DecisionRegionsDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(6.0, 4.4)))
        self.figure_ = self.ax_.figure
        from matplotlib.colors import BoundaryNorm, ListedColormap

        n = max(len(self.names), 1)
        shades = ListedColormap([colour(k) for k in range(n)])
        norm = BoundaryNorm(np.arange(n + 1) - 0.5, n)
        self.ax_.imshow(
            self.regions, origin="lower", extent=self.extent, aspect="auto", cmap=shades, norm=norm, alpha=0.45
        )
        left, right, bottom, top = self.extent
        for k in np.unique(self.regions):
            down, across = np.nonzero(self.regions == k)
            x = left + (right - left) * np.median(across) / max(self.regions.shape[1] - 1, 1)
            y = bottom + (top - bottom) * np.median(down) / max(self.regions.shape[0] - 1, 1)
            self.ax_.text(x, y, plain(self.names[k]), ha="center", va="center", fontsize=8)
        for x0, x1, y0, y1 in self.boxes:
            self.ax_.plot([x0, x1, x1, x0, x0], [y0, y0, y1, y1, y0], "--", color="#333333", linewidth=0.8)
        self.ax_.set(xlabel="first feature", ylabel="second feature")
        return self


class NovelCountDisplay:
    """What happens when more or fewer novel labels are allowed, as in figure 2 of [Z17].

    Parameters
    ----------
    counts : sequence of int
        How many novel labels were allowed.
    found : sequence of int
        How many of them hold enough rows to be believed.
    told : sequence of float
        The share of known labels of bags that is told rightly.
    f1 : sequence of float, optional
        How well novel rows are told apart (F_INL), where the truth is known.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, counts: Sequence[int], found: Sequence[int], told: Sequence[float], f1: Any = None) -> None:
        self.counts, self.found, self.told = list(counts), list(found), [float(v) for v in told]
        self.f1 = None if f1 is None else [float(v) for v in f1]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, bags: Any, *, counts: Sequence[int] = (1, 2, 4, 8), y: Any = None
    ) -> NovelCountDisplay:
        """Fit a copy of the estimator with each number of novel labels; ``y`` holds the true labels of the rows."""
        bags = as_bags(bags, n_rows=np.shape(X)[0])
        if "n_novel" not in estimator.get_params():
            raise InvalidParameter(
                f"NovelCountDisplay needs a method with n_novel, got {estimator!r:.80}. Try DMNL() or "
                "CoverageClustering()."
            )
        found, told, f1 = [], [], []
        for count in counts:
            with ignore_warnings():  # counts that are too large are the point of the picture
                model = clone(estimator).set_params(n_novel=count).fit(X, bags=bags)
            labels = model.predict_labels(X)
            noise = getattr(model, "noise_labels_", ())
            novel = [name for name, k in zip(model.cluster_names_, model.class_of_) if k < 0 and name not in noise]
            found.append(len(set(novel) & set(labels.tolist())))
            told.append(_told_rightly(model, X, bags))
            if y is not None:
                f1.append(novel_instance_f1(y, labels, model.classes_))
        return cls(counts, found, told, f1 or None)

    def plot(self, ax: Any = None) -> NovelCountDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.4, 3.4)))
        self.figure_ = self.ax_.figure
        at = np.arange(len(self.counts))
        self.ax_.bar(at, self.found, width=0.5, color=colour(8), alpha=0.45, label="novel labels found (left)")
        self.ax_.set_xticks(at, [str(count) for count in self.counts])
        self.ax_.set(xlabel="novel labels allowed", ylabel="novel labels found")
        self.ax_.yaxis.get_major_locator().set_params(integer=True)
        shares = self.ax_.twinx()
        shares.plot(at, self.told, "o-", color=colour(0), label="known labels of bags told rightly")
        if self.f1 is not None:
            shares.plot(at, self.f1, "s-", color=colour(1), label="novel rows told apart (F_INL)")
        shares.set(ylim=(0, 1.02), ylabel="share")
        shares.spines[["top"]].set_visible(False)
        drawn = [*self.ax_.get_legend_handles_labels()[0], *shares.get_legend_handles_labels()[0]]
        self.ax_.legend(handles=drawn, fontsize=7, loc="lower right")
        return self


class NovelGroupsDisplay:
    """Novel labels and the rows nearest to their centres, of the group or not.

    Parameters
    ----------
    groups : mapping of str to sequence of (row, name, distance)
        For each novel label the nearest rows: what users call them, what the method calls them, and how far they are
        from the centre, in standard deviations of a feature.

    Attributes
    ----------
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, groups: Mapping[str, Sequence[tuple[Any, Any, float]]]) -> None:
        self.groups = {
            str(name): [(row, called, float(far)) for row, called, far in rows] for name, rows in groups.items()
        }

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, bags: Any = None, *, row_ids: Any = None, n_shown: int = 8
    ) -> NovelGroupsDisplay:
        """Look at the rows around each novel label of a fitted method; with ``bags`` their lists help to name rows."""
        called = estimator.predict(X) if bags is None else estimator.predict(X, bags=bags)
        return cls(nearest_rows(X, called, estimator.cluster_names_, estimator.class_of_, row_ids, n_shown))

    def plot(self, ax: Any = None) -> NovelGroupsDisplay:
        """Draw on ``ax``, or on a new figure."""
        shown = [(name, *row) for name, rows in self.groups.items() for row in rows]
        self.ax_ = tidy(axes(ax, size=(6.4, 0.24 * len(shown) + 1.0)))
        self.figure_ = self.ax_.figure
        places = {name: k for k, name in enumerate(self.groups)}
        own = [str(called) == name for name, _, called, _ in shown]
        shades = [colour(places[name]) if is_own else "#bbbbbb" for (name, *_), is_own in zip(shown, own)]
        self.ax_.barh(np.arange(len(shown)), [far for *_, far in shown], color=shades, height=0.7)
        titles = [plain(f"{name}: row {row}" + ("" if mine else f" ({called})")) for (name, row, called, _), mine
                  in zip(shown, own)]  # fmt: skip
        self.ax_.set_yticks(np.arange(len(shown)), titles, fontsize=7)
        self.ax_.set(xlabel="distance to the centre (grey: called otherwise)")
        self.ax_.invert_yaxis()
        return self


class NoveltyCurveDisplay:
    """Known rows against novel ones: the share of each whose novelty score is above a threshold.

    Parameters
    ----------
    scores : ndarray of shape (n_rows,)
        Novelty scores, between 0 and 1.
    is_novel : ndarray of bool of shape (n_rows,)
        Which rows are of kinds that nobody named.

    Attributes
    ----------
    auc_ : float
        The probability that a novel row scores higher than a known one.
    ax_, figure_ : matplotlib objects
        Set by :meth:`plot`.
    """

    def __init__(self, scores: Any, is_novel: Any) -> None:
        self.scores, self.is_novel = np.asarray(scores, dtype=float), np.asarray(is_novel, dtype=bool)
        if self.scores.shape != self.is_novel.shape or self.is_novel.all() or not self.is_novel.any():
            raise InvalidData(
                f"NoveltyCurveDisplay needs a truth for each of {len(self.scores)} rows, with novel and known ones "
                f"among them. Got {int(self.is_novel.sum())} novel of {self.is_novel.size}."
            )
        from sklearn.metrics import roc_auc_score

        self.auc_ = float(roc_auc_score(self.is_novel, self.scores))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, bags: Any = None) -> NoveltyCurveDisplay:
        """Score rows whose true labels ``y`` are known; labels that the method does not know are novel."""
        known = set(estimator.classes_)
        is_novel = np.array([name not in known for name in np.asarray(y, dtype=object).tolist()])
        return cls(estimator.novelty_score(X, bags=bags), is_novel)

    def plot(self, ax: Any = None) -> NoveltyCurveDisplay:
        """Draw on ``ax``, or on a new figure."""
        self.ax_ = tidy(axes(ax, size=(5.0, 3.4)))
        self.figure_ = self.ax_.figure
        for k, (name, inside) in enumerate((("known rows", ~self.is_novel), ("novel rows", self.is_novel))):
            values = np.sort(self.scores[inside])[::-1]
            share = np.arange(1, len(values) + 1) / len(values)
            self.ax_.step(np.r_[1.0, values, 0.0], np.r_[0.0, share, 1.0], where="post", color=colour(k), label=name)
        self.ax_.set(xlabel="novelty score above", ylabel="share of the rows", xlim=(0, 1), ylim=(0, 1.02))
        self.ax_.set_title(f"area under the ROC curve {self.auc_:.3f}", fontsize=9)
        self.ax_.legend(fontsize=8)
        return self


def nearest_rows(
    X: Any, called: np.ndarray, names: Sequence[Any], class_of: Any, row_ids: Any = None, n_shown: int = 8
) -> dict[str, list[tuple[Any, str, float]]]:
    """Return the rows nearest to the centre of each novel label that holds rows: id, name and distance."""
    rows = scaled(X, *mean_and_scale(X))  # sparse rows are not centred, and distances do not mind
    squares = np.asarray((rows.multiply(rows) if sp.issparse(rows) else np.square(rows)).sum(axis=1)).ravel()
    called, n_features = np.asarray(called), rows.shape[1]
    ids = np.arange(len(rows)) if row_ids is None else np.asarray(row_ids, dtype=object)
    groups: dict[str, list[tuple[Any, str, float]]] = {}
    for k in np.flatnonzero(np.asarray(class_of) < 0).tolist():
        if not (called == k).any():
            continue
        centre = np.asarray(rows[called == k].mean(axis=0)).ravel()
        far = np.sqrt(np.maximum(squares - 2.0 * (rows @ centre) + centre @ centre, 0.0) / n_features)
        order = np.argsort(far, kind="stable")[:n_shown]
        groups[str(names[k])] = [(ids[i], str(names[int(called[i])]), float(far[i])) for i in order]
    return groups


def _told_rightly(model: Any, X: Any, bags: Any) -> float:
    """Return the share of known labels of bags that the rows carry rightly, by features alone."""
    carried = model.predict_bags(X, bags)
    told = np.flatnonzero(bags.is_labelled)
    listed = bags.label_matrix.toarray()[told] > 0
    found = np.array([[name in carried[b] for name in bags.classes] for b in told]).reshape(listed.shape)
    return float(np.mean(found == listed)) if listed.size else 1.0
