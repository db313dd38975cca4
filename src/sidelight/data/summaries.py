"""Summaries of supervision objects: counts by name, one line of text, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.words import counted

if TYPE_CHECKING:
    from sidelight.data.bags import Bags
    from sidelight.data.cooccurrence import CoOccurrence


def bag_summary(bags: Bags) -> dict[str, Any]:
    """Return the counts of bags, rows, classes and kinds of label sets."""
    listed = bags.n_labels[bags.is_labelled]
    sizes = bags.sizes if bags.n_bags else np.zeros(1, dtype=np.intp)
    per_class = bags.label_counts.tolist()
    return {
        "rows": bags.n_rows,
        "bags": bags.n_bags,
        "classes": bags.n_classes,
        "rows in the smallest bag": int(sizes.min()),
        "rows in a median bag": float(np.median(sizes)),
        "rows in the largest bag": int(sizes.max()),
        "labelled bags": int(bags.is_labelled.sum()),
        "unlabelled bags": int((~bags.is_labelled).sum()),
        "partial label sets": int(bags.is_partial.sum()),
        "empty label sets": int((listed == 0).sum()),
        "bags that were cut": int((~bags.whole).sum()),
        "labels in a labelled bag, on average": round(float(listed.mean()), 2) if len(listed) else 0.0,
        "bags with each class": dict(zip(bags.classes, per_class)),
    }


def bag_text(bags: Bags) -> str:
    """Return the one line that ``repr`` shows; what does not occur is not mentioned."""
    counts = bag_summary(bags)
    kinds = [
        (counts["labelled bags"], "labelled"),
        (counts["partial label sets"], "of them partial"),
        (counts["empty label sets"], "of them empty"),
        (counts["unlabelled bags"], "unlabelled"),
        (counts["bags that were cut"], "cut"),
    ]
    told = ", ".join(f"{count} {kind}" for count, kind in kinds if count)
    rows, n_bags = counted(bags.n_rows, "row"), counted(bags.n_bags, "bag")
    classes = counted(bags.n_classes, "class", "classes")
    return f"Bags({rows} in {n_bags}, {classes}{'; ' + told if told else ''})"


def bag_html(bags: Bags) -> str:
    """Return a small table for notebooks; names are escaped."""
    counts = bag_summary(bags)
    per_class = sorted(counts.pop("bags with each class").items(), key=lambda item: -item[1])
    shown = ", ".join(f"{name} ({count})" for name, count in per_class[:12])
    if len(per_class) > 12:
        shown += f" and {len(per_class) - 12} more"
    return html_table("Bags", {**counts, "bags with each class": shown or "none"})


def html_table(title: str, facts: dict[str, Any]) -> str:
    """Return a titled two-column table."""
    left = ' style="text-align: left"'
    rows = "".join(f"<tr><th{left}>{escape(str(k))}</th><td>{escape(str(v))}</td></tr>" for k, v in facts.items())
    return f"<table><caption{left}><b>{escape(title)}</b></caption><tbody>{rows}</tbody></table>"


def table_html(table: CoOccurrence) -> str:
    """Return the axes of a table of counts for notebooks, and its cells when it is small enough to be read."""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{size}</td><td>{escape(_preview(table.labels[name]))}</td></tr>"
        for name, size in zip(table.axes, table.shape)
    )
    head = "<tr><th>axis</th><th>codes</th><th>names</th></tr>"
    return (
        f"<div><b>CoOccurrence</b>: {counted(table.nnz, 'cell')}, total {table.total:g}"
        f"<table>{head}{rows}</table>{''.join(_small_table(table))}</div>"
    )


def _preview(names: tuple[Any, ...] | None, limit: int = 6) -> str:
    if names is None:
        return ""
    return ", ".join(str(name) for name in names[:limit]) + (", ..." if len(names) > limit else "")


def _small_table(table: CoOccurrence, limit: int = 12) -> Iterator[str]:
    """Yield the cells of a two-way table, darker where there is more, when it is small enough to be read."""
    if table.n_axes != 2 or max(table.shape) > limit:
        return
    dense = table.to_array()
    rows, columns = (table.labels[axis] or tuple(range(size)) for axis, size in zip(table.axes, table.shape))
    yield "<table><tr><th></th>" + "".join(f"<th>{escape(str(c))}</th>" for c in columns) + "</tr>"
    for name, counts in zip(rows, dense):
        cells = (
            f'<td style="background: rgba(31, 119, 180, {0.7 * count / dense.max():.2f})">{count:g}</td>'
            for count in counts
        )
        yield f"<tr><th>{escape(str(name))}</th>{''.join(cells)}</tr>"
    yield "</table>"
