"""Samples to try every command on: tables, and folders of sounds, pictures and letters."""

from __future__ import annotations

import csv
import io
import wave
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.atomic import check_folder
from sidelight.app.jobs.config import as_toml
from sidelight.app.jobs.output import check_file_free, output_folder, write_text
from sidelight.data.bags import Bags
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.dataset import Dataset
from sidelight.data.synth.material import RATE, make_letters, make_photographs, make_recordings
from sidelight.errors import InvalidParameter, UnknownName, nearest
from sidelight.files.writing import ENDINGS, write
from sidelight.words import Sentence, Setting


@dataclass(frozen=True)
class Sample:
    """What it is, how to draw it from a seed, and what its columns are called."""

    what: str
    draw: Callable[[int], Dataset]
    called: Mapping[str, str] = field(default_factory=dict)


def write_sample(name: str, out: str, *, seed: int = 0, overwrite: bool = False) -> list[str]:
    """Write the sample ``name`` to the file ``out``; return what was done, in sentences."""
    if name not in SAMPLES:
        raise UnknownName(f"There is no sample called {name!r}. {nearest(name, [*SAMPLES, *FOLDERS])}")
    check_file_free(Path(out), overwrite=overwrite)
    check_folder(Path(out))
    data = SAMPLES[name].draw(seed)
    if data.counts is not None:
        written = _write_events(data.counts, Path(out), seed)
    else:
        written = list(write(data, out, called=SAMPLES[name].called))
    return [f"{SAMPLES[name].what}.", *written, f"Next: sidelight describe {out}"]


def _bundled(name: str) -> Callable[[int], Dataset]:
    def draw(seed: int) -> Dataset:
        from sklearn import datasets

        bunch = getattr(datasets, f"load_{name}")()
        names = tuple(str(n).replace(" (cm)", "").replace(" ", "_") for n in bunch.feature_names)
        y = np.array([str(bunch.target_names[t]) for t in bunch.target], dtype=object)
        return Dataset(np.asarray(bunch.data, dtype=np.float64), names, name, "sample", y=y)

    return draw


def _digit_bags(seed: int) -> Dataset:
    from sidelight.data.samples import load_digit_bags

    drawn = load_digit_bags(random_state=seed)
    return _with_bags(drawn.X, drawn.bags, [f"pixel_{j}" for j in range(drawn.X.shape[1])], drawn.y)


def _rectangles(seed: int) -> Dataset:
    from sidelight.data.synth.bags import make_rectangles

    drawn = make_rectangles(n_test=1, random_state=seed)
    return _with_bags(drawn.X, drawn.bags, ["x1", "x2"], None)


def _birds(seed: int) -> Dataset:
    """Segments of recordings: five species and noise; each recording lists the species that sing in it."""
    rng = np.random.default_rng(seed)
    species = np.array(["wren", "thrush", "owl", "warbler", "jay"])
    centres = rng.normal(scale=3.0, size=(len(species) + 1, 6))
    rows, ids, labels = [], [], {}
    for k in range(120):
        present = rng.choice(len(species), size=rng.integers(1, 4), replace=False)
        kinds = np.concatenate([present, rng.choice([*present, len(species)], size=rng.integers(3, 9))])
        rows.append(centres[kinds] + rng.normal(size=(len(kinds), 6)))
        ids += [f"rec{k:03d}"] * len(kinds)
        labels[f"rec{k:03d}"] = set(species[present].tolist())
    return _with_bags(np.round(np.concatenate(rows), 4), Bags(ids, labels=labels), [f"f{j}" for j in range(6)], None)


