"""How many clusters: how often ``-k auto`` finds the number that was put in, for every job that has it.

Cases are drawn with even kinds and with kinds each 0.7 times the one before; nothing looks at the truth to choose.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

import sidelight as sl
import view_sets
from runner import Sheet
from sidelight.app.jobs.coclusters.how_many import most_telling
from sidelight.app.jobs.sources.how_many import above_chance, number_by_channels
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.synth.sources import make_sources
from sidelight.estimators._how_many import clearest_number
from sidelight.estimators.sources._joined import side_by_side

TITLE = "How many clusters"
ROUNDS = int(os.environ.get("SIDELIGHT_ROUNDS", 5))
FIRST_SEED = 100  # away from the seeds that the rules were compared on
TEXT = (
    "The number that was chosen for each of {rounds} draws (`SIDELIGHT_ROUNDS`), seeds from {first} on. Uneven: every "
    "kind is 0.7 times as frequent as the one before. A centre may lie beside another by chance, so not every kind is "
    "a cluster. In {seen} of {people} draws of people for sources everybody has two sequences or more; somebody with "
    "one cannot be counted. Channels: no sequences; as a foil the rows are asked, all channels side by side."
)


class Case(NamedTuple):
    """What was drawn, how many there are, and how a number is chosen from a seed."""

    job: str
    drawn: str
    truth: tuple[int, ...]
    choose: Callable[[int], tuple[int, ...]]


def fill(sheet: Sheet) -> None:
    """Choose for every case and count the hits."""
    seeds = range(FIRST_SEED, FIRST_SEED + ROUNDS)
    rows, hits, misses, seconds = [], {}, {}, {}  # type: ignore[var-annotated]  # filled below
    for case in cases():
        began = time.process_time()
        found = [case.choose(seed) for seed in seeds]
        seconds[case.job] = seconds.get(case.job, 0.0) + time.process_time() - began
        hits.setdefault(case.job, []).extend(one == case.truth for one in found)
        misses.setdefault(case.job, []).extend(abs(a - b) for one in found for a, b in zip(one, case.truth))
        rows.append((case.job, case.drawn, shown(case.truth), ", ".join(map(shown, found))))
    for job, told in hits.items():
        mean = seconds[job] / len(told)
        sheet.row(f"{job}: the number that was put in", f"{sum(told)} of {len(told)}")
        sheet.row(f"{job}: mean distance from it", f"{np.mean(misses[job]):.2f}")
        sheet.row(f"{job}: processor time of a choice", f"{mean:.2f} s")
    seen = [seen_twice(case.truth[0], seed) for case in cases() if case.job == "sources" for seed in seeds]
    text = TEXT.format(rounds=ROUNDS, first=FIRST_SEED, seen=sum(seen), people=len(seen))
    sheet.section("Chosen", ["job", "drawn", "put in", "chosen"], rows, text)


def shown(numbers: tuple[int, ...]) -> str:
    """Write one number, or one for each side."""
    return " x ".join(map(str, numbers))


def cases() -> Iterator[Case]:
    """List what is drawn."""
    for is_even in (True, False):
        kinds = "even kinds" if is_even else "uneven kinds"
        for k in (2, 3, 5, 8):
            yield Case(
                "relations", f"{60 * k} rows, {kinds}", (k,), lambda seed, k=k, even=is_even: rows(k, even, seed)
            )
        for k in (2, 3, 4, 6):
            for n in (12, 30):
                what = f"{n} bags a kind, {kinds}" if is_even else f"at most {n} bags a kind, {kinds}"
                yield Case("bags", what, (k,), lambda seed, k=k, n=n, even=is_even: bags(k, n, even, seed))
        for sides in ((2, 3), (3, 3), (4, 3), (5, 5), (6, 4)):
            what = f"60 x 40 counts, {kinds}"
            yield Case("coclusters", what, sides, lambda seed, g=sides, even=is_even: counts(g, even, seed))
    for k in (2, 3, 5, 7, 10):
        for n in (200, 400):
            yield Case("sources", f"{n} points a person", (k,), lambda seed, k=k, n=n: people(k, n, seed))
    for job, choose in (("channels", by_channels), ("rows of channels (foil)", by_rows)):
        for drawn, k, draw in channel_sets():
            yield Case(job, drawn, (k,), lambda seed, draw=draw, choose=choose: choose(draw(seed)[0], seed))


def channel_sets() -> Iterator[tuple[str, int, Callable[[int], tuple[view_sets.Views, np.ndarray]]]]:
    """List channels without sequences: what is drawn, the number of clusters, and how it is drawn."""
    for kind, (k, *_) in view_sets.GENERATED.items():
        yield f"generated: {kind}", k, lambda seed, kind=kind: view_sets.generated(kind, seed)
    for k in (3, 5, 8):
        yield f"{k} people", k, lambda seed, k=k: view_sets.people(k, seed)
    for k in (5, 10):
        yield f"posts of {k} newsgroups", k, lambda seed, k=k: view_sets.newsgroups(k, seed)
    yield "ten of each digit", 10, view_sets.few_digits


def by_channels(views: view_sets.Views, seed: int) -> tuple[int, ...]:
    """Choose as ``sidelight sources`` does without sequences."""
    return (number_by_channels(list(views.values()), seed, np.random.default_rng(seed)).chosen,)


def by_rows(views: view_sets.Views, seed: int) -> tuple[int, ...]:
    """Choose by the graph of the rows, all channels side by side."""
    return (clearest_number(side_by_side(list(views.values()), seed), np.random.default_rng(seed)).chosen,)


def labels(n: int, k: int, is_even: bool, fewest: int) -> np.ndarray:
    """Return the kind of each of about n things."""
    share = np.ones(k) if is_even else 0.7 ** np.arange(k)
    return np.repeat(np.arange(k), np.maximum(fewest, (n * share / share.sum()).astype(int)))


def rows(k: int, is_even: bool, seed: int) -> tuple[int, ...]:
    """Choose for blobs in five dimensions, whose centres lie five standard deviations apart, more or less."""
    rng = np.random.default_rng([k, seed])
    kinds = labels(60 * k, k, is_even, fewest=6)
    X = rng.normal(scale=2.5, size=(k, 5))[kinds] + rng.normal(size=(len(kinds), 5))
    return (clearest_number((X - X.mean(axis=0)) / X.std(axis=0), np.random.default_rng(seed)).chosen,)


def bags(k: int, n: int, is_even: bool, seed: int) -> tuple[int, ...]:
    """Choose for bags of 6 to 11 rows, two in five of the bag's own kind, the others of two kinds that all share."""
    rng = np.random.default_rng([k, n, seed])
    centres = rng.normal(scale=3.0, size=(k + 2, 4))
    sizes = [max(5, int(n * (1.0 if is_even else 0.7**kind))) for kind in range(k)]
    X, ids = [], []
    for bag, kind in enumerate(np.repeat(np.arange(k), sizes).tolist()):
        own = rng.random(rng.integers(6, 12)) < 0.4
        own[0] |= not own.any()
        rows_of = np.where(own, kind, rng.integers(k, k + 2, size=len(own)))
        X.append(centres[rows_of] + rng.normal(size=(len(own), 4)))
        ids += [bag] * len(own)
    return (sl.BagWordClustering(random_state=seed).fit(np.concatenate(X), bags=ids).n_clusters_,)


