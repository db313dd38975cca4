"""The page about rows that are named by lists and, where no list names them, by their structure."""

from __future__ import annotations

from sidelight.app.jobs.instances.pages import TERMS as GLOSSARY
from sidelight.app.jobs.instances.pages import coverage
from sidelight.app.jobs.instances.result import NovelResult
from sidelight.app.jobs.pages.common import choice_section
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, counted


def page(result: NovelResult) -> Page:
    """Say what the labels hold, which of them are novel or noise, and what the bags changed."""
    return Page(
        "Known and novel labels of rows",
        coverage.findings(result),
        [*coverage.sections(result), *_choice(result)],
        sure=[*coverage.how_sure(result), *_chosen(result)],
        next=coverage.what_next(result),
        warnings=[*_noise(result), *coverage.warnings(result)],
        glossary=GLOSSARY,
        terms=coverage.terms(result, *(["held out", "standard error"] if result.choice else [])),
    )


def _noise(result: NovelResult) -> list[Sentence]:
    if not result.noise:
        return []
    few = counted(len(result.noise), "novel label has", "novel labels have")
    return [
        f"{few} too few rows to be believed and may be noise: {', '.join(result.noise)}. Look at its rows before you "
        "name it."
    ]


def _chosen(result: NovelResult) -> list[Sentence]:
    return [
        f"{counted(choice['chosen'], 'novel label')} were allowed: with that number the known labels of held-out bags "
        "are told best."
        for choice in result.choice.values()
    ]


def _choice(result: NovelResult) -> list[Section]:
    shown: list[Section] = []
    for name, choice in result.choice.items():
        shown += choice_section(
            f"How {name} was chosen",
            "The smallest number within one standard error (the band) of the best is taken.",
            choice,
            "Share of the known labels of held-out bags that is told rightly.",
            x_title="novel labels allowed",
            y_title="labels told rightly",
            is_share=True,
        )
    return shown
