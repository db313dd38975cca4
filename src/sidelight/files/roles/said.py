"""What bags say beyond lists, in the forms that people write: numbers and doubts in words, a column a label, a cell.

- In words: ``wren x3; owl?``.
- A column a label: whole numbers are counts, 1 / 0 / nothing are there, not there, nobody looked, and shares add up to
  1 or 100.
- ``Turdus sp.`` beside ``Turdus merula``: one of the kinds below the name.
- One cell, exactly: ``{"wren": 3, "owl": [1, 4], "jay": "maybe"}``. Files that we write have it where no other form
  holds all that was said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bags import Bags
from sidelight.data.dataset import TORN, Note
from sidelight.data.demands import ADDS_UP, Expected
from sidelight.errors import InvalidData
from sidelight.files.roles.cells import as_number, is_number, writing_of
from sidelight.files.roles.columns import Coded
from sidelight.words import Setting, counted

NUMBERS = ("rows", "shares", "present")  # what numbers of labels may be
_MOST = 0.9  # of the bags, whose numbers must add up
_FEWEST = 4  # labelled bags of several rows from which on columns are written that speak of bags
_TORN = 0.2  # of the bags, whose rows may disagree about numbers that speak of bags
_REST = "..."  # in an exact cell: other labels may be there, too
_OF, _ROWS = "any of", "rows"  # in an exact cell: a kind above labels

Amounts = NDArray[np.float64]  # bags x labels; NaN where nobody looked


class Saying(NamedTuple):
    """What was said of each bag, as :class:`Bags` takes it, and what to tell about it."""

    labels: list[Any]  # None, a set, or a mapping
    told: list[str]
    shares: list[Any] | None = None  # instead of labels
    tree: dict[str, list[str]] | None = None
    partial: Collection[int] = ()
    classes: tuple[str, ...] | None = None

    def bags(self, ids: Any, names: Sequence[Hashable]) -> Bags:
        """Return the bags that say it."""
        labels = {name: said for name, said in zip(names, self.labels) if said is not None}
        shares = None if self.shares is None else {n: s for n, s in zip(names, self.shares) if s is not None}
        return Bags(
            ids, labels=labels, shares=shares, tree=self.tree, classes=self.classes,
            partial=[names[b] for b in self.partial],
        )  # fmt: skip


# ---- numbers and doubts in words

_COUNTED = (  # "wren x3", "3 wren", "wren:3", "wren (3)"
    re.compile(r"(?P<name>.*\S)\s*[x×*]\s*(?P<n>[0-9]{1,6})"),
    re.compile(r"(?P<n>[0-9]{1,6})\s*[x×*]?\s+(?P<name>\S.*)"),
    re.compile(r"(?P<name>.*\S)\s*[:=]\s*(?P<n>[0-9]{1,6})"),
    re.compile(r"(?P<name>.*\S)\s*\(\s*(?P<n>[0-9]{1,6})\s*\)"),
)
_MAYBE = re.compile(r"(?P<name>.*\S)\s*\?")


def said_by(unions: Sequence[frozenset[str] | None], sizes: Sequence[int], numbers: str | None = None) -> Saying:
    """Return what bags say where their labels are counted, doubted or kinds above others; else the sets.

    Counts are read where the same name comes with several numbers, and a doubt where the name also comes without one.
    Numbers are of rows where they add up to the rows of nearly every bag; of what else they are (birds, say, that sing
    more than once) no row knows, and the labels are then just there.
    """
    members = {name for known in unions if known for name in known}
    doubted = {name: match["name"] for name in members if (match := _MAYBE.fullmatch(name))}
    best: dict[str, tuple[str, int]] = {}
    for pattern in _COUNTED:
        found = {name: (m["name"], int(m["n"])) for name in members if (m := pattern.fullmatch(name))}
        several: dict[str, set[int]] = {}
        for base, n in found.values():
            several.setdefault(base, set()).add(n)
        if any(len(some) > 1 for some in several.values()) and len(found) > len(best):
            best = found
    plain = (members - set(doubted)) | {base for base, _ in best.values()}
    doubted = doubted if any(base in plain for base in doubted.values()) else {}
    if not best and not doubted:
        return _with_kinds(list(unions), [])
    read = [
        None if known is None else [(*best.get(name, (doubted.get(name, name), 1)), name in doubted) for name in known]
        for known in unions
    ]
    totals = [sum(n for _, n, maybe in some if not maybe) for some in read if some]
    rows = [size for some, size in zip(read, sizes) if some]
    are_rows = numbers == "rows" or (numbers is None and bool(best) and np.mean(np.equal(totals, rows)) > _MOST)
    told = []
    if best:
        what = "rows of each label" if are_rows else "something else than rows, which they do not add up to: not used"
        told.append(f"labels come with numbers, for example {min(best)!r}: {what}")
    if doubted:
        told.append(f"labels with a question mark, for example {min(doubted)!r}, may be there or not")
    said: list[Any] = []
    for some, size in zip(read, sizes):
        if some is None:
            said.append(None)
            continue
        total = sum(n for _, n, maybe in some if not maybe)
        exact = are_rows and (total == size or numbers == "rows")
        said.append({name: "maybe" if maybe else n if exact else "present" for name, n, maybe in some})
    return _with_kinds(said, told)


# ---- kinds above labels: genus sp.

_ANY = re.compile(r"(?P<kind>.*\S)\s+(?:sp|spp|spec)\.?", re.IGNORECASE)


def _with_kinds(said: list[Any], told: list[str]) -> Saying:
    """Read ``Turdus sp.`` as one of the kinds called ``Turdus ...``, and ``gull sp.`` as one of the ``... gull``."""
    names = sorted({name for known in said if known for name in known})
    kinds = {name: match["kind"].casefold() for name in names if (match := _ANY.fullmatch(name))}
    tree: dict[str, list[str]] = {}
    for node, kind in kinds.items():
        below = [name for name in names if name not in kinds and name.casefold().startswith(f"{kind} ")]
        below = below or [name for name in names if name not in kinds and name.casefold().endswith(f" {kind}")]
        if below:
            tree[node] = below
    tree = {node: below for node, below in tree.items() if sum(below == other for other in tree.values()) == 1}
    if not tree:
        return Saying(said, told)
    return Saying(
        [known and _beside_kinds(known, tree) for known in said],
        [*told, f"{next(iter(tree))!r} is read as one of {counted(len(tree[next(iter(tree))]), 'label')} below it"],
        tree=tree,
    )


def _beside_kinds(known: Any, tree: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Add up a kind and what is below it: 3 blackbirds and 2 thrushes of some kind are 5 thrushes.

    What is only there needs no sum.
    """
    found: dict[str, Any] = dict(known) if isinstance(known, Mapping) else dict.fromkeys(known, "present")
    for node, below in tree.items():
        inside = [name for name in below if name in found and found[name] != "maybe"]
        if node not in found or not inside:
            continue
        if all(isinstance(found[name], int) for name in (node, *inside)):
            found[node] += sum(found[name] for name in inside)
            found |= {name: (found[name], None) for name in inside}
    return found


