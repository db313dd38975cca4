"""Markup made of escaped parts: whatever data says arrives as text, never as a tag, an attribute or a script."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape as _escape
from typing import Any

# Characters that a page cannot show, or that turn the text after them around: each becomes a visible replacement.
_UNSHOWABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_EMPTY = frozenset({"br", "img", "input", "link", "meta", "rect", "circle", "line", "path", "col", "polygon"})


class Markup(str):
    """Text that is markup already; only this module makes it, from escaped parts."""

    __slots__ = ()

    def __html__(self) -> Markup:
        """Say to a template that nothing here needs escaping."""
        return self


Child = Any  # markup, text, a number, None, or a list of such


def clean(text: object) -> str:
    r"""Return text without characters that no page can show.

    >>> clean("a\x00b") == "a\ufffdb"
    True
    """
    return _UNSHOWABLE.sub("\ufffd", str(text))


def clip(text: object, most: int = 40) -> str:
    """Return at most ``most`` characters, the last one an ellipsis when some were cut.

    >>> clip("Troglodytes troglodytes", 12)
    'Troglodytes…'
    """
    shown = clean(text)
    return shown if len(shown) <= most else shown[: most - 1].rstrip() + "…"


def escape(text: object) -> Markup:
    """Return text as markup.

    >>> escape("<b>")
    '&lt;b&gt;'
    """
    return text if isinstance(text, Markup) else Markup(_escape(clean(text), quote=True))


def join(*children: Child) -> Markup:
    """Return parts one after the other, each escaped unless it is markup."""
    return Markup("".join(_flat(children)))


def element(tag: str, *children: Child, **attributes: Any) -> Markup:
    """Return one element; ``class_`` is written ``class``, ``data_tip`` is written ``data-tip``.

    An attribute that is None or False is left out, one that is True stands alone, numbers are written short.

    >>> element("td", "a < b", class_="number", hidden=True, title=None)
    '<td class="number" hidden>a &lt; b</td>'
    """
    written = "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in _EMPTY:
        return (
            Markup(f"<{tag}{written}>")
            if tag in ("br", "img", "input", "link", "meta", "col")
            else Markup(f"<{tag}{written}/>")
        )
    return Markup(f"<{tag}{written}>{''.join(_flat(children))}</{tag}>")


def data_block(content: Any, **attributes: Any) -> Markup:
    """Return numbers and names for the page's script, as JSON that no browser runs or reads as markup."""
    text = json.dumps(_cleaned(content), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return element("script", Markup(text), type="application/json", **attributes)


def short(value: float) -> str:
    """Return a coordinate with at most two decimals.

    >>> short(3.0), short(2.345)
    ('3', '2.35')
    """
    return f"{value:.2f}".rstrip("0").rstrip(".") if value == value else "0"


def _attribute(name: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = short(float(value)) if isinstance(value, float) else _escape(clean(value), quote=True)
    return f' {name}="{text}"'


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if child is None:
            continue
        if isinstance(child, (list, tuple)):
            yield from _flat(child)
        else:
            yield escape(child)


def _cleaned(content: Any) -> Any:
    if isinstance(content, str):
        return clean(content)
    if isinstance(content, dict):
        return {clean(key): _cleaned(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_cleaned(value) for value in content]
    return content


# Parts of a page that are words: contents, glossary, notices, a command to copy, cards and files.


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
