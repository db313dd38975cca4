"""What a bag says beyond a list: how many rows carry a label, that one is absent, or only maybe there, or of some kind.

Everything is a demand on the rows of a bag: an *element*, which is a set of classes (one class, or all leaves under an
inner node of a tree), is carried by at least ``least`` and at most ``most`` of its rows. A list demands at least one
row of each of its labels; "3 wrens" demands 3 to 3; "maybe" demands nothing, but allows; "absent" allows no row. Shares
are demands, too: on fractions of the rows, as exactly as the rows that they rest on allow.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.data.frozen import Frozen
from sidelight.data.names import Names, as_frame, is_missing, look_up, plain, sorted_names
from sidelight.errors import InvalidData

if TYPE_CHECKING:
    from sidelight.data.hierarchy import LabelTree

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Flags = NDArray[np.bool_]
Range = tuple[float, float]

PRESENT: Range = (1.0, np.inf)
WORDS: dict[str, Range] = {"present": PRESENT, "maybe": (0.0, np.inf), "absent": (0.0, 0.0)}
ADDS_UP = 0.02  # how far the shares of a bag may be from 1 in sum: two digits after the point, of a dozen kinds
_ROUNDING, _DIGITS = 1e-6, 9  # sums of shares that are 1 but for rounding, and digits of rows that are kept
ERRORS = 2.0  # standard errors on either side of a share that rests on fewer rows than there are


class Expected(NamedTuple):
    """Numbers of rows that need not be whole, as a share comes to."""

    least: float
    most: float


class Demands(Frozen):
    """Least and most rows of each element in each bag.

    Bag b speaks of the elements ``elements[starts[b]:starts[b + 1]]``; element e is class e, or from ``n_classes`` on
    the inner node ``nodes[e - n_classes]``, whose classes ``member`` marks.
    """

    nodes: Names
    member: Flags  # elements x classes
    starts: Places
    elements: Places
    least: Floats
    most: Floats
    is_open: Flags  # bags whose other rows may be anything
    is_share: Flags  # bags whose numbers came as shares
    _fields = ("nodes", "member", "starts", "elements", "least", "most", "is_open", "is_share")

    @property
    def bags(self) -> Places:
        """The bag that each demand is about."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    @property
    def is_special(self) -> Flags:
        """Which bags say more than a list does."""
        is_plain = (self.elements < self.member.shape[1]) & (self.least == 1.0) & np.isinf(self.most)
        special = np.zeros(len(self.starts) - 1, dtype=bool)
        special[self.bags[~is_plain]] = True
        return special

    @property
    def is_counted(self) -> Flags:
        """Which bags have a count or a share."""
        counted = np.zeros(len(self.starts) - 1, dtype=bool)
        counted[self.bags[(self.least > 1.0) | ((self.most > 0.0) & np.isfinite(self.most))]] = True
        return counted

    def taken(self, bags: Places, scale: Floats) -> Self | None:
        """Return the demands of these bags, in this order; counts grow or shrink with their rows by ``scale``."""
        sizes = np.diff(self.starts)[bags]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        places = np.arange(starts[-1]) + np.repeat(self.starts[bags] - starts[:-1], sizes)
        least, most, by = self.least[places], self.most[places], np.repeat(scale, sizes)
        is_count = (least > 1.0) | np.isfinite(most)
        least, most = np.where(is_count, least * by, least), most * by
        return self._having(starts, self.elements[places], least, most, self.is_open[bags], self.is_share[bags])

    def opened(self, is_open: Flags) -> Self:
        """Return the demands with these bags open; one that only says what is absent is always open."""
        only_absent = np.ones(len(is_open), dtype=bool)
        only_absent[self.bags[self.most > 0.0]] = False
        only_absent &= np.diff(self.starts) > 0
        return self._make(**(self.__getstate__() | {"is_open": is_open | only_absent}))

    def without(self, forget: Flags) -> Self | None:
        """Return the demands without those of some bags."""
        kept = ~forget[self.bags]
        return self._kept(kept)

    def in_classes(self, old: Names, new: Names) -> Self | None:
        """Return the demands with other columns; classes that are gone take their demands with them."""
        column_of = {name: column for column, name in enumerate(new)}
        moved = np.array([column_of.get(name, -1) for name in old], dtype=np.intp)
        member = np.zeros((len(new) + len(self.nodes), len(new)), dtype=bool)
        member[: len(new)] = np.eye(len(new), dtype=bool)
        stays = moved >= 0
        member[len(new) :][:, moved[stays]] = self.member[len(old) :][:, stays]
        numbers = np.concatenate([moved, len(new) + np.arange(len(self.nodes))])
        alive = np.concatenate([stays, member[len(new) :].any(axis=1)])
        kept = self._kept(alive[self.elements])
        if kept is None:
            return None
        state = kept.__getstate__() | {"member": member, "elements": numbers[kept.elements]}
        return self._make(**state)

    def _kept(self, kept: Flags) -> Self | None:
        sizes = np.bincount(self.bags[kept], minlength=len(self.starts) - 1)
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
        flags = self.is_open, self.is_share
        return self._having(starts, self.elements[kept], self.least[kept], self.most[kept], *flags)

    def _having(
        self, starts: Places, elements: Places, least: Floats, most: Floats, is_open: Flags, is_share: Flags
    ) -> Self | None:
        made = self._make(
            nodes=self.nodes, member=self.member, starts=starts, elements=elements, least=least, most=most,
            is_open=is_open, is_share=is_share,
        )  # fmt: skip
        return made if made.is_special.any() else None

    def allowed(self) -> Flags:
        """Return which classes rows of each bag may have, shape (n_bags, n_classes)."""
        n_bags = len(self.starts) - 1
        named = np.zeros((n_bags, self.member.shape[1]), dtype=bool)
        struck = np.zeros_like(named)
        np.logical_or.at(named, self.bags, self.member[self.elements])
        none = self.most == 0.0
        np.logical_or.at(struck, self.bags[none], self.member[self.elements[none]])
        return (named | self.is_open[:, None]) & ~struck

    def same_as(self, other: Demands | None) -> bool:
        """Say whether both demand the same."""
        return other is not None and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in self._fields
        )

    def archived(self) -> dict[str, Any]:
        """Return plain arrays and names, for a file."""
        return {name: list(self.nodes) if name == "nodes" else getattr(self, name) for name in self._fields}

    @classmethod
    def of_archive(cls, state: Mapping[str, Any] | None, n_bags: int, n_classes: int) -> Self | None:
        """Read what :meth:`archived` wrote."""
        if state is None:
            return None
        state = {"is_share": np.zeros(n_bags, dtype=bool), **state}  # the first versions did not remember it
        kinds = {"member": bool, "is_open": bool, "is_share": bool, "starts": np.intp, "elements": np.intp}
        nodes = tuple(state["nodes"])
        made = cls._make(
            nodes=nodes, **{k: np.array(state[k], kinds.get(k, np.float64)) for k in cls._fields if k != "nodes"}
        )
        n_elements, n_said = n_classes + len(nodes), len(made.elements)
        is_sound = (
            made.member.shape == (n_elements, n_classes)
            and len(made.starts) == n_bags + 1
            and len(made.is_open) == len(made.is_share) == n_bags
            and made.starts[0] == 0
            and made.starts[-1] == n_said == len(made.least) == len(made.most)
            and bool((np.diff(made.starts) >= 0).all())
            and bool(((made.elements >= 0) & (made.elements < n_elements)).all())
            and bool(((made.least >= 0) & (made.least <= made.most)).all())
        )
        if not is_sound:
            raise InvalidData("Bags: the stored demands of bags contradict themselves; the file is damaged.")
        return made

    def of_bag(self, b: int, classes: Names) -> dict[Hashable, tuple[float, float | None]]:
        """Return what a bag says: label to (least, most), None for "any number"."""
        names = (*classes, *self.nodes)
        part = slice(int(self.starts[b]), int(self.starts[b + 1]))
        return {
            names[e]: (_whole(low), None if np.isinf(high) else _whole(high))
            for e, low, high in zip(
                self.elements[part].tolist(), self.least[part].tolist(), self.most[part].tolist(), strict=True
            )
        }


