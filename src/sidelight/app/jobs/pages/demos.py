"""The stories that open the pages of the demos, and the page that links them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sidelight.app.jobs.demonstration import Story
from sidelight.app.report.components import Markup, card, cards, command, element, join, percent
from sidelight.app.report.page import Page, Section, document


def with_story(page: Page, story: Story) -> Page:
    """Put the story of a demo in front of its page."""
    first = Section("What this is", [story.what, _outcome(story)])
    return replace(page, title=story.title, sections=[first, *page.sections])


def _outcome(story: Story) -> str:
    return story.outcome.format(agreement=story.agreement, share=percent(story.agreement))


def index_page(items: Sequence[Markup]) -> str:
    """Return the page that links the demos: a card each."""
    text = (
        "Every job on data that needs no download. Each card opens a report like the one that your own table would get."
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
    return element(
        "article", element("h2", "The studio"), element("p", told), command("sidelight studio demo"), class_="card"
    )


def demo_card(folder: str, story: Story, command: str, drawn: Markup | None) -> Markup:
    """Return the card of one demo."""
    told = f"{story.what} {_outcome(story)}"
    return card(story.title, told, href=f"{folder}/report.html", picture=drawn, command_text=command)
