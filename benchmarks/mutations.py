"""Damage for files: what copying, editing, exporting and malice do to them, drawn from a seed.

Blind damage changes bytes anywhere. Structured damage knows the format: it changes a size inside an array header, a
member of an archive, an index of a sparse matrix, a cell or a line of a table, and keeps everything around it whole.
"""

from __future__ import annotations

import gzip
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

Damage = Callable[[bytes, np.random.Generator], bytes]
_TOKENS = tuple(
    b" NaN inf -1e400 99999999999999999999 \" ' \0 ,,,, \r { } @data \xff\xfe ? abc : % # \xe9 \xc3\xa9".split(b" ")
) + (b"\n\n\n", b"0" * 400)
_NUMBERS = (0, 1, 2, 3, 5, 7, 255, 2**15, 2**24, 10**9, 2**31 - 1, 2**31, 2**32 - 1)
_CELLS = (
    b"", b"NA", b"1e309", b"-1", b"0x10", b"1_000", b"15%", b"1,5", b"true", b'"', b'"a,b"', b"'", b"{}", b"1:2:3 4",
    b"2147483646:1", b"\xd9\xa1", b"a|b|c", b"../../x", b"$x$", b"<b>", b"=1+1", b" 7 ", b"1 2",
)  # fmt: skip


def mutate(data: bytes, seed: int, suffix: str = "") -> bytes:
    """Return ``data`` with one to three kinds of damage; a gzip file is damaged inside or outside."""
    rng = np.random.default_rng(seed)
    if data[:2] == b"\x1f\x8b" and rng.random() < 0.7:
        return gzip.compress(_damaged(gzip.decompress(data), rng, suffix), compresslevel=1)
    return _damaged(data, rng, suffix)


def _damaged(data: bytes, rng: np.random.Generator, suffix: str) -> bytes:
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        structured = _structured(data, suffix)
        if structured and rng.random() < 0.6:
            try:
                data = structured[int(rng.integers(len(structured)))](data, rng)
                continue
            except Exception:
                pass
        data = DAMAGES[int(rng.integers(len(DAMAGES)))](data, rng)
    return data


def _structured(data: bytes, suffix: str) -> tuple[Damage, ...]:
    if data[:4] == b"PK\x03\x04":
        return (damage_member, rename_member, add_member, pack_members)
    if data[:6] == b"\x93NUMPY":
        return (change_npy_header,)
    if data[:6] == b"MATLAB":
        return (change_integer, unpack_matlab, change_integer)
    if data[:4] == b"PAR1":
        return (change_footer, change_integer)
    if b"\0" in data[:2000]:
        return (change_integer,)
    return (change_cell, drop_cell, repeat_line, change_line_ends, change_cell)


# ---- structured


def damage_member(data: bytes, rng: np.random.Generator) -> bytes:
    """Change one member of a zip archive and pack it again, with the right checksums."""
    members = _members(data)
    name = list(members)[int(rng.integers(len(members)))]
    inner = members[name]
    if inner[:6] == b"\x93NUMPY":
        inner = change_npy_header(inner, rng) if rng.random() < 0.6 else change_integer(inner, rng)
    else:
        inner = change_json(inner, rng)
    return _packed({**members, name: inner})


def rename_member(data: bytes, rng: np.random.Generator) -> bytes:
    """Give a member another name, or take it away."""
    members = _members(data)
    name = list(members)[int(rng.integers(len(members)))]
    content = members.pop(name)
    names = (
        "../evil.npy",
        "/tmp/x",
        "X.npy",
        "shape.npy",
        "indices.npy",
        "arrays/99.npy",
        "manifest.json",
        "",
        "a" * 300,
    )
    if rng.random() < 0.7:
        members[names[int(rng.integers(len(names)))]] = content
    return _packed(members)


