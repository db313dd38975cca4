"""Pretrained features in front of our own cut and default fits: photographs, environmental sounds, digits and posts.

Three splits each. Plain: the numbers that people can read. Card: those of the installed network. Both: side by side.
"Told every row" is a logistic regression that was told the truth of every row to learn from, on the same prepared rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier

import sidelight as sl
import view_sets
from bench_material import KINDS
from datasets import folder as data_folder
from runner import WORK, Sheet
from sidelight._models.column_kinds import families_of
from sidelight._models.prepared_rows import Preparation
from sidelight.errors import ignore_warnings
from sidelight.files.material.pictures import PictureRecipe, _pixels, _planes, regions_of
from sidelight.metrics import normalized_mutual_information

TITLE = "Pretrained features: photographs, sounds and texts"
SPLITS = 3
HELD_OUT = 60  # photographs
IN_LIST = 3  # clips of a list
FEATURES = ("plain", "card", "both")
STRENGTHS = (0.001, 0.01, 0.1)  # C of regressions on whole files; the best counts, by the truth
EMB = ("emb_*",)


def fill(sheet: Sheet) -> None:
    """Measure photographs, sounds, digits and posts."""
    place = WORK / "embeddings"  # what was cut stays, and is taken up again
    place.mkdir(parents=True, exist_ok=True)
    with ignore_warnings():
        photographs(sheet, place)
        sounds(sheet, place)
        recordings(sheet, place)
        spoken(sheet, place)
        texts(sheet)
    sheet.notes.append(
        f"Means over {SPLITS} splits. Photographs: 197 of MSRC v2, {HELD_OUT} of them held out without their tags, "
        f"pixels of six regions of our own cut. Sounds: 10 kinds of environmental sound, 240 clips, lists of {IN_LIST} "
        "clips, a quarter of the clips held out. Networks were trained on other photographs and sounds, by others."
    )


class Rows:
    """Rows of a folder: readable numbers, those of the card, or both, with what our estimators are told of them."""

    def __init__(self, data: sl.Dataset, features: str) -> None:
        names, plain = data.readable if data.readable is not None else (data.feature_names, data.X)
        parts = {"plain": (plain,), "card": (data.X,), "both": (data.X, plain)}[features]
        self.X = np.hstack(parts)
        self.names = (*(data.feature_names if features != "plain" else ()), *(names if features != "card" else ()))
        self.components = EMB if features != "plain" else ()

    def put_before(self, estimator: Any) -> Any:
        """Return an estimator with the preparation in front that a run puts there."""
        return sl.Standardized(estimator, feature_names=self.names, components=self.components)

    def prepared(self, learns: Any = slice(None)) -> np.ndarray:
        """Return all rows prepared as the estimators do, by some of them."""
        families = families_of(self.names, self.components) if self.components else None
        return np.asarray(Preparation.of(self.X[learns], families=families)(self.X))


def cut(place: Path, folder: str, **how: Any) -> sl.Dataset:
    """Cut a folder of the public data with the installed card."""
    name = "-".join(str(one) for one in (folder.replace("/", "-"), *how.values()))
    return sl.from_folder(data_folder() / folder, out=place / f"{name}.parquet", n_jobs=2, **how)


# Photographs.


def photographs(sheet: Sheet, place: Path) -> None:
    """Name regions of photographs whose tags are known, and of others; guess the tags of others."""
    tags = _tags()
    data = cut(place, "msrcv2_photos/photos")
    files = [str(name).rsplit("#", 1)[0] for name in data.row_names]
    truth = np.vstack([_pixels_of_regions(name) for name in dict.fromkeys(files)])
    whole = cut(place, "msrcv2_photos/photos", whole=True)
    of_file = {str(name).rsplit("#", 1)[0]: k for k, name in enumerate(whole.row_names)}
    lines, best = [], {}
    for features in FEATURES:
        rows = Rows(data, features)
        found = np.array([_photographs(rows, np.array(files), truth, tags, seed) for seed in range(SPLITS)]).mean(0)
        best[features] = found
        lines.append((features, *(f"{value:.3f}" for value in found)))
    sheet.row(
        "photographs: held-out pixels named right, card", f"{best['card'][1]:.3f}", ">= .84", best["card"][1] >= 0.84
    )
    sheet.row(
        "photographs: tags of held-out ones, micro-F1, card",
        f"{best['card'][3]:.3f}",
        ">= .85",
        best["card"][3] >= 0.85,
    )
    regressions = np.array([_of_whole(whole, of_file, tags, seed) for seed in range(SPLITS)]).mean(axis=0).max()
    sheet.row("photographs: the same by one regression a tag on whole photographs", f"{regressions:.3f}")
    header = [
        "features",
        "pixels, tags known",
        "pixels, held out",
        "told every region, held out",
        "tags held out, micro-F1",
    ]
    sheet.section("Photographs", header, lines)


@cache
def _tags() -> dict[str, frozenset[str]]:
    lines = (data_folder() / "msrcv2_photos" / "tags.csv").read_text().splitlines()[1:]
    return {line.split(",")[0]: frozenset(line.split(",")[1].split()) for line in lines}


def _pixels_of_regions(name: str) -> np.ndarray:
    """Return how many pixels of each kind (0: nobody said) every region has, in the order of the table."""
    folder = data_folder() / "msrcv2_photos"
    regions = regions_of(_planes(_pixels(folder / "photos" / name)), PictureRecipe().regions)
    kinds = Image.open(folder / "truth" / f"{Path(name).stem}.png")
    kinds = np.asarray(kinds.resize(regions.shape[::-1], Image.Resampling.NEAREST))
    counts = np.zeros((regions.max() + 1, len(KINDS) + 1))
    np.add.at(counts, (regions.ravel(), kinds.ravel()), 1.0)
    return counts[np.argsort(-np.bincount(regions.ravel()), kind="stable")]


def _photographs(
    rows: Rows, files: np.ndarray, truth: np.ndarray, tags: dict[str, frozenset[str]], seed: int
) -> tuple[float, float, float, float]:
    names = np.unique(files)
    held = set(np.random.default_rng(seed).permutation(names)[:HELD_OUT].tolist())
    new = np.isin(files, list(held))
    bags = sl.Bags(files[~new], labels={name: set(tags[name]) for name in names if name not in held})
    model = rows.put_before(sl.CoverageClustering(random_state=0)).fit(rows.X[~new], bags=bags)
    known = _right(model.predict_labels(rows.X[~new], bags=bags), truth[~new])
    placed = _right(model.predict_labels(rows.X[new]), truth[new])
    asked = sl.Bags(files[new])
    said = model.predict_bags(rows.X[new], asked)
    kinds = sorted(set().union(*tags.values()))
    guessed = np.array([[kind in set(map(str, one)) for kind in kinds] for one in said])
    wanted = np.array([[kind in tags[str(name)] for kind in kinds] for name in asked.names])
    told = (truth[:, 1:].sum(axis=1) > 0) & ~new
    Z = rows.prepared(~new)
    regression = LogisticRegression(C=1 / 15, max_iter=500).fit(Z[told], truth[told, 1:].argmax(axis=1))
    every = _right([KINDS[k] for k in regression.predict(Z[new])], truth[new])
    return known, placed, every, float(f1_score(wanted, guessed, average="micro"))


def _right(named: Iterable[Any], truth: np.ndarray) -> float:
    places = [KINDS.index(str(name)) + 1 for name in named]
    return float(truth[np.arange(len(truth)), places].sum() / truth[:, 1:].sum())


def _of_whole(data: sl.Dataset, of_file: dict[str, int], tags: dict[str, frozenset[str]], seed: int) -> list[float]:
    names = np.array(sorted(of_file))
    held = np.isin(names, np.random.default_rng(seed).permutation(names)[:HELD_OUT])
    X = Rows(data, "card").X[[of_file[name] for name in names]]
    X = (X - X[~held].mean(axis=0)) / np.maximum(X[~held].std(axis=0), 1e-12)
    kinds = sorted(set().union(*tags.values()))
    Y = np.array([[kind in tags[name] for kind in kinds] for name in names])
    some = Y[~held].any(axis=0)
    scores = []
    for strength in STRENGTHS:
        model = OneVsRestClassifier(LogisticRegression(C=strength, max_iter=500)).fit(X[~held], Y[~held][:, some])
        guessed = np.zeros_like(Y[held])
        guessed[:, some] = model.predict(X[held])
        scores.append(float(f1_score(Y[held], guessed, average="micro")))
    return scores


# Sounds.


def sounds(sheet: Sheet, place: Path) -> None:
    """Name clips in lists of three, and clips that are in none; cut recordings of three clips ourselves."""
    kinds = dict(line.split(",") for line in _kinds())
    data = cut(place, "environmental_sounds/clips", whole=True)
    y = np.array([kinds[str(name).rsplit("#", 1)[0]] for name in data.row_names])
    table, best = [], {}
    for features in FEATURES:
        rows = Rows(data, features)
        found = np.array([_clips(rows, y, seed) for seed in range(SPLITS)]).mean(axis=0)
        best[features] = found
        table.append((features, *(f"{value:.3f}" for value in found), *_without(rows, y)))
    met = best["card"][1] >= 0.85
    sheet.row(
        "sounds: clips named right, held out, lists of three known, card", f"{best['card'][1]:.3f}", ">= .85", met
    )
    header = [
        "features", "named right, lists known", "held out, no lists", "told every clip, held out",
        "k-means, NMI", "ours without lists, NMI",
    ]  # fmt: skip
    sheet.section("Sounds", header, table)


def _clips(rows: Rows, y: np.ndarray, seed: int) -> tuple[float, float, float]:
    order = np.random.default_rng(seed).permutation(len(y))
    learns, new = order[: len(y) * 3 // 4], order[len(y) * 3 // 4 :]
    ids = np.arange(len(learns)) // IN_LIST
    bags = sl.Bags(ids, labels={k: set(y[learns[ids == k]].tolist()) for k in np.unique(ids).tolist()})
    model = rows.put_before(sl.CoverageClustering(random_state=0)).fit(rows.X[learns], bags=bags)
    known = np.mean(np.asarray(model.predict_labels(rows.X[learns], bags=bags)).astype(str) == y[learns])
    placed = np.mean(np.asarray(model.predict_labels(rows.X[new])).astype(str) == y[new])
    Z = rows.prepared(learns)
    regression = LogisticRegression(C=0.1, max_iter=500).fit(Z[learns], y[learns])
    return float(known), float(placed), float(regression.score(Z[new], y[new]))


def _without(rows: Rows, y: np.ndarray) -> tuple[str, str]:
    """Return NMI of k-means and of ours, where nothing but the number of kinds is known."""
    k, Z = len(np.unique(y)), rows.prepared()
    codes = np.unique(y, return_inverse=True)[1]
    theirs, ours = [], []
    for seed in range(SPLITS):
        theirs.append(normalized_mutual_information(codes, KMeans(k, n_init=5, random_state=seed).fit_predict(Z)))
        model = rows.put_before(sl.estimators.RowClustering(k, random_state=seed)).fit(rows.X)
        ours.append(normalized_mutual_information(codes, model.labels_))
    return f"{np.mean(theirs):.3f}", f"{np.mean(ours):.3f}"


# Recordings of several clips, cut by ourselves.


def recordings(sheet: Sheet, place: Path) -> None:
    """Cut recordings of three clips with noise between, and name the pieces of some whose lists nobody made."""
    lines, best = [], {}
    kinds = dict(line.split(",") for line in _kinds())
    made = [_mixed(place / f"mixed-{seed}", kinds, seed) for seed in range(SPLITS)]
    for features in FEATURES:
        found = np.array([_pieces(data, where, features) for data, where in made]).mean(axis=0)
        best[features] = found
        lines.append((features, *(f"{value:.3f}" for value in found)))
    told = f"{best['card'][1]:.3f}, plain {best['plain'][1]:.3f}"
    sheet.row("recordings of three clips: pieces of new ones named right, card", told)
    header = ["features", "pieces named right, lists known", "held out", "told every piece, held out"]
    sheet.section("Recordings of three clips, cut by us", header, lines)


def _kinds() -> list[str]:
    return (data_folder() / "environmental_sounds" / "kinds.csv").read_text().split()[1:]


Calls = dict[str, list[tuple[float, float, str]]]


def _mixed(place: Path, kinds: dict[str, str], seed: int) -> tuple[sl.Dataset, Calls]:
    """Return pieces of recordings, and where which clip is in each."""
    import soundfile

    generator, calls = np.random.default_rng(seed), {}
    place.mkdir(parents=True, exist_ok=True)
    files = generator.permutation(sorted(kinds)).tolist()
    for k in range(len(files) // IN_LIST):
        parts, at, own = [], 0.0, []
        for file in files[k * IN_LIST : (k + 1) * IN_LIST]:
            clip, rate = soundfile.read(data_folder() / "environmental_sounds" / "clips" / file)
            gap = generator.normal(scale=0.003, size=int(rate * generator.uniform(0.5, 1.5)))
            loud = clip / max(float(np.abs(clip).max()), 1e-9) * 0.5 + generator.normal(scale=0.003, size=len(clip))
            own.append((at + len(gap) / rate, at + (len(gap) + len(clip)) / rate, kinds[file]))
            parts += [gap, loud]
            at = own[-1][1]
        soundfile.write(place / f"r{k:03d}.wav", np.concatenate(parts), rate)
        calls[f"r{k:03d}.wav"] = own
    return sl.from_folder(place, out=place.with_suffix(".parquet"), n_jobs=2), calls


def _pieces(data: sl.Dataset, calls: Calls, features: str) -> tuple[float, float, float]:
    import polars as pl

    assert data.bags is not None
    table = pl.read_parquet(data.path).select("file", "start", "end")
    names = np.array([Path(str(name)).name for name in table["file"]])
    y = np.array(
        [
            max(calls[name], key=lambda call: min(end, call[1]) - max(start, call[0]))[2]  # it lies in most of
            for name, start, end in zip(names, table["start"], table["end"])
        ]
    )
    rows = Rows(data, features)
    new = np.isin(names, sorted(calls)[: len(calls) // 4])
    lists = {name: {kind for _, _, kind in calls[name]} for name in np.unique(names[~new])}
    bags = sl.Bags(names[~new], labels=lists)
    model = rows.put_before(sl.CoverageClustering(random_state=0)).fit(rows.X[~new], bags=bags)
    known = np.mean(np.asarray(model.predict_labels(rows.X[~new], bags=bags)).astype(str) == y[~new])
    placed = np.mean(np.asarray(model.predict_labels(rows.X[new])).astype(str) == y[new])
    Z = rows.prepared(~new)
    regression = LogisticRegression(C=0.1, max_iter=500).fit(Z[~new], y[~new])
    return float(known), float(placed), float(regression.score(Z[new], y[new]))


# Spoken digits and posts: where the cards say nothing new, or there is none.


def spoken(sheet: Sheet, place: Path) -> None:
    """Name digits of speakers who are in no list."""
    data = cut(place, "spoken_digits/recordings", whole=True)
    files = [str(name).rsplit("#", 1)[0] for name in data.row_names]
    y, speaker = (np.array([file.split("_")[k] for file in files]) for k in (0, 1))
    lines = []
    for features in FEATURES:
        rows, found = Rows(data, features), []
        for seed in range(SPLITS):
            generator = np.random.default_rng(seed)
            new = np.isin(speaker, generator.permutation(np.unique(speaker))[:2])
            learns = generator.permutation(np.flatnonzero(~new))
            ids = np.arange(len(learns)) // IN_LIST
            bags = sl.Bags(ids, labels={k: set(y[learns[ids == k]].tolist()) for k in np.unique(ids).tolist()})
            model = rows.put_before(sl.CoverageClustering(random_state=0)).fit(rows.X[learns], bags=bags)
            regression = LogisticRegression(C=0.1, max_iter=500).fit(rows.prepared(learns)[learns], y[learns])
            placed = np.asarray(model.predict_labels(rows.X[new])).astype(str)
            found.append((np.mean(placed == y[new]), regression.score(rows.prepared(learns)[new], y[new])))
        lines.append((features, *(f"{value:.3f}" for value in np.mean(found, axis=0))))
    header = ["features", "held-out speakers, lists of three known", "told every take"]
    sheet.section("Spoken digits", header, lines, "What a card listens to need not be what kinds differ by.")


def texts(sheet: Sheet) -> None:
    """Cluster the posts of five groups as `sidelight cluster` does, where no card for texts is installed."""
    lines = []
    for seed in range(SPLITS):
        views, y = view_sets.newsgroups(5, seed)
        k, X = len(np.unique(y)), views["body"]
        theirs = KMeans(k, n_init=5, random_state=seed).fit_predict(Preparation.of(X)(X))
        model = sl.Standardized(sl.estimators.RowClustering(k, random_state=seed)).fit(X)
        ours = model.labels_
        scores = (f"{normalized_mutual_information(y, labels):.3f}" for labels in (theirs, ours))
        lines.append((seed, *scores, len(np.unique(ours))))
    sheet.section("Posts of five groups, words alone", ["draw", "k-means, NMI", "ours, NMI", "clusters of 5"], lines)
