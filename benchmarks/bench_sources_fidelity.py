"""[B04] chapter 4 on generated people: who errs how much, who varies, and who stands noise; then six views of digits.

Every finished cell is kept, so the run can be stopped and taken up again. Errors are shares of all points: RE is what
clustering adds to the quantisation, FE what remains after every point follows the majority of its sequence.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import Any

import numpy as np

import sidelight as sl
from datasets import folder
from runner import Ledger, Sheet
from sidelight.metrics import error_accounts, normalized_mutual_information

TITLE = "Sources: chapter 4 of the thesis on generated people"
TRIALS = {"spectral": 100, "annealed": 55, "information": 100, "weights": 100, "spectral, by mass": 100}
BASES = {
    "spectral": sl.estimators.SpectralContingency(scaling="none", n_init=5),  # the vectors that Algorithm 3 prints
    "annealed": sl.estimators.AnnealedCoclustering(n_init=1),
    "information": sl.InformationCoclustering(n_init=1),
    "weights": sl.estimators.WeightCoclustering(n_init=1),
    "spectral, by mass": sl.estimators.SpectralContingency(n_init=5),  # our default
}
PAIRS = ("upper", "lower", "height")
TRIPLES = (("upper", "lower"), ("upper", "height"))
LINKAGES = ("single", "complete", "average")
ALL = ("upper", "lower", "height")
DRAWN = (
    ("spectral, by mass", ("upper",)), ("spectral, by mass", ("upper", "height")), ("spectral, by mass", ALL),
    ("annealed", ("upper", "height")), ("annealed", ALL),
)  # fmt: skip
VIEWS = ("fou", "fac", "kar", "pix", "zer", "mor")


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the tables."""
    ledger = Ledger("sources_fidelity")
    found = ledger.run(cells(), stage="chapter 4")
    sheet.notes.append(
        "Data: `make_sources` with its presets (random_state 0): 10 subjects, 32 sequences, 19,136 points; 5, 27 and "
        f"7379; 3, 13 and 3610. Trials: {', '.join(f'{name} {n}' for name, n in TRIALS.items())}, as in the thesis "
        "(55 for annealing, else 100). Each trial is a single start. Mean ± standard deviation over trials. "
        "spectral clusters the singular vectors as Algorithm 3 prints them; by mass, our default, their principal "
        "coordinates in correspondence analysis."
    )
    agglomerative(sheet, found)
    margins(sheet, found)
    other_people(sheet, found)
    summary(sheet, found)
    boxes(sheet, found)
    noise(sheet, found)
    foils(sheet, found)
    views(sheet, found)


# ---- what is computed


def cells() -> list[tuple[str, Any]]:
    """Name every cell and say how to compute it."""
    todo: list[tuple[str, Any]] = [
        (f"{n}/{dirt}/agglomerative/{link}", partial(merged, n, dirt, link))
        for n, dirt in ((5, 0), (10, 0), (10, 1094))
        for link in LINKAGES
    ]
    todo += [
        (f"{n}/0/{method}/{other}", partial(pair, n, 0, method, ("face", other)))
        for n in (3, 5, 10)
        for method in (BASES if n > 3 else ("weights",))
        for other in PAIRS
    ]
    for n in (5, 10):
        todo += [
            (f"{n}/0/{method}/{'+'.join(others)}", partial(pair, n, 0, method, ("face", *others)))
            for method in ("annealed", "spectral")
            for others in TRIPLES
        ]
        todo += [(f"{n}/seconds/{method}", partial(seconds_of, n, method)) for method in BASES]
        todo.append((f"{n}/0/foils", partial(foil_errors, n, 0)))
        todo += [
            (f"{n}/draws/{method}/{'+'.join(others)}", partial(draws, n, method, ("face", *others)))
            for method, others in DRAWN
        ]
    todo += [(f"10/1094/{method}/upper", partial(pair, 10, 1094, method, ("face", "upper"))) for method in BASES]
    return [*todo, ("mfeat", digit_views), ("mfeat/spectral", spectral_digit_views)]


@cache
def people(n: int, corruption: int) -> Any:
    """Draw the people of a data set, with the codes of every channel."""
    seen = sl.data.make_sources(n, corruption=corruption, random_state=0)
    return seen, {name: seen.codes(name) for name in seen.channels}