def _bird_counts(seed: int) -> Dataset:
    """Calls of 60 visits, and how many of each kind somebody counted; every visit has most kinds."""
    rng = np.random.default_rng(seed)
    species = ("wren", "thrush", "owl", "warbler", "jay")
    centres = rng.normal(scale=2.5, size=(len(species), 6))
    sizes = rng.integers(15, 40, size=60)
    ids = np.repeat([f"visit{b + 1:02d}" for b in range(len(sizes))], sizes)
    kinds = [rng.choice(len(species), size=size, p=rng.dirichlet(np.full(len(species), 1.5))) for size in sizes]
    rows = centres[np.concatenate(kinds)] + rng.normal(size=(len(ids), 6))
    counts = {
        name: dict(zip(species, np.bincount(some, minlength=len(species)).tolist()))
        for name, some in zip(dict.fromkeys(ids.tolist()), kinds)
    }
    bags = Bags(ids.tolist(), labels=counts, classes=species)
    return _with_bags(np.round(rows, 4), bags, [f"f{j}" for j in range(6)], None)


def _people(seed: int) -> Dataset:
    from sidelight.data.channels import stack_channels
    from sidelight.data.synth.sources import make_sources

    drawn = make_sources(3, n_points=1200, random_state=seed)
    X, places = stack_channels(drawn.channels)
    names = tuple(f"{name}_{j}" for name, place in places.items() for j in range(place.stop - place.start))
    y = np.array([f"person {s}" for s in drawn.subjects.tolist()], dtype=object)
    return Dataset(X, names, "people", "sample", sequence=drawn.sequences, y=y, channels=places)


def _label_tree(seed: int) -> Dataset:
    from sidelight.data.synth.label_tree import make_label_tree

    drawn = make_label_tree(random_state=seed)
    names = tuple(map(str, drawn.tree.names))
    return Dataset(
        drawn.X,
        tuple(f"f{j}" for j in range(drawn.X.shape[1])),
        "label-tree",
        "sample",
        Y=np.asarray(drawn.Y_incomplete).astype(np.int8),
        label_names=names,
        tree=drawn.tree,
    )


def draw_visits(seed: int) -> tuple[Dataset, np.ndarray]:
    """Draw who was seen where, four groups of people and three kinds of places, and the group of each person."""
    rng = np.random.default_rng(seed)
    taste = rng.dirichlet(np.full(3, 0.4), size=4)
    people, places = rng.integers(4, size=60), rng.integers(3, size=30)
    rate = taste[people][:, places]
    counts = rng.poisson(8 * rate)
    labels = {"visitor": [f"visitor{i:02d}" for i in range(60)], "place": [f"place{j:02d}" for j in range(30)]}
    table = CoOccurrence.from_matrix(counts, axes=("visitor", "place"), labels=labels)
    return Dataset(np.empty((0, 0)), (), "visits", "sample", counts=table), people


SAMPLES = {
    "birds": Sample(
        "Segments of 120 recordings in bags, with the species of each recording",
        _birds,
        {"bag": "recording", "bag_labels": "species"},
    ),
    "counts": Sample(
        "Calls of 60 visits in bags, and how many of each species somebody counted",
        _bird_counts,
        {"bag": "visit", "label_": ""},
    ),
    "digit-bags": Sample("Handwritten digits in bags, with the digits of each bag", _digit_bags),
    "digits": Sample("Handwritten digits, 1797 x 64, with their digit", _bundled("digits")),
    "iris": Sample("Flowers, 150 x 4, with their species", _bundled("iris")),
    "label-tree": Sample("Rows with label sets that have gaps, from a tree of labels", _label_tree),
    "people": Sample("Three people seen through four channels, in sequences", _people),
    "rectangles": Sample("Points of six rectangles in bags; two rectangles were never named", _rectangles),
    "visits": Sample("Who was seen where: a table of events", lambda seed: draw_visits(seed)[0]),
    "wine": Sample("Wines, 178 x 13, with their cultivar", _bundled("wine")),
}


def _with_bags(X: Any, bags: Bags, names: list[str], y: Any) -> Dataset:
    labels = None if y is None else np.array([str(v) for v in y.tolist()], dtype=object)
    return Dataset(X, tuple(names), "sample", "sample", bags=bags, y=labels, label_names=tuple(map(str, bags.classes)))


