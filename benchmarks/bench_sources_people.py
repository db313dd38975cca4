"""[B04] chapter 4 on people who walk: silhouettes of the USF gait gallery, in three channels.

The thesis' recordings were never published. Here 5, 10 or 20 of the gallery's people are drawn, again and again; heads,
upper and lower parts of their silhouettes are the channels, three half cycles of a walk are a sequence, and codes,
tables and errors are made as in 4.3.3. Methods see the same people, so that they are compared draw by draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from itertools import permutations
from typing import Any

import numpy as np

import sidelight as sl
from bench_sources_fidelity import BASES, LINKAGES
from datasets import folder
from runner import Ledger, Sheet
from sidelight.data.synth.sources import Sources
from sidelight.metrics import error_accounts

TITLE = "Sources: chapter 4 of [B04] on people who walk"
PARTS = {"head": slice(0, 7), "upper": slice(7, 18), "lower": slice(18, 32)}  # rows of a silhouette of 32 x 22
N_COMPONENTS, CYCLES = 30, 3  # principal components as in 4.3.2; half cycles a sequence: about three sequences a person
FEWEST = 9  # half cycles of a person who is drawn
SUBJECTS, DRAWS, TRIALS = (5, 10, 20), 20, 5
METHODS = ("spectral", "annealed", "information", "weights")
TABLES = {"upper": ("head", "upper"), "lower": ("head", "lower"), "upper+lower": ("head", "upper", "lower")}
THREE_WAY = ("spectral", "annealed")
IN_TURN = {"spectral": 15, "annealed": 5, "information": 15}  # rounds of the thesis
CORRUPTED = 1094 / 19136  # [B04] 4.5
FINAL, RAW = 3, 1
TOLD = (  # what the thesis claims, told where it holds, or the opposite does, with 5, 10 and 20 people
    "spectral: upper before lower",
    "annealed: upper before lower",
    *(f"{one} before {other}" for one in METHODS[:2] for other in METHODS[2:]),
    "information before weights",
    "annealed before spectral",
    *(f"{method}: in turn before the best margin" for method in IN_TURN),
    "annealed: the best margin before three channels",
    *(f"noise: spectral grows less than {link} linkage" for link in ("single", "complete")),
)


def fill(sheet: Sheet) -> None:
    """Run what is missing and write the tables."""
    found = Ledger("sources_people").run(cells(), stage="people who walk")
    sheet.notes.append(
        f"USF gait gallery: silhouettes of 71 people. {DRAWS} draws of 5, 10 or 20 of the people with {FEWEST} half "
        f"cycles or more, {TRIALS} single starts a draw (spectral: the best of five, as in the thesis). Channels: "
        f"{N_COMPONENTS} principal components of heads, upper and lower parts; sequences: {CYCLES} half cycles of ten "
        "frames; codes: the nearest mean of a sequence (4.3.3). Errors in % of all frames, mean over draws. "
        "Silhouettes have no clothes and no heights: levels cannot be compared with the thesis'; the order of methods "
        "can."
    )
    errors(sheet, found)
    compared(sheet, found)


def cells() -> list[tuple[str, Any]]:
    """Name every cell: a draw of people, a method and a table."""
    todo: list[tuple[str, Any]] = []
    for draw in range(DRAWS):
        for n in SUBJECTS:
            todo += [
                (f"{n}/{method}/{table}/{draw}", partial(errors_of, n, draw, method, table))
                for table in TABLES
                for method in (METHODS if "+" not in table else THREE_WAY)
            ]
            todo += [
                (f"{n}/{method}/in turn/{draw}", partial(errors_of, n, draw, method, "in turn")) for method in IN_TURN
            ]
            for dirt in ("clean", "dirty"):
                todo += [(f"{n}/{link}/{dirt}/{draw}", partial(merged, n, draw, link, dirt)) for link in LINKAGES]
            todo.append((f"{n}/spectral/dirty/{draw}", partial(errors_of, n, draw, "spectral", "dirty")))
    return todo


@cache
def silhouettes() -> tuple[np.ndarray, np.ndarray]:
    """Return half cycles as frames of 32 x 22, and who walks."""
    from scipy.io import loadmat

    read = loadmat(folder() / "usf_gait" / "Gal.mat")
    return read["fea3Dg"].transpose(3, 2, 0, 1).astype(np.float64), read["gndg"].ravel()


@cache
def people(n: int, draw: int, dirt: str = "clean") -> Sources:
    """Draw some people, with what each channel sees of them; dirt replaces frames by other people's."""
    frames, who = silhouettes()
    rng = np.random.default_rng(draw)
    chosen = np.sort(rng.choice(np.flatnonzero(np.bincount(who) >= FEWEST), n, replace=False))
    cycles = np.concatenate([np.flatnonzero(who == person) for person in chosen])
    subjects = np.searchsorted(chosen, who[cycles])
    sequences, first = np.empty(len(cycles), dtype=np.intp), 0
    for person in range(n):
        of_person = subjects == person
        many = max(of_person.sum() // CYCLES, 1)
        sequences[of_person] = first + np.minimum(np.arange(of_person.sum()) // CYCLES, many - 1)
        first += many
    seen = frames[cycles]
    length = seen.shape[1]
    n_frames = len(cycles) * length
    channels = {name: components(seen[:, :, rows].reshape(n_frames, -1)) for name, rows in PARTS.items()}
    hit = rng.choice(n_frames, round(CORRUPTED * n_frames) if dirt == "dirty" else 0, replace=False)
    if len(hit):
        for X in channels.values():
            X[hit] = X[rng.permutation(len(X))[: len(hit)]]
    hits = np.isin(np.arange(n_frames), hit)
    return Sources(channels, np.repeat(sequences, length), np.repeat(subjects, length), hits)


def components(X: np.ndarray) -> np.ndarray:
    """Return the first principal components of rows."""
    X = X - X.mean(axis=0)
    return np.asarray(X @ np.linalg.svd(X, full_matrices=False)[2][:N_COMPONENTS].T)


def errors_of(n: int, draw: int, method: str, table: str) -> list[list[float]]:
    """Return QE, RE, TE and FE of several starts."""
    seen = people(n, draw, "dirty" if table == "dirty" else "clean")
    in_turn = table == "in turn"
    joint = seen.cooccurrence(*(() if in_turn else TABLES.get(table, TABLES["lower"])))
    out = []
    for trial in range(TRIALS):
        base = BASES[method].set_params(n_clusters=n, random_state=trial)
        if in_turn:
            order = [("head", "upper"), ("head", "lower")]  # the stronger one last, as the thesis has it
            base = sl.estimators.InterleavedCoclustering(base, margins=order, max_rounds=IN_TURN[method])
        codes = seen.codes("head")
        labels = base.fit(joint).axis_labels_["head"][codes]
        shares = error_accounts(seen.subjects, labels, seen.sequences, codes).shares()
        out.append([shares[name] for name in ("quantisation", "raw", "total", "final")])
    return out


def merged(n: int, draw: int, link: str, dirt: str) -> float:
    """Merge sequences of heads, and return the share of frames in the wrong cluster."""
    seen = people(n, draw, dirt)
    labels = sl.peers.SeededAgglomerative(n, linkage=link).fit(seen.channels["head"], groups=seen.sequences).labels_
    return error_accounts(seen.subjects, labels, seen.sequences, seen.codes("head")).shares()["total"]


def values(found: dict[str, Any], n: int, method: str, table: str, column: int = FINAL) -> np.ndarray:
    """An error of every draw in percent, the mean of its starts."""
    cells_ = [np.atleast_2d(found[f"{n}/{method}/{table}/{draw}"]) for draw in range(DRAWS)]
    return 100 * np.array([cell[:, min(column, cell.shape[1] - 1)].mean() for cell in cells_])


def spreads(found: dict[str, Any], n: int, method: str) -> np.ndarray:
    """How much the raw error of starts varies in every draw, mean of the two margins, in percent."""
    return 100 * np.array([
        np.mean([np.array(found[f"{n}/{method}/{table}/{draw}"])[:, RAW].std(ddof=1) for table in ("upper", "lower")])
        for draw in range(DRAWS)
    ])  # fmt: skip


def best(found: dict[str, Any], n: int, method: str) -> np.ndarray:
    """The margin that is better on average over draws."""
    return min((values(found, n, method, table) for table in ("upper", "lower")), key=lambda v: float(v.mean()))


def errors(sheet: Sheet, found: dict[str, Any]) -> None:
    """Write all errors."""
    rows = []
    for n in SUBJECTS:
        for method in METHODS:
            tables = [t for t in (*TABLES, "in turn") if f"{n}/{method}/{t}/0" in found]
            rows += [
                (n, method, f"head/{table.replace('+', '/')}" if table != "in turn" else table,
                 *(written(values(found, n, method, table, column)) for column in range(4)))
                for table in tables
            ]  # fmt: skip
    header = ("subjects", "method", "table", "QE", "RE", "TE", "FE")
    sheet.section("Margins, three channels at once, and margins in turn: errors in %", header, rows, STANDARD)
    rows = [
        (n, link, written(values(found, n, link, "clean")), written(values(found, n, link, "dirty")))
        for n in SUBJECTS
        for link in LINKAGES
    ]
    rows += [
        (n, "spectral", written(values(found, n, "spectral", "lower")), written(values(found, n, "spectral", "dirty")))
        for n in SUBJECTS
    ]
    sheet.section(
        f"Noise: {CORRUPTED:.1%} of the frames replaced, error in %", ("subjects", "method", "clean", "corrupted"),
        rows,
        "Seeded agglomeration of heads, and the final error of spectral clustering of heads with lower parts.",
    )  # fmt: skip


STANDARD = "Mean ± standard error over draws of people."


def compared(sheet: Sheet, found: dict[str, Any]) -> None:
    """Write differences draw by draw: what should be less, minus what should be more."""
    rows: list[Sequence[Any]] = []
    holds: dict[str, list[int]] = {}

    def add(what: str, n: int, less: np.ndarray, more: np.ndarray) -> None:
        gap = less - more
        room = 2 * gap.std(ddof=1) / np.sqrt(len(gap))
        holds.setdefault(what, []).append(int(np.sign(-gap.mean())) if abs(gap.mean()) > room else 0)
        rows.append((f"{what}, {n} subjects", written(gap), f"{(gap < 0).sum()} of {len(gap)}"))

    for n in SUBJECTS:
        for method in METHODS:
            add(f"{method}: upper before lower", n, *(values(found, n, method, t) for t in ("upper", "lower")))
        for method in IN_TURN:
            add(
                f"{method}: in turn before the best margin",
                n,
                values(found, n, method, "in turn"),
                best(found, n, method),
            )
        for method in THREE_WAY:
            joint = values(found, n, method, "upper+lower")
            add(f"{method}: the best margin before three channels", n, best(found, n, method), joint)
        for one, other in permutations(METHODS, 2):
            add(f"{one} before {other}", n, best(found, n, one), best(found, n, other))
        for other in ("spectral", "information", "weights"):
            add(f"annealed varies less than {other}", n, spreads(found, n, "annealed"), spreads(found, n, other))
        grown = values(found, n, "spectral", "dirty") - values(found, n, "spectral", "lower")
        for link in LINKAGES:
            change = values(found, n, link, "dirty") - values(found, n, link, "clean")
            add(f"noise: spectral grows less than {link} linkage", n, grown, change)
    sheet.section("Draw by draw", ("what", "difference in %", "draws on which it holds"), rows, STANDARD)
    for word, all_of in (("Holds", min), ("Does not", lambda signs: -max(signs))):
        told = [what for what, signs in holds.items() if what in TOLD and all_of(signs) > 0]
        sheet.notes.append(f"{word}: {', '.join(told) or 'nothing of what is compared, for all numbers of people'}.")


def written(numbers: np.ndarray) -> str:
    """Mean and standard error."""
    return f"{numbers.mean():.2f} ± {numbers.std(ddof=1) / np.sqrt(len(numbers)):.2f}"