def accounts(n: int, corruption: int, of_code: np.ndarray) -> list[float]:
    """Return QE, RE, TE and FE as shares of the points, for clusters of face codes."""
    seen, codes = people(n, corruption)
    shares = error_accounts(seen.subjects, of_code[codes["face"]], seen.sequences, codes["face"]).shares()
    return [shares[name] for name in ("quantisation", "raw", "total", "final")]


def pair(n: int, corruption: int, method: str, axes: tuple[str, ...]) -> list[list[float]]:
    """Cluster one table, again and again from single starts."""
    table = people(n, corruption)[0].cooccurrence(*axes)
    base, out = BASES[method], []
    for trial in range(TRIALS[method]):
        fitted = base.set_params(n_clusters=n, random_state=trial).fit(table)
        out.append(accounts(n, corruption, fitted.axis_labels_["face"]))
    return out


def draws(n: int, method: str, axes: tuple[str, ...]) -> list[float]:
    """Return the final error on five draws of other people, one start each."""
    out = []
    for draw in range(5):
        seen = sl.data.make_sources(n, random_state=draw)
        fitted = BASES[method].set_params(n_clusters=n, random_state=0).fit(seen.cooccurrence(*axes))
        codes = seen.codes("face")
        shares = error_accounts(seen.subjects, fitted.axis_labels_["face"][codes], seen.sequences, codes).shares()
        out.append(shares["final"])
    return out


def seconds_of(n: int, method: str) -> float:
    """Processor time of one trial on face/upper, median of five."""
    table, times = people(n, 0)[0].cooccurrence("face", "upper"), []
    for trial in range(6):
        begin = time.process_time()
        BASES[method].set_params(n_clusters=n, random_state=trial).fit(table)
        times.append(time.process_time() - begin)
    return float(np.median(times[1:]))  # the first one may compile or load


def merged(n: int, corruption: int, linkage: str) -> float:
    """Merge sequences of faces, and return the share of points in the wrong cluster."""
    seen, codes = people(n, corruption)
    labels = sl.peers.SeededAgglomerative(n, linkage=linkage).fit(seen.channels["face"], groups=seen.sequences).labels_
    return error_accounts(seen.subjects, labels, seen.sequences, codes["face"]).shares()["total"]


def foil_errors(n: int, corruption: int) -> dict[str, list[float]]:
    """What people try first: total and final error of concatenation and of shared posteriors."""
    seen, codes = people(n, corruption)
    X, channels = sl.stack_channels(seen.channels)
    tried = {
        "faces alone, k-means": (sl.peers.ConcatenatedKMeans(n, random_state=0), seen.channels["face"]),
        "all channels, k-means": (sl.peers.ConcatenatedKMeans(n, random_state=0), X),
        "all channels, balanced": (sl.peers.ConcatenatedKMeans(n, channels=channels, balance=True, random_state=0), X),
        "mixtures, follow the leader": (sl.peers.SharedPosteriorMixture(n, channels=channels, random_state=0), X),
        "mixtures, largest entropy": (
            sl.peers.SharedPosteriorMixture(n, channels=channels, rule="entropy", random_state=0), X),
        "mixtures, product": (sl.peers.SharedPosteriorMixture(n, channels=channels, rule="product", random_state=0), X),
        "this pipeline, one joint table (default)": (_pipeline(n, channels, "joint"), X),
        "this pipeline, interleaved margins": (_pipeline(n, channels, "interleaved"), X),
    }  # fmt: skip
    out = {}
    for name, (estimator, rows) in tried.items():
        side = {"sequences": seen.sequences} if isinstance(estimator, sl.MultiSourceClustering) else {}
        labels = estimator.fit(rows, **side).labels_
        shares = error_accounts(seen.subjects, labels, seen.sequences, codes["face"]).shares()
        out[name] = [shares["total"], shares["final"]]
    return out


def _pipeline(n: int, channels: dict[str, slice], combine: str) -> sl.MultiSourceClustering:
    return sl.MultiSourceClustering(
        n, channels=channels, primary="face", method="annealed", combine=combine, reassign=False, random_state=0
    )


