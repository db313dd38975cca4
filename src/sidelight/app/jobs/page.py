"""What every page has: what was read and left out, how a number was chosen, how the truth compares; and the sections
that several jobs show.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.app.jobs.checking import Truth
from sidelight.app.jobs.how_many import ASKED
from sidelight.app.jobs.output import heading
from sidelight.app.jobs.result import Blocks, Columns, Curve, Map, Reading, Result
from sidelight.app.report.components import Markup, blocks, gallery, lines, number, percent, picture, row_map, table
from sidelight.app.report.components.tables import MOST
from sidelight.app.report.page import Page, Section
from sidelight.data.dataset import TOLD, ColumnRole
from sidelight.data.dataset import Note as DataNote
from sidelight.estimators._how_many import NumberOfClusters
from sidelight.words import Note, Sentence, Setting, counted, in_words, present, some_of

MAP_OF_CLUSTERS = "Clusters that are alike lie near each other; a row between two clusters resembles both."
STANDS_OUT = "Sizes, and the features that each cluster stands out by, in standard deviations."
_DIP = 0.02  # share of the range of a curve that a fall must have to be worth a word
_MOST_NAMED = 6  # unused columns that a sentence names; the page has them all
_TO_FILL_IN = ("right label", "answer", "right")  # columns of check.csv for instances, relations and hierarchy
_ROLES = {"show": "column to show"}
_FIELDS = {"event": "events"}  # what a role is called where several columns have it


def page_of(result: Result) -> Page:
    """Turn a result into its page."""
    page, truth, choices = result.page(), result.truth, result.n_clusters_choice
    of_all = [] if result.in_parts is None else result.in_parts.told()
    return replace(
        page,
        sentences=[*page.sentences, *about_choice(choices)],
        sure=[*page.sure, *of_all, *_seeds_told(choices), *([] if truth is None else [about_truth(truth)])],
        terms=list(
            dict.fromkeys(
                [
                    *page.terms,
                    *(["standard error", "rand index, adjusted"] if choices else []),
                    *([] if truth is None else ["rand index, adjusted", "normalised mutual information"]),
                ]
            )
        ),
        next=[*page.next, *_corrections(result)] or ["Open assignments.csv: it has what was found for every row."],
        thumbnail=page.thumbnail or _thumbnail_of(result),
        file=Path(result.reading.path).name,
        sections=[
            *page.sections,
            *_choice_sections(choices),
            *([] if truth is None else [_truth_section(truth, result.tables["truth"])]),
            *reading_sections(result.reading),
        ],
        warnings=[
            *about_lost(result.reading),
            *_unclear(choices),
            *page.warnings,
            *map(_with_advice, result.heard),
            *about_left_out(result.reading),
        ],
        notes=about_columns(result.reading),
    )


def _corrections(result: Result) -> list[Sentence]:
    """Say that check.csv can come back, where it has a column to fill in."""
    column = _to_fill_in(result)
    return [] if column is None else present(
        "See, hear and correct rows in a browser: sidelight studio open, and the folder of this page."
        if is_for_studio(result)
        else None,
        [
            f"Fill in the column {heading(column)!r} of check.csv where you know better, and run again with ",
            Setting("corrections", "check.csv"),
            ".",
        ],
    )  # fmt: skip


def is_for_studio(result: Result) -> bool:
    """Say whether the studio opens a result and the job learns from what people say there."""
    return _to_fill_in(result) is not None and "cluster" in result.assignments


def _to_fill_in(result: Result) -> str | None:
    check = result.tables.get("check", {})
    return next((name for name in _TO_FILL_IN if check.get(name) and not any(check[name])), None)


def _with_advice(text: str) -> Sentence:
    """Return a warning with what to do about it."""
    what = text if "." in text.partition(" ")[0] else text[:1].upper() + text[1:]  # a name of a file gets no capital
    do = text.do if isinstance(text, Note) else ()
    what = what if what.endswith((".", "!", "?")) else f"{what}."
    return [f"{what} ", *([do] if isinstance(do, str) else do)] if do else what


def _thumbnail_of(result: Result) -> Markup | None:
    """Return the map of a result as a small picture, where it has one."""
    shown = getattr(result, "map", None)
    if shown is None:
        return None
    alt = f"A map of {len(shown.labels)} dots in {len(shown.names)} clusters."
    return picture(shown.coordinates, shown.labels, alt=alt)


# What was read.


def about_left_out(reading: Reading) -> list[Sentence]:
    """Say which rows were left out and why."""
    return [f"{rows}: left out." for rows in reading.left_out]


def about_lost(reading: Reading) -> list[Sentence]:
    """Say what was lost on the way from the files, and what was taken for the same."""
    return [_with_advice(note) for note in reading.notes if isinstance(note, DataNote) and note.code == TOLD]


def about_columns(reading: Reading) -> list[Sentence]:
    """Say which columns were not used and why, what was guessed, and how to say otherwise."""
    aside = [role for role in reading.unused if role.is_guess or role.role != "ignored"]  # what was said needs no word
    named = [f"{role.name!r} ({_why_unused(role)})" for role in aside]
    many = counted(len(named), "column was", "columns were")
    unused = f"{many} not used: {some_of(named, _MOST_NAMED)}." if named else None
    guessed: dict[str, list[str]] = {}
    for role in reading.guessed:
        guessed.setdefault(role.role, []).append(repr(role.name))
    if not guessed:
        return present(unused)
    told = in_words([f"the {_ROLES.get(role, role)} is {some_of(columns, 3)}" for role, columns in guessed.items()])
    settings: list[str | Setting] = []
    for name in guessed:
        settings += [Setting(_FIELDS.get(name, name.replace(" ", "_"))), ", "]
    return present(unused, [f"Guessed: {told}. Say otherwise with ", *settings[:-1], "."])


def reading_sections(reading: Reading) -> list[Section]:
    """List every column that was not used, and the rows that were left out, when there are any."""
    unused = {
        "column": [role.name for role in reading.unused],
        "why": [_why_unused(role) for role in reading.unused],
    }
    tables = present(
        table(unused, "Columns of the table that were not used.") if reading.unused else None,
        *(
            table({"row": rows.names.tolist()}, f"Rows that were left out: {rows}.", most=20)
            for rows in reading.left_out
        ),
    )
    return [Section("What was not used", parts=tables)] if tables else []


def _why_unused(role: ColumnRole) -> str:
    return role.why if role.role == "ignored" else f"taken for the {role.role}, which this job does not use"


# A truth that no fit saw.


def about_truth(truth: Truth, *, used: str | None = None) -> str:
    """Say how well the clusters agree with the truth."""
    if used is None:
        used = ", whose lists the fit learned from" if truth.was_used else ", which were not used"
    named = "" if truth.same_names is None else f"; {percent(truth.same_names)} bear the right name"
    given = ""
    if truth.n_given:
        given = (
            f" The lists leave no choice for {percent(truth.n_given / truth.n_rows)} of them: their names say nothing."
        )
    return (
        f"Against the {truth.n_kinds} kinds in {truth.column!r}{used} ({counted(truth.n_rows, truth.what)}): "
        f"{percent(truth.accuracy)} in the right place, normalised mutual information {truth.information:.3f}, "
        f"adjusted Rand index {truth.agreement:.3f}{named}.{given}"
    )


def _truth_section(truth: Truth, crossed: Columns) -> Section:
    caption = f"How many {truth.what}s of each kind (columns) each cluster (lines) holds."
    return Section("Clusters and the truth", parts=[table(crossed, caption, file="truth.csv")])


# How many clusters.


def about_choice(choices: Sequence[NumberOfClusters]) -> list[Sentence]:
    """Say what was chosen, and why; nothing where the number was given."""
    if not choices:
        return []
    what = " x ".join(number(choice.chosen) for choice in choices)
    plural = "cluster was" if what == "1" else "clusters were"
    is_clear = all(choice.is_clear for choice in choices)
    is_told = is_clear or choices[0].by == "told"
    why = ASKED[choices[0].by].why if is_told else "taken for want of a clear number"
    if list(choices[0].tried) == [1]:
        why = "the data are too few to tell more apart, or all the same"
    return [[f"{what} {plural} chosen: {why}. Ask for another number with ", Setting("n_clusters"), "."]]


def _seeds_told(choices: Sequence[NumberOfClusters]) -> list[Sentence]:
    """Say whether other seeds find the same clusters."""
    return [
        f"Run again with two other seeds, the clusters agree with an adjusted Rand index of {choice.seeds_agree:.2f} "
        "(1: the same clusters, 0: chance)."
        for choice in choices
        if choice.seeds_agree is not None
    ]


def _unclear(choices: Sequence[NumberOfClusters]) -> list[Sentence]:
    """Warn where no number comes back well; counts that come in bursts are unclear however much they gain."""
    told: list[Sentence] = []
    for choice in choices:
        if choice.is_clear:
            continue
        asked, of = ASKED[choice.by], f" of {choice.of!r}" if choice.of else ""
        place = list(choice.tried).index(choice.chosen) if choice.chosen in choice.tried else None  # 1: nothing gained
        in_bursts = choice.by == "counts" and place is not None and choice.score > choice.errors[place]
        wanted = (
            "; more would tell more, as they do of counts that come in bursts"
            if in_bursts
            else f", and {asked.clear} would be clear"
        )
        told.append(
            [
                f"No number of clusters{of} comes back well: {counted(choice.chosen, 'cluster')} were taken, with "
                f"{asked.score} of {choice.score:.2f}{wanted}. Take the clusters "
                "as one way to cut the data among others, or say how many you want with ",
                Setting("n_clusters"),
                ".",
            ]
        )
    return told


def _choice_sections(choices: Sequence[NumberOfClusters]) -> list[Section]:
    """Show the curve behind each number, with the number in use marked."""
    sections: list[Section] = []
    for choice in choices:
        asked = ASKED[choice.by]
        sections += choice_section(
            "How many clusters" + (f" of {choice.of}" if choice.of else ""),
            asked.how,
            asdict(choice),
            f"{asked.axis[:1].upper()}{asked.axis[1:]} by number of clusters; the number in use is marked.",
            x_title="clusters",
            y_title=asked.axis,
            is_share=asked.is_share,
        )
    return sections


# Sections that several jobs show.


def table_of(result: Result, name: str, caption: str, *, percents: Collection[str] = (), most: int = MOST) -> Markup:
    """Show one of the tables of a result, with a link to its file."""
    return table(result.tables[name], caption, percents=percents, most=most, file=f"{name}.csv")


def clusters_section(result: Result, caption: str) -> Section:
    """Return the table of clusters."""
    return Section("The clusters", parts=[table_of(result, "clusters", caption, percents=("share",))])


def map_section(shown: Map, about: str, *, what: str = "row", bag_word: str = "bag", **more: Any) -> Section:
    """Return the map of rows or bags."""
    sizes = np.bincount(shown.labels[shown.labels >= 0], minlength=len(shown.names))
    largest = shown.names[int(np.argmax(sizes))] if sizes.size else ""
    alt = (
        f"A map of {counted(len(shown.labels), what)} in {counted(int(np.count_nonzero(sizes)), 'cluster')}; "
        f"the largest is {largest} with {number(int(sizes.max(initial=0)))}."
    )
    drawn = row_map(
        shown.coordinates, shown.labels, shown.names, shown.ids,
        f"Each dot is a {what}, coloured by its cluster. Hover over it or tap it for its name.",
        alt=alt, bags=shown.bags, sure=shown.sure, what=what, bag_word=bag_word, **more,
    )  # fmt: skip
    return Section(f"The {what}s on a map", [about], [drawn])


def gallery_sections(
    result: Result,
    title: str = "What the clusters look like",
    told: str = "The surest members of each cluster, and those that could as well be elsewhere.",
) -> list[Section]:
    """Return the rows to look at, where there are some."""
    shown = result.gallery
    if shown is None or not shown.groups:
        return []
    return [Section(title, [told], [gallery(shown.groups, notes=shown.notes, what=shown.what)])]


def blocks_figure(shown: Blocks, caption: str, *, kept: float | None = None) -> Markup:
    """Draw a table beside its approximation."""
    share = "" if kept is None else f" The clusters keep {percent(kept)} of its information."
    return blocks(
        shown.P, shown.Q, list(shown.row_breaks), list(shown.column_breaks), caption,
        alt=f"{len(shown.row_breaks) + 1} by {len(shown.column_breaks) + 1} blocks.{share}",
        titles=("as counted", "from the clusters alone"), axes=(shown.axes_names[0], shown.axes_names[1]),
    )  # fmt: skip


def curve_section(curve: Curve, in_use: int | None, caption: str) -> Section:
    """Show the information that numbers of clusters keep, with the number in use marked."""
    series = {"this table": list(curve.shares)}
    told: list[Sentence] = ["Where the curve bends, more clusters remember little more."]
    if curve.floor is not None:
        series["a table of this size with nothing to find"] = list(curve.floor)
        told.append("The dashed curve is what chance would seem to keep: only what lies above it counts.")
    x = [int(k) for k in curve.n_clusters]
    where = f"{percent(curve.shares[x.index(in_use)])} at {in_use}, in use" if in_use in x else "none of them in use"
    drawn = lines(
        x, series, caption, alt=f"From {percent(min(curve.shares))} to {percent(max(curve.shares))}; {where}.",
        x_title="clusters", y_title="information kept", marked=in_use, is_share=True,
    )  # fmt: skip
    return Section("What other numbers of clusters keep", [*told, *_dip(x, curve.shares)], [drawn])


def choice_section(
    title: str,
    told: Sentence,
    choice: Mapping[str, Any],
    caption: str,
    *,
    x_title: str,
    y_title: str,
    is_share: bool = False,
) -> list[Section]:
    """Return the curve behind a number that was chosen; nothing where the curve is flat or a single point."""
    tried, scores = list(choice["tried"]), list(choice["scores"])
    if is_flat(scores):
        return []
    errors = choice.get("errors")
    best = tried[int(np.nanargmax(scores))]
    alt = f"{y_title} is best at {number(best)}; {number(choice['chosen'])} is in use."
    figure = lines(
        tried, {y_title: scores}, caption, alt=alt, x_title=x_title, y_title=y_title, errors=errors,
        marked=choice["chosen"], is_share=is_share, is_even=is_spread(tried),
    )  # fmt: skip
    return [Section(title, [told, *_dip(tried, scores, has_errors=errors is not None)], [figure])]


def is_flat(values: Sequence[float]) -> bool:
    """Say whether a curve would say nothing."""
    finite = [float(v) for v in values if math.isfinite(v)]
    return len(finite) < 2 or max(finite) - min(finite) <= 1e-9 * max(1.0, abs(max(finite)))


def is_spread(tried: Sequence[float]) -> bool:
    """Say whether numbers grow by factors, so that small ones would lie on each other on an even axis."""
    positive = [float(v) for v in tried if v > 0]
    return len(positive) > 2 and max(positive) / min(positive) > 50


def _dip(tried: Sequence[float], values: Sequence[float], *, has_errors: bool = False) -> list[Sentence]:
    """Explain where a curve that should rise falls and rises again."""
    values = [float(v) for v in values]
    room = _DIP * (max(values) - min(values))
    dips = [
        i for i in range(1, len(values) - 1) if values[i] < values[i - 1] - room and values[i] < values[i + 1] - room
    ]
    if not dips:
        return []
    why = "within the band it is chance" if has_errors else "each number is searched anew, and a search can end early"
    return [f"The dip at {number(tried[dips[0]])} says little: {why}."]
