"""Who the laws are about: one line per estimator, per term and per kind of supervision.

A new estimator adds one ``Case``; tests/laws then runs scikit-learn's checks and all of ours over it.
tests/laws/test_registry.py fails when somebody is missing here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sidelight as sl
from sidelight._terms.information import Balance, Confidence, CrossEntropy, OnRows
from sidelight.estimators._labelled_bags.coverage import BagPlan
from sidelight.estimators.coverage.problem import Coverage
from sidelight.estimators.instances.bag_constraint import BagConstraint
from sidelight.estimators.instances.bag_discriminative import BagLikeness
from sidelight.estimators.novelty.problem import CompactClusters, DisjointLabels, ListedLabels, SmoothManifold
from sidelight.estimators.relations.answered import PairLikelihood, TripletLikelihood

TWO_OR_FOUR = "the check expects 2 or 4 columns from any predict_proba; this one has as many as clusters"
PROBA_COLUMNS = {"check_estimator_sparse_array": TWO_OR_FOUR, "check_estimator_sparse_matrix": TWO_OR_FOUR}

A_COLUMN_A_LABEL = "the check expects one column from predict; a label set has one for every label"
LABEL_SETS = {"check_estimator_sparse_array": A_COLUMN_A_LABEL, "check_estimator_sparse_matrix": A_COLUMN_A_LABEL}

NO_CLUSTERS = {"check_clustering": "the check knows no lists; those that the law makes up follow no clusters"}
NEEDS_LISTS = {**PROBA_COLUMNS, **NO_CLUSTERS}


STANDARDIZED = {
    **NEEDS_LISTS,
    "check_fit_score_takes_y": "the inner estimator's score takes y; the signature here is (X, *args)",
    "check_dataframe_column_names_consistency": "columns are found by name, whatever their order",
}


@dataclass(frozen=True)
class Case:
    """An estimator, the supervision that its ``fit`` takes, the rows it likes, and checks it fails for a reason."""

    estimator: Any
    supervision: str | None = None  # None, "bags", "pairs", "triplets" or "labels"
    rows: Callable[[], np.ndarray] = field(default=lambda: blobs()[0])
    expected_failures: Mapping[str, str] = field(default_factory=dict)
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    reads_y: bool = False  # a classifier, whose y is what it learns
    needs_lists: bool = False  # refuses to learn without label lists of bags

    @property
    def name(self) -> str:
        """The class, for test ids."""
        return type(self.estimator).__name__

    def fit(self, X: Any = None) -> Any:
        """Fit a fresh copy on the case's rows, with its supervision."""
        from sklearn.base import clone

        return clone(self.estimator).fit(self.rows() if X is None else X, self.target(), **self.side())

    def target(self) -> Any:
        """``y`` of ``fit``: the label sets of rows where the case is about those, else None."""
        return label_sets() if self.supervision == "labels" else None

    def side(self) -> dict[str, Any]:
        """Keyword arguments of ``fit`` besides X."""
        makers = {"bags": labelled_bags, "pairs": pair_answers, "triplets": triplet_answers}
        return {self.supervision: makers[self.supervision]()} if self.supervision in makers else {}


