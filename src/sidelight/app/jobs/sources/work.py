"""The sources job: several channels recorded together become clusters of every channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.coclusters.work import blocks_of, curve_columns, curve_of
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.gallery import distance_to_centre, gallery_of
from sidelight.app.jobs.how_many import with_choice, with_number
from sidelight.app.jobs.job import wants_parts
from sidelight.app.jobs.reading import (
    DESCRIBE,
    as_dense,
    collect_notes,
    read_as_it_is,
    rows_of,
    standard,
    without_gaps,
)
from sidelight.app.jobs.result import Columns, Curve, Map, Reading, columns_of
from sidelight.app.jobs.roles import ENGINE
from sidelight.app.jobs.sources import Sources
from sidelight.app.jobs.sources.how_many import FEWEST, above_chance, number_by_channels
from sidelight.app.jobs.sources.result import Judged, SourcesResult
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData, InvalidInput, InvalidParameter
from sidelight.estimators._how_many import NumberOfClusters
from sidelight.estimators.sources._graph_fit import JOINED, WHOLE
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.multisource import BY_GRAPHS, MultiSourceClustering
from sidelight.files.source import Source
from sidelight.plot import PreservedInformationDisplay
from sidelight.plot.layout import cluster_map
from sidelight.words import Note, Setting, counted

USES = ("id", "sequence", "feature", "show", "truth")
_TORN = 0.7  # a sequence of which fewer rows agree deserves a look


def work(config: RunConfig) -> SourcesResult:
    """Read channels and sequences, cluster them, and judge a second table if there is one."""
    options = config.options
    assert isinstance(options, Sources)  # the catalogue says so
    if wants_parts(config):
        _check_parts(config, options)
    with rows_of(config, _channels, n_rows=JOINED, lists_are="sequences", whole=WHOLE) as rows:
        result = rows.with_all(cluster(rows.data, config))
    if options.judge is None:
        return result
    judged, new = _judged(result.model, options.judge, config)
    return replace(result, judged=judged, tables={**result.tables, "new": new})


def _check_parts(config: RunConfig, options: Sources) -> None:
    """Refuse by name what a run by parts cannot be told, or has to be told."""
    if options.judge is not None:
        raise InvalidParameter(
            "Rows that are read part by part cannot be run with judge.",
            do=["Leave ", Setting("judge"), " out, and place the other table with sidelight predict."],
        )
    if len(config.roles.channels) < 2:
        raise InvalidInput(
            f"{config.table!r} is read part by part, and nothing about its columns is guessed: several channels need "
            "at least two channels with columns of their own.",
            do=["Name them, and their columns, with ", Setting("channels"), "."],
        )


def _channels(config: RunConfig) -> Dataset:
    """Read a table with two channels or more."""
    options: Any = config.options
    data = _read(config.source, config, gaps=options.method in BY_GRAPHS)
    if not data.channels or len(data.channels) < 2:
        raise InvalidInput(
            f"{config.table!r}: several channels need at least two channels with columns of their own.",
            do=[
                "Name them, and their columns, with ",
                Setting("channels"),
                ". ",
                DESCRIBE,
                " A table of events or counts is for `sidelight coclusters`.",
            ],
        )
    return data


def _read(path: str | Source, config: RunConfig, *, gaps: bool) -> Dataset:
    """Read a table with its sequences; rows may lack channels as a whole where ``gaps`` says so."""
    data = read_as_it_is(path, config.roles)
    channels = data.channels.values() if gaps and data.channels else None
    return without_gaps(data, config.roles.missing, sequences=True, channels=channels)


def cluster(data: Dataset, config: RunConfig) -> SourcesResult:
    """Cluster channels that were read already."""
    options = config.options
    assert isinstance(options, Sources)  # the catalogue says so
    X, channels, sequences = as_dense(data), data.channels or {}, _sequences_of(data)
    _refuse_channels_of_no_row(data.path, X, channels)
    choices: tuple[NumberOfClusters, ...] = ()
    if options.n_clusters == "auto":
        choices = (_choice(X, channels, sequences, config.seed),)
        options = with_number(options, choices[0].chosen)
    settings = {"primary": next(iter(channels)), **options.without("judge", "curve", *ENGINE)}

    def fitted(seed: int) -> MultiSourceClustering:
        model = MultiSourceClustering(channels=dict(channels), random_state=seed, **settings)
        return model.fit(X, sequences=sequences)

    with collect_notes() as heard:
        model = fitted(config.seed)
    result = _result_of(data, model, X, options, heard)
    chosen = with_choice(result, choices, lambda seed: fitted(seed).labels_, model.labels_, config.seed, X.size)
    return checked(chosen, data)


def _result_of(
    data: Dataset, model: MultiSourceClustering, X: np.ndarray, options: Sources, heard: Sequence[str]
) -> SourcesResult:
    """Say what a fitted model found in every channel, and between the primary one and the one it shares most with."""
    channels, sequences, primary = data.channels or {}, _sequences_of(data), model.primary_
    whole, heard = _filled(X), [*_lacking(X, channels), *heard]
    shared = {name: model.table_.mutual_information(primary, name, unit="bits") for name in channels if name != primary}
    partner = max(shared, key=lambda name: shared[name])
    curve = _curve(model, primary, partner, options.curve)
    by_sequence = {} if sequences is None else {"sequences": _sequence_columns(model, sequences)}
    numbers = [str(k) for k in range(int(model.labels_.max()) + 1)]
    main = standard(whole[:, model.channel_columns_[primary]])
    return SourcesResult(
        reading=Reading.of(data, USES),
        model=model,
        assignments=columns_of(data, _row_columns(model, X, sequences)),
        tables={
            "clusters": _cluster_columns(model, sequences),
            "channels": _channel_columns(model, shared),
            "curve": curve_columns(curve),
            **by_sequence,
        },
        heard=tuple(heard),
        channels=list(channels),
        primary=primary,
        partner=partner,
        bits_shared=float(shared[partner]),
        sizes=np.bincount(model.labels_).tolist(),
        n_asked=int(model.clusterer_.n_clusters[primary]) if model.joined_ is None else model.joined_.n_clusters,
        followed_sequences=bool(sequences is not None and model.reassign),
        torn=_torn(by_sequence["sequences"]) if by_sequence else None,
        n_sequences=0 if sequences is None else len(dict.fromkeys(sequences)),
        curve=curve,
        method=str(model.method_),
        why=model.why_,
        blocks=blocks_of(
            model.table_.margin(primary, partner),
            model.code_labels_[primary],
            model.code_labels_[partner],
            axes=(primary, partner),
        ),
        map=Map(cluster_map(main, model.labels_), model.labels_, numbers, data.row_names, sequences),
        gallery=gallery_of(
            data,
            model.labels_,
            -distance_to_centre(main, model.labels_),
            [f"cluster {number}" for number in numbers],
            is_probability=False,
        ),
    )


def _row_columns(model: MultiSourceClustering, X: np.ndarray, sequences: list[Any] | None) -> dict[str, Any]:
    """Return the cluster of each row, how sure it is, and the cluster in every channel."""
    P = model.predict_proba(X, sequences=sequences)
    return {
        **({} if sequences is None else {"sequence": sequences}),
        "cluster": model.labels_.tolist(),
        "probability": P[np.arange(len(P)), model.labels_].round(4).tolist(),
        **{
            f"cluster of {name}": ["" if k < 0 else k for k in labels.tolist()]  # a row may lack the channel
            for name, labels in model.channel_labels_.items()
        },
    }


def _torn(by_sequence: Columns) -> list[Any]:
    """Return the sequences whose rows fall into different clusters."""
    return [name for name, share in zip(by_sequence["sequence"], by_sequence["agreement"]) if share < _TORN]


def _choice(X: np.ndarray, channels: Mapping[str, slice], sequences: list[Any] | None, seed: int) -> NumberOfClusters:
    """Ask the sequences how many groups they are; without them the channels, or the rows where channels disagree."""
    generator = np.random.default_rng(seed)
    if sequences is not None:
        codes = {name: code for code, name in enumerate(dict.fromkeys(sequences))}
        if FEWEST <= len(codes) <= len(X) // 2:
            whole = _filled(X)
            parts = [standard(whole[:, place]) / np.sqrt(place.stop - place.start) for place in channels.values()]
            return above_chance(parts, np.array([codes[name] for name in sequences]), generator)
    return number_by_channels([X[:, place] for place in channels.values()], seed, generator)


def _filled(X: np.ndarray) -> np.ndarray:
    """Return X with the mean of a column where a row lacks it: for pictures, and for counting days."""
    if not np.isnan(X).any():
        return X
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


def _refuse_channels_of_no_row(path: str, X: np.ndarray, channels: Mapping[str, slice]) -> None:
    for name, where in channels.items():
        if np.isnan(X[:, where.start]).all():
            raise InvalidData(
                f"{path!r}: no row has the channel {name!r}.", do=["Leave it out of ", Setting("channels"), "."]
            )


def _lacking(X: np.ndarray, channels: Mapping[str, slice]) -> list[str]:
    """Say how many rows lack each channel."""
    n_lacking = {name: int(np.isnan(X[:, where.start]).sum()) for name, where in channels.items()}
    return [
        Note(f"{counted(n, 'row lacks', 'rows lack')} the channel {name!r}: the others decide about them.")
        for name, n in n_lacking.items()
        if n
    ]


def _sequences_of(data: Dataset) -> list[Any] | None:
    return None if data.sequence is None else list(data.sequence.tolist())


def _curve(model: MultiSourceClustering, primary: str, partner: str, tried: tuple[int, int] | None) -> Curve:
    pair = model.table_.margin(primary, partner)
    if min(pair.shape) < 2:
        name = primary if pair.shape[0] < 2 else partner
        raise InvalidData(
            f"The channel {name!r} is the same in every row, so there are no groups to find by it.",
            do=["Leave it out of ", Setting("channels"), ", or take another for ", Setting("primary"), "."],
        )
    low, high = tried or (2, min(20, *pair.shape))
    quick = InformationCoclustering(n_init=5, random_state=0)
    return curve_of(PreservedInformationDisplay.from_estimator(quick, pair, range(low, high + 1), floor=True))


def _judged(model: MultiSourceClustering, path: str, config: RunConfig) -> tuple[Judged, Columns]:
    """Place the rows of another table with the same columns, and say which fit no cluster."""
    data = _read(path, config, gaps=model.joined_ is not None)
    X, sequences = as_dense(data), _sequences_of(data)
    is_new = model.is_new(X, sequences=sequences)
    own: dict[str, Any] = {} if sequences is None else {"sequence": sequences}
    own |= {"cluster": model.predict(X, sequences=sequences).tolist(), "new": is_new.astype(int).tolist()}
    strangers = dict.fromkeys(name for name, new in zip(sequences or (), is_new) if new)
    judged = Judged(path, len(X), int(is_new.sum()), list(strangers), data.left_out)
    return judged, columns_of(data, own)


def _cluster_columns(model: MultiSourceClustering, sequences: Any) -> dict[str, list[Any]]:
    sizes = np.bincount(model.labels_)
    columns: dict[str, list[Any]] = {
        "cluster": list(range(len(sizes))),
        "rows": sizes.tolist(),
        "share": (sizes / sizes.sum()).round(4).tolist(),
    }
    if sequences is not None:
        members: list[set[Any]] = [set() for _ in sizes]
        for name, k in zip(sequences, model.labels_.tolist()):
            members[k].add(name)
        columns["sequences"] = [len(names) for names in members]
    return columns


def _channel_columns(model: MultiSourceClustering, shared: dict[str, float]) -> dict[str, list[Any]]:
    names = ("channel", "columns", "codes", "clusters", "bits", "bits kept")
    rows: dict[str, list[Any]] = {name: [] for name in names}
    clustered = model.table_.aggregate({name: np.maximum(of, 0) for name, of in model.code_labels_.items()})
    for name, book in model.codebooks_.items():
        rows["channel"].append(name)
        rows["columns"].append(book.prototypes_.shape[1])
        rows["codes"].append(len(book.prototypes_))
        rows["clusters"].append(int(model.code_labels_[name].max()) + 1)
        kept = clustered.mutual_information(model.primary_, name, unit="bits") if name in shared else None
        rows["bits"].append(round(shared[name], 4) if name in shared else "")
        rows["bits kept"].append(round(kept, 4) if kept is not None else "")
    return rows


def _sequence_columns(model: MultiSourceClustering, sequences: Any) -> dict[str, list[Any]]:
    raw = model.code_labels_[model.primary_][model.channel_codes_[model.primary_]]
    rows_of: dict[Any, list[int]] = {}
    for i, name in enumerate(sequences):
        rows_of.setdefault(name, []).append(i)
    columns: dict[str, list[Any]] = {"sequence": [], "rows": [], "cluster": [], "agreement": []}
    for name, where in rows_of.items():
        counts = np.bincount(raw[where])
        columns["sequence"].append(name)
        columns["rows"].append(len(where))
        columns["cluster"].append(int(model.labels_[where[0]]) if model.reassign else int(counts.argmax()))
        columns["agreement"].append(round(float(counts.max() / len(where)), 4))
    return columns