def counts(sides: tuple[int, int], is_even: bool, seed: int) -> tuple[int, ...]:
    """Choose for Poisson counts, every block with another rate between 0.2 and 6."""
    rng = np.random.default_rng([*sides, seed])
    rates = rng.permuted(np.linspace(0.2, 6.0, sides[0] * sides[1])).reshape(sides)
    kinds = [labels(n, k, is_even, fewest=4) for n, k in zip((60, 40), sides)]
    table = CoOccurrence.from_matrix(rng.poisson(rates[np.ix_(*kinds)]))
    return tuple(axis.chosen for axis in most_telling(table, np.random.default_rng(seed)))


def people(k: int, n: int, seed: int) -> tuple[int, ...]:
    """Choose for people seen through four channels in about four sequences each."""
    seen = make_sources(k, n_points=n * k, random_state=seed)
    parts = [(X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(X.shape[1]) for X in seen.channels.values()]
    return (above_chance(parts, seen.sequences, np.random.default_rng(seed)).chosen,)


def seen_twice(k: int, seed: int) -> bool:
    """Say whether every one of k people has two sequences or more."""
    seen = make_sources(k, n_points=200 * k, random_state=seed)
    first = np.unique(seen.sequences, return_index=True)[1]
    return bool(np.bincount(seen.subjects[first]).min() >= 2)
