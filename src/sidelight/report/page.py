"""A page is sections of sentences, Displays and tables, with the provenance of every figure at its end."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from sidelight.errors import MissingExtra
from sidelight.plot._axes import as_png
from sidelight.words import Sentence, Spell, spoken


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length; a page shows the first ``most`` rows and says how many it left out."""

    columns: Mapping[str, Sequence[Any]]
    caption: str = ""
    most: int = 50

    @property
    def rows(self) -> list[list[str]]:
        """The rows to show, as text."""
        return [[_text(value) for value in row] for row in list(zip(*self.columns.values()))[: self.most]]

    @property
    def left_out(self) -> int:
        """Number of rows that are not shown."""
        return max(0, max((len(column) for column in self.columns.values()), default=0) - self.most)


@dataclass(frozen=True, slots=True)
class Section:
    """One heading: what was found in sentences, then pictures (display, caption), then tables."""

    title: str
    sentences: Sequence[Sentence] = ()
    displays: Sequence[tuple[Any, str]] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows.

    Parameters
    ----------
    title : str
        The heading of the page.
    sentences : sequence of Sentence
        What a reader in a hurry should know; the terminal shows these.
    sections : sequence of Section
        The rest, in reading order.
    """

    title: str
    sentences: Sequence[Sentence]
    sections: Sequence[Section] = ()


def to_html(page: Page, provenance: Mapping[str, Any] | None = None, *, spell: Spell = str) -> str:
    """Return a page as HTML; pictures are inside, nothing is fetched.

    Parameters
    ----------
    page : Page
        What to show.
    provenance : mapping, optional
        Data, parameters, seed and versions.
    spell : callable
        How the reader would type a setting that a sentence speaks of.
    """
    try:
        from jinja2 import Environment
    except ImportError as error:
        raise MissingExtra("jinja2", "jobs", "Writing a report") from error
    source = (files("sidelight.report") / "page.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(source)
    return template.render(
        page=page, provenance=provenance or {}, picture=_picture, spoken=lambda sentence: spoken(sentence, spell)
    )


def _picture(display: Any) -> str:
    drawn = display.plot()
    return "data:image/png;base64," + base64.b64encode(as_png(drawn.figure_)).decode("ascii")


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)
