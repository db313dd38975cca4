"""``sidelight describe``: what is in a file, how it was understood, and what to run next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import click

from sidelight.app.cli.job import command_line
from sidelight.app.cli.options import Grouped, as_flag, role_options, roles_from, shown_options
from sidelight.app.cli.terminal import progress_bar
from sidelight.errors import UnknownName, nearest
from sidelight.files.source import split_part
from sidelight.words import Setting, render

OVERVIEW = {"describe": ("a file, and no idea what to do with it", "sidelight describe FILE")}
_SAY_SO = "--bag, --label, --truth, --id, --features, --ignore, --text"
_PAGE = 120  # letters of a line
_WIDEST = 72  # letters of a column of the table: first, second and last name of many features


@click.command("describe", cls=Grouped, short_help="Say what is in a file and which commands fit it.")
@click.argument("file", type=click.Path())
@role_options
@click.option("--why", metavar="COLUMN", help="Show the rules that spoke about a column, with their points.")
@shown_options
def describe_command(file: str, as_json: bool, quiet: bool, why: str | None, **typed: Any) -> None:
    """Say what is inside FILE, what each column was taken for and why, and which commands fit it.

    FILE may be CSV or any delimited text (also gzipped), Parquet, a workbook, SQLite, JSON, NPZ, MATLAB 5, ARFF, KEEL,
    C4.5, svmlight, IDX, or a folder of recordings, pictures or texts. Options override every guess.
    """
    from sidelight.app.jobs.first_look import check_columns, check_there
    from sidelight.files.source import Source

    roles = roles_from(typed)
    check_there(file)
    source = Source(file)
    check_columns(source, roles)
    file = source.given  # without the password of a database's address
    from sidelight.app.jobs.describe import describe

    with progress_bar(quiet):
        found = describe(source, roles)
    if why is not None:
        click.echo("\n".join(_spoken(found.evidence, why, file)))
        return
    lines = [
        (fit.why, command_line(fit.job, fit.table or file, fit.roles, n_clusters=fit.n_clusters)) for fit in found.fits
    ]
    fitting = [(why, line) for why, line in lines if line is not None] + [
        (why, render(line, as_flag)) for why, line in found.next
    ]
    asked = [(doubt["question"], _answers(file, typed, doubt["readings"])) for doubt in found.doubts]
    if as_json:
        content = found.as_dict()
        content["questions"] = [
            {"question": question, "answers": [{"words": words, "command": line} for words, line in answers]}
            for question, answers in asked
        ]
        del content["doubts"], content["evidence"]
        content["commands"] = [{"why": why, "command": line} for why, line in fitting]
        del content["fits"], content["next"]
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    if not quiet:
        click.echo("\n".join(_page(found.as_dict(), fitting, asked)))


def _spoken(evidence: Mapping[str, Sequence[str]], column: str, file: str) -> list[str]:
    """Return what the rules said about a column, the role that was taken last."""
    if column not in evidence:
        raise UnknownName(f"{file} has no column {column!r}. {nearest(column, list(evidence))}")
    return [click.style(f"{column!r} in {file}", bold=True), *(f"  {line}" for line in evidence[column])]


def _answers(file: str, typed: Mapping[str, Any], readings: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Return the ways to read a file, each with the command that says so."""
    said = {name: value for name, value in roles_from(typed).settings().items() if value not in (False, "error")}
    lines = []
    for reading in readings:
        settings = {**said, **reading["settings"]}
        part = settings.pop("part", None)
        flags = "".join(" " + as_flag(Setting(name, value)) for name, value in settings.items())
        named = file if part is None else f"{split_part(file)[0]}::{part}"
        lines.append((reading["words"], f"sidelight describe {shlex.quote(named)}{flags}"))
    return lines


def _page(found: Mapping[str, Any], commands: Sequence[tuple[str, str]], asked: Sequence[Any]) -> list[str]:
    lines = [click.style(f"{found['path']}: {found['format']}", bold=True)]
    facts = [f"{name} {_shown(value)}" for name, value in found["facts"].items() if value not in (0, "")]
    lines += fill("; ".join(facts), _PAGE, initial_indent="  ", subsequent_indent="  ", break_long_words=False).split(
        "\n"
    )
    if found["roles"]:
        lines += [click.style("How it was understood", bold=True) + f" (wrong? say so: {_SAY_SO})"]
        lines += _table(_understood(found["roles"]))
    if found["warnings"]:
        lines += ["", click.style("Worth a look", bold=True)]
        lines += [f"  - {_advised(warning)}" for warning in found["warnings"]]
    lines += ["", click.style("Commands that fit", bold=True)]
    for why, line in commands:
        lines += [f"  # {why}", f"  {line}"]
    if not commands:
        lines.append("  None: no features and no counts were found.")
    for question, answers in asked:
        lines += ["", click.style(f"I am not sure about: {question}", bold=True)]
        for words, line in answers:
            lines += [f"  # {words}", f"  {line}"]
    if asked:
        lines += ["", "Say it to a run in the same way; --yes takes the first reading of each."]
    return lines


def _advised(warning: str) -> str:
    """Return a warning with what to do about it, as it would be typed."""
    do = getattr(warning, "do", ())
    return f"{warning.rstrip('.')}. {render(do, as_flag)}" if do else warning


def _understood(roles: Sequence[Mapping[str, str]]) -> list[tuple[str, ...]]:
    """List roles in order of interest, with neighbours of the same role and reason on one line."""
    order = (
        "id",
        "bag",
        "sequence",
        "label",
        "bag label",
        "candidates",
        "truth",
        "event",
        "weight",
        "show",
        "feature",
        "ignored",
    )
    groups: list[tuple[str, str, list[str]]] = []
    for role in sorted(roles, key=lambda r: order.index(r["role"]) if r["role"] in order else len(order)):
        if groups and groups[-1][:2] == (role["role"], role["why"]):
            groups[-1][2].append(role["name"])
        else:
            groups.append((role["role"], role["why"], [role["name"]]))
    rows: list[tuple[str, ...]] = []
    for role_name, why, names in groups[:40]:
        if len(names) <= 3:
            rows.append((role_name, ", ".join(names), why))
        else:
            rows.append((role_name, f"{names[0]}, {names[1]} ... {names[-1]} ({len(names)})", why))
    if len(groups) > 40:
        rows.append(("...", f"{len(groups) - 40} more", ""))
    return rows


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    widths = [min(width, _WIDEST) for width in widths]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_shown(count)}" for name, count in value.items())
    if isinstance(value, float) and value == int(value):
        value = int(value)
    return f"{value:,}" if isinstance(value, int) else str(value)
