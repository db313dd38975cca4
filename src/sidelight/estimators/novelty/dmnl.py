"""DMNL ([Z17]): known labels from the lists of bags, novel labels from the structure of the rows, in one rule.

Algorithm 1 of the paper (a multiplicative step for H and a dual update) diverged in trials, so the constraint
H'H = I is a penalty here and W goes down by L-BFGS; see docs/guide/novelty.md for every departure.

How many novel labels there are is told by how well the known labels of held-out bags are, as [Z17] suggests.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from sidelight._core.content import content_order
from sidelight._core.params import as_generator, as_seed, check_choice, check_number
from sidelight._core.prototypes import mean_and_scale, scaled
from sidelight._core.simplex import softmax
from sidelight.data.bags import Bags
from sidelight.data.coerce import as_bags, warn_if_more_than_lists
from sidelight.data.splits import BagKFold
from sidelight.errors import InvalidParameter, SidelightWarning, ignore_warnings, warn
from sidelight.estimators._base import Estimator, all_or_nothing, fingerprint, rows_to_fit, rows_to_judge
from sidelight.estimators._choice import Choice, highest, simplest_within_error, try_in_turn
from sidelight.estimators._labelled_bags.row_temperature import (
    FEWEST_BAGS,
    Calibration,
    HeldOutRows,
    names_that_reach,
    temper,
)
from sidelight.estimators._labelled_bags.supervision import (
    Layout,
    check_cells,
    check_counts,
    refuse_empty_sets,
    require_lists,
)
from sidelight.estimators.novelty.naming import NamesRows, check_enough_rows
from sidelight.estimators.novelty.problem import CentredRows, Problem, State, allowed_labels, draw_labels
from sidelight.progress import report
from sidelight.words import Setting, counted

STARTS = 2  # of a held-out fit: counts are compared, the final fit has all starts
PATIENCE = 2  # counts tried after the best one
HELD_OUT, HELD_OUT_OF_FEW = 4, 8  # one bag in so many is held out, to see how sure rows may be
ROUGH, ENOUGH = 10, 60  # rounds of such a fit, and lists that settle a temperature


def choose_n_novel(estimator: DMNL, X: Any, bags: Bags, generator: np.random.Generator) -> Choice:
    """Try one count after the other until held-out lists are told no better; take the smallest within an error."""
    n_labelled = int(bags.is_labelled.sum())
    if n_labelled < estimator.cv:
        raise InvalidParameter(
            f'n_novel="auto" needs at least cv={estimator.cv} labelled bags to hold some out; there are {n_labelled}. '
            "Give the number, or lower cv."
        )
    empty = np.asarray(bags.label_matrix.sum(axis=1)).ravel() == 0
    least = int((empty & bags.is_labelled & ~bags.is_partial).any())  # such a list demands something novel
    splits = list(BagKFold(estimator.cv, shuffle=True, random_state=as_seed(generator)).split(X, groups=bags))
    seed = as_seed(generator)

    def told(count: int) -> np.ndarray:
        parts = []
        for done, (train, test) in enumerate(splits):
            report("choosing n_novel", (count - least) * len(splits) + done, None, f"{count}?")
            model = clone(estimator).set_params(n_novel=count, n_init=min(estimator.n_init, STARTS), random_state=seed)
            with ignore_warnings():  # the final fit says it once
                model._calibrates = False
                parts.append(model.fit(X[train], bags=bags[train]).bag_scores(X[test], bags[test]))
        return np.concatenate(parts)

    def smallest(values: Sequence[np.ndarray]) -> int:
        top = values[highest(values)]
        gaps = [top - value for value in values if value is not top]
        if not any(gap.mean() > 2.0 * gap.std() / np.sqrt(len(gap)) for gap in gaps):
            _warn_thin(least, least + len(values) - 1)
        return simplest_within_error(values)

    counts = range(least, max(estimator.max_novel, least) + 1)
    return try_in_turn(counts, told, smallest, patience=PATIENCE)


def _warn_thin(first: int, last: int) -> None:
    warn(
        SidelightWarning(
            f"The known labels of held-out bags do not tell {first} to {last} novel labels apart: none is "
            "worse than the best by two standard errors.",
            do=["Say how many with ", Setting("n_novel"), ", or cluster by coverage, which compares likelihoods."],
        ),
        stacklevel=8,
    )


N_TYPICAL = 10  # rows shown of a novel label
STRUCTURES = ("clusters", "manifold")


class DMNL(NamesRows, ClusterMixin, Estimator):
    r"""Discover multiple novel labels: rows whose kind is on no list, told apart and predicted with the known ones.

    Each row picks a label by a softmax-linear rule. The rows of a bag together should carry its list, and the labels
    should be compact clusters (or follow the manifold) of all rows, whatever their bag. Rows are standardised inside.

    Parameters
    ----------
    n_novel : int or "auto", default="auto"
        How many novel labels. "auto" asks how well the known labels of held-out bags are told, and warns when that
        does not tell counts apart.
    lam : float, default=0.1
        Weight of the structure of the rows. From 0.3 on a manifold collapses into few labels.
    rho : float, default=10.0
        Weight of the constraint that labels share no row.
    ridge : float, default=0.2
        Weight of ``|W|^2 / 2``; the paper has none.
    structure : {"clusters", "manifold"}, default="clusters"
        Compact clusters, or similar labels for each row and its 10 nearest rows (remark 1 of the paper).
    n_init : int, default=5
        Starts; the one with the lowest eq. (2) is taken.
    max_iter : int, default=30
        Most rounds of a start: 10 steps of L-BFGS each, after which the sizes of the labels are taken anew.
    tol : float, default=1e-4
        A start ends when no row changes its label and the objective changes by less than this share.
    noise : float, default=0.1
        A novel label with fewer rows than this share of ``n_rows / n_labels`` is reported as noise.
    cv : int, default=5
        Folds of whole bags for "auto".
    max_novel : int, default=6
        The most that "auto" tries.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and folds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Label of each row, by its features and its bag's list; a number into ``cluster_names_``.
    cluster_names_ : tuple of str
        The known labels, then "novel-1", "novel-2", ...
    label_names_ : tuple
        The same, known labels as they were given: what :meth:`predict_labels` can say.
    classes_ : tuple
        The known labels.
    class_of_ : ndarray of shape (n_clusters,)
        The class of each cluster, -1 for novel ones.
    novel_labels_ : dict of str to ndarray
        The novel labels that were found and their typical rows, the most probable first.
    noise_labels_ : tuple of str
        Novel labels with too few rows to be believed.
    weights_, intercept_ : ndarray of shape (n_features, n_clusters) and (n_clusters,)
        The rule, for rows in the user's own units. A known label that is on no list has the intercept -inf.
    trace_ : ndarray
        Eq. (2) of the paper before the first round and after each round of the best start. Sizes are taken anew
        after each round, so that it may rise between two rounds, and overall where the start was right already.
    constraint_residual_ : ndarray
        ``|H'H - I|`` at the same moments: 0 when no two labels share a row.
    start_values_ : ndarray
        Eq. (2) at the end of each start.
    calibration_ : dict
        How sure rows may be, by lists that were held out; as in :class:`CoverageClustering`.
    choice_ : dict
        For "auto": the counts that were tried, their held-out scores and standard errors. Else empty.
    n_iter_ : int
        Rounds of the best start.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    See Also
    --------
    CoverageClustering : The exact likelihood of lists, with one or several novel clusters.
    sidelight.estimators.DMNLCV : Chooses ``lam`` and ``rho``.
    novelty_test : Whether novel rows are there at all.

    Notes
    -----
    Eq. (2) of [Z17] with its constraint as a penalty. With F the softmax of a linear rule, sizes S of the labels,
    :math:`H = F S^{-1/2}` and :math:`\beta` the shares of rows of a label within a bag,

    .. math::

        J(W) = \tfrac12 \sum_i \lVert y_i - \beta_i^\top F_i \rVert^2 - \lambda \lVert A^\top H \rVert^2
        + \tfrac{\rho}{2} \lVert H^\top H - I \rVert^2 + \tfrac{r}{2} \lVert W \rVert^2 ,

    A being the standardised rows and r ``ridge``. ``structure="manifold"`` has a smoothness term in the place of the
    second.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [5.0], [0.1], [5.1], [0.2], [4.9]])
    >>> bags = sl.Bags([0, 0, 1, 2, 3, 3], labels={0: {"wren"}, 1: {"wren"}, 2: set(), 3: {"wren"}})
    >>> model = sl.DMNL(n_novel=1, random_state=0).fit(X, bags=bags)
    >>> model.predict_labels(X).tolist()
    ['wren', 'novel-1', 'wren', 'novel-1', 'wren', 'novel-1']
    """

    _calibrates = True  # fits that are only compared do not

    def __init__(
        self,
        *,
        n_novel: int | str = "auto",
        lam: float = 0.1,
        rho: float = 10.0,
        ridge: float = 0.2,
        structure: str = "clusters",
        n_init: int = 5,
        max_iter: int = 30,
        tol: float = 1e-4,
        noise: float = 0.1,
        cv: int = 5,
        max_novel: int = 6,
        random_state: Any = None,
    ) -> None:
        self.n_novel = n_novel
        self.lam = lam
        self.rho = rho
        self.ridge = ridge
        self.structure = structure
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.noise = noise
        self.cv = cv
        self.max_novel = max_novel
        self.random_state = random_state

    @all_or_nothing
    def fit(self, X: Any, y: Any = None, *, bags: Any = None) -> Self:
        """Find the rule that carries the lists of the bags and the structure of the rows.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows, in any units.
        y : Bags, default=None
            May hold the bags, for scikit-learn's model selection; anything else is ignored.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in and what labels the bags carry. An empty list says that no known label is there;
            a bag without a list says nothing.
        """
        self._check_parameters()
        X = rows_to_fit(self, X)
        bags = as_bags(bags, n_rows=X.shape[0], y=y)
        require_lists(self, bags)
        warn_if_more_than_lists(self, bags)
        generator, order = as_generator(self.random_state), content_order(X, bags.codes, bags.n_bags)
        self.choice_: dict[str, Choice] = {}
        n_novel = self.n_novel
        if n_novel == "auto":
            self.choice_ = {"n_novel": choose_n_novel(self, X[order], bags[order], generator)}
            n_novel = self.choice_["n_novel"]["chosen"]
        layout = self._lay_out(bags, int(n_novel))
        listed = _only_listed(bags[order])

        mean, scale = mean_and_scale(X[order])
        rows = scaled(X[order], mean, scale)
        problem = Problem.of(rows, listed, Layout.of(listed.classes, 1, layout.n_novel), self, generator)
        starts = [draw_labels(rows, listed, problem.layout, generator) for _ in range(self.n_init)]
        states = [
            problem.solve(z, self.max_iter, self.tol, f"start {i + 1} of {self.n_init}") for i, z in enumerate(starts)
        ]
        self._publish(X, bags, layout, problem, states, mean, scale)
        in_fit = self._probabilities(X, bags)[bags.is_labelled[bags.codes]]
        self.calibration_ = self._calibrate(rows, listed, problem.layout, generator, in_fit).as_dict()
        return self

    def predict_proba(self, X: Any, *, bags: Any = None) -> np.ndarray:
        """Return the probability of each label for each row, as sure as held-out lists are right; see `calibration_`.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features)
            The rows.
        bags : Bags, default=None
            The bags of these rows, when their lists are known: then only what a list allows. Rows of the fit, all of
            them and with their lists, have a temperature of their own.
        """
        check_is_fitted(self)
        X = rows_to_judge(self, X)
        P = self._probabilities(X, bags)
        known = getattr(self, "calibration_", None)  # 0.3 had none
        if known is None:
            return P
        in_fit = bags is not None and fingerprint(X) == self.data_fingerprint_
        return temper(P, known["temperature_in_fit" if in_fit else "temperature"])

    def predict_sets(self, X: Any, *, bags: Any = None, coverage: float = 0.9) -> np.ndarray:
        """Return for each row the fewest names whose probabilities reach a share: "one of wren, owl".

        Parameters
        ----------
        X, bags : rows and, when their lists are known, their bags
            As in :meth:`predict_proba`.
        coverage : float, default=0.9
            The share of rows that shall be named by their set, about.
        """
        check_number(self, "coverage", coverage, low=0, high=1, open_low=True, open_high=True)
        chosen = names_that_reach(self.predict_proba(X, bags=bags), coverage)
        sets = np.empty(len(chosen), dtype=object)
        sets[:] = [frozenset(self.label_names_[j] for j in np.flatnonzero(row)) for row in chosen]
        return sets

    def _calibrate(
        self, rows: Any, bags: Bags, layout: Layout, generator: np.random.Generator, in_fit: np.ndarray
    ) -> Calibration:
        """Find temperatures by one rough fit in four, or two where few lists are held out.

        Fewer lists than settle a temperature are all held out, an eighth at a time: a fit without a quarter of them is
        worse than the final one, and rows would seem less sure than they are.
        """
        n_labelled = int(bags.is_labelled.sum())
        if not self._calibrates or n_labelled < FEWEST_BAGS or not bags.classes:
            return Calibration(
                note=f"with fewer than {FEWEST_BAGS} labelled bags ({n_labelled} here) nothing can be held out"
            )
        parts: list[HeldOutRows] = []
        complete = bags.is_labelled & ~bags.is_partial
        is_few = n_labelled < ENOUGH
        folds = BagKFold(HELD_OUT_OF_FEW if is_few else HELD_OUT, shuffle=True, random_state=as_seed(generator))
        for train, test in folds.split(rows, groups=bags):
            seen, held_out = bags[train], bags[test]
            problem = Problem.of(rows[train], seen, layout, self, generator)
            z = draw_labels(rows[train], seen, layout, generator)
            theta = problem.solve(z, min(self.max_iter, ROUGH), self.tol, "bags held out").theta
            X = rows[test] if not issparse(rows) else CentredRows(rows[test], problem.X.mean)
            P = np.exp(problem.model.log_posterior(theta, X))
            Q = np.where(allowed_labels(held_out, layout), P, 0.0)
            Q /= np.maximum(Q.sum(axis=1, keepdims=True), 1e-300)  # a list of labels that cannot be: nothing is known
            part = HeldOutRows(P, Q, held_out.row_label_mask(), np.array(held_out.codes))
            parts.append(part.take(complete[bags.codes][test]))
            if sum(len(np.unique(part.bag)) for part in parts) >= ENOUGH or (len(parts) == 2 and not is_few):
                break
        return Calibration.of(HeldOutRows.join(parts), in_fit)

    def _probabilities(self, X: Any, bags: Any) -> np.ndarray:
        scores = np.asarray(X @ self.weights_) + self.intercept_
        if bags is None:
            return softmax(scores)
        bags = as_bags(bags, n_rows=X.shape[0], classes=self.classes_)
        if self.layout.n_novel == 0:
            refuse_empty_sets(bags)
        allowed = allowed_labels(bags, self.layout)
        scores = np.where(allowed, scores, -np.inf)
        lost = np.isneginf(scores).all(axis=1)  # its list names only labels that no list of the fit named
        scores[lost] = np.where(allowed[lost], 0.0, -np.inf)
        return softmax(scores)

    def _publish(
        self,
        X: Any,
        bags: Bags,
        layout: Layout,
        problem: Problem,
        states: list[State],
        mean: np.ndarray,
        scale: np.ndarray,
    ) -> None:
        state = min(states, key=lambda state: state.value)
        self.classes_, self.class_of_, self.cluster_names_ = layout.classes, layout.class_of, layout.names
        self.label_names_ = layout.label_names
        W, b = problem.model.unpack(state.theta)
        at = [layout.names.index(name) for name in problem.layout.names]
        self.weights_, self.intercept_ = np.zeros((len(W), layout.n_clusters)), np.full(layout.n_clusters, -np.inf)
        self.weights_[:, at] = W / scale[:, None]
        self.intercept_[at] = b - mean @ self.weights_[:, at]
        self.trace_, self.constraint_residual_ = state.values, state.residuals
        self.start_values_ = np.array([state.value for state in states])
        self.n_iter_ = len(state.values) - 1
        Q = self._probabilities(X, bags)
        self.labels_ = np.argmax(Q, axis=1)
        sizes = np.bincount(self.labels_, minlength=layout.n_clusters)
        few = max(self.noise * len(Q) / layout.n_clusters, 1.0)
        novel = np.flatnonzero(layout.class_of < 0)
        self.novel_labels_ = {layout.names[k]: _typical(Q[:, k], self.labels_ == k) for k in novel if sizes[k] >= few}
        self.noise_labels_ = tuple(layout.names[k] for k in novel if sizes[k] < few)

    def _lay_out(self, bags: Bags, n_novel: int) -> Layout:
        check_enough_rows(self, n_novel, bags.n_rows)
        check_cells(self, bags.n_classes + n_novel, bags.n_rows)
        layout = Layout.of(bags.classes, 1, n_novel)
        if layout.n_novel == 0:
            refuse_empty_sets(bags)
        unlisted = np.flatnonzero(np.asarray(bags.label_matrix.sum(axis=0)).ravel() == 0)
        if len(unlisted):
            warn(
                f"{counted(len(unlisted), 'known label is', 'known labels are')} on no list, for example "
                f"{bags.classes[unlisted[0]]!r}: no row will get it. Leave it out of classes, or list it.",
                SidelightWarning,
                stacklevel=4,
            )
        return layout

    def _check_parameters(self) -> None:
        check_counts(self, 1, self.n_novel)
        for name in ("lam", "rho", "ridge", "tol", "noise"):
            check_number(self, name, getattr(self, name), low=0)
        check_choice(self, "structure", self.structure, STRUCTURES)
        for name in ("n_init", "max_iter", "max_novel"):
            check_number(self, name, getattr(self, name), integer=True, low=1)
        check_number(self, "cv", self.cv, integer=True, low=2)


def _only_listed(bags: Bags) -> Bags:
    """Return the bags without the classes that no list names: nothing says what their rows look like."""
    on_a_list = np.asarray(bags.label_matrix.sum(axis=0)).ravel() > 0
    if on_a_list.all():
        return bags
    return bags.without_classes([name for name, is_listed in zip(bags.classes, on_a_list) if not is_listed])


def _typical(probability: np.ndarray, is_member: np.ndarray) -> np.ndarray:
    """Return the most probable members, the surest first."""
    rows = np.flatnonzero(is_member)
    return rows[np.argsort(-probability[rows], kind="stable")[:N_TYPICAL]]