class Said(NamedTuple):
    """What was read: lists as ever, for those who want nothing else, and the demands behind them."""

    lists: dict[Hashable, set[Hashable] | None]
    classes: Names
    unsure: set[Hashable]  # bags of which no list says everything
    demands: Demands


def says_more(labels: Any, tree: Any, shares: Any) -> bool:
    """Say whether bags say more than lists do."""
    if tree is not None or shares is not None:
        return True
    return isinstance(labels, Mapping) and any(isinstance(said, Mapping) for said in labels.values())


def read(
    labels: Any, code_of: Mapping[Hashable, int], sizes: Places, *, classes: Any, tree: Any, shares: Any, rows: Any
) -> Said:
    """Read labels, shares and a tree into lists and demands."""
    under = _leaves_under(tree)
    leaves = [name for name in (_as_tree(tree).names if tree is not None else ()) if name not in under]
    said: dict[Hashable, dict[Hashable, Range]] = {}
    published: set[Hashable] = set()
    if labels is not None:
        if not isinstance(labels, Mapping):
            raise InvalidData(
                "Bags: with tree= or shares=, labels must be a mapping from bag to a set of names or to a mapping from "
                f"label to what is known of it. Got {type(labels).__name__}."
            )
        for bag, members in labels.items():
            look_up(bag, code_of, "Bags labels", "bag")
            if members is not None:
                said[bag] = _ranges(bag, members)
                if isinstance(members, Mapping) and any(isinstance(known, Expected) for known in members.values()):
                    published.add(bag)
    if shares is not None:
        for bag, ranges in _of_shares(shares, code_of, sizes, rows).items():
            if bag in said:
                raise InvalidData(f"Bags: bag {bag!r} has both labels and shares. Give one of them.")
            said[bag] = ranges
            published.add(bag)
    used = {name for ranges in said.values() for name in ranges if name not in under}
    known = tuple(classes) if classes is not None else sorted_names(used | set(leaves))
    outside = used - set(known)
    if outside:
        raise InvalidData(f"Bags: the label {min(outside, key=str)!r} is not among the classes.")
    _check_nodes(said, under, set(known))
    _check_rows(said, under, code_of, sizes)
    lists: dict[Hashable, set[Hashable] | None] = {}
    unsure: set[Hashable] = set()
    for bag, ranges in said.items():
        lists[bag] = {name for name, (least, _) in ranges.items() if least > 0 and name not in under}
        if any(name in under or (least == 0 and most > 0) for name, (least, most) in ranges.items()):
            unsure.add(bag)
    return Said(lists, known, unsure, _demands(said, code_of, known, under, published))


