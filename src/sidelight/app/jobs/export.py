"""What was found, in the files of other programs: selection tables, keywords of photographs, tasks of Label Studio."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidelight._core.atomic import replacing
from sidelight.app.jobs.columns import Columns
from sidelight.app.jobs.config import as_toml
from sidelight.app.jobs.output import check_free, output_folder, write_text
from sidelight.errors import InvalidData, InvalidParameter
from sidelight.files.material.keywords import in_jpeg, with_keywords
from sidelight.files.material.labels import key_of
from sidelight.files.material.selections import Selection, write_selections
from sidelight.words import Setting, counted

FORMS = ("raven", "audacity", "birdnet", "label-studio", "digikam", "lightroom")
TAGS_FILE = "tags.csv"  # what people said in the studio of tags: beside the results
_SIDECARS = ("digikam", "lightroom")  # photo.jpg.xmp, and photo.xmp
_SURE = 0.5  # a label of which a photograph's rows are less sure is no keyword of it
_ENDINGS = {"raven": ".selections.txt", "audacity": ".labels.txt", "birdnet": ".BirdNET.results.csv"}
_UNNAMED = re.compile(r"novel-\d+")
_NAMES = ("label", "name", "cluster")  # columns of assignments that say what a row is, best first


def export(
    results: str, out: str | None, form: str, *, overwrite: bool = False, write_originals: bool = False
) -> list[str]:
    """Write the rows of a run for another program; return what was done, in sentences.

    Parameters
    ----------
    results : str
        The folder of a run.
    out : str or None
        A folder for selection tables, one a recording; a file for Label Studio; a folder for keywords, by default the
        one of the photographs.
    form : str
        ``"raven"``, ``"audacity"``, ``"birdnet"``, ``"label-studio"``, ``"digikam"`` or ``"lightroom"``.
    overwrite : bool
        Whether what is there may be replaced; keywords are added to what is there, and need no leave.
    write_originals : bool
        Whether keywords also go into the photographs themselves (JPEG).
    """
    table = Columns(results)
    if form in _SIDECARS:
        return _keywords(table, results, out, form, write_originals)
    if write_originals:
        raise InvalidParameter(
            f"Only keywords go into photographs, and {form} takes none. Choose one of {', '.join(_SIDECARS)}."
        )
    if out is None:
        raise InvalidParameter("Say where to write.", do=["Add ", Setting("out", "OUT"), "."])
    named = next((name for name in _NAMES if name in table.names), None)
    if named is None:
        raise InvalidData(f"{results!r} says nothing about rows: expected a column {' or '.join(map(repr, _NAMES))}.")
    labels = table.cells(named)
    sure = _numbers(table, "probability", 1.0) if "probability" in table.names else None
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
    times = _numbers(table, "start"), _numbers(table, "end")
    for k, (file, start, end) in enumerate(zip(table.cells("file"), *times)):
        one = Selection(Path(file).name, start, end, labels[k], 1.0 if sure is None else sure[k])
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


def _keywords(table: Columns, results: str, out: str | None, form: str, write_originals: bool) -> list[str]:
    """Write what each photograph shows as keywords beside it, or in a folder; on request into the files, too."""
    photographs = _folder_of(results)
    found = keywords_of(table)
    found |= {
        bag: words for bag, words in _lists_of(Path(results)).items() if bag in found
    }  # bags that are photographs
    found = _as_people_say(found, Path(results) / TAGS_FILE)
    parents = _parents(Path(results))
    place = photographs if out is None else Path(out).expanduser()
    written: dict[Path, bytes] = {}
    originals: dict[Path, bytes] = {}
    for file, words in found.items():
        photograph = _inside(photographs, file)
        beside = _inside(place, f"{file}.xmp" if form == "digikam" else f"{os.path.splitext(file)[0]}.xmp")
        there = written.get(beside) or (_bytes_of(beside) if beside.exists() else None)  # a.jpg and a.png share a.xmp
        written[beside] = with_keywords(there, words, parents, str(beside))
        if write_originals:
            originals[photograph] = in_jpeg(_bytes_of(photograph), words, parents, str(photograph))
    for path, content in {**written, **originals}.items():  # nothing is written where one of them cannot be
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as handle:
            handle.write(content)
    n_words = sum(len(words) for words in found.values())
    told = f"{counted(n_words, 'keyword')} of {counted(len(found), 'photograph')} went into files (.xmp) in {place}/"
    kept = "keywords, ratings and captions that were there are kept"
    return [f"{told}; {kept}.", *(["The same went into the photographs themselves."] if originals else [])]


def keywords_of(table: Columns) -> dict[str, list[str]]:
    """Return the keywords of each file: the labels of its row, or those that its pieces are rather sure to be."""
    if "file" not in table.names:
        raise InvalidData(f"{table.path!r} names no files: keywords need the rows of a folder of photographs.")
    files = table.cells("file")
    if "labels" in table.names:  # of the hierarchy job: lists, with what was added
        return {file: sorted(filter(None, cell.split("|"))) for file, cell in zip(files, table.cells("labels"))}
    name = next((name for name in ("label", "name") if name in table.names), None)
    if name is None:
        raise InvalidData(f"{table.path!r} has clusters without names: keywords need labels (instances, hierarchy).")
    sure = _numbers(table, "probability", 1.0) if "probability" in table.names else [1.0] * len(files)
    found: dict[str, set[str]] = {file: set() for file in files}
    for file, label, probability in zip(files, table.cells(name), sure):
        if label and probability >= _SURE and not _UNNAMED.fullmatch(label):
            found[file].add(label)
    return {file: sorted(labels) for file, labels in found.items()}


def _lists_of(results: Path) -> dict[str, list[str]]:
    """Return the lists of photographs that are bags: those they came with, else the sets found by features."""
    place = results / "bags.csv"
    bags = Columns(str(place)) if place.exists() else None
    if bags is None or not {"bag", "labels", "by_features_alone"} <= set(bags.names):
        return {}
    lists = zip(*(bags.cells(name) for name in ("bag", "labels", "by_features_alone")))
    return {bag: sorted(filter(None, (told or found).split("|"))) for bag, told, found in lists}


def _numbers(table: Columns, name: str, missing: float | None = None) -> list[float]:
    """Return a column of numbers; an empty cell is ``missing``."""
    numbers = []
    for row, cell in enumerate(table.cells(name)):
        try:
            numbers.append(missing if missing is not None and not cell else float(cell))
        except ValueError:
            raise InvalidData(
                f"{table.path!r}: expected a number in column {name!r}, row {row + 1}, got {cell!r}."
            ) from None
    return numbers


def _as_people_say(found: dict[str, list[str]], place: Path) -> dict[str, list[str]]:
    """Return the keywords with those that people confirmed in the studio and without those that they refused."""
    if not place.exists():
        return found
    said = Columns(str(place))
    lists = zip(*(said.cells(name) for name in ("file", "labels", "confirmed", "refused")))
    for file, *cells in lists:
        listed, confirmed, refused = ({name for name in cell.split("|") if name} for cell in cells)
        if file in found:
            found[file] = sorted(listed or ((set(found[file]) | confirmed) - refused))
    return found


def _folder_of(results: str) -> Path:
    """Return the folder whose files the rows of a run were cut from."""
    from sidelight.app.jobs.config import RunConfig

    said = Path(results) / "run.toml"
    folder = Path(RunConfig.from_toml(said).table) if said.exists() else None
    if folder is None or not folder.is_dir():
        raise InvalidData(
            f"{results!r} is not the run of a folder of photographs: expected a run.toml beside it whose table is one."
        )
    return folder


def _parents(results: Path) -> dict[str, str]:
    """Return which label stands above which, where the run found a tree."""
    place = results / "tree.csv"
    if not place.exists():
        return {}
    tree = Columns(str(place))
    return {label: parent for label, parent in zip(tree.cells("label"), tree.cells("parent")) if parent}


def _inside(folder: Path, name: str) -> Path:
    """Return a file of the folder; a name that leads out of it is refused."""
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InvalidData(f"{name!r} lies outside of {str(folder)!r}: nothing was written.")
    return path


def _bytes_of(photograph: Path) -> bytes:
    if not photograph.exists():
        raise InvalidData(f"{str(photograph)!r} is not there any more: nothing was written.")
    return photograph.read_bytes()
