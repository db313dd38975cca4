"""The sources job: several channels recorded together become clusters of every channel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.errors import InvalidInput, InvalidParameter
from sidelight.estimators.sources.information import InformationCoclustering
from sidelight.estimators.sources.multisource import MultiSourceClustering
from sidelight.jobs.config import RunConfig
from sidelight.jobs.run import Findings, Outcome, publish
from sidelight.jobs.tables import as_dense, read_data
from sidelight.plot import ClusterScatterDisplay, CoclusterDisplay, PreservedInformationDisplay
from sidelight.report import Section, Table

_TORN = 0.7  # a sequence of which fewer rows agree deserves a look


def work(config: RunConfig) -> Findings:
    """Read channels and sequences, cluster them, and say what was found."""
    data = read_data(config.table, config.roles)
    if not data.channels or len(data.channels) < 2:
        raise InvalidInput(
            f"{config.table!r}: name at least two channels and their columns, as in --channel face='face_*' "
            "--channel height=height. `sidelight describe` lists the columns."
        )
    id_name = next(iter(data.columns("row id")), "row")
    ids = list(range(data.n_rows)) if data.row_ids is None else data.row_ids.tolist()
    sequences = None if data.sequence is None else list(data.sequence)
    return cluster(as_dense(data), data.channels, sequences, config, ids, id_name)


def cluster(
    X: np.ndarray, channels: dict[str, slice], sequences: Any, config: RunConfig, ids: Sequence[Any], id_name: str
) -> Findings:
    """Cluster channels that were read already."""
    options = dict(config.options)
    if options.get("primary") is None:
        options["primary"] = next(iter(channels))
    model = MultiSourceClustering(channels=dict(channels), random_state=config.seed, **options)
    model.fit(X, sequences=sequences)

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
    tables = {"clusters": _clusters(model, sequences), "channels": _channels(model, shared)}
    sentences = [
        f"{len(X)} rows of {len(names)} channels fell into {np.count_nonzero(sizes)} clusters of "
        f"{sizes[sizes > 0].min()} to {sizes.max()} rows, by the channel {primary!r}.",
        f"{primary!r} shares most with {partner!r}: {shared[partner]:.2f} bits between their codes.",
    ]
    agreement = None
    if sequences is not None:
        tables["sequences"] = agreement = _sequences(model, sequences)
        torn = [name for name, share in zip(agreement["sequence"], agreement["agreement"]) if share < _TORN]
        verdict = f"{len(torn)} of {len(agreement['sequence'])} sequences are torn between clusters"
        shown = ", ".join(map(str, torn[:5])) + (" ..." if len(torn) > 5 else "")
        sentences.append(
            f"{verdict}: {shown}." if torn else f"{verdict}: within each, {_TORN:.0%} of the rows or more agree."
        )
    return Findings(
        "Clusters of several channels", sentences, model, assignments, tables,
        _sections(model, X, primary, partner, tables, agreement), {"rows": len(X), "channels": ", ".join(names)},
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
        "People seen through four channels", [*found.sentences, story[1]], found.model, found.assignments,
        found.tables, sections, found.facts,
    )  # fmt: skip
    return publish(config, found, folder)


def _sections(
    model: MultiSourceClustering, X: np.ndarray, primary: str, partner: str, tables: dict[str, Any], agreement: Any
) -> list[Section]:
    pair = model.table_.margin(primary, partner)
    picture = CoclusterDisplay.from_labels(
        pair, model.code_labels_[primary], model.code_labels_[partner], axes_names=(primary, partner)
    )
    most = min(20, *pair.shape)
    curve = PreservedInformationDisplay.from_estimator(
        InformationCoclustering(n_init=5, random_state=0), pair, range(2, most + 1), floor=True
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
        rows["bits"].append(shared.get(name, ""))
        kept = clustered.mutual_information(model.primary_, name, unit="bits") if name in shared else ""
        rows["bits kept"].append(kept)
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
    """Read ``name=pattern`` words; a name may come several times."""
    channels: dict[str, list[str]] = {}
    for word in given:
        name, mark, pattern = word.partition("=")
        if not mark or not name or not pattern:
            raise InvalidParameter(f"A channel is NAME=COLUMN, as in --channel face='face_*'. Got {word!r} instead.")
        channels.setdefault(name, []).append(pattern)
    return channels