def _demands(
    said: Mapping[Hashable, Mapping[Hashable, Range]],
    code_of: Mapping[Hashable, int],
    classes: Names,
    under: Mapping[str, frozenset[str]],
    published: set[Hashable],
) -> Demands:
    nodes = tuple(sorted(name for name in under if any(name in ranges for ranges in said.values())))
    place = {name: e for e, name in enumerate((*classes, *nodes))}
    member = np.zeros((len(place), len(classes)), dtype=bool)
    member[: len(classes)] = np.eye(len(classes), dtype=bool)
    for name in nodes:
        member[place[name], [place[leaf] for leaf in under[name] if leaf in place]] = True
    found = sorted((code_of[bag], place[name], *ranges[name]) for bag, ranges in said.items() for name in ranges)
    table = np.array(found, dtype=np.float64).reshape(-1, 4)
    bags = table[:, 0].astype(np.intp)
    starts = np.concatenate([[0], np.cumsum(np.bincount(bags, minlength=len(code_of)))]).astype(np.intp)
    return Demands._make(
        nodes=nodes, member=member, starts=starts, elements=table[:, 1].astype(np.intp),
        least=np.ascontiguousarray(table[:, 2]), most=np.ascontiguousarray(table[:, 3]),
        is_open=np.zeros(len(code_of), dtype=bool),
        is_share=np.array([bag in published for bag in code_of], dtype=bool),
    )  # fmt: skip


# ---- what one label of one bag may be


def _ranges(bag: Hashable, members: Any) -> dict[Hashable, Range]:
    if isinstance(members, Mapping):
        return {plain(name): _range(bag, plain(name), known) for name, known in members.items()}
    if isinstance(members, (str, bytes)) or not isinstance(members, Iterable):
        raise InvalidData(
            f"Bags labels: bag {bag!r} must have a set of names, or a mapping from label to what is known of it. "
            f"Got {members!r:.80}."
        )
    try:
        return {plain(name): PRESENT for name in members}
    except TypeError as error:
        raise InvalidData(
            f"Bags labels: bag {bag!r} has a label that is no name: {members!r:.80}. A label must be hashable."
        ) from error


