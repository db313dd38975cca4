"""How long a person waits: from an answer to the next question, and for the first one."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

import sidelight as sl
from relation_sets import load
from runner import Sheet, peak_megabytes

TITLE = "Ask: waiting times"
QUESTIONS = 60
BIG, WIDTH, CLASSES = 50_000, 64, 20


def blobs(n: int, d: int = WIDTH, k: int = CLASSES) -> tuple[np.ndarray, np.ndarray]:
    """Return rows around ``k`` centres."""
    generator = np.random.default_rng(0)
    y = generator.integers(k, size=n)
    return generator.normal(size=(n, d)) + 1.2 * generator.normal(size=(k, d))[y], y


def letters() -> tuple[np.ndarray, np.ndarray]:
    """Return 3165 rows of 16 numbers, as many as letters I, J, L and T have."""
    return blobs(3165, 16, 4)


def fill(sheet: Sheet) -> None:
    """Time three sizes, and digits with wrong answers."""
    sheet.say_if_busy()
    sheet.notes.append(
        f"Processor time of the one thread that a session uses, median of {QUESTIONS} questions: `tell` and the next "
        "`ask`. Compiled kernels come from the cache."
    )
    conversation(*load("digits"), 5)  # compiles
    for what, (X, y), wait, start in (
        ("digits, 1797 x 64", load("digits"), 0.03, 1.5),
        ("3165 x 16", letters(), 0.06, None),
        (f"{BIG:,} x {WIDTH}", blobs(BIG), 0.3, 30.0),
    ):
        began, waits = conversation(X, y, QUESTIONS)
        met = None if start is None else began <= start
        sheet.row(f"{what}: start", f"{began:.2f} s", f"<= {start:g} s" if start else "", met)
        median = statistics.median(waits)
        target = f"<= {1000 * wait:.0f} ms"
        sheet.row(f"{what}: from answer to question", f"{1000 * median:.0f} ms", target, median <= wait)
    _, waits = conversation(*load("digits"), 2 * QUESTIONS, wrong=0.1)
    median = statistics.median(waits[QUESTIONS:])  # by then answers contradict each other, and labels are sampled
    what = "digits, 10 % wrong answers, after the first 60: from answer to question"
    sheet.row(what, f"{1000 * median:.0f} ms", "<= 30 ms", median <= 0.03)
    peers(sheet)
    code = "import bench_ask; X, y = bench_ask.blobs({}); bench_ask.conversation(X, y, 3)"
    sizes = (BIG // 4, BIG // 2, BIG)
    memory = [peak_megabytes(code.format(size)) for size in sizes]
    growth = (memory[2] - memory[1]) / max(memory[1] - memory[0], 1.0)
    shown = ", ".join(f"{size:,} rows: {value:.0f} MB" for size, value in zip(sizes, memory))
    sheet.row("memory at its peak", shown, "growth doubles with the rows", growth < 3.0)


def conversation(X: np.ndarray, y: np.ndarray, n: int, wrong: float = 0.0, **options: Any) -> tuple[float, list[float]]:
    """Return the seconds of the start, and of each answer with the next question."""
    oracle = sl.Oracle(y, noise=wrong, random_state=0)
    begin = time.process_time()
    session = sl.ActiveSession(X, len(np.unique(y)), random_state=0, **options)
    question = session.ask()
    began, waits = time.process_time() - begin, []
    for _ in range(n):
        answer = oracle(question)
        begin = time.process_time()
        session.tell(question, answer)
        question = session.ask()
        waits.append(time.process_time() - begin)
    return began, waits


def peers(sheet: Sheet) -> None:
    """Time other strategies on digits, with PCK-Means."""
    X, y = load("digits")
    for strategy in ("minmax", "npu"):
        belief = sl.peers.PCKMeans(10, n_init=1, random_state=0)
        _, waits = conversation(X, y, 12, strategy=strategy, belief=belief)
        sheet.row(f"digits, {strategy} with PCK-Means", f"{1000 * statistics.median(waits):.0f} ms")
