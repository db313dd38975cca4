"""Coverage clustering: explain every row by the labels of its bag, and every label of a bag by one of its rows.

The likelihood of a bag's list is exact (:mod:`sidelight.estimators._labelled_bags.coverage`), and so is its gradient,
X'(P - Q). So L-BFGS climbs the likelihood itself; EM, which the papers use, reaches the same place in more steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClusterMixin

from sidelight._core.content import content_order
from sidelight._core.params import as_generator, check_choice, check_flag, check_number
from sidelight._models.passes import InMemory, engine_for
from sidelight._solvers.descent import Solution, best
from sidelight.data.parts import PartedRows
from sidelight.estimators._base import (
    Estimator,
    all_or_nothing,
    refuse_beside_parts,
    rows_to_fit,
)
from sidelight.estimators._labelled_bags.coverage import CAP
from sidelight.estimators._labelled_bags.supervision import (
    Layout,
    check_counts,
    check_names,
    code_rows,
    read_row_labels,
    require_lists,
    warn_if_inseparable,
    with_classes_of_rows,
)
from sidelight.estimators._large import fit_large
from sidelight.estimators._linear_rule import warn_unless_converged
from sidelight.estimators.coverage.judging import JudgesRows, lists_of, log_of, log_posterior
from sidelight.estimators.coverage.many_rows import LEAST, MANY, ManyRows, sample_size
from sidelight.estimators.coverage.problem import Coverage, Problem, Told, left_uncovered
from sidelight.estimators.coverage.settle import (
    CURVED,
    FOLDS,
    MOST_NOVEL,
    MOST_SUBCLUSTERS,
    STRAIGHT,
    Settings,
    Settled,
    reach_of,
    settle,
)


class CoverageClustering(JudgesRows, ClusterMixin, Estimator):
    r"""Cluster the rows of labelled bags so that every label of a bag is carried by one of its rows.

    Each row picks a cluster by a softmax-linear rule. A cluster belongs to a class (a label that bags list) or is
    novel. A bag's list says that no row carries another known label and that every label on it is carried; novel
    clusters are never demanded. The fit maximises the exact likelihood of all lists.

    Parameters
    ----------
    n_subclusters : int, mapping or "auto", default=1
        Clusters for each class: one number for all, or a mapping from labels to numbers (1 where it is silent).
        "auto" takes the smallest number whose likelihood on held-out bags is within one standard error of the best.
    n_novel : int or "auto", default=0
        Clusters for kinds that nobody named.
    penalty : float or "auto", default=1.5
        Weight of ``|W|^2 / 2`` against the summed log likelihood: the precision of a Gaussian prior, as 1 / C in
        scikit-learn's ``LogisticRegression``. Made for standardised features. "auto" takes the value of 30, 10, 3, 1,
        0.3, 0.1 whose likelihood on held-out bags is best, at the price of some 20 more fits; where 30 or 0.1 is best,
        it looks beyond, and warns where that has no end.
    wrong : float, default=0.0
        Probability that a listed label is carried by no row of its bag.
    forgotten : float, default=0.0
        Probability that a row's label did not make it to its bag's list.
    information : float, default=0.3
        Weight of the information between rows and clusters, for each row of a labelled bag: sharper and more even
        clusters. It tells novel clusters apart and names more rows rightly; 0 gives the best probabilities of lists.
    boundary : {"auto", "straight", "curved"}, default="auto"
        Whether boundaries between clusters may bend. "straight" is linear in the features; "curved" adds features that
        say how near a row is to each of 500 landmarks; "auto" asks held-out bags which of them explains lists better.
    calibrate : bool, default=True
        Whether held-out lists correct probabilities: those of rows by a temperature, so that they are as sure as they
        are right, and those of bags (:meth:`predict_bags`), so that rare labels are not predicted too often. Nothing is
        corrected with fewer than 20 labelled bags; bags neither with cut lists, ``wrong``, ``forgotten`` or
        ``candidates``.
    n_init : int, default=12
        Starts, when sub-clusters or several novel clusters make a choice of start matter. The best quarter after 30
        iterations is followed to the end, and the highest objective wins.
    max_iter : int, default=300
        Most iterations of a start.
    tol : float or "auto", default="auto"
        When a start has converged. "auto": when answers about rows (by features alone, and under the lists of bags)
        stop moving, less than half a percent of their probability in ten iterations; with sub-clusters or several novel
        clusters, and for every choice that is "auto", 1e-6. A number is the relative change of the objective: 1e-6
        finds the optimum itself at twice the price. Curved features are of single precision, and no change of the
        objective below 1e-7 is looked for.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the starts and folds.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Cluster of each row, by its features and its bag's labels. Of Parts, an object that makes them part by part:
        ``labels_.write(folder)``.
    cluster_names_ : tuple of str
        "wren" or "wren/2" for the clusters of a class, "novel-1" for the others.
    classes_ : tuple
        The known labels.
    kinds_ : dict
        The kinds above labels that bags of the fit name, and the labels below each.
    counts_rows_ : {"", "counts", "shares"}
        Whether bags of the fit say how many of their rows carry a label, or which share.
    class_of_ : ndarray of shape (n_clusters,)
        The class of each cluster, -1 for novel ones.
    label_names_ : tuple
        What :meth:`predict_labels` can say: the known labels, then the novel clusters.
    weights_, intercept_ : ndarray of shape (n_features, n_clusters) and (n_clusters,)
        The softmax-linear rule; of the mapped features when the boundary is curved.
    boundary_ : {"straight", "curved"}
        The boundary that was used.
    feature_map_ : FeatureMap or None
        From rows to features, when the boundary is curved.
    reach_ : float
        The largest squared distance between a training row and its nearest landmark. Rows further away are believed
        less and less, and far away by ``cluster_shares_`` alone.
    cluster_shares_ : ndarray of shape (n_clusters,)
        The mean probability of each cluster over the training rows, by features alone.
    bag_slope_, bag_offsets_ : float and ndarray of shape (n_classes,)
        The correction of the log-odds of bags; 1 and zeros where nothing is corrected.
    calibration_ : dict
        How sure rows may be, by lists that were held out: the "temperature" of new rows and the "temperature_in_fit"
        of rows of the fit with their lists (below 1 sharpens, above 1 softens); about the share of new rows that are
        named "right" by features alone; the share of labels that lists seem to have "forgotten"; the "reliability" of
        "rows" by what is "said" and about how many are "right"; "n_bags" and "n_rows" that were held out; the
        "probability" of each label on their "lists", with the number of its "bag"; how near "numbers" of rows are to
        what is found, exp(-errors in standard errors); how often "kinds" above labels that are said of a bag are
        "wrong", by "threshold"; a "note" says why none were. With
        novel clusters, "novel" says whether rows are explained better with one (the "gain" in nats of held-out rows)
        and how much of each known label it has "taken"; where it "is_harmful", rows whose list is known are novel only
        where that is likelier than their name divided by the "chance" that another row's list has it.
    log_likelihood_ : float
        Of all bag lists together, at the end.
    bag_log_likelihood_ : ndarray of shape (n_bags,)
        The same for each bag, in the order of ``bags.names``: the lowest ones deserve a look. Not there for Parts.
    uncovered_ : tuple of (bag name, tuple of labels)
        The bags that have more labels than rows that could carry them, and the labels left without a row.
    trace_ : ndarray
        The objective after each iteration of the best start (log likelihood, minus the penalty, plus the weighted
        terms); it never drops.
    start_values_ : ndarray
        Where each start ended, most of them after 30 iterations; a wide spread asks for more of them.
    penalty_ : float
        The penalty that was used.
    choice_ : dict
        For "auto": the values that were tried, their held-out scores and standard errors. Else empty.
    n_iter_ : int
        Iterations of the best start.
    stop_ : {"answers", "objective", "max_iter"}
        What ended the best start: answers, or the objective, had stopped moving; or there were too many iterations.
    n_features_in_ : int
        Number of features seen by ``fit``.
    data_fingerprint_ : str
        A short name of the rows seen by ``fit``.

    See Also
    --------
    DMNL : Several novel labels at once, by the constraint of [Z17].
    BagSpectralClustering : [PF14]'s clusters, without a rule for each class.
    novelty_test : Whether rows of a kind that no list names are there at all.

    Notes
    -----
    With P the softmax of a linear rule and L(bag) the probability that the rows of a bag carry exactly the labels on
    its list, the fit maximises

    .. math::

        \sum_{\text{bags}} \log L \; - \; \tfrac{\text{penalty}}{2} \lVert W \rVert^2
        + \text{information} \cdot n_{\text{told}} \, \big( H[\bar P] - \tfrac1n \textstyle\sum_i H[P_i] \big),

    where L follows from a pass over subsets S of the list, row by row,

    .. math::

        f_i(S) = f_{i-1}(S) \Big( u_i + \sum_{c \in S} a_{ic} \Big) + \sum_{c \in S} a_{ic} \, f_{i-1}(S \setminus c),

    with a the probability of each listed class and u that of all novel clusters. The guide to coverage derives both.

    Examples
    --------
    >>> import numpy as np
    >>> import sidelight as sl
    >>> X = np.array([[0.0], [0.2], [5.0], [5.1], [0.1], [4.9]])
    >>> bags = sl.Bags(["r1", "r1", "r2", "r2", "r3", "r3"], labels={"r1": {"wren"}, "r3": {"wren", "owl"}})
    >>> model = sl.CoverageClustering(random_state=0).fit(X, bags=bags)
    >>> model.predict_labels(X).tolist()
    ['wren', 'wren', 'owl', 'owl', 'wren', 'owl']
    """

    # parameters of 0.2, and what they always are now
    RETIRED: ClassVar[dict[str, Any]] = {
        "neighbours": 0.0, "solver": "lbfgs", "cap": CAP, "cv": FOLDS, "max_subclusters": MOST_SUBCLUSTERS,
        "max_novel": MOST_NOVEL,
    }  # fmt: skip
    # the peers that coverage contains climb by EM
    _climb: Callable[..., Solution] = staticmethod(Problem.climb)

    __metadata_request__fit = {"bags": True, "row_labels": True, "candidates": True}
    __metadata_request__predict = {"bags": True, "row_labels": True, "candidates": True}
    __metadata_request__score = {"bags": True, "candidates": True}

    def __init__(
        self,
        *,
        n_subclusters: int | Mapping[Any, int] | str = 1,
        n_novel: int | str = 0,
        penalty: float | str = 1.5,
        wrong: float = 0.0,
        forgotten: float = 0.0,
        information: float = 0.3,
        boundary: str = "auto",
        calibrate: bool = True,
        n_init: int = 12,
        max_iter: int = 300,
        tol: float | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_subclusters = n_subclusters
        self.n_novel = n_novel
        self.penalty = penalty
        self.wrong = wrong
        self.forgotten = forgotten
        self.information = information
        self.boundary = boundary
        self.calibrate = calibrate
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        bags: Any = None,
        row_labels: Any = None,
        candidates: Any = None,
        engine: Any = None,
    ) -> Self:
        """Find clusters that explain the rows by the labels of their bags.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n_rows, n_features), or Parts
            The rows; more of them than memory holds as :class:`~sidelight.Parts`, which bring their own bags.
        y : Bags, default=None
            May hold the bags, for scikit-learn's model selection; anything else is ignored.
        bags : Bags or sequence of bag ids, default=None
            Which bag each row is in and what labels the bags carry.
        row_labels : sequence or mapping, default=None
            The label of each row where it is known, None (or NaN, or "") elsewhere; or a mapping from row
            numbers to labels.
        candidates : sequence or mapping, default=None
            Instead of ``bags``: one set of labels for each row, of which exactly one is true; None where nothing is
            known. The list of a bag says "all of these are there", candidates say "one of these is it".
        engine : "memory", "disk", pathlib.Path, address of a Dask scheduler, OnDask or None, default=None
            Who goes over the rows of Parts; None takes memory where they fit into half of it, else a scratch copy on
            disk, in the folder that is named or where temporary files go. All find the same clusters, bit for bit.
        """
        self._check_parameters()
        if isinstance(X, PartedRows):
            refuse_beside_parts(self, y=y, bags=bags, row_labels=row_labels, candidates=candidates)
            fit_large(ManyRows(self, X), X, engine_for(engine, X), sample_size(X.n_rows))
            return self
        X = rows_to_fit(self, X)
        told = self._read(X, y, bags, row_labels, candidates)
        if X.shape[0] >= MANY * LEAST and not issparse(X):
            many = ManyRows(self, told)
            fit_large(many, many.rows, InMemory(np.float64), sample_size(X.shape[0]))
            return self
        settings, order = Settings.of(self), content_order(X, told.bags.codes, told.bags.n_bags)
        may_be_novel = isinstance(self.n_novel, str) or self.n_novel > 0
        told.plan(settings, Layout.of(told.bags.classes, 1, int(may_be_novel)))  # refuses rows by the numbers they have
        settled = settle(settings, told.take(order), as_generator(self.random_state))
        lists = Coverage.of(told, settings, settled.layout)
        return self._publish(told, settled, lists, settled.solutions)

    def _read(self, X: Any, y: Any, bags: Any, row_labels: Any, candidates: Any) -> Told:
        """Read what was said of rows, and refuse what cannot be learnt from."""
        names = read_row_labels(row_labels, X.shape[0])
        bags = with_classes_of_rows(lists_of(bags, candidates, n_rows=X.shape[0], y=y), names)
        told = Told(X, bags, code_rows(names, bags.classes), candidates is not None)
        require_lists(self, bags, told.row_class)
        if not told.one_of:
            warn_if_inseparable(self, bags, told.row_class)
        check_names(self.n_subclusters, bags.classes)
        return told

    def _publish(self, told: Told, settled: Settled, lists: Coverage, solutions: list[Solution]) -> Self:
        solution, layout = best(solutions), settled.layout
        W, b = settled.problem.model.unpack(solution.parameters)
        log_P, squares = log_posterior(told.X, settled.feature_map, W, b)  # as ``predict`` will, to the last bit
        P = np.exp(log_P)
        self._publish_rule(settled, W, b, reach_of(settled.feature_map, squares), P.mean(axis=0), solution)
        Q, values = lists.posteriors(P, log_P)
        believed = self._against_novelty(P, told)
        self.labels_ = np.argmax(Q if believed is P else lists.posteriors(believed, log_of(believed))[0], axis=1)
        self.bag_log_likelihood_, self.log_likelihood_ = values, float(values.sum())
        self.uncovered_ = left_uncovered(told.bags, lists.plan.required, layout.class_of[self.labels_])
        self.start_values_ = -np.array([solution.value for solution in solutions])
        return self

    def _publish_rule(
        self, settled: Settled, W: np.ndarray, b: np.ndarray, reach: float, shares: np.ndarray, solution: Solution
    ) -> None:
        warn_unless_converged(self, solution, "Raise max_iter or tol, or standardise the features.", stacklevel=6)
        layout, odds = settled.layout, settled.odds
        self.choice_, self.bag_slope_, self.bag_offsets_ = settled.choice, odds.slope, odds.offsets
        self.calibration_ = settled.calibration
        self.classes_, self.class_of_, self.cluster_names_ = layout.classes, layout.class_of, layout.names
        self.label_names_, self.penalty_ = layout.label_names, settled.penalty
        self.kinds_, self.counts_rows_ = settled.kinds, settled.counts_rows
        self.weights_, self.intercept_ = W.copy(), b.copy()
        self.feature_map_, self.reach_ = settled.feature_map, reach
        self.boundary_ = STRAIGHT if settled.feature_map is None else CURVED
        self.cluster_shares_ = np.maximum(shares, 1e-12) / np.maximum(shares, 1e-12).sum()  # their logarithm is needed
        # finding the start good enough is a round too
        self.trace_, self.n_iter_ = -solution.trace, max(1, solution.n_iter)
        self.stop_ = "answers" if solution.settled else "objective" if solution.converged else "max_iter"

    def _check_parameters(self) -> None:
        check_counts(self, self.n_subclusters, self.n_novel)
        if not (isinstance(self.penalty, str) and self.penalty == "auto"):
            check_number(self, "penalty", self.penalty, low=0, advice='It may also be "auto".')
        check_number(self, "information", self.information, low=0)
        if not (isinstance(self.tol, str) and self.tol == "auto"):
            check_number(self, "tol", self.tol, low=0, advice='It may also be "auto".')
        for name in ("wrong", "forgotten"):
            check_number(self, name, getattr(self, name), low=0, high=1, open_high=True)
        check_flag(self, "calibrate", self.calibrate)
        check_choice(self, "boundary", self.boundary, ("auto", STRAIGHT, CURVED))
        for name in ("n_init", "max_iter"):
            check_number(self, name, getattr(self, name), integer=True, low=1)

    @property
    def _n_features_out(self) -> int:
        return len(self.class_of_)

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
