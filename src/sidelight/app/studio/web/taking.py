"""Files that a project hands over, and answers that are brought from elsewhere."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, UploadFile
from fastapi.responses import Response

from sidelight.app.jobs.output import csv_text
from sidelight.app.studio.studio import RESERVED
from sidelight.app.studio.taking import bring_pairs, label_studio, labels_table, merged_table, notes_table
from sidelight.app.studio.web.parts import ProjectPart
from sidelight.errors import CannotWrite, InvalidData, TooLarge

router = APIRouter()
_MOST_BYTES = 20_000_000  # of answers that are brought
_BROUGHT = (".csv", ".tsv", ".txt", ".parquet", ".json")


@router.get("/p/{number}/merged.csv", tags=["seeing"])
def merged_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return one table with a line for each row: cluster, probability, what people said, notes."""
    return csv_file(merged_table(project), "merged.csv", disarm)


@router.get("/p/{number}/notes.csv", tags=["seeing"])
def notes_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return every note on a row."""
    return csv_file(notes_table(project), "notes.csv", disarm)


@router.get("/p/{number}/labels.csv", tags=["seeing"])
def labels_file(project: ProjectPart, disarm: bool = False) -> Response:
    """Return every label that people gave rows."""
    return csv_file(labels_table(project), "labels.csv", disarm)


@router.get("/p/{number}/label-studio.json", tags=["seeing"])
def label_studio_file(project: ProjectPart) -> Response:
    """Return rows and answers as tasks of Label Studio."""
    return Response(
        json.dumps(label_studio(project), ensure_ascii=False),
        media_type="application/json",
        headers={"content-disposition": 'attachment; filename="label-studio.json"'},
    )


@router.post("/api/projects/{number}/import", tags=["projects"])
def bring(
    project: ProjectPart,
    answers: Annotated[UploadFile, File(description="pairs as a table, or tasks of Label Studio as JSON")],
    name: Annotated[str, Form(min_length=1, max_length=80, description="whose answers they are")] = "brought",
) -> dict[str, Any]:
    """Take answers about two rows that were given elsewhere."""
    ending = PurePosixPath((answers.filename or "").replace("\\", "/")).suffix.lower()
    if ending not in _BROUGHT:
        raise InvalidData(f"Answers come as one of {', '.join(_BROUGHT)}. Got {answers.filename!r:.80}.")
    if name.strip().casefold() in RESERVED:
        raise InvalidData(f"{name.strip()!r} is a name that the studio uses itself. Choose another one.")
    if answers.size is None or answers.size > _MOST_BYTES:
        raise TooLarge(f"At most {_MOST_BYTES / 1e6:g} MB of answers can be sent at once.")
    with tempfile.TemporaryDirectory(prefix="sidelight-upload-") as folder:
        place = Path(folder) / f"answers{ending}"
        try:
            with open(place, "wb") as handle:
                shutil.copyfileobj(answers.file, handle)
        except OSError as error:
            raise CannotWrite(f"Cannot keep what was sent: {error.strerror}. Nothing was changed.") from error
        return {"new": bring_pairs(project, place, name)}


def csv_file(columns: dict[str, list[Any]], name: str, disarm: bool) -> Response:
    """Return columns as a file to keep."""
    return Response(
        csv_text(columns, disarm=disarm),
        media_type="text/csv",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )
