"""What bags say, and what their rows say of them, in words for tables: 3 wren, 2 to 4 owl, 60% yes, jay?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from sidelight.data.bags import Bags

Range = tuple[float, float | None]
_HALF = 0.5  # rows by which a number may be off that is found as expected


def words_of_bag(bags: Bags, b: int, how: str = "counts") -> str:
    """Return what a bag says in one cell: a list, or numbers, doubts and kinds."""
    name = bags.names[b]
    listed = bags.labels[name]
    if listed is None:
        return ""
    said = bags.said.get(name)
    if said is None:
        return joined(listed)
    return ranges_in_words(said, float(bags.sizes[b]), how)


def joined(names: Any) -> str:
    """Return a list of labels as one cell."""
    return "|".join(sorted(map(str, names)))


def ranges_in_words(said: Mapping[Hashable, Range], size: float, how: str) -> str:
    """Return labels with their numbers; what is absent is left out."""

    def unit(n: float) -> str:
        return f"{100.0 * n / size:.0f}%" if how == "shares" else f"{n:g}"

    told = []
    for name, (least, most) in sorted(said.items(), key=lambda item: str(item[0])):
        if most == 0:
            continue
        if most is None:
            told.append(f"{name}?" if least == 0 else str(name) if least == 1 else f"{name} {unit(least)} or more")
        elif unit(least) == unit(most):
            told.append(f"{name} {unit(least)}")
        else:
            told.append(f"{name} {unit(least)} to {unit(most)}")
    return "|".join(told)


def kinds_of(model: Any, X: Any, bags: Bags | None) -> dict[str, list[str]]:
    """Return a column with the most specific name that is sure for each row; none where bags name no kinds."""
    if not getattr(model, "kinds_", None):
        return {}
    side = {} if bags is None else {"bags": bags}
    return {"kind": ["" if name is None else str(name) for name in model.predict_kinds(X, **side)]}


def found_in_bags(model: Any, X: Any, bags: Bags, coverage: float) -> list[dict[Hashable, Range]] | None:
    """Return what rows say of their bags in the words of the fit; None where the fit knew lists alone."""
    if not (getattr(model, "counts_rows_", "") or getattr(model, "kinds_", None)):
        return None
    return list(model.predict_bags_said(X, bags, coverage=coverage))


def numbers_of_bags(model: Any, X: Any, bags: Bags, found: list[dict[Hashable, Range]] | None) -> dict[str, list[Any]]:
    """Return for each label how many rows of each bag carry it (or which share), and the ends of its range."""
    how = getattr(model, "counts_rows_", "")
    if not how or found is None:
        return {}
    names = list(model.classes_)
    counts = model.predict_bag_counts(X, bags, labels=names)[0]
    by = bags.sizes.tolist() if how == "shares" else [1] * bags.n_bags
    columns: dict[str, list[Any]] = {}
    for c, name in enumerate(names):
        ends = [(said[name][0], said[name][1] or 0.0) for said in found]
        columns[f"{name} found"] = [round(float(n) / size, 3) for n, size in zip(counts[:, c], by)]
        columns[f"{name} least"] = [round(low / size, 3) for (low, _), size in zip(ends, by)]
        columns[f"{name} most"] = [round(high / size, 3) for (_, high), size in zip(ends, by)]
    return columns


def said_against_found(
    bags: Bags, b: int, carried: frozenset[Any], found: list[dict[Hashable, Range]] | None, how: str
) -> tuple[str, str]:
    """Return who is missing from the rows of a bag, and who is too many, against what it says."""
    name = bags.names[b]
    listed = bags.labels[name]
    if listed is None:
        return "", ""
    said: Mapping[Hashable, Range] = bags.said.get(name, {})
    if not said or not how or found is None:
        allowed = set(said) if bags.is_partial[b] and said else set(listed)
        is_open = bool(bags.is_partial[b]) and not said
        below = {leaf for kind in said for leaf in bags.kinds.get(str(kind), ())}
        return joined(listed - carried), "" if is_open else joined(set(carried) - allowed - below)
    missing, many = [], []
    for label, (least, most) in found[b].items():
        low, high = said.get(label, (0.0, 0.0 if not bags.is_partial[b] else None))
        if most is not None and most < low - _HALF:
            missing.append(label)
        elif high is not None and least > high + _HALF:
            many.append(label)
    return joined(missing), joined(many)
