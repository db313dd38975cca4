"""Uploads to the studio: bombs, damaged files, names that lead elsewhere, forms that say anything.

A request ends in a project or a refusal of ours, in bounded time; the server's process does not grow, writes nothing
outside of its folder, and leaves nothing of what it refused.
"""

from __future__ import annotations

import gzip
import io
import logging
import struct
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from attack.files import sources
from attack.outcome import ACCEPTED, REFUSED
from mutations import mutate

COUNT = 150
EACH = 6
SECONDS, MEGABYTES = 240, 300  # of one request by the clock, and what one may add to the server
_NAMES = (
    "../../escaped.png", "/tmp/escaped.png", "a/../../b.png", "..\\..\\x.png", "con.png", "a\0.png", "x" * 300 + ".png",
    "table.csv", ".", "", "photo.png", "rows.json", "a.png\n", "<b>.png", "%2e%2e/x.png", "\u202egnp.exe",
)  # fmt: skip
_ROLES = ("", "{", "[]", '{"bag": "nope"}', '{"columns": 3}', '{"x": {}}', '{"label": ["a"]}', "null", "9" * 500)


def attack(number: int, folder: Path) -> list[str]:
    """Send some files to one studio."""
    from starlette.testclient import TestClient

    from sidelight.app.studio.studio import Studio
    from sidelight.app.studio.web.app import make_app

    logging.getLogger("sidelight.studio").setLevel(logging.CRITICAL)
    rng = np.random.default_rng([21, number])
    studio = Studio(folder / "studio")
    client = TestClient(
        make_app(studio), base_url="http://localhost", headers={"X-Sidelight": "1"}, raise_server_exceptions=False
    )
    try:
        return [_sent(client, studio, folder, rng, step) for step in range(EACH)]
    finally:
        studio.close()


def _sent(client: Any, studio: Any, folder: Path, rng: np.random.Generator, step: int) -> str:
    """Send one request and look at what it did."""
    name, content = _file(rng)
    field = _field(name) if rng.random() < 0.8 else str(rng.choice(["table", "images", "material"]))
    sent = str(rng.choice(_NAMES)) if rng.random() < 0.3 else name
    files = [(field, (sent, content))]
    if field != "table" and rng.random() < 0.7:
        files.append((field, (f"second{Path(name).suffix}", content)))  # what one picture alone would be refused for
    form = {"name": f"sent {step}", "roles": str(rng.choice(_ROLES)) if rng.random() < 0.3 else ""}
    path = "/api/describe" if field == "table" and rng.random() < 0.4 else "/api/projects"
    before, grown, begin = _outside(folder), _resident(), time.monotonic()
    n_projects = len(studio.store.projects())
    answer = client.post(path, data=form, files=files)
    took, grown = time.monotonic() - begin, _resident() - grown
    shown = f"{path} {field} {sent[:40]!r} ({name})"
    if answer.status_code >= 500:
        return f"{shown}: status {answer.status_code}: {answer.text[:200]}"
    if took > SECONDS or grown > MEGABYTES:
        return f"{shown}: {took:.0f} s, {grown:.0f} MB"
    if _outside(folder) != before:
        return f"{shown}: wrote {sorted(_outside(folder) - before)[:3]}"
    if answer.status_code >= 400 and len(studio.store.projects()) != n_projects:
        return f"{shown}: refused, but there is a project more"
    if answer.status_code >= 400 and not answer.json():
        return f"{shown}: refused without a message"
    return ACCEPTED if answer.status_code < 300 else REFUSED


def _file(rng: np.random.Generator) -> tuple[str, bytes]:
    """Return a bomb, or a damaged file of some format."""
    if rng.random() < 0.5:
        name = sorted(_BOMBS)[int(rng.integers(len(_BOMBS)))]
        return name, _BOMBS[name]()
    known = [path for path in sources() if path.stat().st_size < 400_000]
    path = known[int(rng.integers(len(known)))]
    content = path.read_bytes()
    return path.name, content if rng.random() < 0.2 else mutate(content, int(rng.integers(2**32)), path.suffix)


def _field(name: str) -> str:
    """Return the field of the form that takes such a file."""
    from sidelight.app.studio.uploads import IMAGE_ENDINGS, MATERIAL

    ending = Path(name).suffix
    return "images" if ending in IMAGE_ENDINGS else "material" if ending in MATERIAL["sounds"] else "table"


def _zeros_packed() -> bytes:
    """A text of two gigabytes in two megabytes."""
    return gzip.compress(b"1,2,3\n" * 30_000_000, compresslevel=1)


def _wide_picture() -> bytes:
    """A PNG that says it has four thousand million pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 65_000, 65_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(10**6))) + chunk(b"IEND", b"")
    )


def _long_sound() -> bytes:
    """A WAV that says it lasts for ten hours."""
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 2**32 - 1, b"WAVE", b"fmt ", 16, 1, 2, 192_000, 768_000, 4, 16,
                       b"data", 2**32 - 50)  # fmt: skip
    return head + bytes(100_000)


def _book(name: str, size: int) -> bytes:
    """A spreadsheet or document with one member of zeros."""
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        with archive.open(name, "w", force_zip64=True) as member:
            for _ in range(size):
                member.write(b" " * 2**20)
    return kept.getvalue()


def _entities() -> bytes:
    """A document whose text doubles thirty times."""
    names = "".join(f'<!ENTITY a{i + 1} "&a{i};&a{i};">' for i in range(30))
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
        text = f'<!DOCTYPE x [<!ENTITY a0 "ha">{names}]><x>&a30;</x>'
        archive.writestr("word/document.xml", text)
        archive.writestr("content.xml", text)
        archive.writestr("xl/workbook.xml", text)
    return kept.getvalue()


_BOMBS = {
    "packed.csv.gz": _zeros_packed,
    "wide.png": _wide_picture,
    "long.wav": _long_sound,
    "book.xlsx": lambda: _book("xl/sharedStrings.xml", 1500),
    "letter.docx": lambda: _book("word/document.xml", 1500),
    "book.ods": lambda: _book("content.xml", 1500),
    "entities.docx": _entities,
    "entities.xlsx": _entities,
    "one line.csv": lambda: b"1," * 4_000_000,
    "one column.csv": lambda: b"x\n" + b"1\n" * 3_000_000,
    "deep.jsonl": lambda: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "quoted.csv": lambda: b'a,b\n"' + b"x" * 8_000_000,
    "nothing.csv": lambda: b"",
    "deep.html": lambda: b"<div>" * 300_000,
    "svg.png": lambda: b'<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"/>',
}


def _outside(folder: Path) -> set[str]:
    """Return what lies beside the studio's folder, and in the places that names could lead to."""
    return {path.name for path in (*folder.iterdir(), *folder.parent.glob("*.png"), *Path("/tmp").glob("escaped*"))}


def _resident() -> float:
    """Return the megabytes of this process now."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0