# ---- a column a label


def amounts_of(columns: Sequence[Coded]) -> list[dict[str, float]] | None:
    """Return the number that each cell of each column is, NaN for a gap; None where one is neither."""
    return None if None in (read := [_amounts(column) for column in columns]) else read  # type: ignore[return-value]


def _amounts(column: Coded) -> dict[str, float] | None:
    cells = [value for value in column.values if not column.is_gap(value)]
    way = None if all(map(is_number, cells)) else writing_of(cells)
    found = {value: way.plain(value) if way else value for value in cells}
    if not all(map(is_number, found.values())):
        return None
    gaps = {value: np.nan for value in column.values if column.is_gap(value)}
    return {value: as_number(text) for value, text in found.items()} | gaps


def amounts_of_bags(columns: Sequence[Coded], codes: NDArray[np.intp], n_bags: int) -> tuple[Amounts, list[int]] | None:
    """Return the numbers of each bag, which its rows repeat (or one of them has), and the bags whose rows disagree.

    None where cells are no numbers, or speak of rows: too many bags disagree.
    """
    read = amounts_of(columns)
    if read is None:
        return None
    table = np.full((n_bags, len(columns)), np.nan)
    torn: set[int] = set()
    for k, (column, amounts) in enumerate(zip(columns, read)):
        values = np.array([amounts[value] for value in column.values])[column.codes] if column.values else np.zeros(0)
        known = ~np.isnan(values)
        low, high = np.full(n_bags, np.inf), np.full(n_bags, -np.inf)
        np.minimum.at(low, codes[known], values[known])
        np.maximum.at(high, codes[known], values[known])
        torn |= set(np.flatnonzero(low < high).tolist())
        table[:, k] = np.where(np.isfinite(low), low, np.nan)
    table[sorted(torn)] = np.nan
    return None if len(torn) > _TORN * n_bags else (table, sorted(torn))


