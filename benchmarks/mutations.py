"""Damage for files: what copying, editing, exporting and malice do to them, drawn from a seed."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import numpy as np

Damage = Callable[[bytes, np.random.Generator], bytes]
_TOKENS = tuple(
    b" NaN inf -1e400 99999999999999999999 \" ' \0 ,,,, \r { } @data \xff\xfe ? abc : % # \xe9 \xc3\xa9".split(b" ")
) + (b"\n\n\n", b"0" * 400)


def mutate(data: bytes, seed: int) -> bytes:
    """Return ``data`` with one to three kinds of damage; a gzip file is damaged inside or outside."""
    rng = np.random.default_rng(seed)
    if data[:2] == b"\x1f\x8b" and rng.random() < 0.7:
        return gzip.compress(_damaged(gzip.decompress(data), rng), compresslevel=1)
    return _damaged(data, rng)


def _damaged(data: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        data = DAMAGES[int(rng.integers(len(DAMAGES)))](data, rng)
    return data


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
