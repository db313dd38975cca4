"""A page: what was found in plain words, how sure, what to do next, then sections of pictures and tables."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files as package_files
from typing import Any

from sidelight.app.report import components as parts
from sidelight.app.report.components.markup import Markup, clean, element
from sidelight.words import Sentence, Spell

TERMS = {
    "agreement": "The share of rows (or pairs of rows) that two groupings treat alike.",
    "bag": "Rows that belong together, such as the segments of one recording or the frames of one film.",
    "bit": "A unit of information: one bit halves the uncertainty about an answer.",
    "cluster": "Rows (or bags) that are alike and were put together; numbers count from 0, as in the files.",
    "F1": "How well sets of labels match: 100% means no label too many and none missing.",
    "held out": "Kept aside while fitting, so that it can judge fairly.",
    "label": "A name given to a bag or a row, such as a species.",
    "normalised mutual information": "How much two groupings tell about each other: 1 means everything, 0 nothing.",
    "probability": "How sure the method is, from 0% to 100%, given its model of the data.",
    "rand index, adjusted": "How far two groupings agree on which rows belong together: 1 is the same, 0 is chance.",
    "standard deviation": "The usual distance from the mean; beyond 2 a value is rare.",
    "standard error": "How far a score would move if other rows had been drawn.",
    "stands out by": "Features whose mean in the cluster is far from the mean of all rows, in standard deviations.",
}


OPEN = 5  # sections that are open at first; the others unfold, so that a page can be taken in at once


@dataclass(frozen=True, slots=True)
class Section:
    """One heading: sentences, then what components made: pictures, tables, galleries."""

    title: str
    sentences: Sequence[Sentence] = ()
    parts: Sequence[Markup] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows.

    Parameters
    ----------
    title : str
        The heading of the page.
    sentences : sequence of Sentence
        What was found, for a reader in a hurry: about three, in plain words.
    sections : sequence of Section
        The rest, in reading order.
    sure : sequence of Sentence
        How sure it is.
    next : sequence of Sentence
        What to do next.
    warnings : sequence of Sentence
        What went wrong or was left out, one line each, with what to do.
    notes : sequence of Sentence
        What a careful reader would like to know about the table: guesses, columns that were not used.
    terms : sequence of str
        Words of the glossary that the page uses; ``glossary`` has those that only this job knows.
    file : str
        The table that the page is about.
    thumbnail : Markup, optional
        A small picture of it all, for cards.
    glossary : mapping of str to str
        Technical words of this job, each in one line for a newcomer.
    """

    title: str
    sentences: Sequence[Sentence]
    sections: Sequence[Section] = ()
    sure: Sequence[Sentence] = ()
    next: Sequence[Sentence] = ()
    warnings: Sequence[Sentence] = ()
    notes: Sequence[Sentence] = ()
    terms: Sequence[str] = ()
    file: str = ""
    thumbnail: Markup | None = None
    glossary: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> list[Sentence]:
        """What a terminal says too: everything but what to do next, which is on the page."""
        return [*self.sentences, *self.sure, *self.warnings, *self.notes]


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a page came from: facts, the files beside it, and the command that repeats the run."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    command: str = ""


def to_html(page: Page, provenance: Provenance | None = None, *, spell: Spell = str) -> str:
    """Return a page as HTML; style, script and pictures are inside, and nothing is fetched.

    Parameters
    ----------
    page : Page
        What to show.
    provenance : Provenance, optional
        Data, parameters, seed, versions, files and command.
    spell : callable
        How the reader would type a setting that a sentence speaks of.
    """
    made = provenance or Provenance()
    sections = [*page.sections, *_closing(page, made)]
    anchors = [(f"s{number}", section.title) for number, section in enumerate(sections, start=1)]
    folded = {anchor for anchor, _ in anchors[OPEN : len(page.sections)]}
    body = [_opening(page, spell)]
    for (anchor, title), section in zip(anchors, sections):
        sentences = [element("p", _marked(sentence, spell)) for sentence in section.sentences]
        inside = [*sentences, *section.parts]
        if anchor in folded:
            inside = [element("details", element("summary", element("h2", title)), inside)]
        else:
            inside = [element("h2", title), *inside]
        body.append(element("section", inside, id=anchor))
    name = f"{page.title} · {page.file}" if page.file else page.title
    return document(name, parts.join(*body), contents=parts.contents([("findings", "What was found"), *anchors]))


def document(title: str, body: Markup, *, contents: Markup | None = None) -> str:
    """Return a whole HTML document: the page's style and script inside, named by their hash in its security policy."""
    from jinja2 import Environment

    template = Environment(autoescape=True).from_string(asset("page.html"))
    return template.render(
        title=clean(title),
        body=body,
        contents=contents or Markup(""),
        policy=policy(),
        style=Markup(asset("page.css")),
        script=Markup(asset("page.js")),
    )


def policy() -> str:
    """Return the security policy: this style, this script, pictures and sounds from inside the page, nothing else."""
    style, script = (_hash(asset(name)) for name in ("page.css", "page.js"))
    allowed = f"style-src '{style}'; script-src '{script}'; img-src data:; media-src data:"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


@cache
def asset(name: str) -> str:
    """Return the text of a file of this room: the one style, the one script, the frame."""
    return (package_files("sidelight.app.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def _marked(sentence: Sentence, spell: Spell) -> list[str]:
    """Return a sentence with its settings as code, which no line breaks at a hyphen."""
    if isinstance(sentence, str):
        return [sentence]
    return [part if isinstance(part, str) else element("code", spell(part)) for part in sentence]


def _opening(page: Page, spell: Spell) -> Markup:
    """Title, the findings in plain words, how sure, what to do next, and what went wrong."""
    title = element("h1", element("span", page.file, class_="file") if page.file else None, page.title)
    lead = element("div", [element("p", _marked(sentence, spell)) for sentence in page.sentences], class_="lead")
    answers = [
        element("div", element("h2", heading), element("ul", [element("li", _marked(s, spell)) for s in sentences]))
        for heading, sentences in (("How sure", page.sure), ("What to do next", page.next))
        if sentences
    ]
    warned = [parts.notice(_marked(sentence, spell)) for sentence in page.warnings]
    noted = [element("p", _marked(sentence, spell), class_="faint") for sentence in page.notes]
    boxes = element("div", answers, class_="answers") if answers else None
    return element("section", title, lead, boxes, warned, noted, id="findings")


def _closing(page: Page, made: Provenance) -> list[Section]:
    """Files, the command, what the run was made of, and the words."""
    sections = []
    how: list[Markup] = []
    if made.files:
        sections.append(Section("Files", parts=[parts.files(made.files)]))
    if made.command:
        how += [element("p", "This command repeats the run:"), parts.command(made.command)]
    if made.facts:
        how.append(parts.facts(made.facts))
    if how:
        sections.append(Section("How this was made", parts=how))
    words = {**TERMS, **page.glossary}
    terms = {word: words[word] for word in sorted(set(page.terms), key=str.lower)}
    if terms:
        sections.append(Section("Words", parts=[parts.glossary(terms)]))
    return sections
