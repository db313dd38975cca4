"""What every page has: what was read and left out, how a number was chosen, how the truth compares."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sidelight.app.jobs.headings import heading
from sidelight.app.jobs.pages.common import thumbnail_of
from sidelight.app.jobs.pages.how_many import about_choice, choice_sections, choice_terms, seeds_told, unclear
from sidelight.app.jobs.pages.reading import about_columns, about_left_out, reading_sections
from sidelight.app.jobs.pages.truth import about_truth, truth_section, truth_terms
from sidelight.app.jobs.result import Result
from sidelight.app.report.page import Page
from sidelight.words import Note, Sentence, Setting

_TO_FILL_IN = ("right label", "answer", "right")  # columns of check.csv for instances, relations and hierarchy


def page_of(result: Result) -> Page:
    """Turn a result into its page."""
    page = result.page()
    truth = [] if result.truth is None else [about_truth(result.truth)]
    compared = [] if result.truth is None else [truth_section(result.truth, result.tables["truth"])]
    return replace(
        page,
        sentences=[*page.sentences, *about_choice(result)],
        sure=[*page.sure, *seeds_told(result), *truth],
        terms=list(dict.fromkeys([*page.terms, *choice_terms(result), *truth_terms(result)])),
        next=[*page.next, *_corrections(result)] or ["Open assignments.csv: it has what was found for every row."],
        thumbnail=page.thumbnail or thumbnail_of(result),
        file=Path(result.reading.path).name,
        sections=[*page.sections, *choice_sections(result), *compared, *reading_sections(result.reading)],
        warnings=[*unclear(result), *page.warnings, *map(_with_advice, result.heard), *about_left_out(result.reading)],
        notes=about_columns(result.reading),
    )


def _corrections(result: Result) -> list[Sentence]:
    """Say that check.csv can come back, where it has a column to fill in."""
    column = _to_fill_in(result)
    if column is None:
        return []
    seen: list[Sentence] = [
        "See, hear and correct rows in a browser: sidelight studio open, and the folder of this page."
    ]
    return [
        *(seen if is_for_studio(result) else []),
        [
            f"Fill in the column {heading(column)!r} of check.csv where you know better, and run again with ",
            Setting("corrections", "check.csv"),
            ".",
        ],
    ]


def is_for_studio(result: Result) -> bool:
    """Say whether the studio opens a result and the job learns from what people say there."""
    return _to_fill_in(result) is not None and "cluster" in result.assignments


def _to_fill_in(result: Result) -> str | None:
    check = result.tables.get("check", {})
    return next((name for name in _TO_FILL_IN if check.get(name) and not any(check[name])), None)


def _with_advice(text: str) -> Sentence:
    """Return a warning with what to do about it."""
    what = text[:1].upper() + text[1:]
    do = text.do if isinstance(text, Note) else ()
    return [f"{what} ", *([do] if isinstance(do, str) else do)] if do else what


__all__ = ["is_for_studio", "page_of"]
