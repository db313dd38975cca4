"""How many clusters, where the number was left open: what was chosen, how it was chosen, and whether it comes back."""

from __future__ import annotations

from dataclasses import asdict

from sidelight.app.jobs.how_many.stability import Stability
from sidelight.app.jobs.pages.common import choice_section
from sidelight.app.jobs.result import Result
from sidelight.app.report.components.numbers import number
from sidelight.app.report.page import Section
from sidelight.words import Sentence, Setting, counted

# For each way of choosing: what it says about the number chosen, how, the axis of the curve, and what would be clear.
_WORDS = {
    "rows": (
        "the number at which the graph of the rows falls apart most clearly",
        "Rows are joined to those nearest to them. Where K groups hardly touch, the graph has K large eigenvalues and "
        "then a gap, given here relative to what the next is short of 1. Of the numbers whose clusters come back from "
        "parts of the rows (adjusted Rand index of 0.9 or more) the largest is taken whose gap is nearly the largest; "
        "where none comes back, the fewest. The band is the scatter over parts of the rows.",
        "relative gap of eigenvalues",
        "0.15 or more, with clusters that come back from parts of the rows,",
    ),
    "words": (
        "the largest number that two halves of the evidence agree on",
        "The code books are dealt into halves, and each half clusters the bags. The largest number is taken that "
        "falls short of the best by no more than the standard error of the difference. "
        "The band is the standard error over random halves.",
        "agreement (adjusted Rand index)",
        "0.8",
    ),
    "sequences": (
        "as many groups of sequences find each other more than by chance",
        "Every row looks for the nearest other sequence. Groups of sequences that find each other show in the "
        "eigenvalues of these links, one for each group; those are counted that are larger than with links to "
        "sequences by chance, in 50 draws. The band is the scatter of chance.",
        "eigenvalue above chance",
        "more than 0",
    ),
    "channels": (
        "of the numbers that the channels agree on, the one at which their graphs fall apart most clearly",
        "Every channel is clustered alone with every number of clusters, and the clusters of every two channels are "
        "compared (adjusted mutual information; 1: the same clusters, 0: chance). Of the numbers with at least 0.8 of "
        "the best agreement the one is taken below which the eigenvalues of all graphs of near rows together fall "
        "most, relative to what the next is short of 1. The band is the standard error over pairs of channels.",
        "agreement of channels (adjusted mutual information)",
        "a relative gap of eigenvalues of 0.3 or more",
    ),
    "counts": (
        "the smallest number with which some of the counts tell most about the others",
        "The counts are dealt into five parts, and clusters of four are judged by the fifth: the bits that they tell "
        "beyond chance. The smallest number is taken that falls short of the best by no more than the standard error "
        "of the difference. The band is the standard error over the parts.",
        "bits told about held-out counts",
        "more than its standard error",
    ),
    "answers": (
        "the smallest number that explains answers which were held out",
        "The answers are dealt into three parts, and clusters by two of them are judged by the third: the mean log "
        "likelihood of its answers. The smallest number within one standard error of the best is taken; too few "
        "clusters cannot keep the answers, further ones gain nothing. The band is the standard error over answers.",
        "log likelihood of held-out answers",
        "more than its standard error",
    ),
    "proof": (
        "answers prove as many groups of rows that all differ, more than the rows alone suggest",
        "Rows that answers join are a group. As many groups were found that answers tell apart from each other.",
        "groups",
        "one or more",
    ),
}


def about_choice(result: Result) -> list[Sentence]:
    """Say what was chosen, and why; nothing where the number was given."""
    choices: tuple[Stability, ...] = result.n_clusters_choice
    if not choices:
        return []
    what = " x ".join(number(choice.chosen) for choice in choices)
    plural = "cluster was" if what == "1" else "clusters were"
    is_clear = all(choice.is_clear for choice in choices)
    why = _WORDS[choices[0].by][0] if is_clear else "taken for want of a clear number"
    if list(choices[0].tried) == [1]:
        why = "the data are too few to tell more apart, or all the same"
    said: Sentence = [f"{what} {plural} chosen: {why}. Ask for another number with "]
    return [[*said, Setting("n_clusters"), "."]]


def seeds_told(result: Result) -> list[Sentence]:
    """Say whether other seeds find the same clusters."""
    return [
        f"Run again with two other seeds, the clusters agree with an adjusted Rand index of {choice.seeds_agree:.2f} "
        "(1: the same clusters, 0: chance)."
        for choice in result.n_clusters_choice
        if choice.seeds_agree is not None
    ]


def unclear(result: Result) -> list[Sentence]:
    """Warn where no number comes back well."""
    told: list[Sentence] = []
    for choice in result.n_clusters_choice:
        if choice.is_clear:
            continue
        of = f" of {choice.of!r}" if choice.of else ""
        told.append(
            [
                f"No number of clusters{of} comes back well: {counted(choice.chosen, 'cluster')} were taken, with "
                f"{_named(choice)} of {choice.score:.2f}{_wanted(choice)}. Take the clusters "
                "as one way to cut the data among others, or say how many you want with ",
                Setting("n_clusters"),
                ".",
            ]
        )
    return told


def _wanted(choice: Stability) -> str:
    """Say what a clear number would have; a gain of counts that come in bursts is unclear however large it is."""
    if choice.by == "counts" and choice.score > choice.errors[list(choice.tried).index(choice.chosen)]:
        return "; more would tell more, as they do of counts that come in bursts"
    return f", and {_WORDS[choice.by][3]} would be clear"


def choice_sections(result: Result) -> list[Section]:
    """Show the curve behind each number, with the number in use marked."""
    sections: list[Section] = []
    for choice in result.n_clusters_choice:
        _, told, y_title, _ = _WORDS[choice.by]
        sections += choice_section(
            "How many clusters" + (f" of {choice.of}" if choice.of else ""),
            told,
            asdict(choice),
            f"{y_title[:1].upper()}{y_title[1:]} by number of clusters; the number in use is marked.",
            x_title="clusters",
            y_title=y_title,
            is_share=choice.by in ("words", "channels"),
        )
    return sections


def choice_terms(result: Result) -> list[str]:
    """Return the words that need an explanation."""
    return ["standard error", "rand index, adjusted"] if result.n_clusters_choice else []


def _named(choice: Stability) -> str:
    names = {
        "rows": "a relative gap",
        "words": "an agreement",
        "sequences": "an eigenvalue above chance",
        "channels": "an agreement",
        "counts": "a gain",
        "answers": "a log likelihood",
        "proof": "a number of groups",
    }
    return names[choice.by]