def digits() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the six views of mfeat, standardised, and the digits."""
    files = {view: folder() / "mfeat" / f"mfeat-{view}.csv" for view in VIEWS}
    tables = {name: np.loadtxt(path, delimiter=",", skiprows=1) for name, path in files.items()}
    y = next(iter(tables.values()))[:, -1]
    channels = {
        name: (T[:, :-1] - T[:, :-1].mean(0)) / np.maximum(T[:, :-1].std(0), 1e-12) for name, T in tables.items()
    }
    return channels, y


def digit_views() -> dict[str, float]:
    """NMI of single views and of several views of the same 2000 digits, mean of five seeds."""
    channels, y = digits()
    X, places = sl.stack_channels(channels)

    def judged(make: Any, rows: Any) -> float:
        found = [normalized_mutual_information(y, make(seed).fit(rows).labels_) for seed in range(5)]
        return float(np.mean(found))

    out = {
        f"one view: {name}": judged(lambda s: sl.peers.ConcatenatedKMeans(10, random_state=s), Z)
        for name, Z in channels.items()
    }
    strong = sorted(channels, key=lambda name: -out[f"one view: {name}"])[:2]
    first = strong[0]
    out["all views, k-means"] = judged(lambda s: sl.peers.ConcatenatedKMeans(10, random_state=s), X)
    out["all views, balanced k-means"] = judged(
        lambda s: sl.peers.ConcatenatedKMeans(10, channels=places, balance=True, random_state=s), X
    )
    for n_codes in (40, 100):
        options = {"channels": places, "primary": first, "n_codes": n_codes}
        out[f"co-occurrences, {first} with all others, {n_codes} codes"] = judged(
            lambda s, o=options: sl.MultiSourceClustering(10, method="annealed", random_state=s, **o), X
        )
        two = {name: places[name] for name in strong}
        options = {"channels": two, "primary": first, "n_codes": n_codes, "combine": "joint"}
        out[f"co-occurrences, {strong[0]} with {strong[1]}, {n_codes} codes"] = judged(
            lambda s, o=options: sl.MultiSourceClustering(10, method="annealed", random_state=s, **o), X
        )
    return out


def spectral_digit_views() -> dict[str, float]:
    """The same by singular vectors of one joint table of all views, as one joint table does well on the people."""
    channels, y = digits()
    X, places = sl.stack_channels(channels)
    out = {}
    for n_codes in (40, 100):
        options = {"channels": places, "primary": "pix", "n_codes": n_codes, "method": "spectral", "combine": "joint"}
        models = [sl.MultiSourceClustering(10, random_state=seed, **options).fit(X) for seed in range(5)]
        values = [normalized_mutual_information(y, model.labels_) for model in models]
        out[f"co-occurrences, pix with all others, {n_codes} codes, spectral, one joint table"] = float(np.mean(values))
    return out


# ---- what is written


def percent(rows: list[list[float]], column: int) -> str:
    values = 100 * np.array(rows)[:, column]
    return f"{values.mean():.1f} ± {values.std():.1f}"


def agglomerative(sheet: Sheet, found: dict[str, Any]) -> None:
    rows = [
        (f"{n} subjects", *(f"{100 * found[f'{n}/0/agglomerative/{link}']:.1f}" for link in LINKAGES)) for n in (5, 10)
    ]
    sheet.section("Table 4.1: seeded agglomeration of faces, error in %", ("set", *LINKAGES), rows)


def margins(sheet: Sheet, found: dict[str, Any]) -> None:
    rows = []
    for n in (3, 5, 10):
        for method in BASES:
            for other in (*PAIRS, *("+".join(t) for t in TRIPLES)):
                cell = found.get(f"{n}/0/{method}/{other}")
                if cell:
                    rows.append(
                        (f"{n}", method, f"face/{other.replace('+', '/')}", *(percent(cell, c) for c in range(4)))
                    )
    sheet.section(
        "Tables 4.2, 4.4, 4.5 and 4.7: two-way margins and three-way joints, errors in %",
        ("subjects", "method", "table", "QE", "RE", "TE", "FE"), rows,
    )  # fmt: skip


def other_people(sheet: Sheet, found: dict[str, Any]) -> None:
    rows = [
        (n, method, f"face/{'/'.join(others)}",
         *(f"{100 * error:.1f}" for error in found[f"{n}/draws/{method}/{'+'.join(others)}"]))
        for n in (5, 10)
        for method, others in DRAWN
    ]  # fmt: skip
    sheet.section(
        "Other people: final error in % on five draws (random_state 0 to 4), one start each",
        ("subjects", "method", "table", *(f"draw {draw}" for draw in range(5))), rows,
    )  # fmt: skip


def summary(sheet: Sheet, found: dict[str, Any]) -> None:
    rows = []
    for n in (5, 10):
        for method in BASES:
            cells_ = {other: np.array(found[f"{n}/0/{method}/{other}"]) for other in PAIRS}
            best = min(cells_, key=lambda other: cells_[other][:, 3].mean())
            spread = np.mean([cell[:, 1].std() for cell in cells_.values()])
            seconds = found[f"{n}/seconds/{method}"]
            rows.append((
                n, method, f"{seconds:.4f} s", f"face/{best}", f"{100 * cells_[best][:, 3].mean():.1f}",
                f"{100 * spread:.1f}",
            ))  # fmt: skip
    sheet.section(
        "Tables 4.9 and 4.11: the best margin of each method, and how much its raw error varies",
        ("subjects", "method", "time of a trial", "best margin", "FE in %",
         "standard deviation of RE in %, mean of margins"), rows,
        "Times are processor seconds of one start on face/upper.",
    )  # fmt: skip


def boxes(sheet: Sheet, found: dict[str, Any]) -> None:
    """Figures 4-4, 4-6 and 4-8 to 4-10."""
    from sidelight.plot import StartErrorsDisplay

    three_way = tuple("+".join(triple) for triple in TRIPLES)
    for number, method, tables, sets, what in (
        ("4-4", "spectral", PAIRS, (5, 10), "spectral"),
        ("4-6", "weights", PAIRS, (3, 5, 10), "weights"),
        ("4-8", "annealed", PAIRS, (5, 10), "annealing, two channels"),
        ("4-9", "annealed", three_way, (5, 10), "annealing, three channels"),
        ("4-10", "information", PAIRS, (5, 10), "Dhillon's algorithm"),
    ):
        cells_ = {f"{n}, {t.replace('+', '/')}": np.array(found[f"{n}/0/{method}/{t}"]) for n in sets for t in tables}
        raw, final = ({name: cell[:, column] for name, cell in cells_.items()} for column in (1, 3))
        drawn = StartErrorsDisplay(raw, final).plot()
        sheet.figure(drawn.figure_, f"As figure {number}: {what}, raw and final error by subjects and table")


def noise(sheet: Sheet, found: dict[str, Any]) -> None:
    rows = []
    for method in BASES:
        clean, dirty = found[f"10/0/{method}/upper"], found[f"10/1094/{method}/upper"]
        rows.append(
            (
                method,
                percent(clean, 3),
                percent(dirty, 3),
                f"{100 * (np.mean(dirty, 0)[3] - np.mean(clean, 0)[3]):+.1f}",
            )
        )
    for link in LINKAGES:
        clean, dirty = found[f"10/0/agglomerative/{link}"], found[f"10/1094/agglomerative/{link}"]
        rows.append(
            (
                f"seeded agglomeration, {link}",
                f"{100 * clean:.1f}",
                f"{100 * dirty:.1f}",
                f"{100 * (dirty - clean):+.1f}",
            )
        )
    sheet.section(
        "Table 4.12: 1094 of 19,136 points corrupted, final error in % (face/upper; faces alone for agglomeration)",
        ("method", "original", "corrupted", "change"), rows,
    )  # fmt: skip


def foils(sheet: Sheet, found: dict[str, Any]) -> None:
    rows = [
        (name, *(f"{100 * value:.1f}" for n in (5, 10) for value in found[f"{n}/0/foils"][name]))
        for name in found["10/0/foils"]
    ]
    sheet.section(
        "Why not just concatenate? Error in %, before and after following the majority of the sequence",
        ("what", "5 subjects", "after", "10 subjects", "after"), rows,
    )  # fmt: skip


def views(sheet: Sheet, found: dict[str, Any]) -> None:
    tried = found["mfeat"] | found["mfeat/spectral"]
    rows = [(name, f"{value:.3f}") for name, value in tried.items()]
    single = max(value for name, value in found["mfeat"].items() if name.startswith("one view"))
    several = {name: value for name, value in found["mfeat"].items() if not name.startswith("one view")}
    best = max(several, key=lambda name: several[name])
    sheet.section("mfeat: 2000 digits seen six ways, NMI with the digits (mean of five seeds)", ("what", "NMI"), rows)
    measured = f"{several[best]:.3f} ({best}), {single:.3f} alone"
    sheet.row("mfeat: several views against the best single view", measured, "better", several[best] > single)