def kind_of_amounts(table: Amounts, sizes: Sequence[int] | None) -> str:
    """Return what numbers of bags are: "ticks", "rows", "shares", "present" (whole), or "" for amounts of no label."""
    told = ~np.isnan(table).all(axis=1)
    if not told.any() or np.nanmin(table) < 0 or not np.isfinite(table[~np.isnan(table)]).all():
        return ""
    values, totals = table[told], np.nansum(table[told], axis=1)
    is_whole = bool((values == np.round(values))[~np.isnan(values)].all())
    is_tick = is_whole and np.nanmax(values) <= 1
    if sizes is not None and is_whole and not is_tick and np.mean(totals == np.asarray(sizes)[told]) > _MOST:
        return "rows"
    if is_tick:
        return "ticks"
    if table.shape[1] > 1 and np.mean(_adds_up(totals)) > _MOST:
        return "shares"
    return "present" if is_whole else ""


def _adds_up(totals: NDArray[np.float64]) -> NDArray[np.bool_]:
    return np.asarray((abs(totals - 1.0) <= ADDS_UP) | (abs(totals - 100.0) <= 100.0 * ADDS_UP))


def said_of_amounts(
    table: Amounts, torn: Sequence[int], names: Sequence[str], bags: Sequence[Hashable], sizes: Sequence[int],
    path: Path, numbers: str | None = None,
) -> Saying | None:  # fmt: skip
    """Return what bags say by a column a label; None for plain marks of 0 and 1, which are lists."""
    kind = kind_of_amounts(table, sizes)
    n_gaps = int((np.isnan(table).any(axis=1) & ~np.isnan(table).all(axis=1)).sum())
    if kind == "ticks" and numbers in (None, "present") and not torn and not (n_gaps and (table == 0).any()):
        return None
    _check_amounts(table, names, bags, path, numbers or kind)
    told: list[str] = []
    if torn:
        what = counted(len(torn), "bag disagree", "bags disagree")
        told.append(Note(f"the rows of {what} about its numbers, for example {bags[torn[0]]!r}: not used", TORN))
    if (numbers or kind) == "shares":
        told.append(f"the columns of {len(names)} labels are shares of the rows of a bag: they add up to 1 or 100")
        known = [None if np.isnan(row).all() else dict(zip(names, row.tolist())) for row in table]
        off = [b for b, some in enumerate(known) if some and not _adds_up(np.nansum(table[[b]], axis=1))[0]]
        if off and numbers is None:
            told.append(f"those of {counted(len(off), 'bag')} do not, for example {bags[off[0]]!r}: not used")
            known = [None if b in off else some for b, some in enumerate(known)]
        return Saying([None] * len(bags), told, shares=known, classes=tuple(names))
    said: list[Any] = []
    for row, size in zip(table.tolist(), sizes):
        cells = {name: value for name, value in zip(names, row) if not np.isnan(value)}
        if not cells:
            said.append(None)
            continue
        maybe = {name: "maybe" for name in names if name not in cells} if (table == 0).any() else {}
        exact = kind == "rows" and sum(cells.values()) == size
        if numbers == "rows" or (numbers is None and exact):
            said.append({name: int(value) for name, value in cells.items()} | maybe)
        elif maybe:
            said.append({name: "present" for name, value in cells.items() if value > 0} | maybe)
        else:
            said.append({name for name, value in cells.items() if value > 0})
    if (numbers or kind) == "rows":
        told.append(f"the columns of {len(names)} labels count the rows of a bag")
    elif kind == "present":
        told.append(
            f"the columns of {len(names)} labels count something else than rows, which they do not add up to: what is "
            "more than 0 is there"
        )
    if n_gaps and (table == 0).any():
        told.append(f"in {counted(n_gaps, 'bag')} some labels were not looked at: they may be there or not")
    made = _with_kinds([None if s is None else _without_zeros(s, names) for s in said], told)
    return made if made.tree is not None else Saying(said, told, classes=tuple(names))


