"""Run every example and keep what it prints and draws for the gallery: ``python docs/make_gallery.py [name ...]``."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
GALLERY = Path(__file__).resolve().parent / "images" / "gallery"


def keep(path: Path) -> None:
    """Run one example in the folder of the gallery, where its picture goes; what it prints is a file beside it."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        runpy.run_path(str(path), run_name="__main__")
    (GALLERY / f"{path.stem}.txt").write_text(said.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    GALLERY.mkdir(parents=True, exist_ok=True)
    os.chdir(GALLERY)
    for example in sorted(EXAMPLES.glob("*.py")):
        if not sys.argv[1:] or example.stem in sys.argv[1:]:
            keep(example)
