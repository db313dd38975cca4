"""The page about rows that are named by lists and, where no list names them, by their structure."""

from __future__ import annotations

from dataclasses import replace

from sidelight.plot import CountChoiceDisplay
from sidelight.report.page import Page, Section
from sidelight.report.pages import coverage
from sidelight.results.jobs import NovelResult
from sidelight.words import Sentence, counted


def page(result: NovelResult) -> Page:
    """Say what the labels hold, which of them are novel or noise, and what the bags changed."""
    plain = replace(result, choice={})  # DMNL compares labels told rightly, not likelihoods
    return Page(
        "Known and novel labels of rows",
        [*coverage.sentences(plain), *_about_novelty(result)],
        [*coverage.sections(plain), *_choice(result)],
    )


def _about_novelty(result: NovelResult) -> list[Sentence]:
    first, last = result.objective
    told: list[Sentence] = [f"The objective (eq. 2 of the method) went from {first:.4g} to {last:.4g}."]
    if result.noise:
        few = counted(len(result.noise), "novel label has", "novel labels have")
        told.append(f"{few} too few rows to be believed and may be noise: {', '.join(result.noise)}.")
    told += [
        f"n_novel = {choice['chosen']} was chosen by how well the known labels of held-out bags are told."
        for choice in result.choice.values()
    ]
    return told


def _choice(result: NovelResult) -> list[Section]:
    return [
        Section(
            f"How {name} was chosen",
            ["The smallest number within one standard error (dashed) of the best is taken."],
            [(CountChoiceDisplay(name, **choice), "Share of the known labels of held-out bags that is told rightly.")],
        )
        for name, choice in result.choice.items()
    ]
