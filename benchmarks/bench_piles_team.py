"""Three people sort at once, one of them careless; and how right what is said of wrong rows is."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import sidelight as sl
from bench_piles import TITLES, is_there, load
from runner import Sheet
from sidelight.errors import ignore_warnings
from sidelight.metrics import adjusted_rand_index

TITLE = "Ask: a team that sorts, and rows that are probably wrong"
SEEDS = range(200, 200 + int(os.environ.get("TEAM_SEEDS", "10")))
SETS = ("iris", "wine", "digits")
CARELESS, SCREENS = 0.4, (3, 6, 12, 24)  # share of wrong placements, and screens of all three together


def fill(sheet: Sheet) -> None:
    """Hold the conversations and write the tables."""
    sheet.notes.append(
        f"Screens of ten rows, number of kinds not known, seeds {SEEDS[0]} to {SEEDS[-1]}, which chose nothing. Three "
        f"people have a screen each at the same time, with none of each other's rows. Careless: {CARELESS:.0%} of the "
        "placements of the third are wrong; the other two make no mistake. Names: the session is told who sorted."
    )
    rows, said = [], list[Any]()
    for name in SETS:
        if not is_there(name):
            continue
        for what, noise, has_names in (
            ("three exact people", 0.0, True),
            ("one careless, with names", CARELESS, True),
            ("one careless, without names", CARELESS, False),
        ):
            runs = [_together(name, seed, noise, has_names, said) for seed in SEEDS]
            worst = min(run[-1] for run in runs)
            means = [f"{value:.2f}" for value in np.mean(runs, axis=0)]
            rows.append((TITLES[name], what, *means, f"{worst:.2f}", len(runs)))
    header = ("set", "who", *(f"{n} screens" for n in SCREENS), "worst at the end", "conversations")
    sheet.section("Adjusted Rand index of a team", header, rows)
    _wrong(sheet, said)
    sheet.say_if_busy()


def _together(name: str, seed: int, noise: float, has_names: bool, said: list[Any]) -> list[float]:
    X, y = load(name)
    scores = []
    with ignore_warnings():
        session = sl.ActiveSession(X, random_state=seed)
        people = [sl.Oracle(y, noise=noise * (who == 2), random_state=seed + who) for who in range(3)]
        for n in range(0, max(SCREENS), 3):
            screens = list[Any]()
            for _ in people:
                screens.append(session.ask_screen(busy=screens) if screens else session.ask_screen())
            for who, screen in enumerate(screens):
                if screen is None:
                    continue
                # people see the piles of now: kinds of their first rows
                shown = session.piles
                sight = type(screen)(screen.rows, shown, screen.likely, screen.number, screen.key, screen.drawn)
                session.tell_screen(sight, people[who].sort(sight), person=str(who) if has_names else None)
            if n + 3 in SCREENS:
                labels = session.labels_
                scores.append(float(adjusted_rand_index(y, labels)))
                outlook = session.outlook()
                said.append((TITLES[name], noise, n + 3, outlook.wrong, _share_wrong(y, labels), outlook))
    return scores


def _share_wrong(y: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of rows that are not in the cluster of their kind: of most of its rows, where piles are many."""
    counts = np.zeros((int(labels.max()) + 1, int(y.max()) + 1))
    np.add.at(counts, (labels, y), 1)
    return float(1.0 - counts.max(axis=1).sum() / len(y))


def _wrong(sheet: Sheet, said: list[Any]) -> None:
    rows = []
    for title in dict.fromkeys(line[0] for line in said):
        for noise in (0.0, CARELESS):
            for n in SCREENS:
                these = [line for line in said if line[0] == title and line[1] == noise and line[2] == n]
                expected, true = (np.mean([line[at] for line in these]) for at in (3, 4))
                tests = [line[5] for line in these if line[5].n_drawn]
                share = f"{sum(t.n_elsewhere for t in tests)} of {sum(t.n_drawn for t in tests)}" if tests else ""
                held = [line[5].low <= line[4] <= line[5].high for line in these if line[5].n_drawn]
                inside = f"{np.mean(held):.0%}" if held and not noise else ""  # slips of people go elsewhere, too
                enough = sum(line[5].enough for line in these)
                rows.append((title, f"{noise:.0%}", n, f"{expected:.3f}", f"{true:.3f}", share, inside, enough))
    header = (
        "set", "wrong of the third", "screens", "said to be wrong", "wrong", "random rows elsewhere than expected",
        "share wrong within the range", "said that more changes little",
    )  # fmt: skip
    sheet.section("Rows that are probably wrong", header, rows)
