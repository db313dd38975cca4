"""Parts of a page that are words: contents, glossary, notices, a command to copy, cards and files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.app.report.components.markup import Child, Markup, clip, element


def contents(sections: Sequence[tuple[str, str]]) -> Markup:
    """Return a table of contents: (id, title) of each section."""
    links = [element("li", element("a", clip(title, 60), href=f"#{anchor}")) for anchor, title in sections]
    return element("nav", element("ul", links), aria_label="Contents", class_="contents")


def glossary(terms: Mapping[str, str]) -> Markup:
    """Return words and what they mean, in one line each."""
    return element(
        "dl", [(element("dt", word), element("dd", meaning)) for word, meaning in terms.items()], class_="glossary"
    )


def folded(title: str, *inside: Markup) -> Markup:
    """Return parts that wait behind a title until they are opened."""
    return element("details", element("summary", title), *inside, class_="numbers")


def notice(text: Child) -> Markup:
    """Return one warning, with what to do about it."""
    return element("p", element("b", "Note: "), text, class_="notice")


def command(text: str) -> Markup:
    """Return a command, with a button that copies it."""
    button = element("button", "Copy", type="button", class_="copy", aria_label="Copy the command")
    return element(
        "div",
        element("pre", element("code", text), tabindex="0", role="region", aria_label="Command"),
        button,
        class_="command",
    )


def facts(pairs: Mapping[str, Any]) -> Markup:
    """Return names and values, such as what a run was made of."""
    return element(
        "dl", [(element("dt", key), element("dd", clip(value, 2000))) for key, value in pairs.items()], class_="facts"
    )


def files(names: Mapping[str, str]) -> Markup:
    """Return links to the files beside the page, and what each holds."""
    lines = [
        element("li", element("a", name, href=name), f": {what}" if what else None) for name, what in names.items()
    ]
    return element("ul", lines, class_="files")


def card(title: str, text: str, *, href: str, picture: Markup | None = None, command_text: str = "") -> Markup:
    """Return a card: a picture, what it is about, and the command that makes it."""
    return element(
        "article",
        picture,
        element("h2", element("a", title, href=href)),
        element("p", text),
        command(command_text) if command_text else None,
        class_="card",
    )


def cards(items: Sequence[Markup]) -> Markup:
    """Return cards side by side, as many as fit."""
    return element("div", list(items), class_="cards")