def _range(bag: Hashable, name: Hashable, known: Any) -> Range:
    """Read a count, a range, "maybe", "absent", "present", or nothing known."""
    if isinstance(known, Expected):
        return float(known.least), float(known.most)
    if isinstance(known, (bool, np.bool_)):
        return PRESENT if known else WORDS["absent"]
    if isinstance(known, str):
        if known not in WORDS:
            raise InvalidData(
                f"Bags labels: bag {bag!r} says {known!r:.80} of {name!r}. "
                'A word may be "present", "maybe" or "absent".'
            )
        return WORDS[known]
    if isinstance(known, (tuple, list)):
        if len(known) != 2:
            raise InvalidData(
                f"Bags labels: bag {bag!r} has {known!r:.80} for {name!r}; a range is (least, most), most None for any."
            )
        low = 0.0 if known[0] is None else _count(bag, name, known[0])
        high = np.inf if known[1] is None else _count(bag, name, known[1])
        if low > high:
            raise InvalidData(
                f"Bags labels: bag {bag!r} says at least {low:g} and at most {high:g} of {name!r}. Put the smaller "
                "number first."
            )
        return low, high
    if is_missing(known):
        return WORDS["maybe"]  # nobody looked
    count = _count(bag, name, known)
    return count, count


def _count(bag: Hashable, name: Hashable, known: Any) -> float:
    if not isinstance(known, (int, float, np.integer, np.floating)) or not np.isfinite(known):
        raise InvalidData(
            f"Bags labels: bag {bag!r} has {known!r:.80} for {name!r}. Give a number of rows, a range (least, most), "
            '"maybe" or "absent".'
        )
    if known < 0 or known != int(known):
        raise InvalidData(
            f"Bags labels: bag {bag!r} counts {known!r} of {name!r}, but a count is a whole number from 0. Shares of a "
            "bag go into shares=."
        )
    return float(known)


def _of_shares(
    shares: Any, code_of: Mapping[Hashable, int], sizes: Places, rows: Any
) -> dict[Hashable, dict[Hashable, Range]]:
    """Read shares of labels, which add up to 1 or to 100 in every bag, into ranges of rows."""
    found: dict[Hashable, dict[Hashable, Range]] = {}
    for bag, told in _share_table(shares).items():
        code = look_up(bag, code_of, "Bags shares", "bag")
        values = {plain(name): _share(bag, plain(name), share) for name, share in told.items()}
        total = sum(values.values())
        unit = 100.0 if total > 50.0 else 1.0
        if abs(total / unit - 1.0) > ADDS_UP:
            some = ", ".join(f"{name!r}: {share:g}" for name, share in list(values.items())[:4])
            raise InvalidData(
                f"Bags shares: those of bag {bag!r} ({some}{', ...' if len(values) > 4 else ''}) add up to {total:g}, "
                "not to 1 or 100. Name what the rest is as a label of its own."
            )
        size = float(sizes[code])
        base = rows.get(bag, size) if isinstance(rows, Mapping) else size if rows is None else rows
        if not isinstance(base, (int, float, np.integer, np.floating)) or not base > 0:
            raise InvalidData(f"Bags share_rows: the shares of bag {bag!r} rest on {base!r} rows. Give more than 0.")
        found[bag] = {}
        for name, value in values.items():
            share = value / total if abs(total / unit - 1.0) > _ROUNDING else value / unit
            error = ERRORS * np.sqrt(share * (1.0 - share) * max(1.0 / base - 1.0 / size, 0.0)) if base != size else 0.0
            low, high = max(share - error, 0.0) * size, min(share + error, 1.0) * size
            found[bag][name] = (round(low, _DIGITS), round(high, _DIGITS))  # so that shares written are shares read
    return found


def _share(bag: Hashable, name: Hashable, share: Any) -> float:
    if is_missing(share):
        return 0.0
    is_number = isinstance(share, (int, float, np.integer, np.floating)) and not isinstance(share, bool)
    if not is_number or not 0 <= share < np.inf:
        raise InvalidData(f"Bags shares: bag {bag!r} has {share!r:.80} for {name!r}. Give a share from 0 on.")
    return float(share)


def _share_table(shares: Any) -> Mapping[Any, Mapping[Any, Any]]:
    if isinstance(shares, Mapping) and all(isinstance(told, Mapping) for told in shares.values()):
        return shares
    frame = as_frame(shares)
    if frame is None or len(frame.columns) < 2:
        raise InvalidData(
            "Bags shares: expected a mapping from bag to {label: share}, or a data frame with the bags in its first "
            f"column and a column a label. Got {type(shares).__name__}."
        )
    bag, *names = frame.columns
    return {plain(row[0]): dict(zip(names, row[1:])) for row in frame.select(bag, *names).iter_rows()}


