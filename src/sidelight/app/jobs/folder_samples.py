"""Folders to try `sidelight from` on: recordings, photographs and letters that were made up, with a table of labels."""

from __future__ import annotations

import csv
import io
import wave
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sidelight.app.jobs.config import as_toml
from sidelight.app.jobs.output import output_folder, write_text
from sidelight.data.synth.material import RATE, make_letters, make_photographs, make_recordings
from sidelight.words import Sentence, Setting


@dataclass(frozen=True)
class FolderSample:
    """What it is, the name of its table of labels, how its files are written, and what to type next."""

    what: str
    labels: str
    write: Callable[[Path, int], Mapping[str, frozenset[str]]]
    next: Callable[[str, str], Sequence[str | Setting]]
    things: str = "files"


def write_folder(name: str, out: str, *, seed: int = 0, overwrite: bool = False) -> list[Sentence]:
    """Write the sample ``name`` into the folder ``out``; return what was done, in sentences."""
    sample, place = FOLDERS[name], Path(out)

    def manifest(files: object) -> str:
        return as_toml({"job": "sample", "table": name, "seed": seed, "files": files}, {})

    with output_folder(place, manifest, overwrite=overwrite) as folder:
        lists = sample.write(folder, seed)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["file", "labels"])
        writer.writerows([file, "|".join(sorted(labels))] for file, labels in lists.items())
        write_text(folder / sample.labels, text.getvalue())
    return [
        f"{sample.what}.",
        f"Wrote {len(lists)} {sample.things} and {sample.labels} to {out}/.",
        ["Next: ", *sample.next(out, f"{out}/{sample.labels}")],
    ]


def _sounds(folder: Path, seed: int) -> Mapping[str, frozenset[str]]:
    lists = {}
    for number, recording in enumerate(make_recordings(random_state=seed), start=1):
        name = f"recording{number:02d}.wav"
        with wave.open(str(folder / name), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(np.rint(32_000 * recording.samples).astype("<i2").tobytes())
        lists[name] = recording.species
    return lists


def _pictures(folder: Path, seed: int) -> Mapping[str, frozenset[str]]:
    from PIL import Image

    lists = {}
    for number, photograph in enumerate(make_photographs(random_state=seed), start=1):
        name = f"photo{number:02d}.png"
        Image.fromarray(photograph.pixels).save(folder / name)
        lists[name] = photograph.tags
    return lists


def _letters(folder: Path, seed: int) -> Mapping[str, frozenset[str]]:
    lists: dict[str, frozenset[str]] = {}
    for number, letter in enumerate(make_letters(random_state=seed), start=1):
        box = f"box{letter.box:02d}"
        (folder / box).mkdir(exist_ok=True)
        write_text(folder / box / f"letter{number:03d}.txt", letter.text)
        lists[box] = lists.get(box, frozenset()) | {letter.topic}
    return lists


def _name_rows(out: str, labels: str) -> Sequence[str | Setting]:
    return [f"sidelight instances {out} ", Setting("label_file", labels), " ", Setting("out", "results")]


FOLDERS = {
    "sounds": FolderSample(
        "Forty recordings of made-up birds, and which of them call in each", "species.csv", _sounds, _name_rows
    ),
    "pictures": FolderSample("Sixty made-up photographs, and what is on each", "tags.csv", _pictures, _name_rows),
    "letters": FolderSample(
        "Thirty boxes of made-up letters, and what is in each", "topics.csv", _letters, _name_rows, "boxes"
    ),
}
