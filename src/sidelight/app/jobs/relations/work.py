"""The relations job: clusters of rows, by their features and by answers about pairs and triplets of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import structs
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import beta

from sidelight._core.prototypes import group_means, squared_distances
from sidelight._core.simplex import softmax
from sidelight.app.jobs.checking import MOST, checked
from sidelight.app.jobs.columns import column_of_names, with_column
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import cluster_table, gallery_of
from sidelight.app.jobs.how_many import choose_number, with_choice, with_number
from sidelight.app.jobs.job import wants_parts
from sidelight.app.jobs.reading import as_dense, collect_notes, read_rows, rows_of, standard, standardized
from sidelight.app.jobs.relations import Cluster, Peer, Relations
from sidelight.app.jobs.relations.result import RelationsResult
from sidelight.app.jobs.result import Columns, Map, Reading, columns_of
from sidelight.app.jobs.roles import ENGINE
from sidelight.data.dataset import Dataset
from sidelight.data.relations import Pairs, Triplets
from sidelight.errors import AnswersDisagree, ConflictingAnswers, UnknownName, ignore_warnings
from sidelight.estimators._how_many import NumberOfClusters
from sidelight.estimators.relations.cross_validation import DiscriminativeClusteringCV
from sidelight.estimators.relations.discriminative import MOST_ROWS, DiscriminativeClustering
from sidelight.estimators.relations.noise import SHARED
from sidelight.estimators.relations.rows import RowClustering
from sidelight.estimators.relations.trust import FEWEST
from sidelight.files.answers import names_in, read_answers
from sidelight.files.placements import placed_names, read_placements
from sidelight.peers import (
    ConstrainedGaussianMixture,
    ConstraintPropagation,
    COPKMeans,
    MetricKMeans,
    MPCKMeans,
    PCKMeans,
    SSSVaD,
)
from sidelight.peers.metric.kmeans import METRICS
from sidelight.plot.layout import cluster_map
from sidelight.words import Note, Sentence, Setting

USES = ("id", "feature", "show", "truth")
_BEYOND_DOUBT = 0.99  # an answer about such a row would tell nothing new
_FEWEST_ASKED = 5  # rows that are asked about all the same, for a result that is sure and may be wrong
_SOME_ROWS = 1000  # tell in how many directions rows spread
_FEWEST_HELD_OUT = 50  # answers from which their folds tell numbers of clusters apart; below the rows are asked
_MOST_ROWS, _MOST_CLUSTERS, _FOLDS = 2000, 12, 3
_STARTS = 20  # groups from which a set of clusters that all differ is sought
ESTIMATORS: dict[str, Any] = {
    "cop-kmeans": COPKMeans,
    "pck-means": PCKMeans,
    "mpck-means": MPCKMeans,
    "gaussian-mixture": ConstrainedGaussianMixture,
    "sssvad": SSSVaD,
    "propagation": ConstraintPropagation,
}  # the methods that learn no metric


def work(config: RunConfig) -> RelationsResult:
    """Read the table and the answers, and cluster the rows."""
    # of many files: the rows that answers are about and some others, no fewer than the objective ever looks at
    with rows_of(config, _table, n_rows=MOST_ROWS, named=_answered) as rows:
        return rows.with_all(_with_answers(rows.data, config))


def _table(config: RunConfig) -> Dataset:
    return read_rows(config.source, config.roles)


def _answered(config: RunConfig) -> Iterator[str]:
    """Name the rows that answers are about."""
    options: Any = config.options
    if isinstance(options, Cluster):
        return
    for path, kind in ((options.pairs, Pairs), (options.corrections, Pairs), (options.triplets, Triplets)):
        if path is not None:
            yield from names_in(Path(path), kind)
    if options.placements is not None:
        yield from placed_names(Path(options.placements))


def _with_answers(data: Dataset, config: RunConfig) -> RelationsResult:
    """Read the answers about rows that were read already, and cluster them."""
    options = config.options
    if isinstance(options, Cluster):
        return cluster(data, config)
    assert isinstance(options, Relations | Peer)  # the catalogue says so
    data, named = _named_as_in_answers(data, config)
    with collect_notes() as left_out:
        pairs = None if options.pairs is None else _read(options.pairs, Pairs, data, options.words)
        triplets = None if options.triplets is None else _read(options.triplets, Triplets, data)
        if options.placements is not None:
            sorted_out = _read_placements(options.placements, data)
            pairs = sorted_out if pairs is None else pairs + sorted_out
        if options.corrections is not None:
            right = _read(options.corrections, Pairs, data)
            pairs = right if pairs is None else pairs + right
    result = cluster(data, config, pairs, triplets)
    return replace(result, heard=(*named, *left_out, *result.heard))


def _read(
    path: str, kind: type[Pairs] | type[Triplets], data: Dataset, words: Mapping[str, Any] = MappingProxyType({})
) -> Any:
    """Read answers about the rows of a table."""
    meant = {word: said if isinstance(said, str) else ", ".join(said) for word, said in words.items()}
    try:
        return read_answers(path, kind, data.row_names.tolist(), meant)
    except UnknownName as error:
        raise with_column(error, names_in(Path(path), kind), data) from error


def _named_as_in_answers(data: Dataset, config: RunConfig) -> tuple[Dataset, list[str]]:
    """Return the rows under the names that answers call them by, where a column has these and no id was said."""
    asked = set(_answered(config))
    known = set(map(str, data.row_names.tolist()))
    if config.roles.id is not None or data.columns("id") or wants_parts(config) or 2 * len(asked & known) >= len(asked):
        return data, []
    column = column_of_names(asked, data, must_differ=True)
    if column is None:
        return data, []
    told = Note(f"The answers call the rows by {column!r}.", ["Say otherwise with ", Setting("id"), "."])
    return read_rows(config.source, structs.replace(config.roles, id=column)), [told]


def _read_placements(path: str, data: Dataset) -> Pairs:
    """Read piles of the rows of a table."""
    try:
        return read_placements(path, data.row_names.tolist())
    except UnknownName as error:
        raise with_column(error, placed_names(Path(path)), data) from error


def cluster(data: Dataset, config: RunConfig, pairs: Any = None, triplets: Any = None) -> RelationsResult:
    """Cluster rows that were read already."""
    asked = config.options
    assert isinstance(asked, Relations | Peer | Cluster)  # the catalogue says so
    X = as_dense(data)
    answers = {name: side for name, side in (("pairs", pairs), ("triplets", triplets)) if side is not None}
    options, choices = _chosen_number(asked, standard(X, data), answers, config.seed)

    def fitted(seed: int) -> Any:
        inner = make_estimator(options, seed, alone=not answers)
        return (standardized(inner, data) if options.scale == "standard" else inner).fit(X, **answers)

    contradictions = _contradictions(data, answers)
    while True:
        with collect_notes() as heard, ignore_warnings(AnswersDisagree):  # said here, with the names of the rows
            try:
                model = fitted(config.seed)
            except ConflictingAnswers as error:
                raise _in_names(error, contradictions) from error
        n_used = len(np.unique(model.labels_))
        if not choices or choices[0].by not in ("rows", "told") or not 2 <= n_used < choices[0].chosen:
            break
        options = with_number(options, n_used)  # the rows' graph asked for more than the fit finds rows for
        choices = (replace(choices[0], chosen=n_used, is_clear=False),)
    result, P = result_of(data, model, pairs, triplets, [*contradictions, *heard])
    chosen = with_choice(result, choices, lambda seed: fitted(seed).labels_, model.labels_, config.seed, X.size)
    judged = checked(chosen, data)
    return replace(judged, tables={**judged.tables, "check": _pairs_to_ask(data, P)})


def _chosen_number(
    options: Any, points: np.ndarray, answers: dict[str, Any], seed: int
) -> tuple[Any, tuple[NumberOfClusters, ...]]:
    """Choose a number of clusters that was left open: by the answers where there are enough, else by the rows.

    Clusters that answers prove are the least number.
    """
    if options.n_clusters == "auto" and answers:
        choice = held_out(points, answers, seed)
        if choice is not None:
            return with_number(options, choice.chosen), (choice,)
    chosen, choices = choose_number(options, lambda: points, seed)
    least = proven_clusters(answers["pairs"]) if choices and "pairs" in answers else 1
    if choices and least > choices[0].chosen:
        return with_number(options, least), (NumberOfClusters([least], [float(least)], [0.0], least, by="proof"),)
    return chosen, choices


def _contradictions(data: Dataset, answers: dict[str, Any]) -> list[str]:
    """Tell the first contradiction among the pairs and among the triplets, with the names of the rows."""

    def told(side: Any, numbers: Sequence[int]) -> str:
        found = [side.answers[number] for number in numbers]
        return "; ".join(f"{', '.join(str(data.row_names[row]) for row in one.rows)}: {one.answer}" for one in found)

    return [
        f"Not all answers about {kind} can be true: {data.row_names[one.rows[0]]} and {data.row_names[one.rows[1]]} "
        f"belong together ({told(side, one.chain)}) and do not ({told(side, one.against)})."
        for kind, side in answers.items()
        for one in side.contradictions(limit=1)
    ]


def _in_names(error: ConflictingAnswers, contradictions: Sequence[str]) -> ConflictingAnswers:
    """Return the error with the names of the rows; as it is where pairs contradict triplets."""
    if not contradictions:
        return error
    weigh: Sentence = [Setting("method", "discriminative"), " and ", Setting("eps", "auto"), "."]
    return ConflictingAnswers(
        contradictions[0], do=["Correct one of these answers, or have them weighed against each other with ", *weigh]
    )


def shown_result(data: Dataset, model: Any, pairs: Any = None, triplets: Any = None) -> RelationsResult:
    """Say what a fitted model found, for :func:`sidelight.show`."""
    return result_of(data, model, pairs, triplets)[0]


def result_of(
    data: Dataset, model: Any, pairs: Any = None, triplets: Any = None, heard: Sequence[str] = ()
) -> tuple[RelationsResult, np.ndarray]:
    """Say what a fitted model found, and return the probability of each cluster for each row."""
    X = as_dense(data)
    fitted = getattr(model, "estimator_", model)
    n_clusters = int(fitted.n_clusters)
    P = _probabilities(model, fitted, X, data)
    sure = P[np.arange(len(P)), fitted.labels_]
    names = [str(k) for k in range(n_clusters)]
    clusters = cluster_table(data.telling[0], fitted.labels_, data.telling[1], names)
    n_pairs, n_triplets = (0 if side is None else side.n_answers for side in (pairs, triplets))
    own = {"cluster": fitted.labels_.tolist(), "probability": sure.tolist()}
    alone = np.asarray(model.predict(X)) if n_pairs + n_triplets else fitted.labels_
    if n_pairs + n_triplets:
        own["by features alone"] = alone.tolist()
    calibration = getattr(fitted, "calibration_", None)
    is_measured = calibration is not None and calibration["n_answers"] > 0
    result = RelationsResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, own),
        tables={
            "clusters": clusters,
            **_broken_table(data, fitted, P, pairs, triplets),
            **_people_table(fitted, pairs, triplets),
            **_ways_table(fitted),
        },
        heard=tuple(heard),
        sizes=clusters["rows"],
        share_sure=float(np.mean(sure > 0.9)),
        n_pairs=n_pairs,
        n_triplets=n_triplets,
        n_broken=sum(len(numbers) for numbers in getattr(fitted, "violated_", {}).values()),
        won=getattr(fitted, "method_", None),
        eps=float(getattr(fitted, "eps_", 0.0)),  # the other methods do not ask whether answers are wrong
        eps_range=np.asarray(getattr(fitted, "eps_range_", (0.0, 0.0))).tolist(),
        calibration=calibration,
        eps_is_estimated=getattr(fitted, "eps", None) == "auto" and max(n_pairs, n_triplets) >= FEWEST,
        n_moved=int((alone != fitted.labels_).sum()),
        map=Map(
            cluster_map(standard(X, data), fitted.labels_),
            fitted.labels_,
            names,
            data.row_names,
            sure=sure if is_measured else None,
        ),
        gallery=gallery_of(data, fitted.labels_, sure, [f"cluster {name}" for name in names], is_measured=is_measured),
    )
    return result, P


def _probabilities(model: Any, fitted: Any, X: np.ndarray, data: Dataset) -> np.ndarray:
    """Return the probability of each cluster for each row, given the answers where a method can say that."""
    if hasattr(fitted, "probabilities_"):
        return np.asarray(fitted.probabilities_)
    if hasattr(fitted, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    return _by_means(standard(X, data), fitted.labels_, int(fitted.n_clusters))


def _pairs_to_ask(data: Dataset, P: np.ndarray) -> Columns:
    """Ask of the rows that are least sure whether they are the same as the surest row of their two best clusters."""
    if P.shape[1] < 2:
        return {"left": [], "right": [], "answer": [], "probability of same": []}
    surest = P.argmax(axis=0)
    best = np.argsort(-P, axis=1, kind="stable")[:, :2]
    sure = P.max(axis=1)
    order = np.argsort(sure, kind="stable")[: MOST // 2]
    order = order[: max(_FEWEST_ASKED, int((sure[order] < _BEYOND_DOUBT).sum()))]
    asked = [(row, int(surest[k]), float(P[row, k])) for row in order.tolist() for k in best[row] if surest[k] != row]
    names = data.row_names
    return {
        "left": [names[row] for row, _, _ in asked],
        "right": [names[other] for _, other, _ in asked],
        "answer": [""] * len(asked),
        "probability of same": [round(same, 4) for _, _, same in asked],
    }


def make_estimator(options: Relations | Peer | Cluster, seed: int | None, *, alone: bool = False) -> Any:
    """Return the estimator of a method, not fitted; ``alone`` where nobody answered anything."""
    if isinstance(options, Cluster) or (alone and isinstance(options, Relations)):
        way = options.method if isinstance(options, Cluster) else "best"
        return RowClustering(int(options.n_clusters), method=way, random_state=seed)
    settings = options.without("method", "scale", "pairs", "words", "triplets", "placements", "corrections", *ENGINE)
    if isinstance(options, Relations):
        return DiscriminativeClustering(random_state=seed, **settings)
    if options.method in METRICS:
        settings["metric"] = options.method
    return ESTIMATORS.get(options.method, MetricKMeans)(random_state=seed, **settings)


def _by_means(Z: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return probabilities for a method that has none: normal clouds of one spread around the means of its clusters.

    Their variance along one direction is the mean squared distance inside clusters over the number of directions that
    rows spread in, (tr S)^2 / tr S^2 for their covariance S; empty clusters have probability 0.
    """
    used, codes = np.unique(labels, return_inverse=True)
    means = group_means(Z, codes, len(used))
    squares = squared_distances(Z, means)
    inside = float(squares[np.arange(len(Z)), codes].mean())
    some = slice(None, None, -(-len(Z) // _SOME_ROWS))
    R = Z[some] - means[codes[some]]
    gram = R.T @ R if R.shape[1] < R.shape[0] else R @ R.T
    n_directions = np.trace(gram) ** 2 / (gram**2).sum() if gram.any() else 1.0
    P = np.zeros((len(Z), n_clusters))
    P[:, used] = softmax(-squares * n_directions / (2.0 * inside if inside > 0 else 1.0))
    return P


def _broken_table(data: Dataset, fitted: Any, P: np.ndarray, pairs: Any, triplets: Any) -> dict[str, Columns]:
    """List the answers that the clusters break, the rows by their names; those that are likeliest wrong first."""
    names = data.row_names
    broken: list[tuple[float, tuple[str, str, str, str]]] = []
    for answers, kind in ((pairs, "pairs"), (triplets, "triplets")):
        for number in fitted.violated_[kind].tolist() if answers is not None else []:
            answer = answers.answers[number]
            rows = ", ".join(str(names[row]) for row in answer.rows)
            found = ", ".join(str(fitted.labels_[row]) for row in answer.rows)
            line = (rows, answer.answer, found, str(answer.annotator or ""))
            broken.append((_chance(P[list(answer.rows)], answer.answer), line))
    if not broken:
        return {}
    broken.sort(key=lambda one: one[0])
    titles = ("rows", "answer", "clusters", "annotator")
    return {
        "broken_answers": {title: list(column) for title, column in zip(titles, zip(*(line for _, line in broken)))}
    }


def _chance(P: np.ndarray, answer: str) -> float:
    """Return how likely an answer is right, by the probabilities of its two or three rows."""
    if len(P) == 2:
        same = float(P[0] @ P[1])
        return same if answer == "same" else 1.0 - same
    odd = [float(((P[[k for k in range(3) if k != one]]).prod(axis=0) * (1.0 - P[one])).sum()) for one in range(3)]
    return 1.0 - sum(odd) if answer == "none" else odd["abc".index(answer)]


def _people_table(fitted: Any, *given: Any) -> dict[str, Columns]:
    """List the people, those who err most first: their answers, and the share that is wrong with its range.

    A rate counts for as many answers as the person gave, and for those of all that it was shrunk towards.
    """
    errors = getattr(fitted, "annotator_errors_", {})
    if len(errors) < 2:
        return {}
    answers = Counter(name for side in given if side is not None for name in side.annotators)
    people = sorted(errors, key=lambda name: (-errors[name], str(name)))
    rates = np.array([errors[name] for name in people])
    weight = np.array([answers[name] for name in people]) + SHARED
    low, high = (beta.ppf(level, rates * weight, (1.0 - rates) * weight) for level in (0.05, 0.95))
    return {
        "people": {
            "person": [str(name) for name in people],
            "answers": [answers[name] for name in people],
            "wrong": rates.round(4).tolist(),
            "from": low.round(4).tolist(),
            "to": high.round(4).tolist(),
        }
    }


def _ways_table(fitted: Any) -> dict[str, Columns]:
    """List the ways that were tried, the best first."""
    scores = getattr(fitted, "scores_", {})
    ways = sorted(scores, key=scores.__getitem__, reverse=True)
    return {"ways": {"way": ways, "score": [round(scores[name], 4) for name in ways]}} if len(ways) > 1 else {}


def held_out(points: np.ndarray, answers: Mapping[str, Any], seed: int) -> NumberOfClusters | None:
    """Try numbers of clusters from those that answers prove on, with answers held out; None where these are too few.

    Answers say more than rows: classes that touch are one cluster for the rows, and "different" for a person. Too few
    clusters cannot keep the answers, further ones gain nothing.

    Parameters
    ----------
    points : ndarray
        Standardised rows. Of many, some are taken, those with answers first.
    answers : mapping
        Pairs and triplets about them, by these names.
    seed : int
        Draws the folds and the rows.
    """
    some = _rows(len(points), answers, np.random.default_rng(seed))
    known = {name: side[some] for name, side in answers.items()}
    least = max(2, proven_clusters(known["pairs"]) if "pairs" in known else 2)
    most = max(min(_MOST_CLUSTERS, len(some) // 4), least + 1)
    if sum(side.n_answers for side in known.values()) < _FEWEST_HELD_OUT or len(some) < 12:
        return None
    search = DiscriminativeClusteringCV(range(least, most + 1), cv=_FOLDS, random_state=seed)
    with ignore_warnings(AnswersDisagree):  # the fit to all answers says it
        choice = search.fit(_narrow(points[some]), **known).choice_
    return NumberOfClusters.of_choice(choice, "answers", lambda *_: True)


def proven_clusters(pairs: Pairs) -> int:
    """Return how many groups of rows answers prove to be different clusters, all of them from each other; at least 1.

    A group is two rows or more that answers join: one slip alone proves no cluster. Groups with answers that cannot all
    be true prove nothing.
    """
    same = pairs.codes == pairs.WORDS.index("same")
    ends = pairs.rows
    graph = coo_array((np.ones(int(same.sum())), tuple(ends[same].T)), shape=(pairs.n_rows, pairs.n_rows))
    group = connected_components(graph, directed=False)[1]
    sizes = np.bincount(group)
    apart: dict[int, set[int]] = {}
    broken: set[int] = set()
    for a, b in group[ends[~same]].tolist():
        if a == b:
            broken.add(a)
        elif min(sizes[a], sizes[b]) > 1:
            apart.setdefault(a, set()).add(b)
            apart.setdefault(b, set()).add(a)
    best = 1
    for start in sorted(apart.keys() - broken, key=lambda one: (-len(apart[one]), one))[:_STARTS]:
        clique, others = [start], apart[start] - broken
        while others:
            clique.append(max(others, key=lambda one: (len(apart[one] & others), -one)))
            others = others & apart[clique[-1]]
        best = max(best, len(clique))
    return best


def _narrow(points: np.ndarray) -> np.ndarray:
    """Turn wide rows into as many directions as there are rows: all distances stay, and 33 fits take seconds."""
    if points.shape[1] <= points.shape[0]:
        return points
    directions, sizes, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    return np.asarray(directions * sizes)


def _rows(n_rows: int, answers: Mapping[str, Any], generator: np.random.Generator) -> np.ndarray:
    asked = np.zeros(n_rows)
    for side in answers.values():
        asked[side.rows.ravel()] = 1.0
    order = np.argsort(generator.random(n_rows) - asked, kind="stable")
    return np.sort(order[:_MOST_ROWS])