def add_member(data: bytes, rng: np.random.Generator) -> bytes:
    """Add an array that means something."""
    names = ("X", "y", "bags", "shape", "indptr", "indices", "data", "format", "feature_names", "bag_labels", "ids")
    arrays = (
        np.arange(7), np.array([2**31, 2]), np.array("csc"), np.zeros((0, 3)), np.array(["a"] * 40), np.ones((40, 40)),
        np.array(3), np.full(40, np.nan), np.array([-1] * 40),
    )  # fmt: skip
    buffer = io.BytesIO()
    np.save(buffer, arrays[int(rng.integers(len(arrays)))])
    return _packed({**_members(data), f"{names[int(rng.integers(len(names)))]}.npy": buffer.getvalue()})


def pack_members(data: bytes, rng: np.random.Generator) -> bytes:
    """Compress all members."""
    return _packed(_members(data), zipfile.ZIP_DEFLATED)


def change_npy_header(data: bytes, rng: np.random.Generator) -> bytes:
    """Write another shape or type into the header of an array."""
    end = 10 + struct.unpack("<H", data[8:10])[0]
    header = data[10:end]
    shapes = (
        b"(0,)",
        b"(-1, 5)",
        b"(4000000000, 2)",
        b"(1, 1, 1, 1)",
        b"()",
        b"(5, 40)",
        b"(2.5,)",
        b"(10**9,)",
        b"'x'",
    )
    kinds = (
        b"'|O'",
        b"'<f2'",
        b"'<c16'",
        b"'|S5'",
        b"'<U3'",
        b"'|V8'",
        b"'<M8[s]'",
        b"[('a', '<f8')]",
        b"'|b1'",
        b"'zz'",
    )
    if rng.random() < 0.5:
        header = re.sub(rb"\([^)]*\)", shapes[int(rng.integers(len(shapes)))], header, count=1)
    else:
        header = re.sub(rb"'descr': '[^']*'", b"'descr': " + kinds[int(rng.integers(len(kinds)))], header, count=1)
    return data[:8] + struct.pack("<H", len(header)) + header + data[end:]


def change_json(data: bytes, rng: np.random.Generator) -> bytes:
    """Change one value of a JSON text."""
    values = (
        b"null",
        b"-1",
        b"1e999",
        b"[]",
        b"{}",
        b'"x"',
        b"99999999999",
        b"true",
        b'{"array": 0}',
        b'["tuple", []]',
    )
    places = list(re.finditer(rb'(?<=: )("[^"\n]*"|-?[\d.]+|null|true|false|\[\]|\{\})', data))
    if not places:
        return put_token(data, rng)
    place = places[int(rng.integers(len(places)))]
    return data[: place.start()] + values[int(rng.integers(len(values)))] + data[place.end() :]


