"""Rows written once to plain arrays on disk, from which any part is read without decoding: a scratch copy.

Rows are stored near 0 (:class:`~sidelight.data.parts.Look`) in single precision, so that a pass reads half of the bytes
and loses nothing that matters. Bags whose rows lie apart are brought together on the way: every row goes to the bucket
of its bag's key, and buckets are sorted one after the other. Nothing here survives the fit.
"""

from __future__ import annotations

import errno
import itertools
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight._core.memory import in_units as in_bytes
from sidelight.data.bag_lists import BagLists, LabelSet, bag_keys
from sidelight.data.parts import BLOCK, BLOCKS, Part, PartedRows, in_units
from sidelight.errors import CannotWrite, InvalidData
from sidelight.progress import report
from sidelight.words import Setting

Ints = NDArray[np.intp]
_RUN = np.dtype([("key", "<u8"), ("size", "<i8"), ("code", "<i8")])


@dataclass(frozen=True, slots=True)
class SpilledRows:
    """Rows near 0 in a folder of arrays: X, bags, and the numbers of the rows where they were sorted."""

    folder: str
    name: str
    n_rows: int
    in_bags: bool
    sets: tuple[LabelSet, ...]
    first_number: int | None  # None: the numbers are in an array of their own
    columns: tuple[str, ...] = ()  # what goes with the rows as text

    def rows(self, first: int, last: int) -> NDArray[np.float32]:
        """Return these rows near 0, mapped and not read."""
        return np.load(self._path("X"), mmap_mode="r")[first:last]

    def lists(self, first: int, last: int) -> BagLists | None:
        """Return the bags of these rows."""
        if not self.in_bags:
            return None
        starts = np.load(self._path("starts"), mmap_mode="r")
        begin = int(np.searchsorted(starts, first, side="right")) - 1
        end = int(np.searchsorted(starts, last))
        own = np.clip(np.asarray(starts[begin : end + 1]), first, last) - first
        codes = np.asarray(np.load(self._path("codes"), mmap_mode="r")[begin:end])
        return BagLists(_read_names(Path(self.folder), self.name, begin, end), own, self.sets, codes)

    def numbers(self, first: int, last: int) -> Ints:
        """Return the numbers of these rows among all rows."""
        if self.first_number is not None:
            return np.arange(self.first_number + first, self.first_number + last)
        return np.asarray(np.load(self._path("numbers"), mmap_mode="r")[first:last], dtype=np.intp)

    def texts(self, first: int, last: int, names: Sequence[str]) -> dict[str, list[str | None]]:
        """Return these columns of these rows, of those that went with them."""
        rows = [json.loads(line) for line in _read_texts(Path(self.folder), f"{self.name}-cells", first, last)]
        return {name: [cells[self.columns.index(name)] for cells in rows] for name in names}

    def place(self, row: int) -> str:
        """Say which row it is, counted from 1."""
        return f"row {int(self.numbers(row, row + 1)[0]) + 1}"

    def only(self, first: int, last: int) -> tuple[SpilledRows, int, int]:
        """Return the source itself: the name of a file."""
        return self, first, last

    def _path(self, what: str) -> Path:
        return Path(self.folder) / f"{self.name}-{what}.npy"


def is_near(part: Part) -> bool:
    """Say whether the rows of a part are stored near 0 already."""
    return not part.units and all(isinstance(source, SpilledRows) for source, _, _ in part.pieces)


@contextmanager
def scratch_folder(wanted: str | Path | None) -> Iterator[Path]:
    """Make a folder of our own inside ``wanted`` (or where temporary files go), and remove it whatever happens."""
    try:
        folder = Path(mkdtemp(prefix="sidelight-", dir=wanted))
    except OSError as error:
        raise _cannot(wanted or "the folder for temporary files", error) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def spill(parts: PartedRows, folder: Path, check: Any, columns: Sequence[str] = ()) -> PartedRows:
    """Write all rows into ``folder``, whole bags together, and return where they are now.

    Parameters
    ----------
    parts : PartedRows
        The rows.
    folder : Path
        An empty folder.
    check : callable
        Called with (place, rows, names of columns) before rows are written; raises where a number cannot be used.
    columns : sequence of str, default=()
        Columns of the sources that go along as text, where bags are brought together.
    """
    times = 1 if parts.survey.is_arranged else 2
    needed = times * 4.2 * parts.n_rows * parts.n_features
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise CannotWrite(
            f"{folder}: a scratch copy of {parts.n_rows} rows takes {in_bytes(needed)}, and {in_bytes(free)} are free.",
            do=["Name a folder with more room: ", Setting("scratch"), "."],
        )
    try:
        if parts.survey.is_arranged:
            sources = _in_order(parts, folder, check)
        else:
            sources = _by_bucket(parts, folder, check, tuple(columns))
    except OSError as error:
        if isinstance(error, CannotWrite):
            raise
        raise _cannot(folder, error) from error
    return PartedRows(sources, parts.feature_names, in_bags=parts.in_bags, classes=parts.classes)


