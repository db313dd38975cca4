"""Tables of text whose lines do not agree: short and long rows, lone CRs, stray quotes, blank lines, other separators.

Each is read, described and clustered by the command line: a result, or one message that names a line or the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from attack.outcome import ACCEPTED, REFUSED, judged

COUNT = 1_500
_CELLS = (
    "1",
    "2.5",
    "-3e9",
    "",
    "NA",
    "x",
    "a b",
    '"q"',
    '"',
    "'",
    "0x1",
    "1,5",
    "\u2028",
    "=1+1",
    "nan",
    "1e999",
    "\0",
)
_ENDS = ("\n", "\r\n", "\r", "\n\n", "\r\r\n")


def attack(number: int, folder: Path) -> str:
    """Write one ragged table and do three things with it."""
    import sidelight as sl

    rng = np.random.default_rng([9, number])
    path = folder / "table.csv"
    path.write_bytes(_table(rng).encode("utf-8", "surrogatepass"))

    def read() -> None:
        data = sl.read(path)
        assert data.n_rows == len(data.row_names)

    verdict = judged(read)
    if verdict not in (ACCEPTED, REFUSED):
        return f"{path.read_bytes()[:200]!r}: {verdict}"
    for words in (["describe", str(path)], ["relations", str(path), "-k", "2", "--out", str(folder / "out"), "-q"]):
        told = _by_command(words)
        if told:
            return f"{words[0]} {path.read_bytes()[:200]!r}: {told}"
    return verdict


def _table(rng: np.random.Generator) -> str:
    """Return a table with some lines that do not fit."""
    n_columns, n_lines = int(rng.integers(1, 6)), int(rng.integers(0, 30))
    separator, end = str(rng.choice([",", ";", "\t", "|"])), str(rng.choice(_ENDS[:3]))
    share = float(rng.choice([0.0, 0.05, 0.4]))
    lines = [separator.join("xyzuvw"[:n_columns])] if rng.random() < 0.8 else []
    for _ in range(n_lines):
        width = n_columns if rng.random() >= share else max(0, n_columns + int(rng.integers(-2, 3)))
        odd = rng.random() < share
        cells = [_cell(rng, odd) for _ in range(width)]
        lines.append((separator if rng.random() >= share / 2 else ",").join(cells))
    ends = [end if rng.random() >= share / 2 else str(rng.choice(_ENDS)) for _ in lines]
    text = "".join(line + mark for line, mark in zip(lines, ends))
    return ("\ufeff" if rng.random() < 0.1 else "") + text


def _cell(rng: np.random.Generator, odd: bool) -> str:
    return str(rng.choice(_CELLS)) if odd else f"{rng.normal():.3f}"


def _by_command(words: list[str]) -> str:
    """Run a command; say what is wrong with how it ended, or nothing."""
    from click.testing import CliRunner

    from sidelight.app.cli.app import app
    from sidelight.errors import SidelightError

    done: Any = CliRunner().invoke(app, words)
    if done.exit_code in (0, 2) or isinstance(done.exception, SidelightError):
        return ""
    return f"exit code {done.exit_code}: {done.output[-200:]} {done.exception!r}"
