"""A classifier for label sets with gaps that learns the tree behind the labels, [P17] chapter 5.

Two ways to the tree. "joint" is the thesis' EM over weights, rate of loss and tree together. "counts" is ours and the
default: tree and rate come from counts of pairs of labels, and the weights alone climb the likelihood
(docs/guide/hierarchy.md has the figures of both).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sidelight._core.label_passes import Inputs, as_inputs, best_states, posterior
from sidelight._core.params import as_generator, check_choice, check_number
from sidelight._core.process import one_blas_thread
from sidelight._models.label_logits import LabelLogits, one_scale
from sidelight._models.passes import engine_for
from sidelight._models.scaled_rows import ScaledRows
from sidelight.data.coerce import as_label_matrix
from sidelight.data.hierarchy import LabelTree
from sidelight.data.label_matrix import LabelMatrix
from sidelight.data.parts import PartedRows
from sidelight.errors import ConvergenceWarning, InvalidData, LabelsOverlap, warn
from sidelight.estimators._base import (
    all_or_nothing,
    refuse_beside_parts,
    reporting,
    rows_to_fit,
    rows_to_judge,
)
from sidelight.estimators._large import fit_large
from sidelight.estimators._weights import weights_of_rows
from sidelight.estimators.hierarchy import decoding
from sidelight.estimators.hierarchy.candidates import Candidate, best_candidate, known_tree, no_tree
from sidelight.estimators.hierarchy.counts import Entries, Floats, PairCounts, count_pairs
from sidelight.estimators.hierarchy.decoding import LearnsLabelSets, labels_to_fit
from sidelight.estimators.hierarchy.evidence import (
    REFUTED,
    edge_evidence,
    gap_p_values,
    held_out_scores,
    implausible,
    lost_range,
    unsupported,
)
from sidelight.estimators.hierarchy.further_parents import as_tree, further_parents
from sidelight.estimators.hierarchy.in_parts import SAMPLE, ManyRows
from sidelight.estimators.hierarchy.weights import INITS, joint_em, learn_weights, starts
from sidelight.words import Setting, counted

STRUCTURES = ("counts", "joint", "graph")
WIDE = 0.05  # between both ends of the share of lost labels, from which it is worth a warning


class LatentHierarchyClassifier(LearnsLabelSets):
    r"""Learn the tree behind incomplete label sets, and a classifier that obeys it.

    A label that was seen is certain. One that was not seen may be absent or forgotten; how often labels are forgotten
    is learned too. A child label implies its parent.

    Parameters
    ----------
    structure : {"counts", "joint", "graph"}, default="counts"
        Where the tree comes from. "counts": from counts of pairs of labels. "joint": from the EM of [P17] algorithm 4,
        together with the weights. "graph": as "counts", and ``predict`` and ``complete`` also obey ``extra_parents_``.
    tree : LabelTree or array-like of int, optional
        A tree that is known; with "joint" only its rate and the weights are learned (GT of [P17]). Names are matched
        with those of the labels; an array holds the parent of each column, -1 under the root.
    alpha : {"auto", "shared", "label"}, default="auto"
        Whether labels are forgotten at one rate or each at its own; "auto" lets the likelihood of the labels decide.
    threshold : "f1", None or float, default="f1"
        How ``predict`` and ``complete`` round. "f1": a threshold on ``predict_proba`` that maximises the expected micro
        F1. None: the most probable consistent label set, which leaves out more of the rare labels. A float: that
        threshold.
    penalty : float, default=10.0
        Weight of ``|W|^2 / 2``, on features that were centred and brought to mean square 1 (one scale for all).
    eps : float, default=0.001
        Probability of a label whose parent is off, while learning; "joint" starts at 0.05 and shrinks it by 0.98 a
        round down to this. Predictions use 0.
    init : {"zero", "several", "star", "chow-liu", "random"}, default="zero"
        Where "joint" starts. "zero": weights of 0, and the tree is learned before the weights in every round. The
        others start from weights that fit a tree, and hardly leave it: "several" means a star, the Chow-Liu tree, then
        random trees, of which the highest bound wins. "counts" needs no start.
    n_init : int, default=3
        How many starts, where there are several or random ones.
    max_iter : int, default=300
        Most iterations: steps of L-BFGS, or EM rounds of "joint".
    tol : float, default=1e-6
        Relative gain of the objective at which they stop.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random starts of "joint".

    Attributes
    ----------
    tree_ : LabelTree
        The tree; ``tree_.parents`` has -1 under the root.
    label_names_ : tuple of str
        The columns of everything that is returned.
    alpha_ : float
        The share of labels that were on and not seen, over all labels; what the model uses.
    alpha_range_ : ndarray of shape (2,)
        Between which shares that is: by features, which say how many gaps of a parent can be forgotten labels, and
        ``alpha_``. One number twice where nothing speaks against ``alpha_``.
    label_alphas_ : ndarray of shape (n_labels,)
        The rate of each label that the model uses; equal unless labels are forgotten at different rates.
    edge_evidence_ : ndarray of shape (n_labels,)
        Nats by which the counts prefer the parent of each label to its grandparent; NaN directly under the root.
    edge_counts_ : ndarray of shape (n_labels, 2)
        Rows where label and parent were both seen, and rows where the label was seen and the parent looked at.
    gap_p_values_ : ndarray of shape (n_labels,)
        Whether the gaps of each label's parent look like forgetting: p-value of the test that, on the rows of the
        label, seeing the parent depends on no other label. Small values mean that the labels overlap and none implies
        the other, or that forgetting is not random; ``alpha_`` is then too high. NaN where it cannot be told. A label
        whose parent was seen on less than half of its rows, with a p-value below 0.01 or against what features say,
        hangs from the root instead.
    extra_parents_ : list of (parent, child, evidence)
        Further labels that a label seems to imply, by name, with nats.
    candidates_ : dict of str to float
        Log-likelihood of the labels under each candidate tree, less its penalty; empty for "joint" and a given tree.
    source_ : str
        Which candidate won, ``"given"``, ``"joint"``, or ``"overlap"``: labels occur together, and none implies
        another, so ``tree_`` has no links and nothing is taken for forgotten.
    weights_, intercept_ : ndarrays of shape (n_features, n_labels) and (n_labels,)
        Score of each label given that its parent is on: ``X @ weights_ + intercept_``.
    threshold_, complete_threshold_ : float
        The thresholds of ``predict`` and ``complete``; NaN when ``threshold=None``.
    trace_ : ndarray
        Penalised log-likelihood after each iteration.
    log_likelihood_ : float
        ``log P(Y | X)`` of the training labels.
    n_iter_ : int
        Iterations made.
    n_features_in_ : int
        Number of features seen by ``fit``; not set when X was None.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    See Also
    --------
    LabelTree : Trees of labels, read, drawn and compared.
    sidelight.peers.BinaryRelevance : Every label by itself, without a tree.
    sidelight.peers.ChowLiuTree : A tree of the labels as they were seen.

    Notes
    -----
    [P17] table 5.1: y are the labels that apply, z those that were given,

    .. math::

        P(y_c = 1 \mid y_{parent} = 1) = \sigma(w_c \cdot x + b_c), \quad
        P(y_c = 1 \mid y_{parent} = 0) = \epsilon, \quad
        P(z_c = 1 \mid y_c) = (1 - \alpha) \, y_c .

    Marginals over the tree are exact, by one pass up and one down.

    It follows scikit-learn's interface but is no ``ClassifierMixin``: its target is a set with gaps, so accuracy
    against ``y`` would count every forgotten label as an error. ``score`` is a log-likelihood instead.

    Examples
    --------
    >>> import sidelight as sl
    >>> sample = sl.data.make_label_tree(600, n_labels=6, missing=0.2, random_state=0)
    >>> model = sl.LatentHierarchyClassifier().fit(sample.X, sample.Y_incomplete)
    >>> sl.metrics.robinson_foulds(sample.tree.parents, model.tree_.parents)
    0
    >>> round(model.alpha_, 1)
    0.2
    >>> bool(model.tree_.is_consistent(model.predict(sample.X)))
    True
    """

    def __init__(
        self,
        *,
        structure: str = "counts",
        tree: Any = None,
        alpha: str = "auto",
        threshold: Any = "f1",
        penalty: float = 10.0,
        eps: float = 1e-3,
        init: str = "zero",
        n_init: int = 3,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.tree = tree
        self.alpha = alpha
        self.threshold = threshold
        self.penalty = penalty
        self.eps = eps
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, engine: Any = None) -> Self:
        """Learn the tree, the rates of loss and the weights.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features), or Parts, or None
            The rows; more of them than memory holds as :class:`~sidelight.Parts` with labels and without bags. None:
            learn the tree from the labels alone; then only ``complete(None, Y)`` can be asked.
        y : LabelMatrix, matrix, data frame, names of labels, or Parts
            The labels of each row: a matrix of 1 (seen), 0 (not seen) and -1 or NaN (nobody looked), dense or sparse; a
            data frame of such columns, or of cells with names of labels; a list of sets of names; or one name a row.
            Parts bring their own; ``fit(None, parts)`` learns from their labels alone.
        engine : "memory", "disk", pathlib.Path, address of a Dask scheduler, OnDask or None, default=None
            Who goes over the rows of Parts, as in :meth:`CoverageClustering.fit`.
        """
        self._check_parameters()
        parts = X if X is not None else y
        if isinstance(parts, PartedRows):
            if X is not None:
                refuse_beside_parts(self, y=y)
            many = ManyRows(self, parts, use_features=X is not None)
            with one_blas_thread():  # steps are small
                fit_large(many, parts, engine_for(engine, parts), SAMPLE)
            return self
        X = None if X is None else rows_to_fit(self, X)
        labels = labels_to_fit(self, X, y)
        Z = labels.values
        self.label_names_ = labels.names
        model = self._model(X, labels)
        held_out = cache(lambda: held_out_scores(model, Z))  # two tests may ask for it, or none
        with one_blas_thread():  # steps are small; large ones are shared out in blocks
            chosen, counts = self._learn(model, labels, held_out)
            self._publish(chosen, counts, labels, held_out)
        self._choose_thresholds(model.scores(self._theta), Z)
        return self

    def predict(self, X: Any) -> Entries:
        """Return the label set of each row as 0 and 1, consistent with the tree."""
        scores = self._scores(X)
        nothing = np.full(scores.shape, -1, dtype=np.int8)
        return self._round(scores, nothing, self.threshold_)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each label for each row; a child's is never above its parent's."""
        scores = self._scores(X)
        return self._marginals(scores, np.full(scores.shape, -1, dtype=np.int8))

    def complete(self, X: Any, y: Any) -> Entries:
        """Return the label sets with their gaps filled: what was seen stays, what was probably forgotten is added.

        Parameters
        ----------
        X : array, CSR matrix or data frame, or None
            The rows; None for a model that was fitted without rows.
        y : as in ``fit``
            What was seen of their labels.
        """
        labels, scores = self._observed(X, y)
        return self._round(scores, labels.values, self.complete_threshold_)

    def complete_proba(self, X: Any, y: Any) -> Floats:
        """Return the probability of each label given the features and what was seen; parameters as in ``complete``."""
        labels, scores = self._observed(X, y)
        return self._marginals(scores, labels.values)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood of an observed entry of ``y``, gaps included in the model.

        Parameters
        ----------
        X, y
            Rows and what was seen of their labels; entries that nobody looked at do not count.
        sample_weight : array-like of shape (n_rows,), optional
            Weight of each row.
        """
        labels, scores = self._observed(X, y)
        tree = as_inputs(self.label_alphas_, self.tree_.parents, self.eps)
        logs = posterior(scores, labels.values, tree).log_likelihood
        known = labels.is_known.sum(axis=1)
        weights = weights_of_rows(sample_weight, len(logs))
        return float(weights @ logs / (float(weights @ known) or 1.0))

    # ---- the steps of fit

    def _model(self, X: Any, labels: LabelMatrix) -> LabelLogits:
        if X is None:
            return LabelLogits(None, labels.n_rows, labels.n_labels, self.penalty)
        mean, inverse_scale = one_scale(X)
        rows = ScaledRows(X, mean, inverse_scale, np.ones(X.shape[0]))
        return LabelLogits(rows, labels.n_rows, labels.n_labels, self.penalty)

    def _learn(
        self, model: LabelLogits, labels: LabelMatrix, held_out: Callable[[], Floats | None]
    ) -> tuple[Candidate, PairCounts]:
        Z = labels.values
        self.candidates_: dict[str, float] = {}
        if self.structure == "joint":
            return self._learn_together(model, labels)
        if self.tree is None:
            chosen, judged, counts = best_candidate(Z, self.eps, rates=self.alpha)
            self.candidates_ = {candidate.source: candidate.value for candidate in judged}
            chosen = self._unless_overlapping(chosen, Z, held_out)
            chosen = self._without_implausible(chosen, Z, held_out, partial(known_tree, Z, rates=self.alpha))
        else:
            counts = count_pairs(Z)
            chosen = known_tree(Z, as_tree(self.tree, labels).parents, rates=self.alpha)
        tree = as_inputs(chosen.alphas, chosen.parents, self.eps)
        report = reporting("weights given the tree")
        solution = learn_weights(model, Z, tree, max_iter=self.max_iter, tol=self.tol, report=report)
        self._keep(model, solution.parameters, -solution.trace, solution.converged)
        return chosen, counts

    def _unless_overlapping(self, chosen: Candidate, Z: Entries, held_out: Callable[[], Floats | None]) -> Candidate:
        """Return the candidate, or labels without links where most of its gaps are no forgetting."""
        n_links = int(np.count_nonzero(chosen.parents >= 0))
        n_refuted = int(unsupported(Z, chosen, gap_p_values(Z, chosen, held_out)).sum())
        if 2 * n_refuted <= n_links:
            return chosen
        warn(
            LabelsOverlap(
                f"{type(self).__name__}: labels occur together and none implies another, so they form no tree and no "
                f"gap is filled. On {n_refuted} of {n_links} links of the best tree the parent is seen no more often "
                "than elsewhere, or whether it is seen depends on other labels or features: it was not forgotten.",
                do=["Where you know the tree, pass it as ", Setting("tree"), "."],
            ),
            stacklevel=7,  # the caller of fit, through the guard
        )
        return no_tree(Z.shape[1])

    def _without_implausible(
        self,
        chosen: Candidate,
        Z: Entries,
        held_out: Callable[[], Floats | None],
        rates_of: Callable[[Any], Candidate],
    ) -> Candidate:
        """Return the candidate without links that are refuted where the parent is mostly unseen, and its rates anew."""
        is_cut = implausible(Z, chosen, gap_p_values(Z, chosen, held_out), held_out)
        if not is_cut.any():
            return chosen
        c, n = int(np.flatnonzero(is_cut)[0]), int(is_cut.sum())
        names = self.label_names_
        warn(
            LabelsOverlap(
                f"{type(self).__name__}: {counted(n, 'link')} of the best tree {'is' if n == 1 else 'are'} left out, "
                f"for example {names[c]!r} under {names[chosen.parents[c]]!r}: the parent was seen on less than half "
                "of the rows of the label, and whether it was depends on other labels or features. Such gaps are not "
                "filled.",
                do=["Where you know the tree, pass it as ", Setting("tree"), "."],
            ),
            stacklevel=7,  # the caller of fit, through the guard
        )
        parents = np.where(is_cut, -1, chosen.parents)
        return replace(rates_of(parents), source=chosen.source, gate=chosen.gate, value=chosen.value)

    def _learn_together(self, model: LabelLogits, labels: LabelMatrix) -> tuple[Candidate, PairCounts]:
        Z, counts = labels.values, count_pairs(labels.values)
        if self.tree is None:
            trees = starts(counts, self.init, self.n_init, as_generator(self.random_state))
        else:
            trees = [np.array(as_tree(self.tree, labels).parents)]
        fits = [
            joint_em(
                model,
                Z,
                start,
                least_eps=self.eps,
                max_iter=self.max_iter,
                tol=self.tol,
                learn_tree=self.tree is None,
                tree_first=self.init == "zero" and self.tree is None,
                report=reporting(f"joint EM, start {number + 1} of {len(trees)}"),
            )
            for number, start in enumerate(trees)
        ]
        best = max(fits, key=lambda one: float(one.trace[-1]))
        self._keep(model, best.theta, best.trace, best.converged)
        alphas = np.full(Z.shape[1], best.alpha)
        return Candidate("joint", best.parents, alphas, best.alpha, True, np.inf), counts

    def _keep(self, model: LabelLogits, theta: Floats, trace: Floats, converged: bool) -> None:
        self._theta = theta
        self.weights_, self.intercept_ = model.in_units_of_x(theta)
        self.trace_, self.n_iter_ = trace, len(trace) - 1
        self.log_likelihood_ = float(trace[-1] + model.ridge(theta))
        if not converged:
            warn(
                f"The fit stopped after max_iter={self.max_iter} steps before it converged. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=6,  # the caller of fit, through the guard
            )

    def _choose_thresholds(self, scores: Floats, Z: Entries) -> None:
        del self._theta
        if self.threshold == "f1":
            self.threshold_ = decoding.f1_threshold(self._marginals(scores, np.full(Z.shape, -1, dtype=np.int8)))
            self.complete_threshold_ = decoding.f1_threshold(self._marginals(scores, Z))
        else:
            fixed = np.nan if self.threshold is None else float(self.threshold)
            self.threshold_ = self.complete_threshold_ = fixed

    def _publish(
        self, chosen: Candidate, counts: PairCounts, labels: LabelMatrix, held_out: Callable[[], Floats | None]
    ) -> None:
        self.tree_ = LabelTree(chosen.parents, labels.names)
        self.alpha_, self.label_alphas_, self.source_ = chosen.alpha, chosen.alphas, chosen.source
        self.edge_evidence_, self.edge_counts_ = edge_evidence(counts, chosen)
        self.gap_p_values_ = gap_p_values(labels.values, chosen, held_out)
        self.alpha_range_ = lost_range(labels.values, chosen, self.gap_p_values_, held_out)
        low, high = self.alpha_range_.tolist()
        if high - low > WIDE:
            warn(
                LabelsOverlap(
                    f"{type(self).__name__}: on {int((self.gap_p_values_ < REFUTED).sum())} links whether the parent "
                    f"was seen depends on other labels or features, so that not all of its gaps are forgotten labels. "
                    f"Between {low:.0%} and {high:.0%} of the labels that are on were not seen (alpha_range_); the "
                    "model takes the higher one, and may fill too many gaps.",
                    do=["Where you know the tree, pass it as ", Setting("tree"), "."],
                ),
                stacklevel=6,  # the caller of fit, through the guard
            )
        links = further_parents(counts, chosen)
        self.extra_parents_ = [(labels.names[p], labels.names[c], nats) for p, c, nats in links]

    # ---- judging

    @property
    def _links(self) -> list[tuple[int, int]]:
        """The further parents that are obeyed, as (parent, child)."""
        if self.structure != "graph":
            return []
        return [(self.tree_.index(p), self.tree_.index(c)) for p, c, _ in self.extra_parents_]

    def _hard(self) -> Inputs:
        return as_inputs(self.label_alphas_, self.tree_.parents, 0.0)

    def _marginals(self, scores: Floats, Z: Entries) -> Floats:
        Q = posterior(scores, decoding.closed_upwards(Z, self._links), self._hard()).on
        return decoding.lowered(Q, self._links, self.tree_.parents, self.tree_.order)

    def _round(self, scores: Floats, Z: Entries, threshold: float) -> Entries:
        if not np.isnan(threshold):
            on: Entries = (self._marginals(scores, Z) > threshold).astype(np.int8)
            return on
        states = best_states(scores, decoding.closed_upwards(Z, self._links), self._hard())
        return decoding.lowered(states, self._links, self.tree_.parents, self.tree_.order)  # type: ignore[arg-type, return-value] # int8 stays int8

    def _scores(self, X: Any, n_rows: int | None = None) -> Floats:
        check_is_fitted(self, "tree_")
        if not len(self.weights_):
            if X is not None or n_rows is None:
                raise InvalidData(
                    f"This {type(self).__name__} was fitted without X, so features say nothing. Ask complete(None, Y), "
                    "or fit with X."
                )
            return np.tile(self.intercept_, (n_rows, 1))
        if X is None:
            raise InvalidData(f"This {type(self).__name__} was fitted with X; pass the rows that the labels belong to.")
        X = rows_to_judge(self, X)
        return np.ascontiguousarray(np.asarray(X @ self.weights_) + self.intercept_)

    def _observed(self, X: Any, y: Any) -> tuple[LabelMatrix, Floats]:
        check_is_fitted(self, "tree_")
        if y is None:
            raise InvalidData(f"{type(self).__name__}: pass what was seen of the labels as y; it is None.")
        labels = as_label_matrix(y, names=self.label_names_)
        scores = self._scores(X, labels.n_rows)
        if len(scores) != labels.n_rows:
            raise InvalidData(f"X has {len(scores)} rows but the labels have {labels.n_rows}.")
        return labels, scores

    def _check_parameters(self) -> None:
        check_choice(self, "structure", self.structure, STRUCTURES)
        check_choice(self, "init", self.init, INITS)
        check_choice(self, "alpha", self.alpha, ("auto", "shared", "label"))
        if self.threshold is not None and not (isinstance(self.threshold, str) and self.threshold == "f1"):
            if isinstance(self.threshold, str):
                check_choice(self, "threshold", self.threshold, ("f1",), advice="Or None, or a float between 0 and 1.")
            check_number(self, "threshold", self.threshold, low=0, high=1, open_high=True)
        check_number(self, "penalty", self.penalty, low=0)
        check_number(self, "eps", self.eps, low=0, high=0.5, open_low=True)
        check_number(self, "n_init", self.n_init, integer=True, low=1)
        check_number(self, "max_iter", self.max_iter, integer=True, low=1)
        check_number(self, "tol", self.tol, low=0)
        as_generator(self.random_state)
