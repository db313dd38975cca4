"""Sessions that are told anything: every method with right and odd arguments, in any order, then saved and resumed.

A call returns or raises an error of ours; what a session was told before a refused call stands as it stood; what was
saved is resumed with the same answers and labels.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED, REFUSED, judged

COUNT = 400
STEPS = 25
SECONDS = 30
_ODD = (
    None,
    -1,
    40,
    10**12,
    2**63,
    0.5,
    float("nan"),
    True,
    "",
    "same",
    "x" * 200,
    "\0",
    b"x",
    (),
    (0,),
    (0, 0),
    (1, 2, 3),
    [0, 1],
    {0, 1},
    {},
    [[0, 1]],
    np.array([0, 1]),
    np.array(3),
    np.arange(40),
    object,
    ...,
    1j,
    ["same", "different"],
    range(10**6),
)
_METHODS = (
    "ask",
    "tell",
    "tell_all",
    "undo",
    "place",
    "reject",
    "labels_",
    "typical_rows",
    "typicality_",
    "eps_",
    "n_answers",
    "pairs",
    "history",
    "may_tell",
    "people",
    "contradictions",
    "predict",
    "predict_proba",
    "outlook",
    "run",
    "replay",
    "save",
    "compare_with_before",
    "ask_screen",
    "tell_screen",
    "promises_more",
    "rename_pile",
    "merge_piles",
    "keep_piles_apart",
    "split_pile",
    "doubtful_piles",
    "piles",
    "sureness",
)


def attack(number: int, folder: Path) -> list[str]:
    """Begin one session and call its methods."""
    import sidelight as sl

    rng = np.random.default_rng([12, number])
    X = rng.normal(size=(24, 3)) + 3 * np.eye(3)[np.arange(24) % 3]
    options: dict[str, Any] = {"random_state": int(rng.integers(100))}
    if rng.random() < 0.5:
        options["strategy"] = str(rng.choice(["rows", "uncertain", "random", "info"]))
    k = 3 if rng.random() < 0.5 or options.get("strategy") in ("uncertain", "info") else None
    session: Any = None

    def begin() -> None:
        nonlocal session
        session = sl.ActiveSession(X, k, **options)

    verdicts = [judged(begin, SECONDS)]
    if session is None:
        return [v if v == REFUSED else f"ActiveSession({k}, {options}): {v}" for v in verdicts]
    for _ in range(STEPS):
        name = str(rng.choice(_METHODS))
        before = session.history
        words, shown = _arguments(session, name, rng, folder)
        verdict = judged(lambda: _call(session, name, words), SECONDS)  # noqa: B023 - called at once
        if verdict == REFUSED and session.history != before and name not in ("tell_all", "run", "replay"):
            verdict = f"refused, but {len(session.history) - len(before)} answers more"
        verdicts.append(verdict if verdict in (ACCEPTED, REFUSED) else f"{options} {name}({shown}): {verdict}")
    verdicts.append(judged(lambda: _resumed(session, X, folder, options), SECONDS))
    return verdicts


def _call(session: Any, name: str, words: list[Any]) -> Any:
    found = getattr(session, name)
    return found(*words) if callable(found) else found


def _arguments(session: Any, name: str, rng: np.random.Generator, folder: Path) -> tuple[list[Any], str]:
    """Return what a method is called with: right in most places, odd in some."""

    def row() -> int:
        return int(rng.integers(24))

    right: dict[str, list[Any]] = {
        "ask": [int(rng.integers(1, 4))],
        "tell": [tuple(int(r) for r in rng.permutation(24)[:2]), str(rng.choice(["same", "different"]))],
        "tell_all": [[(row(), row(), "same"), (0, 5, "different")]],
        "place": [row(), int(rng.integers(3))],
        "reject": [row(), int(rng.integers(3))],
        "typical_rows": [int(rng.integers(3))],
        "may_tell": [(row(), row())],
        "predict": [np.zeros((2, 3))],
        "predict_proba": [np.zeros((2, 3))],
        "run": [lambda question: question.words[0], 2],
        "replay": [[]],
        "save": [folder / "session.json"],
        "ask_screen": [int(rng.integers(1, 12))],
        "tell_screen": _sorted(session, rng),
        "promises_more": [[row(), row()], None, (2.5, 3.0, 1.4)],
        "rename_pile": [int(rng.integers(5)), str(rng.choice(["wren", "owl", "", "aside"]))],
        "merge_piles": [int(rng.integers(5)), int(rng.integers(5))],
        "keep_piles_apart": [int(rng.integers(5)), int(rng.integers(5))],
        "split_pile": [int(rng.integers(5)), {row(): "new", row(): -1}],
    }
    words = right.get(name, [])
    words = [_ODD[int(rng.integers(len(_ODD)))] if rng.random() < 0.3 else word for word in words]
    if name == "run" and words[0] is object:  # a caller's own function that fails says so itself
        words[0] = None
    if name == "save" and not isinstance(words[0], Path):
        words = [folder]  # a folder is no file
    return words, ", ".join(repr(word)[:60] for word in words)


def _sorted(session: Any, rng: np.random.Generator) -> list[Any]:
    """Return a screen, or some rows, and where they go."""
    from sidelight.errors import SidelightError

    try:
        rows: Any = session.ask_screen(int(rng.integers(1, 12))) if rng.random() < 0.7 else None
    except SidelightError:  # its belief knows no piles
        rows = None
    shown = list(rows.rows) if rows is not None else [int(row) for row in rng.permutation(24)[: rng.integers(1, 6)]]
    places = (0, 1, 2, 7, -1, "wren", "aside", None, 99, "", 1.5)
    put = [places[int(rng.integers(len(places)))] for _ in shown]
    return [shown if rows is None else rows, put if rng.random() < 0.7 else dict(zip(shown, put))]


def _resumed(session: Any, X: np.ndarray, folder: Path, options: dict[str, Any]) -> None:
    import sidelight as sl

    path = folder / "kept.json"
    session.save(path)
    again = sl.ActiveSession.resume(path, X)
    assert again.history == session.history, "another history"
    assert np.array_equal(again.labels_, session.labels_), "other labels"
    if session.labels_ is not None and getattr(session, "_on_piles", None) and options.get("strategy") != "info":
        from sidelight.errors import InvalidData

        try:
            piles = session.piles
        except InvalidData:
            return
        assert again.piles == piles, "other piles"
