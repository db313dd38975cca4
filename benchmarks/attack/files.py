"""Ten thousand damaged files: bytes flipped as copying does it, and structures changed as malice does it."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path

import numpy as np

from attack.outcome import judged
from attack.small import write_files
from attack.worker import WORK
from mutations import mutate
from sidelight.files.material.listing import KINDS

COUNT = 10_000
SMALLER_THAN = 400_000  # bytes of a real file that are kept; larger ones are cut to whole lines
_BINARY = (
    ".mat", ".gz", ".npz", ".parquet", ".npy", ".tar", ".sqlite", ".feather", ".zip",
    *KINDS["sounds"], *KINDS["pictures"], ".docx", ".pdf",
)  # fmt: skip


def attack(number: int, folder: Path) -> str:
    """Damage one file and read it."""
    import sidelight as sl

    rng = np.random.default_rng([1, number])
    known = sources()
    source = known[int(rng.integers(len(known)))]
    target = stage(source, folder)
    target.write_bytes(mutate(target.read_bytes(), int(rng.integers(2**32)), source.suffix))

    def read() -> None:
        try:
            if target.suffix in (*KINDS["sounds"], *KINDS["pictures"], *KINDS["texts"]):
                data = sl.from_folder(target.parent, out=target.parent / "rows.parquet", n_jobs=1)
            else:
                data = sl.read(target, max_memory="1GB")
            assert data.n_rows == len(data.row_names)
        except sl.SidelightError as error:
            if folder.name not in str(error):
                raise AssertionError(f"the message does not name the file: {error}") from None
            raise

    verdict = judged(read)
    return verdict if verdict in ("accepted", "refused") else f"{source.name}: {verdict}"


@cache
def sources() -> list[Path]:
    """List the real files that there are, and small ones of every format."""
    named = os.environ.get("SIDELIGHT_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"
    real = sorted(p for p in folder.rglob("*") if p.suffix in (".csv", ".gz", ".dat", ".data", ".arff", ".mat"))
    small = WORK / "small"
    ready = small / "ready with texts"
    if not ready.exists():
        write_files(small)
        ready.write_text("")
    return [*real, *sorted(p for p in small.iterdir() if not p.name.startswith("ready")) * 4]


def stage(source: Path, folder: Path) -> Path:
    """Copy a file with what lies beside it (names, XML, labels); a large text keeps its first lines."""
    for beside in source.parent.iterdir():
        is_named = beside.suffix in (".names", ".xml") or ("labels" in beside.name and "images" in source.name)
        if is_named and beside.is_file():
            shutil.copy(beside, folder)
    data = source.read_bytes()
    is_binary = source.suffix in _BINARY or b"\0" in data[:1000]
    if len(data) > SMALLER_THAN and not is_binary:
        data = data[: data.rfind(b"\n", 0, SMALLER_THAN) + 1]
    target = folder / source.name
    target.write_bytes(data)
    return target
