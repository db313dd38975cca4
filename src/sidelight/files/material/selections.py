r"""Selection tables of Raven, Audacity and BirdNET: pieces of recordings that a person or a program marked.

Raven writes tabs, each selection twice (Waveform and Spectrogram views) and, after its seven columns, free ones, the
last of which may have no name. Audacity writes start, end and label, and a second line ``\ low high`` for a box; a
point has start = end. BirdNET writes CSV, or Raven's form with ``nocall`` where nothing was heard, and its combined
tables count seconds over all files (``File Offset (s)`` has those of the file itself).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sidelight.errors import InvalidData, UnreadableFile
from sidelight.files.roles.cells import as_number
from sidelight.files.source import guess_encoding

_RAVEN = ("Selection", "View", "Channel", "Begin Time (s)", "End Time (s)", "Low Freq (Hz)", "High Freq (Hz)")
_SPECIES = ("Species", "Common Name", "Common name", "Annotation", "Label", "Name", "Species Code")
_FILES = ("Begin File", "Begin Path", "File", "Filepath", "Begin file")
_NOTHING = ("nocall", "noise", "")


@dataclass(frozen=True, slots=True)
class Selection:
    """A marked piece: which file (empty where the table does not say), seconds, a label, and how sure."""

    file: str
    start: float
    end: float
    label: str
    confidence: float = 1.0
    low: float | None = None
    high: float | None = None


def read_selections(path: Path, *, min_confidence: float = 0.0) -> list[Selection]:
    """Read a selection table of any of the three programs.

    Parameters
    ----------
    path : Path
        The table.
    min_confidence : float
        Selections of BirdNET below this are left out.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UnreadableFile(f"{path}: cannot be read ({error.strerror or error}).") from None
    text = content.decode(guess_encoding(content, is_whole=True), errors="replace").lstrip("\ufeff")
    found = (
        _raven(path, text) if _is_raven(text) else _birdnet(path, text) if _is_birdnet(text) else _audacity(path, text)
    )
    return [one for one in found if one.confidence >= min_confidence]


def is_selection_table(path: Path) -> bool:
    """Say whether a text file is a selection table, by its first lines."""
    try:
        with path.open("rb") as file:
            content = file.read(4096)
    except OSError:
        return False
    text = content.decode(guess_encoding(content), errors="replace").lstrip("\ufeff")
    if _is_raven(text) or _is_birdnet(text):
        return True
    first = text.splitlines()[0].split("\t") if text.strip() else []
    return path.suffix.lower() == ".txt" and len(first) == 3 and _number(first[0]) is not None is not _number(first[1])


def _is_raven(text: str) -> bool:
    first = text.splitlines()[0] if text.strip() else ""
    return first.startswith("Selection\t") and "Begin Time (s)" in first


def _is_birdnet(text: str) -> bool:
    first = text.splitlines()[0].lower() if text.strip() else ""
    return "start (s)" in first and "end (s)" in first and "," in first


def _raven(path: Path, text: str) -> list[Selection]:
    rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    header, found, seen = [name.strip() for name in rows[0]], [], set()
    at = {name: j for j, name in enumerate(header) if name}
    label = next((at[name] for name in _SPECIES if name in at), None)
    if label is None:  # the free column, maybe without a name
        free = [j for j, name in enumerate(header) if name not in _RAVEN and name not in _FILES]
        filled = {j: sum(len(row) > j and bool(row[j].strip()) for row in rows[1:]) for j in free}
        label = max(free, key=lambda j: (filled[j], j)) if free else None
    file = next((at[name] for name in _FILES if name in at), None)
    offset = at.get("File Offset (s)")
    for line, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        row = row + [""] * (len(header) - len(row))
        start, end = (_seconds(path, line, row, at, name) for name in ("Begin Time (s)", "End Time (s)"))
        if offset is not None and (own := _number(row[offset])) is not None:
            start, end = own, own + end - start  # a combined table counts seconds over all files
        name = "" if file is None else row[file].strip()
        key = (name, row[at["Selection"]].strip(), start, end)
        said = "" if label is None else row[label].strip()
        if key in seen or said.lower() in _NOTHING:
            continue  # the same selection in its other view, or nothing
        seen.add(key)
        sure = _number(row[at["Confidence"]]) if "Confidence" in at else None
        low, high = (_number(row[at[name]]) if name in at else None for name in ("Low Freq (Hz)", "High Freq (Hz)"))
        found.append(Selection(Path(name).name, start, end, said, 1.0 if sure is None else sure, low, high))
    return found


