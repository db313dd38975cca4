"""What was found, in the files of other programs: selection tables, and tasks of Label Studio."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import as_toml
from sidelight.app.jobs.output import check_free, output_folder, write_text
from sidelight.errors import InvalidData
from sidelight.files.material.labels import key_of
from sidelight.files.material.selections import Selection, write_selections
from sidelight.words import counted

FORMS = ("raven", "audacity", "birdnet", "label-studio")
_ENDINGS = {"raven": ".selections.txt", "audacity": ".labels.txt", "birdnet": ".BirdNET.results.csv"}
_NAMES = ("label", "name", "cluster")  # columns of assignments that say what a row is, best first


def export(results: str, out: str, form: str, *, overwrite: bool = False) -> list[str]:
    """Write the rows of a run for another program; return what was done, in sentences.

    Parameters
    ----------
    results : str
        The folder of a run.
    out : str
        A folder for selection tables, one a recording; a file for Label Studio.
    form : str
        ``"raven"``, ``"audacity"``, ``"birdnet"`` or ``"label-studio"``.
    overwrite : bool
        Whether what is there may be replaced.
    """
    table = Columns(results)
    named = next((name for name in _NAMES if name in table.names), None)
    if named is None:
        raise InvalidData(f"{results!r} says nothing about rows: expected a column {' or '.join(map(repr, _NAMES))}.")
    labels = table.cells(named)
    sure = [float(p) if p else 1.0 for p in table.cells("probability")] if "probability" in table.names else None
    place = Path(out).expanduser()
    if form == "label-studio":
        return _label_studio(table, labels, sure, place, overwrite)
    if not {"file", "start", "end"} <= set(table.names):
        raise InvalidData(
            f"{results!r}: selection tables need the columns file, start and end, which rows that `sidelight from` cut "
            "have. Keep them in the run, or use label-studio."
        )
    check_free(place, overwrite)
    by_file: dict[str, list[Selection]] = {}
    for k, (file, start, end) in enumerate(zip(*(table.cells(name) for name in ("file", "start", "end")))):
        one = Selection(Path(file).name, float(start), float(end), labels[k], 1.0 if sure is None else sure[k])
        by_file.setdefault(file, []).append(one)

    def manifest(files: Sequence[str]) -> str:
        return as_toml({"job": "export", "table": str(results), "files": list(files)}, {})

    with output_folder(place, manifest, overwrite=overwrite) as folder:
        for number, (file, found) in enumerate(by_file.items()):
            name = _file_name(file, number, form)
            if (folder / name).exists():  # two recordings of one name in different folders
                name = f"{number}-{name}"
            write_text(folder / name, write_selections(found, form))
    return [f"{counted(len(labels), 'row')} of {counted(len(by_file), 'recording')} went to {out}/."]


def _file_name(file: str, number: int, form: str) -> str:
    """Return a plain name for the table of a recording: letters, digits, points and dashes of its own name."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", Path(key_of(file)).name).strip("._") or f"recording-{number}"
    return f"{safe[:100]}{_ENDINGS[form]}"


def _label_studio(
    table: Columns, labels: Sequence[str], sure: Sequence[float] | None, place: Path, overwrite: bool
) -> list[str]:
    from sidelight.app.jobs.output import check_file_free

    check_file_free(place, overwrite=overwrite)
    carried = {name: table.cells(name) for name in table.names}
    tasks: list[dict[str, Any]] = []
    for k, label in enumerate(labels):
        score = 1.0 if sure is None else sure[k]
        value = {"choices": [label]}
        answer = {"from_name": "label", "to_name": "row", "type": "choices", "value": value, "score": score}
        data = {name: cells[k] for name, cells in carried.items()}
        tasks.append({"data": data, "predictions": [{"result": [answer], "score": score}]})
    write_text(place, json.dumps(tasks, ensure_ascii=False, indent=1) + "\n")
    return [f"{counted(len(tasks), 'row')} went to {place} as tasks of Label Studio with predictions."]
