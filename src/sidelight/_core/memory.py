"""How much memory this process may have, and sizes as people write them."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]i?)?b?", re.IGNORECASE)


def size_in_bytes(size: Any) -> int | None:
    """Return a number of bytes, or a text such as "8GB", in bytes; None where it is no size."""
    if isinstance(size, str) and (match := _SIZE.fullmatch(size.strip())):
        number, unit = match.groups()
        size = float(number) * _UNITS[(unit or "").lower()]
    is_number = isinstance(size, (int, float)) and not isinstance(size, bool)
    return int(size) if is_number and 1 <= size < float("inf") else None


def in_units(n_bytes: float) -> str:
    """Write a size for people."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.3g} {unit}" if n_bytes < 1000 * size else f"{n_bytes / size:.0f} {unit}"
    return f"{n_bytes:.0f} bytes"


@cache
def default_limit() -> int:
    """Return half of what this process may have: the machine's memory, or less where a limit is set."""
    return max(min(_machine(), _container(), _process()) // 2, 1 << 28)


def _machine() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows does not say it here
        return 16 << 30


def _container() -> int:
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return int(Path(file).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # no such file, or the word "max"
            continue
    return 1 << 62


def _process() -> int:
    try:
        import resource

        soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    except (ImportError, OSError):
        return 1 << 62
    return soft if soft > 0 else 1 << 62  # unlimited is -1