def change_integer(data: bytes, rng: np.random.Generator) -> bytes:
    """Write another number where binary formats keep sizes, types and indices: at a multiple of four bytes."""
    at = 4 * int(rng.integers(max(len(data) // 4, 1)))
    if rng.random() < 0.5:
        at = min(at, 128 + 4 * int(rng.integers(60)))
    order = "<" if rng.random() < 0.8 else ">"
    return data[:at] + struct.pack(order + "I", int(rng.choice(_NUMBERS))) + data[at + 4 :]


def unpack_matlab(data: bytes, rng: np.random.Generator) -> bytes:
    """Unpack the compressed variables of a MATLAB file, so that later damage reaches their structure."""
    out, at = data[:128], 128
    while at + 8 <= len(data):
        kind, size = struct.unpack("<II", data[at : at + 8])
        body = data[at : at + 8 + size]
        out += zlib.decompress(body[8:]) if kind == 15 else body
        at += 8 + size
    return change_integer(out, rng)


def change_footer(data: bytes, rng: np.random.Generator) -> bytes:
    """Change bytes of a Parquet footer, where its schema and sizes are, or the length of the footer."""
    size = struct.unpack("<I", data[-8:-4])[0]
    if rng.random() < 0.3:
        return data[:-8] + struct.pack("<I", int(rng.choice(_NUMBERS))) + data[-4:]
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        out[len(data) - 8 - int(rng.integers(1, size + 1))] = int(rng.integers(256))
    return bytes(out)


def change_cell(data: bytes, rng: np.random.Generator) -> bytes:
    """Put something else into one cell of a table."""
    lines, at = _line(data, rng)
    parts = re.split(rb"([,;\t ])", lines[at])
    parts[2 * int(rng.integers((len(parts) + 1) // 2))] = _CELLS[int(rng.integers(len(_CELLS)))]
    lines[at] = b"".join(parts)
    return b"\n".join(lines)


def drop_cell(data: bytes, rng: np.random.Generator) -> bytes:
    """Take one cell, with its separator, out of a table."""
    lines, at = _line(data, rng)
    parts = re.split(rb"(?<=[,;\t ])", lines[at])
    del parts[int(rng.integers(len(parts)))]
    lines[at] = b"".join(parts)
    return b"\n".join(lines)


def repeat_line(data: bytes, rng: np.random.Generator) -> bytes:
    """Write one line again, somewhere else: a header among rows, a row among headers, an id twice."""
    lines, at = _line(data, rng)
    lines.insert(int(rng.integers(len(lines))), lines[at])
    return b"\n".join(lines)


def change_line_ends(data: bytes, rng: np.random.Generator) -> bytes:
    """End lines as other systems do, all or from somewhere on."""
    at = int(rng.choice([0, _at(data, rng)]))
    return data[:at] + data[at:].replace(b"\n", (b"\r\n", b"\r", b"\n\n", b"\x85", b"\f\n")[int(rng.integers(5))])


def _line(data: bytes, rng: np.random.Generator) -> tuple[list[bytes], int]:
    lines = data.split(b"\n")
    limit = min(len(lines), 8) if rng.random() < 0.5 else len(lines)
    return lines, int(rng.integers(limit))


def _members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _packed(members: dict[str, bytes], how: int = zipfile.ZIP_STORED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name or "x"), content, how)
    return buffer.getvalue()


# ---- blind


def _at(data: bytes, rng: np.random.Generator) -> int:
    """Prefer the beginning, where headers and sizes are."""
    limit = min(len(data), 600) if rng.random() < 0.5 else len(data)
    return int(rng.integers(max(limit, 1)))


def flip_bytes(data: bytes, rng: np.random.Generator) -> bytes:
    """Change a few bytes."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 20))):
        if out:
            out[_at(data, rng)] = int(rng.integers(256))
    return bytes(out)


def cut_end(data: bytes, rng: np.random.Generator) -> bytes:
    """Stop in the middle, as a broken download does."""
    return data[: _at(data, rng)]


def drop_piece(data: bytes, rng: np.random.Generator) -> bytes:
    """Lose a piece."""
    start = _at(data, rng)
    return data[:start] + data[start + int(rng.integers(1, 2000)) :]


def repeat_piece(data: bytes, rng: np.random.Generator) -> bytes:
    """Write a piece twice."""
    start = _at(data, rng)
    piece = data[start : start + int(rng.integers(1, 2000))]
    return data[:start] + piece + data[start:]


def put_token(data: bytes, rng: np.random.Generator) -> bytes:
    """Write something that means something."""
    start = _at(data, rng)
    token = _TOKENS[int(rng.integers(len(_TOKENS)))]
    return data[:start] + token + data[start + int(rng.integers(3)) :]


def swap_lines(data: bytes, rng: np.random.Generator) -> bytes:
    """Exchange two lines."""
    lines = data.split(b"\n")
    i, j = rng.integers(len(lines), size=2)
    lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def big_number(data: bytes, rng: np.random.Generator) -> bytes:
    """Write a huge size where a size may be."""
    start = _at(data, rng)
    value = int(rng.choice([2**31 - 1, 2**32 - 1, 10**9, 2**24]))
    order = "little" if rng.random() < 0.5 else "big"
    return data[:start] + value.to_bytes(4, order) + data[start + 4 :]


def drop_separators(data: bytes, rng: np.random.Generator) -> bytes:
    """Lose every separator of a stretch."""
    start = _at(data, rng)
    end = start + int(rng.integers(1, 500))
    return data[:start] + data[start:end].replace(b",", b"").replace(b" ", b"") + data[end:]


DAMAGES: tuple[Damage, ...] = (
    flip_bytes, cut_end, drop_piece, repeat_piece, put_token, swap_lines, big_number, drop_separators,
)  # fmt: skip