def _birdnet(path: Path, text: str) -> list[Selection]:
    rows = csv.DictReader(io.StringIO(text))
    names = {(name or "").strip().lower(): name for name in rows.fieldnames or ()}
    label = next((names[n] for n in ("common name", "species", "scientific name", "label") if n in names), None)
    if label is None:
        raise InvalidData(f"{path}: expected a column 'Common name', found {', '.join(rows.fieldnames or ())}.")
    file = next((names[n] for n in ("file", "filepath", "begin file") if n in names), None)
    found = []
    for line, row in enumerate(rows, start=2):
        cells = [row.get(names["start (s)"]) or "", row.get(names["end (s)"]) or ""]
        start, end = (_seconds(path, line, cells, {"start": 0, "end": 1}, name) for name in ("start", "end"))
        said = (row.get(label) or "").strip()
        if said.lower() in _NOTHING:
            continue
        sure = _number(row.get(names.get("confidence", "")) or "1")
        own = Path(row.get(file) or "").name if file else ""
        found.append(Selection(own, start, end, said, 1.0 if sure is None else sure))
    return found


def _audacity(path: Path, text: str) -> list[Selection]:
    found: list[Selection] = []
    for line, row in enumerate((text_line.split("\t") for text_line in text.splitlines()), start=1):
        if not any(cell.strip() for cell in row):
            continue
        if row[0].strip() == "\\" and found:  # the box of the line before
            low, high = (_number(cell) for cell in (row[1:] + ["", ""])[:2])
            last = found[-1]
            found[-1] = Selection(last.file, last.start, last.end, last.label, 1.0, low, high)
            continue
        start, end = (_seconds(path, line, row, {"start": 0, "end": 1}, name) for name in ("start", "end"))
        found.append(Selection("", start, end, row[2].strip() if len(row) > 2 else ""))
    return found


def write_selections(found: Iterable[Selection], form: str) -> str:
    """Return a selection table as text: ``"raven"``, ``"audacity"`` or ``"birdnet"``."""
    return _WRITERS[form](list(found))


def _as_raven(found: Sequence[Selection]) -> str:
    lines = ["\t".join([*_RAVEN, "Begin File", "Species", "Confidence"])]
    for number, one in enumerate(found, start=1):
        low, high = (f"{f:.1f}" if f is not None else d for f, d in ((one.low, "0.0"), (one.high, "22050.0")))
        cells = [str(number), "Spectrogram 1", "1", f"{one.start:.4f}", f"{one.end:.4f}", low, high]
        lines.append("\t".join([*cells, _cell(one.file), _cell(one.label), f"{one.confidence:.4f}"]))
    return "\n".join(lines) + "\n"


def _as_audacity(found: Sequence[Selection]) -> str:
    lines = []
    for one in found:
        lines.append(f"{one.start:.6f}\t{one.end:.6f}\t{_cell(one.label)}")
        if one.low is not None and one.high is not None:
            lines.append(f"\\\t{one.low:.6f}\t{one.high:.6f}")
    return "\n".join(lines) + "\n"


def _as_birdnet(found: Sequence[Selection]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["Start (s)", "End (s)", "Scientific name", "Common name", "Confidence", "File"])
    for one in found:
        row = [f"{one.start:.1f}", f"{one.end:.1f}", "", one.label, f"{one.confidence:.4f}", one.file]
        writer.writerow(row)
    return out.getvalue()


_WRITERS = {"raven": _as_raven, "audacity": _as_audacity, "birdnet": _as_birdnet}


def _cell(text: str) -> str:
    return " ".join(text.split())  # a tab or line break would end the cell


def _number(cell: str) -> float | None:
    try:
        value = as_number(cell.strip().replace(",", "."))
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None


def _seconds(path: Path, line: int, row: Sequence[str], at: Mapping[str, int], name: str) -> float:
    cell = row[at[name]] if name in at and at[name] < len(row) else ""
    value = _number(cell)
    if value is None or value < 0:
        raise InvalidData(
            f"{path}, line {line}: expected seconds ({name}), found {cell!r:.40}. Is it a selection table?"
        )
    return value
