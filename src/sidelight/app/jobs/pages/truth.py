"""What every page says when the table holds a truth that no fit saw."""

from __future__ import annotations

from sidelight.app.jobs.result import Columns, Result
from sidelight.app.jobs.truth import Truth
from sidelight.app.report.components import percent, table
from sidelight.app.report.page import Section
from sidelight.words import counted


def about_truth(truth: Truth, *, used: str | None = None) -> str:
    """Say how well the clusters agree with the truth."""
    if used is None:
        used = ", whose lists the fit learned from" if truth.was_used else ", which were not used"
    named = "" if truth.same_names is None else f"; {percent(truth.same_names)} bear the right name"
    return (
        f"Against the {truth.n_kinds} kinds in {truth.column!r}{used} ({counted(truth.n_rows, truth.what)}): "
        f"{percent(truth.accuracy)} in the right place, normalised mutual information {truth.information:.3f}, "
        f"adjusted Rand index {truth.agreement:.3f}{named}."
    )


def truth_section(truth: Truth, crossed: Columns) -> Section:
    """Show the cross table."""
    caption = f"How many {truth.what}s of each kind (columns) each cluster (lines) holds."
    return Section("Clusters and the truth", parts=[table(crossed, caption, file="truth.csv")])


def truth_terms(result: Result) -> list[str]:
    """Return the words of the glossary that a comparison with the truth uses."""
    return [] if result.truth is None else ["rand index, adjusted", "normalised mutual information"]
