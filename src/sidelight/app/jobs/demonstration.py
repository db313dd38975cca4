"""A demo: data that need no download, a run on them, and a story that compares it with a truth no method saw; and the
page that links all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.result import Result
from sidelight.app.report.components import Markup, card, cards, command, element, join, percent
from sidelight.app.report.page import Page, Section, document
from sidelight.words import Spell


@dataclass(frozen=True, eq=False)
class Story:
    """What a demo tells.

    Attributes
    ----------
    title : str
        The heading of its page.
    what : str
        What the data are, and what was held back.
    outcome : str
        How the clusters match the truth; ``{agreement}`` and ``{share}`` (a percentage) stand for the figure.
    agreement : float
        How well the clusters match the truth, which only the demo knows.
    """

    title: str
    what: str
    outcome: str
    agreement: float


class Demonstration(Protocol):
    """What the demo command needs of a demo."""

    @property
    def result(self) -> Result:
        """What was found."""

    @property
    def story(self) -> Story:
        """What it tells."""

    def write(self, folder: Path, *, spell: Spell, page: Page, command: str) -> None:
        """Write the demo into a folder of its own."""


@dataclass(frozen=True, eq=False)
class Demo:
    """What was run, what it found, and its story."""

    config: RunConfig
    result: Result
    story: Story

    def write(self, folder: Path, *, spell: Spell, page: Page, command: str) -> None:
        """Write the demo into a folder of its own."""
        from sidelight.app.jobs.run import publish

        publish(self.config, self.result, folder, spell=spell, page=page, command=command)


def images_to_show(images: np.ndarray) -> dict[str, np.ndarray]:
    """Return images as a column to show, an array of pixels in each cell."""
    cells = np.empty(len(images), dtype=object)
    cells[:] = list(images)
    return {"image": cells}


def pixel_names(X: Any) -> tuple[str, ...]:
    """Name the columns of images."""
    return tuple(f"pixel {j}" for j in range(X.shape[1]))


def with_story(page: Page, story: Story) -> Page:
    """Put the story of a demo in front of its page."""
    first = Section("What this is", [story.what, _outcome(story)])
    return replace(page, title=story.title, sections=[first, *page.sections])


def _outcome(story: Story) -> str:
    return story.outcome.format(agreement=story.agreement, share=percent(story.agreement))


def index_page(items: Sequence[Markup]) -> str:
    """Return the page that links the demos: a card each."""
    text = (
        "Every job on data that needs no download. Each card opens the report of a run, as your own table would get "
        "it: what was found, how sure it is, and rows to look at."
    )
    return document(
        "Sidelight demo",
        join(
            element("h1", "Sidelight demo"),
            element("div", element("p", text), class_="lead"),
            cards([*items, _studio_card()]),
        ),
    )


def _studio_card() -> Markup:
    """Return the card of the studio, which is a page that runs, not a file to open."""
    told = (
        "Look, listen, name and correct, alone or in a team, then run again and the other rows learn from it. Opens "
        "three projects: digits, birds in recordings and things in photographs."
    )
    parts = (_question_picture(), element("h2", "The studio"), element("p", told), command("sidelight studio demo"))
    return element("article", *parts, class_="card")


def _question_picture() -> Markup:
    """Draw a question of the studio: two handwritten digits, and the answers below."""
    from sklearn.datasets import load_digits

    images = load_digits().images / 16.0
    drawn = []
    for left, image in ((58, images[3]), (182, images[13])):
        drawn.append(element("rect", x=left, y=14, width=80, height=80, rx=6, fill="#000"))
        drawn += [
            element(
                "rect", x=left + 4 + 9 * across, y=18 + 9 * down, width=9, height=9, fill="#fff",
                fill_opacity=f"{image[down, across]:.2f}",
            )
            for down, across in zip(*(places.tolist() for places in image.nonzero()))
        ]  # fmt: skip
    for left, word in ((44, "same"), (124, "different"), (204, "unsure")):
        drawn.append(
            element("rect", x=left, y=118, width=72, height=30, rx=6, fill="none", stroke="currentColor", opacity="0.5")
        )
        drawn.append(element("text", word, x=left + 36, y=138, text_anchor="middle", font_size=13, fill="currentColor"))
    alt = "A question of the studio: do two handwritten digits belong together? Same, different or unsure."
    return element("svg", drawn, viewBox="0 0 320 162", class_="picture", role="img", aria_label=alt)


def demo_card(folder: str, story: Story, command: str, drawn: Markup | None) -> Markup:
    """Return the card of one demo."""
    told = f"{story.what} {_outcome(story)}"
    return card(story.title, told, href=f"{folder}/report.html", picture=drawn, command_text=command)
