"""The sources job: several channels recorded together become clusters of every channel."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.data.readers import Dataset
from sidelight.errors import InvalidInput, InvalidParameter, SidelightWarning
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.multisource import MultiSourceClustering
from sidelight.jobs.config import RunConfig
from sidelight.jobs.phrases import sizes_in_words, some_of
from sidelight.jobs.run import Findings, Outcome, publish
from sidelight.jobs.tables import about_left_out, as_dense, read_data
from sidelight.plot import ClusterScatterDisplay, CoclusterDisplay, PreservedInformationDisplay
from sidelight.report import Section, Table

_TORN = 0.7  # a sequence of which fewer rows agree deserves a look


def work(config: RunConfig) -> Findings:
    """Read channels and sequences, cluster them, and say what was found."""
    data = read_data(config.table, config.roles, sequences=True)
    if not data.channels or len(data.channels) < 2:
        raise InvalidInput(
            f"{config.table!r}: name at least two channels and their columns, as in --channel face='face_*' "
            "--channel height=height. `sidelight describe` lists the columns."
        )
    found = cluster(as_dense(data), data.channels, _sequence_of(data), config, *_names(data))
    tables = dict(found.tables)
    sentences = [*_about_reading(data), *found.sentences]
    if config.options.get("judge") is not None:
        tables["new"], told = _judged(found.model, str(config.options["judge"]), config)
        sentences.append(told)
    return replace(found, sentences=sentences, tables=tables)


def cluster(
    X: np.ndarray, channels: dict[str, slice], sequences: Any, config: RunConfig, ids: Sequence[Any], id_name: str
) -> Findings:
    """Cluster channels that were read already."""
    options = dict(config.options)
    options.pop("judge", None)
    tried = options.pop("curve", None)
    if options.get("primary") is None:
        options["primary"] = next(iter(channels))
    model = MultiSourceClustering(channels=dict(channels), random_state=config.seed, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SidelightWarning)
        model.fit(X, sequences=sequences)
    said = [w.message.what for w in caught if isinstance(w.message, SidelightWarning)]

    primary, names = model.primary_, list(channels)
    others = [name for name in names if name != primary]
    shared = {name: model.table_.mutual_information(primary, name, unit="bits") for name in others}
    partner = max(shared, key=lambda name: shared[name])
    sizes = np.bincount(model.labels_)
    assignments: dict[str, Any] = {id_name: list(ids)}
    if sequences is not None:
        assignments["sequence"] = list(sequences)
    assignments["cluster"] = model.labels_.tolist()
    assignments |= {f"cluster of {name}": model.channel_labels_[name].tolist() for name in names}
    curve = _curve(model, primary, partner, tried)
    tables = {"clusters": _clusters(model, sequences), "channels": _channels(model, shared), "curve": curve.columns()}
    n_found, n_asked = int(np.count_nonzero(sizes)), model.clusterer_.n_clusters[primary]
    sentences = [
        f"{len(X)} rows of {len(names)} channels fell into {n_found} clusters{sizes_in_words(sizes)}, by the channel "
        f"{primary!r}.",
        *_fewer(n_found, n_asked, model, sequences),
        f"{primary!r} shares most with {partner!r}: {shared[partner]:.2f} bits between their codes.",
        *(sentence[0].upper() + sentence[1:] for sentence in said),
    ]
    agreement = None
    if sequences is not None:
        tables["sequences"] = agreement = _sequences(model, sequences)
        torn = [name for name, share in zip(agreement["sequence"], agreement["agreement"]) if share < _TORN]
        verdict = f"{len(torn)} of {len(agreement['sequence'])} sequences are torn between clusters"
        sentences.append(
            f"{verdict}: {some_of(torn, 5)}."
            if torn
            else f"{verdict}: within each, {_TORN:.0%} of the rows or more agree."
        )
    return Findings(
        "Clusters of several channels", sentences, model, assignments, tables,
        _sections(model, X, primary, partner, tables, agreement, curve), {"rows": len(X), "channels": ", ".join(names)},
    )  # fmt: skip


def demo(folder: Path, seed: int) -> Outcome:
    """Tell five people apart by their faces, with the help of what they wear."""
    from sidelight.data.channels import stack_channels
    from sidelight.data.synth.sources import make_sources
    from sidelight.metrics import clustering_accuracy

    seen = make_sources(5, n_sequences=20, n_points=2000, random_state=seed)
    X, channels = stack_channels(seen.channels)
    config = RunConfig("sources", "sidelight.make_sources", options={"n_clusters": 5, "primary": "face"}, seed=seed)
    found = cluster(X, channels, seen.sequences.tolist(), config, list(range(len(X))), "row")
    right = clustering_accuracy(seen.subjects, found.model.labels_)
    story = [
        "Five people walk past a camera on several days. Faces change with light and pose, people own several jackets, "
        "and some share a height; nobody labelled anything.",
        f"Clustered through what occurs together, {right:.0%} of the rows are with the right person.",
    ]
    sections = [Section("What this is", story), *found.sections]
    found = Findings(
        "People seen through four channels", found.sentences, found.model, found.assignments,
        found.tables, sections, found.facts,
    )  # fmt: skip
    return publish(config, found, folder)


def _sections(
    model: MultiSourceClustering,
    X: np.ndarray,
    primary: str,
    partner: str,
    tables: dict[str, Any],
    agreement: Any,
    curve: PreservedInformationDisplay,
) -> list[Section]:
    pair = model.table_.margin(primary, partner)
    picture = CoclusterDisplay.from_labels(
        pair, model.code_labels_[primary], model.code_labels_[partner], axes_names=(primary, partner)
    )
    where = model.channel_columns_[primary]
    scatter = ClusterScatterDisplay.from_estimator(model, _standard(X[:, where]))
    sections = [
        Section(
            "What occurs together",
            [
                f"Rows are codes of {primary!r}, columns codes of {partner!r}, sorted by cluster; dark cells occurred "
                "often together. The right half is what the clusters remember: the closer it looks, the less is lost."
            ],
            [(picture, f"Counts of {primary} and {partner}, and their approximation by clusters.")],
            [
                Table(
                    tables["channels"],
                    "Every channel, and what its codes and clusters share with the primary one, in bits.",
                )
            ],
        ),
        Section("The rows on a map", [], [(scatter, f"Rows by cluster, on two main directions of {primary!r}.")]),
        Section(
            "How many clusters?",
            [
                "Where the curve bends, more clusters remember little more; the grey curve is a table of the same size "
                "in which there is nothing to find."
            ],
            [(curve, f"Information of {primary} and {partner} that k clusters keep.")],
        ),
        Section("The clusters", tables=[Table(tables["clusters"], "Sizes of the clusters.")]),
    ]
    if agreement is not None:
        caption = "The cluster of each sequence, and the share of its rows that agree with it; least agreement first."
        order = np.argsort(agreement["agreement"], kind="stable")
        ranked = {name: [column[i] for i in order] for name, column in agreement.items()}
        sections.append(Section("The sequences", tables=[Table(ranked, caption)]))
    return sections


def _names(data: Dataset) -> tuple[list[Any], str]:
    return data.row_names.tolist(), data.row_title


def _sequence_of(data: Dataset) -> list[Any] | None:
    return None if data.sequence is None else list(data.sequence)


def _about_reading(data: Dataset) -> list[str]:
    """Say what was left out, and what was guessed."""
    guessed = [role for role in data.roles if role.role == "sequence" and role.is_guess]
    return [f"{about_left_out(rows)}: left out." for rows in data.left_out] + [
        f"Sequences were taken from the column {role.name!r} ({role.why}); --sequence none goes without them."
        for role in guessed
    ]


def _fewer(found: int, asked: int, model: MultiSourceClustering, sequences: Any) -> list[str]:
    if found >= asked:
        return []
    why = " after every row followed its sequence (--no-reassign keeps them)" if sequences and model.reassign else ""
    return [f"{asked} clusters were asked for; the others hold no rows{why}."]


def _curve(model: MultiSourceClustering, primary: str, partner: str, tried: Any) -> PreservedInformationDisplay:
    pair = model.table_.margin(primary, partner)
    low, high = tried or (2, min(20, *pair.shape))
    return PreservedInformationDisplay.from_estimator(
        InformationCoclustering(n_init=5, random_state=0), pair, range(low, high + 1), floor=True
    )


def _judged(model: MultiSourceClustering, path: str, config: RunConfig) -> tuple[dict[str, list[Any]], str]:
    """Place the rows of another table with the same columns, and say which fit no cluster."""
    data = read_data(path, config.roles, sequences=True)
    X, sequences = as_dense(data), _sequence_of(data)
    ids, id_name = _names(data)
    new = model.is_new(X, sequences=sequences)
    columns: dict[str, list[Any]] = {id_name: ids}
    if sequences is not None:
        columns["sequence"] = sequences
    columns |= {"cluster": model.predict(X, sequences=sequences).tolist(), "new": new.astype(int).tolist()}
    gaps = "".join(f"{path!r}: {about_left_out(rows)}: left out. " for rows in data.left_out)
    told = f"{gaps}{int(new.sum())} of {len(X)} rows of {path!r} fit no cluster (new.csv)"
    strangers = dict.fromkeys(name for name, is_new in zip(sequences or (), new) if is_new)
    return columns, told + (f": sequences {some_of(list(strangers), 5)}." if strangers else ".")


def _clusters(model: MultiSourceClustering, sequences: Any) -> dict[str, list[Any]]:
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


def _channels(model: MultiSourceClustering, shared: dict[str, float]) -> dict[str, list[Any]]:
    rows: dict[str, list[Any]] = {
        "channel": [],
        "columns": [],
        "codes": [],
        "clusters": [],
        "bits": [],
        "bits kept": [],
    }
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


def _sequences(model: MultiSourceClustering, sequences: Any) -> dict[str, list[Any]]:
    raw = model.code_labels_[model.primary_][model.channel_codes_[model.primary_]]
    found: dict[Any, list[int]] = {}
    for i, name in enumerate(sequences):
        found.setdefault(name, []).append(i)
    rows: dict[str, list[Any]] = {"sequence": [], "rows": [], "cluster": [], "agreement": []}
    for name, where in found.items():
        counts = np.bincount(raw[where])
        rows["sequence"].append(name)
        rows["rows"].append(len(where))
        rows["cluster"].append(int(model.labels_[where[0]]) if model.reassign else int(counts.argmax()))
        rows["agreement"].append(round(float(counts.max() / len(where)), 4))
    return rows


def _standard(X: np.ndarray) -> np.ndarray:
    spread = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def channels_of(given: Sequence[str]) -> dict[str, list[str]]:
    """Read ``name=pattern,pattern`` words, one for every channel."""
    channels: dict[str, list[str]] = {}
    for word in given:
        name, mark, pattern = word.partition("=")
        if not mark or not name or not pattern:
            raise InvalidParameter(f"A channel is NAME=COLUMNS, as in --channel face='face_*'. Got {word!r} instead.")
        if name in channels:
            raise InvalidParameter(
                f"--channel names {name!r} twice ({','.join(channels[name])!r} and {pattern!r}). Give every channel a "
                f"name of its own; several columns of one channel go into one word: --channel {name}='a_*,b'."
            )
        channels[name] = [part.strip() for part in pattern.split(",") if part.strip()]
    return channels