def _write_events(counts: CoOccurrence, out: Path, seed: int) -> list[str]:
    """Write one line for each event, in random order, as a log would be."""
    from sidelight.app.jobs.output import write_csv, write_parquet

    if not out.name.endswith((".csv", ".parquet")):
        raise InvalidParameter(f"{out}: events are written as .csv or .parquet; other samples also as {ENDINGS[-1]}.")
    times = np.repeat(np.arange(counts.nnz), counts.counts.astype(np.intp))
    order = np.random.default_rng(seed).permutation(times)
    columns = {}
    for axis, codes in zip(counts.axes, counts.coords):
        names = counts.labels[axis] or tuple(range(int(codes.max()) + 1))
        columns[axis] = [names[code] for code in codes[order].tolist()]
    (write_parquet if out.suffix == ".parquet" else write_csv)(out, columns)
    return [f"Wrote {len(order)} events to {out}."]


@dataclass(frozen=True)
class FolderSample:
    """What it is, the name of its table of labels, how its files are written, and what to type next."""

    what: str
    labels: str
    write: Callable[[Path, int], Mapping[str, frozenset[str]]]
    next: Callable[[str, str], Sequence[str | Setting]]
    things: str = "files"


def write_folder(name: str, out: str, *, seed: int = 0, overwrite: bool = False) -> list[Sentence]:
    """Write the sample ``name`` into the folder ``out``; return what was done, in sentences."""
    sample, place = FOLDERS[name], Path(out)

    def manifest(files: object) -> str:
        return as_toml({"job": "sample", "table": name, "seed": seed, "files": files}, {})

    with output_folder(place, manifest, overwrite=overwrite) as folder:
        lists = sample.write(folder, seed)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["file", "labels"])
        writer.writerows([file, "|".join(sorted(labels))] for file, labels in lists.items())
        write_text(folder / sample.labels, text.getvalue())
    return [
        f"{sample.what}.",
        f"Wrote {len(lists)} {sample.things} and {sample.labels} to {out}/.",
        ["Next: ", *sample.next(out, f"{out}/{sample.labels}")],
    ]


def _sounds(folder: Path, seed: int) -> Mapping[str, frozenset[str]]:
    lists = {}
    for number, recording in enumerate(make_recordings(random_state=seed), start=1):
        name = f"recording{number:02d}.wav"
        with wave.open(str(folder / name), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(np.rint(32_000 * recording.samples).astype("<i2").tobytes())
        lists[name] = recording.species
    return lists


def _pictures(folder: Path, seed: int) -> Mapping[str, frozenset[str]]:
    from PIL import Image

    lists = {}
    for number, photograph in enumerate(make_photographs(random_state=seed), start=1):
        name = f"photo{number:02d}.png"
        Image.fromarray(photograph.pixels).save(folder / name)
        lists[name] = photograph.tags
    return lists


def _letters(folder: Path, seed: int) -> Mapping[str, frozenset[str]]:
    lists: dict[str, frozenset[str]] = {}
    for number, letter in enumerate(make_letters(random_state=seed), start=1):
        box = f"box{letter.box:02d}"
        (folder / box).mkdir(exist_ok=True)
        write_text(folder / box / f"letter{number:03d}.txt", letter.text)
        lists[box] = lists.get(box, frozenset()) | {letter.topic}
    return lists


def _name_rows(out: str, labels: str) -> Sequence[str | Setting]:
    return [f"sidelight instances {out} ", Setting("label_file", labels), " ", Setting("out", "results")]


FOLDERS = {
    "sounds": FolderSample(
        "Forty recordings of made-up birds, and which of them call in each", "species.csv", _sounds, _name_rows
    ),
    "pictures": FolderSample("Sixty made-up photographs, and what is on each", "tags.csv", _pictures, _name_rows),
    "letters": FolderSample(
        "Thirty boxes of made-up letters, and what is in each", "topics.csv", _letters, _name_rows, "boxes"
    ),
}
