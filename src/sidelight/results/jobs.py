"""The results of the jobs, one class for each method that has a page of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sidelight.data.hierarchy import LabelTree
from sidelight.results.base import Columns, Map, Result, big


@dataclass(frozen=True, kw_only=True, eq=False)
class RelationsResult(Result):
    """Clusters of rows, and how sure the rows are of them."""

    page: ClassVar[str] = "relations"
    sizes: Sequence[int]
    share_sure: float | None
    n_pairs: int = 0
    n_triplets: int = 0
    n_broken: int = 0
    eps: float = 0.0
    eps_is_estimated: bool = False  # else it was given, or assumed because the answers are few
    n_moved: int = 0  # rows in another cluster than their features alone would put them
    annotator_errors: Mapping[str, float] = field(default_factory=dict)
    map: Map = big()


@dataclass(frozen=True, eq=False)
class Progress:
    """How a conversation went: after so many answers, the share of unsure rows and, with a truth, the agreement."""

    at: Sequence[int]
    unsure: Sequence[float]
    agreement: Sequence[float] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class AskResult(Result):
    """Clusters by the answers of a person, and whether it pays to go on."""

    page: ClassVar[str] = "ask"
    n_answers: int
    n_unsure: int
    n_broken: int
    eps: float
    sizes: Sequence[int]
    share_sure: float
    enough: bool
    outlook: str
    progress: Progress
    map: Map = big()


@dataclass(frozen=True, eq=False)
class Contents:
    """Clusters with their surest rows, and the bags that hold most of their rows."""

    names: Sequence[str]
    sizes: Sequence[int]
    typical: Sequence[Sequence[Any]]
    bags: Sequence[Sequence[Any]]
    n_bags: Sequence[int]


@dataclass(frozen=True, eq=False)
class Moved:
    """The rows that the labels of their bags moved most, and how many changed their name at all."""

    rows: Sequence[Any]
    before: Sequence[Any]
    after: Sequence[Any]
    moved: Sequence[float]
    n_moved: int
    n_rows: int


@dataclass(frozen=True, kw_only=True, eq=False)
class CoverageResult(Result):
    """Rows named by the lists of their bags."""

    page: ClassVar[str] = "coverage"
    n_bags: int
    n_labelled: int
    n_labels: int
    n_labels_found: int
    n_clusters_used: int
    n_novel_allowed: int
    n_novel_used: int
    n_bags_novel: int
    share_sure: float
    choice: Mapping[str, Mapping[str, Any]]
    uncovered: Sequence[tuple[Any, Sequence[Any]]]
    contents: Contents
    moved: Moved
    label_shares: np.ndarray
    labels: Sequence[Any]
    own_labels: Sequence[int]  # the label of each cluster, -1 for novel ones
    nearest: Mapping[str, Sequence[tuple[Any, str, float]]]  # of each novel cluster: rows, their names, distances
    novelty: Mapping[str, np.ndarray] = big()  # by features alone, of the rows that end in known and in novel clusters
    map: Map = big()


@dataclass(frozen=True, kw_only=True, eq=False)
class NovelResult(CoverageResult):
    """Rows named by the lists of their bags and, where no list names them, by their structure."""

    page: ClassVar[str] = "novel"
    noise: Sequence[str]
    objective: Sequence[float]  # before the first round and after the last; empty where there is none


@dataclass(frozen=True, kw_only=True, eq=False)
class SpectralResult(Result):
    """Clusters of the rows of labelled bags, read by the labels."""

    page: ClassVar[str] = "spectral"
    n_bags: int
    n_labelled: int
    classes: Sequence[Any]
    names: Sequence[str]
    sizes: Sequence[int]
    shares: np.ndarray
    clusters_of: Mapping[Any, Sequence[int]]
    n_mixed: int
    disagreeing: Sequence[tuple[Any, int]]
    share_in_one_cluster: float | None
    alpha: float
    alpha_search: Mapping[str, Any]
    notes: Sequence[str] = ()
    map: Map = big()


_MEASURES = {
    "rows": "strength",
    "words": "agreement",
    "sequences": "above chance",
    "counts": "bits",
    "answers": "log likelihood",
}


@dataclass(frozen=True, eq=False)
class Stability:
    """How well every number of clusters tried does, and the one in use.

    Attributes
    ----------
    tried, scores, errors : sequences
        Numbers of clusters, a score of each (higher is better) and its standard error.
    chosen : int
        The number in use.
    by : str
        What was asked: halves of the rows, of the code books ("words"), "sequences", parts of the "counts" or of the
        "answers".
    of : str
        The axis, where each has a number of its own.
    is_clear : bool
        Whether the chosen number comes back well.
    seeds_agree : float or None
        Mean adjusted Rand index between the clusters of several seeds of the method; None where nobody tried.
    """

    tried: Sequence[int]
    scores: Sequence[float]
    errors: Sequence[float]
    chosen: int
    by: str = "rows"
    of: str = ""
    is_clear: bool = True
    seeds_agree: float | None = None

    @property
    def measure(self) -> str:
        """What the scores are, in one word."""
        return _MEASURES[self.by]

    @property
    def score(self) -> float:
        """The score of the number in use."""
        return float(self.scores[list(self.tried).index(self.chosen)])


@dataclass(frozen=True, kw_only=True, eq=False)
class WordsResult(Result):
    """Clusters of bags by what they hold, and the row that speaks loudest in each."""

    page: ClassVar[str] = "words"
    n_bags: int
    sizes: Sequence[int]
    share_sure: float
    bag_proba: np.ndarray = big()
    bag_labels: np.ndarray = big()
    witnesses: np.ndarray = big()
    map: Map = big()


@dataclass(frozen=True, eq=False)
class BalanceSizes:
    """Sizes of the clusters, largest first, for other values of the balance."""

    balances: Sequence[float]
    sizes: np.ndarray
    chosen: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginResult(Result):
    """Clusters of bags, and the row that decided each."""

    page: ClassVar[str] = "margin"
    n_bags: int
    sizes: Sequence[int]
    share_at_margin: float
    n_with_second_cluster: int
    membership_threshold: float
    status: str
    C: float
    balance: float
    search_score: float | None = None
    search: Columns = field(default_factory=dict)
    balance_sizes: BalanceSizes | None = None
    margins: np.ndarray = big()
    bag_labels: np.ndarray = big()
    witnesses: np.ndarray = big()
    bag_of_row: np.ndarray = big()
    coordinates: np.ndarray = big()
    row_names: Sequence[Any] | np.ndarray = big(default=())
    bag_names: Sequence[Any] = big(default=())


@dataclass(frozen=True, kw_only=True, eq=False)
class MedoidsResult(Result):
    """Clusters of bags around one bag each."""

    page: ClassVar[str] = "medoids"
    n_bags: int
    sizes: Sequence[int]
    distance: str
    mean_distance: float
    map: Map = big()


@dataclass(frozen=True, eq=False)
class Curve:
    """The share of information that k clusters keep, and what a table without structure would seem to keep."""

    n_clusters: Sequence[int]
    shares: Sequence[float]
    floor: Sequence[float] | None = None


@dataclass(frozen=True, eq=False)
class Blocks:
    """A table of probabilities and its approximation by clusters, sorted by cluster."""

    P: np.ndarray
    Q: np.ndarray
    row_breaks: np.ndarray
    column_breaks: np.ndarray
    axes_names: Sequence[str]


@dataclass(frozen=True, kw_only=True, eq=False)
class SourcesResult(Result):
    """Clusters of several channels."""

    page: ClassVar[str] = "sources"
    channels: Sequence[str]
    primary: str
    partner: str
    bits_shared: float
    sizes: Sequence[int]
    n_asked: int
    followed_sequences: bool
    torn: Sequence[Any] | None
    n_sequences: int
    curve: Curve
    judged: Judged | None = None
    blocks: Blocks = big()
    map: Map = big()


@dataclass(frozen=True, eq=False)
class Judged:
    """What the clusters make of a second table."""

    path: str
    n_rows: int
    n_new: int
    new_sequences: Sequence[Any]
    left_out: Sequence[Any] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class CoclustersResult(Result):
    """Clusters of every axis of a table of counts."""

    page: ClassVar[str] = "coclusters"
    axes: Mapping[str, int]
    n_asked: Mapping[str, int]
    n_found: Mapping[str, int]
    n_empty: Mapping[str, int]
    nats_kept: float
    nats_total: float
    is_of_pairs: bool
    total: float
    curve: Curve | None = None
    members: Mapping[str, Columns] = big()
    blocks: Blocks | None = big(default=None)


@dataclass(frozen=True, kw_only=True, eq=False)
class HierarchyResult(Result):
    """The tree behind labels with gaps, and the gaps filled."""

    page: ClassVar[str] = "hierarchy"
    n_labels: int
    n_seen: int
    n_unlabelled: int
    n_unknown: int
    n_added: int
    n_rows_changed: int
    used_features: bool
    alpha: float
    label_alphas: Sequence[float]
    source: str
    depth: int
    n_linked: int
    n_weak: int
    n_tested: int
    n_not_random: int
    extra_parents: Sequence[tuple[str, str, float]]
    obeys_extra_parents: bool
    tree: LabelTree = big()
    declared: LabelTree | None = big(default=None)
    evidence: np.ndarray = big()
    counts: np.ndarray = big()
    gap_p_values: np.ndarray = big()
    completed: np.ndarray = big()