def _in_order(parts: PartedRows, folder: Path, check: Any) -> list[SpilledRows]:
    sources = []
    recipes = parts.parts()
    is_plain = True
    for part in recipes:
        report("writing a scratch copy", part.number, len(recipes))
        rows, numbers = part.rows(), part.numbers()
        check(part.place, rows, part.feature_names)
        name = f"{part.number:06d}"
        np.save(folder / f"{name}-X.npy", parts.look.near(rows))
        is_plain = bool(numbers[0] == part.first_row) and bool((np.diff(numbers) == 1).all())
        if not is_plain:
            np.save(folder / f"{name}-numbers.npy", numbers)
        lists = part.lists()
        if lists is not None:
            _write_lists(folder, name, lists)
        sources.append(
            SpilledRows(
                str(folder), name, part.n_rows, parts.in_bags, () if lists is None else lists.sets,
                part.first_row if is_plain else None,
            )
        )  # fmt: skip
    return sources


def _by_bucket(parts: PartedRows, folder: Path, check: Any, columns: tuple[str, ...]) -> list[SpilledRows]:
    """Bring the rows of every bag together: each row goes to the bucket of its bag, then buckets are sorted."""
    step = BLOCK * BLOCKS
    n_buckets = -(-parts.n_rows // step)
    sets: dict[LabelSet, int] = {}
    for source in parts.sources:
        for first in range(0, source.n_rows, step):
            last = min(first + step, source.n_rows)
            rows = in_units(source.rows(first, last), parts.units)
            lists, numbers = source.lists(first, last), source.numbers(first, last)
            assert lists is not None  # rows without bags are never apart
            cells = source.texts(first, last, columns) if columns else {}  # tables have columns
            report("bringing bags together", int(numbers[0]), parts.n_rows)

            def place(row: int, source: Any = source, first: int = first) -> str:
                return str(source.place(first + row))

            check(place, rows, getattr(source, "feature_names", ()))
            codes = np.array([sets.setdefault(members, len(sets)) for members in lists.sets], dtype=np.intp)
            lines = [json.dumps(row) + "\n" for row in zip(*cells.values())]
            _append(folder, n_buckets, parts.look.near(rows), numbers, lists, codes[lists.codes], lines)
    known = tuple(sets)
    found = []
    for bucket in range(n_buckets):
        report("sorting bags", bucket, n_buckets)
        n_rows = _sort_bucket(folder, bucket, parts.n_features)
        if n_rows:
            found.append(SpilledRows(str(folder), f"{bucket:06d}", n_rows, True, known, None, columns))
    return found


def _append(
    folder: Path,
    n_buckets: int,
    X: NDArray[np.float32],
    numbers: Ints,
    lists: BagLists,
    codes: Ints,
    lines: Sequence[str],
) -> None:
    """Add rows to the files of their buckets, run by run."""
    keys, sizes = bag_keys(lists.names), np.diff(lists.starts)
    bucket = (keys % np.uint64(n_buckets)).astype(np.intp)
    of_row = np.repeat(bucket, sizes)
    rows, runs = np.argsort(of_row, kind="stable"), np.argsort(bucket, kind="stable")
    row_ends = np.searchsorted(of_row[rows], np.arange(n_buckets + 1))
    run_ends = np.searchsorted(bucket[runs], np.arange(n_buckets + 1))
    told = np.empty(len(keys), dtype=_RUN)
    told["key"], told["size"], told["code"] = keys, sizes, codes
    for b in np.unique(bucket).tolist():
        own_rows, own_runs = rows[row_ends[b] : row_ends[b + 1]], runs[run_ends[b] : run_ends[b + 1]]
        for what, array in (("X", X[own_rows]), ("numbers", numbers[own_rows]), ("runs", told[own_runs])):
            with (folder / f"bucket-{b:06d}.{what}").open("ab") as handle:
                handle.write(array.tobytes())
        texts = {"names": [json.dumps(name) + "\n" for name in lists.names[own_runs].tolist()]}
        if lines:
            texts["cells"] = [lines[row] for row in own_rows.tolist()]
        for what, own in texts.items():
            with (folder / f"bucket-{b:06d}.{what}").open("a", encoding="utf-8") as handle:
                handle.writelines(own)


def _sort_bucket(folder: Path, bucket: int, n_features: int) -> int:
    """Turn the files of a bucket into arrays, bag by bag; returns how many rows it has."""
    old = {what: folder / f"bucket-{bucket:06d}.{what}" for what in ("X", "numbers", "runs", "names", "cells")}
    if not old["runs"].exists():
        return 0
    runs = np.fromfile(old["runs"], dtype=_RUN)
    names = [json.loads(line) for line in old["names"].read_text(encoding="utf-8").splitlines()]
    order = np.argsort(runs["key"], kind="stable")
    starts = np.concatenate([[0], np.cumsum(runs["size"])])
    rows = np.concatenate([np.arange(starts[run], starts[run + 1]) for run in order.tolist()])
    key = runs["key"][order]
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    codes = runs["code"][order]
    torn = np.flatnonzero(codes != np.repeat(codes[first], np.diff(np.append(first, len(codes)))))
    if len(torn):
        raise InvalidData(
            f"Bag {names[order[torn[0]]]!r} has different lists of labels in different places. The rows of a bag must "
            "all say the same about it."
        )
    ends = np.concatenate([[0], np.cumsum(runs["size"][order])])
    X = np.fromfile(old["X"], dtype=np.float32).reshape(-1, n_features)
    name = f"{bucket:06d}"
    np.save(folder / f"{name}-X.npy", X[rows])
    np.save(folder / f"{name}-numbers.npy", np.fromfile(old["numbers"], dtype=np.intp)[rows])
    own = [names[run] for run in order[first].tolist()]
    of_bags = np.array(own, dtype=np.int64 if isinstance(own[0], int) else object)
    _write_lists(folder, name, BagLists(of_bags, np.append(ends[first], ends[-1]), (), codes[first].astype(np.intp)))
    if old["cells"].exists():
        lines = old["cells"].read_text(encoding="utf-8").splitlines()
        _write_texts(folder, f"{name}-cells", [lines[row] for row in rows.tolist()])
    for path in old.values():
        path.unlink(missing_ok=True)
    return len(rows)


def _write_lists(folder: Path, name: str, lists: BagLists) -> None:
    np.save(folder / f"{name}-starts.npy", lists.starts.astype(np.intp))
    np.save(folder / f"{name}-codes.npy", lists.codes.astype(np.intp))
    if lists.names.dtype.kind == "i":
        np.save(folder / f"{name}-names.npy", lists.names)
        return
    _write_texts(folder, f"{name}-names", lists.names)


def _read_names(folder: Path, name: str, begin: int, end: int) -> NDArray[Any]:
    numbers = folder / f"{name}-names.npy"
    if numbers.exists():
        return np.asarray(np.load(numbers, mmap_mode="r")[begin:end])
    names = np.empty(end - begin, dtype=object)
    names[:] = _read_texts(folder, f"{name}-names", begin, end)
    return names


def _write_texts(folder: Path, what: str, texts: Iterable[str]) -> None:
    """Write texts one after the other, and where each begins."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    np.save(folder / f"{what}-ends.npy", np.cumsum([0, *map(len, encoded)]))
    (folder / f"{what}.txt").write_bytes(b"".join(encoded))


def _read_texts(folder: Path, what: str, begin: int, end: int) -> list[str]:
    ends = np.load(folder / f"{what}-ends.npy", mmap_mode="r")[begin : end + 1].tolist()
    with (folder / f"{what}.txt").open("rb") as handle:
        handle.seek(ends[0])
        text = handle.read(ends[-1] - ends[0])
    return [text[a - ends[0] : z - ends[0]].decode("utf-8", "surrogatepass") for a, z in itertools.pairwise(ends)]


def _cannot(where: object, error: OSError) -> CannotWrite:
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return CannotWrite(
        f"{where}: {'the disk is full' if is_full else error.strerror or error}, so there is no scratch copy of the "
        "rows.",
        do=["Name a folder with more room: ", Setting("scratch"), "."],
    )
