"""Tables whose columns count labels, share them, or leave them in doubt, with odd cells: read, written and read again.

A table is refused by a message of ours, or what its bags say is the same after it was written; where names of labels
look like lists or numbers and nobody says which columns are labels, a guess may differ.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import judged

COUNT = 4_000
_ODD = (
    "", "NA", "-1", "0.5", "1e9", "1e999", "nan", "x", "?", "100", "33.3", "1,5", "12%", " 3 ", "03", "99999999999",
    "wren x3", "3 owl", "jay?", "0", '{"wren": 3}', '{"wren": [1, 4], "owl": "maybe"}', "[1]", "{}", '{"wren": -1}',
    '{"wren": {"a": 1}}', '{"...": true}', "wren x0", "wren x999999", "x3", "?", "wren??", "1/0",
)  # fmt: skip
_PLAIN = ("wren", "owl", "jay", "Turdus merula", "Turdus pilaris", "any of", "rows", "grey gull")
_NAMES = (*_PLAIN, "Turdus sp.", "gull sp.", "...", "0", "a|b", "a;b", "[x]", '"', " jay")


def attack(number: int, folder: Path) -> str:
    """Write one table, read it, write what was read and read that."""
    import sidelight as sl

    rng = np.random.default_rng([20, number])
    path, again = folder / "table.csv", folder / f"again{'.csv' if rng.random() < 0.7 else '.parquet'}"
    settings = _write(path, rng)

    def read() -> None:
        data = sl.read(path, **settings)
        sl.write(data, again)
        is_plain = settings.get("label") and data.bags is not None and set(data.bags.classes) <= {*_PLAIN}
        if not is_plain:
            return
        back = sl.read(again, bag="bag")
        assert _said(back.bags) == _said(data.bags), f"said {_said(data.bags)[:2]}, then {_said(back.bags)[:2]}"

    verdict = judged(read)
    if verdict in ("accepted", "refused"):
        return verdict
    return f"{settings} {path.read_text(encoding='utf-8')[:160]!r}: {verdict}"


def _said(bags: object) -> list[tuple[str, str]]:
    """Return what each bag says, without an order."""
    said = getattr(bags, "said", None) or {}
    lists = dict(bags.labels.items()) if getattr(bags, "labels", None) else {}
    told = {str(name): (sorted(map(str, lists.get(name) or ())), said.get(name)) for name in {*lists, *said}}
    return sorted((name, repr(_sorted(what))) for name, what in told.items())


def _sorted(what: object) -> object:
    if isinstance(what, dict):
        return sorted((str(key), _sorted(value)) for key, value in what.items())
    if isinstance(what, set | frozenset):
        return sorted(map(str, what))
    if isinstance(what, tuple):
        return tuple(_sorted(part) for part in what)
    return round(what, 6) if isinstance(what, float) else what


def _write(path: Path, rng: np.random.Generator) -> dict[str, Any]:
    """Write rows in bags with what somebody said of each; return what to read it with."""
    drawn = _PLAIN if rng.random() < 0.5 else _NAMES
    names = [str(name) for name in rng.choice(drawn, int(rng.integers(1, 5)), replace=False)]
    kind = str(rng.choice(["counts", "shares", "ticks", "words", "cells"]))
    share = float(rng.choice([0.0, 0.0, 0.02, 0.2]))
    n_bags = int(rng.integers(1, 16))
    with path.open("w", newline="", encoding="utf-8") as handle:
        lines = csv.writer(handle)
        lines.writerow(["bag", "f", "g", *(["labels"] if kind in ("words", "cells") else names)])
        for b in range(n_bags):
            size = int(rng.integers(1, 7))
            n = np.bincount(rng.integers(0, len(names), size), minlength=len(names))
            said = _cells(kind, names, n, rng)
            said = [str(rng.choice(_ODD)) if rng.random() < share else cell for cell in said]
            for _ in range(size):
                row = [str(rng.choice(_ODD)) if rng.random() < share / 4 else cell for cell in said]
                lines.writerow([f"b{b}", *np.round(rng.normal(size=2), 3), *row])
    settings: dict[str, Any] = {}
    if rng.random() < 0.7:
        settings = {"bag": "bag", "label": "labels" if kind in ("words", "cells") else names}
    if rng.random() < 0.5:
        settings["label_numbers"] = str(rng.choice(["rows", "shares", "present", "x"], p=[0.4, 0.3, 0.25, 0.05]))
    return settings


def _cells(kind: str, names: list[str], n: np.ndarray, rng: np.random.Generator) -> list[str]:
    if kind == "counts":
        return [str(count) for count in n]
    if kind == "shares":
        return [f"{100 * part:.1f}" if rng.random() < 0.5 else f"{part:.3f}" for part in n / n.sum()]
    if kind == "ticks":
        return ["" if rng.random() < 0.1 else str(int(count > 0)) for count in n]
    if kind == "words":
        mark = str(rng.choice([" x{}", "?", ""]))
        return ["; ".join(name + mark.format(count) for name, count in zip(names, n) if count)]
    import json

    return [json.dumps({name: int(c) if rng.random() < 0.7 else [0, int(c)] for name, c in zip(names, n) if c})]