def sets_of_amounts(table: Amounts, names: Sequence[str]) -> Saying:
    """Return the labels of each bag whose number is more than 0; None where nobody looked at any."""
    sets = [{n for n, v in zip(names, row) if v > 0} for row in table.tolist()]
    is_known = np.asarray((~np.isnan(table)).any(axis=1)).tolist()
    return Saying([members if known else None for known, members in zip(is_known, sets)], [], classes=tuple(names))


def _without_zeros(known: Any, names: Sequence[str]) -> Any:
    return {k: v for k, v in known.items() if v != 0} if isinstance(known, dict) else known


def _check_amounts(table: Amounts, names: Sequence[str], bags: Sequence[Hashable], path: Path, kind: str) -> None:
    """Refuse numbers that are no counts (or shares), by bag and label."""
    bad = ~np.isnan(table) & ((table < 0) | ~np.isfinite(table))
    what = "a number from 0 on"
    if kind != "shares":
        bad |= ~np.isnan(table) & (table != np.round(table))
        what = "a whole number (how many, or 0 and 1), or shares that add up to 1 or 100 in every bag"
    if bad.any():
        b, k = (int(part[0]) for part in np.nonzero(bad))
        raise InvalidData(
            f"{path}: bag {bags[b]!r} has {table[b, k]:g} in the label column {names[k]!r}; expected {what}. The "
            f"labels of this bag add up to {np.nansum(table[b]):g}.",
            do=["Correct it, or name other columns with ", Setting("label"), "."],
        )


def columns_of_bags(bags: Bags) -> Amounts | None:
    """Return a column for each label that says all that bags say: counts, shares, or 1, 0 and nothing; None for none.

    What is read from them must be what was said, and columns of few bags or of one value do not show what they are.
    """
    n_long = int((bags.is_labelled & (bags.sizes > 1)).sum())
    if bags.demands is None or bags.demands.nodes or n_long < _FEWEST or bags.n_classes < 2:
        return None
    said, shape = bags.demands, (bags.n_bags, bags.n_classes)
    least, most = np.zeros(shape), np.zeros(shape)
    least[said.bags, said.elements], most[said.bags, said.elements] = said.least, said.most
    ticks = np.where(least > 0, 1.0, np.where(most > 0, np.nan, 0.0))
    names, sizes = [str(name) for name in bags.classes], bags.sizes.tolist()
    for table in (least, least / bags.sizes[:, None], ticks):
        table[~bags.is_labelled] = np.nan
        if not ((table > 0).any(axis=0) & (table == 0).any(axis=0)).all():
            continue
        kind = kind_of_amounts(table, sizes)
        read = (
            said_of_amounts(table, (), names, bags.names, sizes, Path())
            if kind in ("rows", "shares", "ticks")
            else None
        )
        if read is not None and read.bags(list(bags), bags.names) == bags:
            return table
    return None