def _check_rows(
    said: Mapping[Hashable, Mapping[Hashable, Range]],
    under: Mapping[str, frozenset[str]],
    code_of: Mapping[Hashable, int],
    sizes: Places,
) -> None:
    """Refuse counts that the rows of a bag cannot fill."""
    for bag, ranges in said.items():
        size = int(sizes[code_of[bag]])
        counts = {name: least for name, (least, most) in ranges.items() if least > 1 or (least and np.isfinite(most))}
        tops = sum(least for name, least in counts.items() if name not in under)
        worst = max(counts, key=lambda name: counts[name], default=None)
        if worst is not None and max(counts[worst], tops) > size + 0.5:
            what = (
                f"{counts[worst]:g} of {worst!r}" if counts[worst] > size else f"{tops:g} rows of {len(counts)} labels"
            )
            raise InvalidData(
                f"Bags labels: bag {bag!r} says {what}, but has only {size} rows. Give a range such as "
                f"{{{worst!r}: (1, None)}} where the count is of something else than rows."
            )


def _check_nodes(
    said: Mapping[Hashable, Mapping[Hashable, Range]], under: Mapping[str, frozenset[str]], classes: set[Hashable]
) -> None:
    """Refuse kinds that no label is below, and bags whose labels are more than the kind above allows."""
    for bag, ranges in said.items():
        for name in ranges:
            below = under.get(name) if isinstance(name, str) else None
            if below is None:
                continue
            if not below & classes:
                raise InvalidData(
                    f"Bags labels: bag {bag!r} names {name!r}, but no label of the classes is below it in the tree."
                )
            inside = {leaf: ranges[leaf][0] for leaf in sorted(below) if leaf in ranges}
            if sum(inside.values()) > ranges[name][1]:
                worst = max(inside, key=lambda leaf: inside[leaf])
                raise InvalidData(
                    f"Bags labels: bag {bag!r} says at most {ranges[name][1]:g} of {name!r}, but at least "
                    f"{sum(inside.values()):g} of what is below it, such as {worst!r}. A kind counts all that is below."
                )


# ---- trees


def _as_tree(tree: Any) -> LabelTree:
    """Return a tree from a LabelTree, nested mappings, or paths such as "birds/warblers/wren"."""
    from sidelight.data.hierarchy import LabelTree  # half a second that bags without a tree need not wait for

    if isinstance(tree, LabelTree):
        return tree
    edges: list[tuple[Any, Any]] = []
    if isinstance(tree, Mapping):
        _walk(tree, None, edges)
    elif isinstance(tree, Iterable) and not isinstance(tree, (str, bytes)):
        for path in tree:
            steps = [step.strip() for step in str(path).split("/") if step.strip()]
            edges += zip([None, *steps], steps)
        edges = list(dict.fromkeys(edges))
    else:
        raise InvalidData(
            "Bags tree: expected a LabelTree, nested mappings, or paths such as 'birds/warblers/wren'. "
            f"Got {type(tree).__name__}."
        )
    children = [child for _, child in edges]
    twice = next((name for name in children if children.count(name) > 1), None)
    if twice is not None:
        raise InvalidData(f"Bags tree: {twice!r} stands at two places. Give one of them another name.")
    return LabelTree.from_edges(edges)


def _walk(tree: Any, parent: Any, edges: list[tuple[Any, Any]]) -> None:
    names = tree.items() if isinstance(tree, Mapping) else ((name, ()) for name in tree or ())
    for name, below in names:
        edges.append((parent, str(name)))
        _walk((below,) if isinstance(below, str) else below, str(name), edges)


def _leaves_under(tree: Any) -> dict[str, frozenset[str]]:
    """Return the leaves under every inner node."""
    if tree is None:
        return {}
    known = _as_tree(tree)
    leaves: dict[int, set[str]] = {int(leaf): {known.names[leaf]} for leaf in known.leaves.tolist()}
    for label in known.order[::-1].tolist():
        parent = int(known.parents[label])
        if parent >= 0:
            leaves.setdefault(parent, set()).update(leaves[label])
    is_leaf = set(known.leaves.tolist())
    return {known.names[j]: frozenset(some) for j, some in leaves.items() if j not in is_leaf}


def _whole(value: float) -> float:
    return int(value) if value == int(value) else value
