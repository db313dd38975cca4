"""svmlight (libsvm) files: ``label index:value ...``, several labels between commas, ``qid:`` taken for the bag.

Also ``row:bag:label index:value ...``, as multi-instance sets are written for MI-SVM, with or without a first line that
counts rows and features.

scikit-learn's reader is not used: it takes neither words as labels, rows without a label nor indices in any order, and
does not say which line is wrong.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.data.bags import Bags
from sidelight.data.dataset import Dataset
from sidelight.errors import UnreadableFile
from sidelight.files.limits import need_sparse
from sidelight.files.problems import shown
from sidelight.files.roles.builder import Builder
from sidelight.files.roles.columns import Coded
from sidelight.files.roles.labels import from_cells
from sidelight.files.roles.plan import RoleRequest
from sidelight.files.source import text_lines

_HIGHEST = 1 << 31  # beyond this an index is damage, not a feature
_BATCH = 2_000
_COUNTS = re.compile(r"\d+ \d+", re.ASCII)
_OF_BAG = re.compile(r"\d+:(\d+):([+-]?\d+)", re.ASCII)
_PAIRS = re.compile(r"(?:\d+:[^\s:]+(?: |$))*", re.ASCII)


def read_svmlight(path: Path, wanted: RoleRequest) -> Dataset:
    """Read an svmlight file; indices from 1 on become columns from 0 on unless some index is 0."""
    labels: list[str] = []
    bags: list[str] = []
    counts: list[int] = []
    pieces: list[Any] = []
    held: list[tuple[int, list[str]]] = []
    for number, line in text_lines(path):
        tokens = line.split("#", 1)[0].split()
        if not tokens or (not counts and _COUNTS.fullmatch(" ".join(tokens))):
            continue
        if of_bag := _OF_BAG.fullmatch(tokens[0]):
            bags.append(of_bag[1])
            tokens[0] = of_bag[2]
        has_label = ":" not in tokens[0]
        labels.append(tokens[0] if has_label else "")
        pairs = tokens[1:] if has_label else tokens
        if pairs and pairs[0].startswith("qid:"):
            bags.append(pairs[0][4:])
            pairs = pairs[1:]
        counts.append(len(pairs))
        held.append((number, pairs))
        if len(held) >= _BATCH:
            pieces.append(_numbers(path, held))
            held = []
    pieces.append(_numbers(path, held))
    if not counts:
        raise UnreadableFile(f"{path}: expected rows, found none. Was the file written completely?")
    if bags and len(bags) != len(counts):
        raise UnreadableFile(f"{path}: {len(bags)} of {len(counts)} rows name a bag. Let every row name one, or none.")
    flat = np.concatenate(pieces)
    return _dataset(path, wanted, flat.reshape(-1, 2), counts, labels, bags)


def _dataset(
    path: Path, wanted: RoleRequest, pairs: Any, counts: list[int], labels: list[str], bags: list[str]
) -> Dataset:
    index = pairs[:, 0].astype(np.int64)
    base = 0 if len(index) and index.min() == 0 else 1
    index -= base
    width = int(index.max()) + 1 if len(index) else 0
    indptr = np.concatenate([[0], np.cumsum(counts)])
    need_sparse(path, len(counts), width, len(index))
    X = sp.csr_array((pairs[:, 1], index, indptr), shape=(len(counts), width))
    X.sort_indices()
    _check_repeats(path, X, base)
    data = Builder(path, "svmlight")
    data.features(X, first=base)
    has_labels = wanted.label is not False and any(labels)
    if has_labels:
        separator = "," if any("," in label for label in labels) else None
        data.label_rows(from_cells(Coded.of(_plain(label) for label in labels), separator))
    data.role("label", "label" if has_labels else "ignored", "the first of each line")
    if bags and wanted.bag is not False:
        data.bags = Bags(Coded.of(bags).names().tolist())
        data.role("bag", "bag", "rows of one query or bag belong together")
    data.role(f"{base}..{width - 1 + base}", "feature", "index:value pairs")
    return data.build()


def _check_repeats(path: Path, X: Any, base: int) -> None:
    """Refuse a row that names one index twice: it is unclear which of the values is meant."""
    is_first = np.zeros(len(X.indices), dtype=bool)
    is_first[X.indptr[:-1][np.diff(X.indptr) > 0]] = True
    again = np.flatnonzero((np.diff(X.indices, prepend=-1) == 0) & ~is_first)
    if len(again):
        row = int(np.searchsorted(X.indptr, again[0], side="right"))
        raise UnreadableFile(
            f"{path}, row {row}: the index {int(X.indices[again[0]]) + base} comes twice. Keep one of its values."
        )


def _numbers(path: Path, held: list[tuple[int, list[str]]]) -> Any:
    """Return index, value, index, value ... of many lines at once; only a failure looks at single lines."""
    text = " ".join(" ".join(pairs) for _, pairs in held if pairs)
    if _PAIRS.fullmatch(text):
        try:
            flat = np.array(text.replace(":", " ").split(), dtype=np.float64)
        except ValueError:
            flat = np.full(2, np.inf)  # a value that is no number: the loop below finds it
        if not len(flat) or flat[0::2].max() < _HIGHEST:
            return flat
    for number, pairs in held:
        for pair in pairs:
            index, colon, value = pair.partition(":")
            try:
                bad = not (
                    colon and index.isascii() and index.isdecimal() and len(index) < 12 and int(index) < _HIGHEST
                )
                float(value)
            except ValueError:
                bad = True
            if bad:
                raise UnreadableFile(
                    f"{path}, line {number}: expected index:value with an index below {_HIGHEST}, found {shown(pair)}. "
                    "Correct the line, or fetch the file again."
                )
    raise UnreadableFile(
        f"{path}, lines {held[0][0]} to {held[-1][0]}: expected index:value pairs, found something else."
    )


def _plain(label: str) -> str:
    """Write +1, 1.0 and 1 alike."""
    try:
        value = float(label)
    except ValueError:
        return label
    return str(int(value)) if value == value and abs(value) < 1e15 and value == int(value) else label