# ---- one cell, exactly


def exact_cell(bags: Bags, b: int) -> str:
    """Return all that a bag says, as JSON; :func:`said_of_cells` reads it."""
    said, classes = bags.demands, bags.classes
    assert said is not None  # asked for where some bag says more
    found: dict[str, Any] = {}
    for name, (least, most) in said.of_bag(b, classes).items():
        if name == _REST:
            raise InvalidData(f"A label is called {_REST!r}, which stands for other labels in a table. Rename it.")
        least = least if bags.whole[b] else 0
        word: Any = [least, most]
        if said.is_share[b]:
            word = [float(least), None if most is None else float(most)]  # a point tells a share from a count
        elif most == least == int(least):
            word = int(least)
        elif most is None and least in (0, 1):
            word = "maybe" if least == 0 else "present"
        if name in said.nodes:
            place = bags.n_classes + said.nodes.index(name)
            word = {_OF: [str(classes[c]) for c in np.flatnonzero(said.member[place]).tolist()], _ROWS: word}
        found[str(name)] = word
    only_absent = found and all(most == 0 for _, most in said.of_bag(b, classes).values())
    if said.is_open[b] and not only_absent:
        found[_REST] = "maybe"
    return json.dumps(found, ensure_ascii=False)


def said_of_cells(column: Coded, codes: NDArray[np.intp], n_bags: int) -> Saying | None:
    """Read exact cells beside plain sets; None where a column has none of them."""
    values = {value: _object(value) for value in column.values if value.strip()[:1] == "{"}
    if not any(values.values()) or any(found is None for found in values.values()):
        return None
    of_bag: list[str] = [""] * n_bags
    for bag, code in zip(codes.tolist(), column.codes.tolist()):
        if not column.is_gap(column.values[code]):
            of_bag[bag] = column.values[code]
    if any(value and value not in values for value in of_bag):
        return None
    tree: dict[str, list[str]] = {}
    said: list[Any] = []
    partial = []
    for b, value in enumerate(of_bag):
        found = dict(values[value]) if value else None  # type: ignore[arg-type]  # all of them are objects
        if found is not None and found.pop(_REST, None):
            partial.append(b)
        for name, known in (found or {}).items():
            if isinstance(known, dict):
                tree[name] = [str(leaf) for leaf in known.get(_OF, ())]
        said.append(found and {name: _range_of(known) for name, known in found.items()} if value else None)
    return Saying(said, [], tree=_nested(tree) if tree else None, partial=partial)


def _object(value: str) -> dict[str, Any] | None:
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):  # a text, or brackets without end
        return None
    is_exact = isinstance(found, dict) and not any(
        isinstance(known, dict) and not isinstance(known.get(_OF, []), list) for known in found.values()
    )
    return found if is_exact else None


def _range_of(known: Any) -> Any:
    known = known.get(_ROWS, "present") if isinstance(known, dict) else known
    if isinstance(known, list) and len(known) == 2 and any(isinstance(n, float) for n in known):
        return Expected(known[0], np.inf if known[1] is None else known[1])
    return tuple(known) if isinstance(known, list) else known


def _nested(nodes: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Put kinds into each other by what is below them; a label is under the smallest kind that has it."""
    order = sorted(nodes, key=lambda name: (len(nodes[name]), name))
    made: dict[str, dict[str, Any]] = {name: {} for name in order}
    roots: dict[str, Any] = {}
    placed: set[str] = set()
    for place, name in enumerate(order):
        made[name] |= {leaf: {} for leaf in nodes[name] if leaf not in placed}
        placed |= set(nodes[name])
        above = next((other for other in order[place + 1 :] if set(nodes[name]) <= set(nodes[other])), None)
        (roots if above is None else made[above])[name] = made[name]
    return roots
