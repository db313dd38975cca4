"""Figures of a document drawn again from pages of benchmarks, by the same addresses as verdicts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verdicts import MISSING, Cell, Drawing

COLOURS = ("#bbbbbb", "#ee7733", "#0077bb", "#cc3311", "#009988", "#33bbee", "#ee3377", "#000000")


def draw(drawing: Drawing, folder: Path) -> None:
    """Write the picture; what no page has yet is left out of it."""
    from matplotlib.figure import Figure

    n_panels = len(drawing.panels)
    wide = 2 if n_panels in (2, 4) else 3  # panels beside each other
    high = -(-n_panels // wide)
    picture = Figure(figsize=(4.2 * wide, 3.0 * high + 0.4), layout="constrained")
    axes = picture.subplots(high, wide, squeeze=False).ravel()
    for ax, (title, lines) in zip(axes, drawing.panels.items()):
        (_bars if drawing.bars else _lines)(ax, drawing.ticks, {name: _known(cells) for name, cells in lines.items()})
        ax.set_title(title, fontsize=9)
        ax.set_xlabel(drawing.along, fontsize=8)
        ax.tick_params(labelsize=7)
        ax.grid(alpha=0.3, axis="y")
    for ax in axes[n_panels:]:
        ax.set_visible(False)
    picture.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)
    picture.savefig(folder / drawing.file, dpi=110, metadata={"Software": None})


def _known(cells: Any) -> list[float]:
    return [_number(cell) for cell in cells]


def _number(cell: Cell) -> float:
    try:
        return cell.number()
    except MISSING:
        return float("nan")


def _lines(ax: Any, ticks: Any, lines: dict[str, list[float]]) -> None:
    for (name, values), colour in zip(lines.items(), COLOURS):
        ax.plot(ticks, values, "o-", label=name, color=colour, markersize=3, linewidth=1)


def _bars(ax: Any, ticks: Any, lines: dict[str, list[float]]) -> None:
    width = 0.8 / len(lines)
    for at, ((name, values), colour) in enumerate(zip(lines.items(), COLOURS)):
        ax.bar(
            [place + (at - (len(lines) - 1) / 2) * width for place in range(len(ticks))],
            values,
            width,
            label=name,
            color=colour,
        )
    ax.set_xticks(range(len(ticks)), ticks, rotation=60)
