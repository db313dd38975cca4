"""The page about a conversation with a person: clusters so far, how it went, and every question."""

from __future__ import annotations

from sidelight.app.jobs.ask.result import AskResult
from sidelight.app.jobs.pages.common import MAP_OF_CLUSTERS, clusters_section, gallery_sections, map_section
from sidelight.app.report.components import lines, percent, table
from sidelight.app.report.page import Page, Section
from sidelight.words import Sentence, counted, sizes_in_words

_DOUBT = 0.02  # share of wrong answers from which the page speaks of them


def page(result: AskResult) -> Page:
    """Say what the answers made of the rows, and whether more of them would help."""
    n_used = sum(1 for size in result.sizes if size)
    answered = counted(result.n_answers, "answer")
    return Page(
        "Clusters by the answers of a person",
        [
            f"After {answered} {counted(result.reading.n_rows, 'row')} lie in {counted(n_used, 'cluster')}"
            f"{sizes_in_words(result.sizes)}.",
            *_about_answers(result),
        ],
        [
            *_progress(result),
            *gallery_sections(result),
            map_section(result.map, MAP_OF_CLUSTERS),
            clusters_section(
                result, "Sizes, and the features that each cluster stands out by, in standard deviations."
            ),
            *_questions(result),
        ],
        sure=[f"{percent(result.share_sure)} of the rows have a probability above 90% for their cluster."],
        next=_next(result),
        terms=["cluster", "probability", "stands out by", "standard deviation", *_agreement_term(result)],
    )


def _about_answers(result: AskResult) -> list[Sentence]:
    told: list[Sentence] = []
    if result.n_unsure:
        told.append(f"{counted(result.n_unsure, 'question')} nobody could answer.")
    if result.n_broken:
        told.append(f"The clusters break {counted(result.n_broken, 'answer')}; they are marked in the list.")
    if result.eps > _DOUBT:
        told.append(f"About {percent(result.eps)} of the answers seem to be wrong, and were weighed accordingly.")
    return told


def _next(result: AskResult) -> list[Sentence]:
    told: list[Sentence] = [result.outlook]
    if result.n_broken:
        told.append("Look at the answers that the clusters break: they may be slips.")
    told.append("Give pairs.csv to sidelight relations to cluster further tables with these answers.")
    return told


def _agreement_term(result: AskResult) -> list[str]:
    return ["rand index, adjusted"] if result.progress.agreement else []


def _progress(result: AskResult) -> list[Section]:
    """Show how doubt fell, and how agreement with a truth rose, over the questions."""
    went = result.progress
    if len(went.at) < 2:
        return []
    doubt = lines(
        went.at,
        {"rows that are unsure": went.unsure},
        "The share of rows that have no cluster with a probability of at least 70%, after so many answers.",
        alt=f"Unsure rows went from {percent(went.unsure[0])} to {percent(went.unsure[-1])}.",
        x_title="answers",
        y_title="unsure rows",
        is_share=True,
    )
    parts = [doubt]
    if went.agreement:
        parts.append(
            lines(
                went.at,
                {"agreement with the truth": went.agreement},
                "Adjusted Rand index against a truth that the session never saw, after so many answers.",
                alt=f"The agreement went from {went.agreement[0]:.2f} to {went.agreement[-1]:.2f}.",
                x_title="answers",
                y_title="adjusted Rand index",
            )
        )
    return [Section("How it went", ["Every answer helps to place rows that nobody was asked about."], parts)]


def _questions(result: AskResult) -> list[Section]:
    if not result.n_answers:
        return []
    caption = "The questions in their order, the answers, the clusters that the rows are in now, and whether they fit."
    return [Section("The questions", parts=[table(result.tables["questions"], caption, file="questions.csv")])]