def with_lists(estimator: Any) -> Any:
    """Let scikit-learn's checks, which know no bags, fit an estimator that needs label lists: make some up.

    Everything else is the estimator's own, so that what the checks demand is demanded of it. Rows that are no rows go
    through as they came: the estimator has to refuse them itself.
    """
    own = type(estimator)

    def fit(self: Any, X: Any, y: Any = None, *, bags: Any = None, **more: Any) -> Any:
        rows = X if hasattr(X, "shape") else np.asarray(X)
        n_rows = rows.shape[0] if len(rows.shape) == 2 else 0
        if bags is None and not isinstance(y, sl.Bags) and n_rows:
            lists = {b: {"a"} if b % 2 else {"a", "b"} for b in range((n_rows + 2) // 3)}
            bags = sl.Bags(np.arange(n_rows) // 3, labels=lists)
        return own.fit(self, X, y, bags=bags, **more)

    def fit_predict(self: Any, X: Any, y: Any = None, **more: Any) -> Any:
        return self.fit(X, y, **more).labels_

    made = type(own.__name__, (own,), {"fit": fit, "fit_predict": fit_predict, "__module__": __name__})
    globals()[own.__name__] = made  # where pickle looks for it
    return made(**estimator.get_params(deep=False))


def blobs(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    """Three well separated groups of rows in four dimensions, none of them negative."""
    generator = np.random.default_rng(0)
    y = np.arange(n) % 3
    centres = np.array([[1.0, 1.0, 6.0, 2.0], [6.0, 1.0, 1.0, 2.0], [1.0, 6.0, 1.0, 4.0]])
    return np.abs(centres[y] + generator.normal(scale=0.4, size=(n, 4))), y


def bag_ids(n: int = 60) -> np.ndarray:
    """Bags of four rows that lie anywhere: neither their rows nor their names come in order."""
    return np.random.default_rng(7).permutation(n) // 4


def labelled_bags(n: int = 60) -> Any:
    """Bags of four rows of :func:`blobs`, each with the names of the groups it holds."""
    y = np.arange(n) % 3
    ids = bag_ids(n)
    names = np.array(["ant", "bee", "cat"])
    return sl.Bags(ids, labels={int(b): set(names[y[ids == b]].tolist()) for b in np.unique(ids)})


def label_sets(n: int = 60) -> Any:
    """A named label set for each row of :func:`blobs`: the groups 0 and 1 are insects; some entries have gaps."""
    y = np.arange(n) % 3
    values = np.column_stack([y == 0, y == 1, y == 2, y <= 1]).astype(np.int8)
    values[::7, 3] = 0
    values[5::11, 2] = -1
    return sl.LabelMatrix(values, names=["ant", "bee", "cat", "insect"])


def pure_bags(n: int = 60) -> np.ndarray:
    """The rows of :func:`blobs`, so that all four of a bag come from one group: bags that can be told apart."""
    X, y = blobs(n)
    arranged = np.empty_like(X)
    arranged[np.argsort(bag_ids(n) % 3, kind="stable")] = X[np.argsort(y, kind="stable")]
    return arranged


def pair_answers(n: int = 60) -> Any:
    """Thirty pairs of :func:`blobs`, answered by their groups."""
    return sl.Pairs.sample(np.arange(n) % 3, 30, random_state=0)


def triplet_answers(n: int = 60) -> Any:
    """Thirty triplets of :func:`blobs`, answered by their groups."""
    return sl.Triplets.sample(np.arange(n) % 3, 30, random_state=0)


CASES = [
    Case(
        sl.BagSpectralClustering(3, random_state=0),
        supervision="bags",
        grid={"alpha": [0.3, 0.7]},
        expected_failures=PROBA_COLUMNS,
    ),
    Case(
        sl.estimators.BagDiscriminativeClustering(3, n_init=2, random_state=0),
        supervision="bags",
        expected_failures=PROBA_COLUMNS,
    ),
    Case(sl.peers.SpectralLearning(3, random_state=0), supervision="bags", expected_failures=PROBA_COLUMNS),
    Case(
        sl.peers.RegularizedSpectralClustering(3, random_state=0), supervision="bags", expected_failures=PROBA_COLUMNS
    ),
    Case(
        sl.DiscriminativeClustering(3, n_init=1, random_state=0),
        supervision="pairs",
        expected_failures=PROBA_COLUMNS,
        grid={"penalty": [0.01, 0.1]},
    ),
    Case(
        sl.estimators.RowClustering(3, random_state=0),
        expected_failures=PROBA_COLUMNS,
        grid={"method": ["best", "k-means"]},
    ),
    Case(
        sl.DiscriminativeClusteringCV(
            3, estimator=sl.DiscriminativeClustering(n_init=1, eps=0.05), cv=2, random_state=0
        ),
        supervision="pairs",
        expected_failures=PROBA_COLUMNS,
    ),
    Case(
        sl.BayesianActiveClustering(3, random_state=0),
        supervision="pairs",
        expected_failures=PROBA_COLUMNS,
        grid={"penalty": [1.0, 10.0]},
    ),
    Case(sl.peers.COPKMeans(3, n_init=2, random_state=0), supervision="pairs", grid={"n_init": [1, 2]}),
    Case(sl.peers.PCKMeans(3, n_init=2, random_state=0), supervision="pairs", grid={"weight": [1.0, None]}),
    Case(sl.peers.MPCKMeans(3, n_init=2, random_state=0), supervision="pairs", grid={"shared": [True, False]}),
    Case(
        sl.peers.ConstrainedGaussianMixture(3, n_init=2, random_state=0),
        supervision="pairs",
        grid={"covariance": ["full", "diag", "tied"]},
    ),
    Case(sl.peers.SSSVaD(3, n_init=2, random_state=0), supervision="triplets", grid={"trade": [0.5, 2.0]}),
    Case(sl.peers.ConstraintPropagation(3, random_state=0), supervision="pairs", grid={"alpha": [0.5, 0.8]}),
    Case(
        sl.peers.MetricKMeans(3, n_init=2, random_state=0),
        supervision="pairs",
        grid={"metric": ["itml", "scml", sl.peers.LSML()]},
    ),
    Case(sl.peers.ITML(random_state=0), supervision="pairs"),
    Case(sl.peers.DiagonalMMC(), supervision="pairs"),
    Case(sl.peers.LSML(random_state=0), supervision="triplets"),
    Case(sl.peers.SCML(random_state=0), supervision="triplets"),
    Case(sl.peers.SparseLPMetric(random_state=0), supervision="triplets"),
    Case(sl.InformationCoclustering(2, n_init=2, random_state=0)),
    Case(sl.estimators.AnnealedCoclustering(2, n_init=1, random_state=0)),
    Case(sl.estimators.SpectralContingency(2, random_state=0)),
    Case(sl.estimators.WeightCoclustering(2, n_init=1, max_iter=200, random_state=0)),
    Case(sl.estimators.InterleavedCoclustering(sl.InformationCoclustering(2, n_init=2), random_state=0)),
    Case(sl.peers.SeededAgglomerative(3)),
    Case(sl.estimators.Codebook(6, random_state=0), grid={"n_codes": [3, 6]}),
    Case(
        sl.MultiSourceClustering(2, method="information", random_state=0),
        grid={"n_codes": [4, 8]},
        expected_failures=PROBA_COLUMNS,
    ),
    Case(
        sl.MultiSourceClustering(2, random_state=0),
        grid={"method": ["graphs", "concatenated"]},
        expected_failures=PROBA_COLUMNS,
    ),
    Case(sl.peers.ConcatenatedKMeans(3, n_init=2, random_state=0), grid={"balance": [False, True]}),
    Case(
        sl.peers.SharedPosteriorMixture(3, rule="product", n_init=1, random_state=0),
        grid={"rule": ["entropy", "product"]},
    ),  # "leader" need not converge
    Case(
        sl.CoverageClustering(n_subclusters=2, n_init=2, random_state=0),
        supervision="bags",
        expected_failures=PROBA_COLUMNS,
        needs_lists=True,
        grid={"penalty": [0.1, 1.0]},
    ),
    Case(
        sl.peers.OredLogisticRegression(tol=1e-3), supervision="bags", expected_failures=NEEDS_LISTS, needs_lists=True
    ),
    Case(
        sl.peers.NovelClassLogisticRegression(tol=1e-3),
        supervision="bags",
        expected_failures=NEEDS_LISTS,
        needs_lists=True,
    ),
    Case(
        sl.DMNL(n_novel=1, n_init=2, max_iter=10, random_state=0),
        supervision="bags",
        expected_failures=PROBA_COLUMNS,
        needs_lists=True,
        grid={"lam": [0.0, 0.1], "structure": ["clusters", "manifold"]},
    ),
    Case(
        sl.estimators.DMNLCV(1, lams=[0.1], rhos=[10.0], n_rounds=1, n_init=1, max_iter=5, random_state=0),
        supervision="bags",
        expected_failures=PROBA_COLUMNS,
        needs_lists=True,
    ),
    Case(
        sl.peers.FastMIML(max_iter=20, random_state=0),
        supervision="bags",
        expected_failures=NEEDS_LISTS,
        needs_lists=True,
    ),
    Case(
        sl.peers.NovelLabels(sl.peers.FastMIML(max_iter=20, random_state=0), n_novel=1, random_state=0),
        supervision="bags",
        expected_failures=NEEDS_LISTS,
        needs_lists=True,
    ),
    Case(
        sl.MaxMarginBagClustering(3, n_init=4, random_state=0),
        supervision="bags",
        rows=lambda: pure_bags(),
        grid={"C": [1.0, 8.0]},
    ),
    Case(
        sl.estimators.MaxMarginBagClusteringCV(3, Cs=[4.0], balances=[1.0], n_resamples=2, n_init=1, random_state=0),
        supervision="bags",
        rows=lambda: pure_bags(),
    ),
    Case(
        sl.LatentHierarchyClassifier(),
        supervision="labels",
        reads_y=True,
        expected_failures=LABEL_SETS,
        grid={"penalty": [1.0, 10.0]},
    ),
    Case(sl.peers.ChowLiuTree(positive=True), supervision="labels", reads_y=True),
    Case(sl.peers.BinaryRelevance(), supervision="labels", reads_y=True, expected_failures=LABEL_SETS),
    Case(sl.peers.FastTag(), supervision="labels", reads_y=True, expected_failures=LABEL_SETS),
    Case(sl.peers.CliqueGeneration(), supervision="labels", reads_y=True, expected_failures=LABEL_SETS),
    Case(
        sl.BagWordClustering(3, n_words=(4, 8), n_books=2, n_init=2, random_state=0),
        supervision="bags",
        rows=lambda: pure_bags(),
        grid={"scale": ["standard", "both"]},
    ),
    Case(
        sl.estimators.BagKMedoids(3, n_init=2, random_state=0),
        supervision="bags",
        grid={"distance": ["minimal", "average"]},
    ),
    Case(
        sl.Standardized(sl.CoverageClustering(n_subclusters=2, n_init=2, random_state=0)),
        supervision="bags",
        expected_failures=STANDARDIZED,
        needs_lists=True,
        grid={"estimator__penalty": [0.1, 1.0]},
    ),
]


def _split():
    """Return the first constructor of every estimator of ours, and all others: peers, wrappers, searches."""
    first = {type(case.estimator): case for case in reversed(CASES)}
    others = [sl.Standardized, *(of for of in first if of.__module__.startswith("sidelight.peers"))]
    others += [of for of in first if of.__name__.endswith("CV")]
    ours = [case for of, case in first.items() if of not in others]
    return ours[::-1], [case for case in CASES if case not in ours]


OURS, OTHERS = _split()


def each(cases):
    """Parametrize by cases; laws of peers, wrappers and further constructors wait for ``make test-slow``."""
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case.name, marks=[pytest.mark.slow] * (case in OTHERS)) for case in cases]
    )


_Q = np.random.default_rng(1).dirichlet(np.ones(4), size=7)
_PLAN = BagPlan(
    order=np.arange(7),
    starts=np.array([0, 3, 5, 7]),
    label_starts=np.array([0, 2, 3, 3]),
    labels=np.array([0, 1, 1]),
    required=np.array([2, 1, 0]),
    others=np.array([0.0, 0.0, 1.0]),
    row_class=np.full(7, -1),
)
_RING = sp.csr_array(np.roll(np.eye(7), 1, axis=0) + np.roll(np.eye(7), -1, axis=0))
TERMS = [
    Balance(),
    Confidence(),
    CrossEntropy(_Q),
    Coverage(_PLAN, np.array([0, 0, 1, -1])),
    Coverage(_PLAN, np.array([0, 0, 1, -1]), wrong=0.1, forgotten=0.1),
]
_LISTS = sp.csr_array(np.kron(np.eye(3), [0.5, 1.0, 1.0])[:, :7])  # three bags of three, three and one row
_SIZES = np.array([2.0, 3.0, 1.0, 4.0])
TERMS += [
    ListedLabels(
        _LISTS, np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    ),
    CompactClusters(np.arange(21.0).reshape(7, 3) % 5, 0.3, _SIZES),
    SmoothManifold(_RING / 2),
    DisjointLabels(_SIZES),
]
_SEVEN = BagConstraint.from_bags(
    sl.Bags([0, 0, 1, 1, 1, 2, 3], labels={0: {"a"}, 1: {"a", "b"}, 2: {"b", "c"}})
)  # seven rows, as the laws draw
_LIKENESS = BagLikeness(_SEVEN.gather, _SEVEN.codes, _SEVEN.bag_product)
_FOUR = np.random.default_rng(2).dirichlet(np.ones(4), size=5)  # p(answer | truth) of five answers, as uneven as can be
TERMS += [
    _LIKENESS,
    OnRows(Confidence(), np.array([5, 0, 2])),
    PairLikelihood(np.array([[0, 1], [1, 2], [6, 0], [3, 4]]), _FOUR[:4, :2], np.array([1.0, 2.0, 0.5, 1.0]), 7),
    TripletLikelihood(np.array([[0, 1, 2], [2, 3, 4], [6, 5, 0], [1, 0, 3], [4, 5, 6]]), _FOUR, np.arange(1.0, 6.0), 7),
]

SUPERVISION = (sl.Bags, sl.Pairs, sl.Triplets)  # the strategies of test_supervision.py draw each of them

# Public names and terms that the laws leave out, and why.
UNLAWFUL: dict[str, str] = {
    "ActiveSession": "a conversation, not an estimator: tests/active/test_session.py",
    "AnswerFile": "a file of answers: tests/app/store/test_answer_file.py",
    "Oracle": "answers questions: tests/active/test_session.py",
    "CoOccurrence": "a table of counts, not knowledge about rows: its laws are in tests/data/test_cooccurrence.py",
    "LabelMatrix": "label sets of rows, a matrix of two axes: its laws are in tests/data/test_label_matrix.py",
    "LabelTree": "knowledge about labels, not about rows: its laws are in tests/data/test_hierarchy.py",
    "Dataset": "what a reader found: tests/data/readers",
}


def as_csr(X: np.ndarray) -> Any:
    """The same rows, sparse."""
    return sp.csr_array(X)
