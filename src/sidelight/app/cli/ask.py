"""``sidelight ask``: two rows side by side, one key an answer."""

from __future__ import annotations

import shlex
import sys
from typing import Any

import click

from sidelight.app.cli.options import (
    Grouped,
    as_flag,
    role_options,
    roles_from,
    seed_option,
    shown_options,
    table_argument,
)
from sidelight.app.cli.terminal import show_json
from sidelight.words import counted

OVERVIEW = {
    "ask": (
        "a table of rows, and a person who can tell which of them belong together",
        "sidelight ask TABLE --out answers",
    )
}
INTERRUPTED = 130  # exit code, as of every command
SEVERAL = 5  # columns that are named, of those that are not shown
BY_PILES = """\
Where does each row go? The number of a pile, n for a new pile (n2, n3 for further ones), a name for one called so,
a to leave the row aside, Enter for the pile marked >, b to go back, q to stop."""
KEYS = {"s": "same", "d": "different", "u": "unsure"}


@click.command("ask", cls=Grouped, short_help="Ask a person about pairs of rows, and cluster by the answers.")
@table_argument
@click.option("-k", "--clusters", "n_clusters", type=click.IntRange(min=2), help="Number of clusters, if it is known.")
@click.option(
    "--questions",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Questions, or screens of rows, of this sitting.",
)
@click.option(
    "--by",
    type=click.Choice(["pairs", "piles"]),
    default="pairs",
    show_default=True,
    help="Compare two rows, or sort ten rows onto piles.",
)
@click.option(
    "--out", type=click.Path(), required=True, help="Folder of the answers; given again, the session goes on."
)
@role_options
@seed_option
@shown_options
def ask_command(
    table: str,
    n_clusters: int | None,
    questions: int,
    by: str,
    out: str,
    seed: int,
    as_json: bool,
    quiet: bool,
    **typed: Any,
) -> None:
    """Ask about pairs of rows of TABLE, chosen so that each answer teaches most, and cluster all rows by the answers.

    With --by piles ten rows are shown at a time, to be sorted onto piles: better where there are many kinds. Else the
    keys are: s same, d different, u unsure, b back (take the last answer back), q stop. Every answer is on the disk
    before the next question comes. Writes answers.jsonl, session.toml, assignments.csv, clusters.csv, pairs.csv,
    questions.csv and report.html into the folder.
    """
    from pathlib import Path

    from sidelight.app.jobs.first_look import check_columns, check_there
    from sidelight.app.jobs.output import check_sitting
    from sidelight.files.source import Source

    roles = roles_from(typed)
    check_sitting(Path(out))
    check_there(table)
    check_columns(Source(table), roles)
    from sidelight.app.jobs.ask.work import Sitting

    sitting = Sitting(table, roles, out, n_clusters=n_clusters, seed=seed)
    if sitting.n_before:
        there = counted(sitting.n_before, "answer is", "answers are")
        click.echo(f"{there} there already; the session goes on.")
    if texts := sitting.texts_not_shown:
        click.echo(
            f"Not shown: {', '.join(texts[:SEVERAL])}{', ...' * (len(texts) > SEVERAL)}. --show {texts[0]} shows it."
        )
    try:
        _sort(sitting, questions) if by == "piles" else _converse(sitting, questions)
    except KeyboardInterrupt:
        click.echo(
            f"\nsidelight: interrupted; every answer so far is in {out}, and the same command goes on.", err=True
        )
        raise click.exceptions.Exit(INTERRUPTED) from None
    by_piles = " --by piles" if by == "piles" else ""
    files = sitting.finish(
        spell=as_flag, command=f"sidelight ask {shlex.quote(table)} --out {shlex.quote(out)}{by_piles}"
    )
    labels = sitting.session.labels_
    if as_json:
        show_json({"out": out, "files": files, "n_answers": sitting.session.n_answers, "labels": labels.tolist()})
    if as_json or quiet:
        return
    clusters, answers = counted(len(set(labels.tolist())), "cluster"), counted(sitting.session.n_answers, "answer")
    click.echo(f"{counted(len(labels), 'row')} in {clusters} after {answers}.")
    click.echo(sitting.session.outlook().sentence)
    click.echo(f"Wrote {', '.join(files)} to {out}")


def _converse(sitting: Any, questions: int) -> None:
    asked = 0
    while asked < questions:
        question = sitting.session.ask()
        if question is None:
            click.echo("There is nothing left to ask.")
            return
        _show(sitting.shown(question), sitting.session.n_answers + 1)
        key = _key()
        if key == "q":
            return
        if key != "b":
            sitting.tell(question, KEYS[key])
            asked += 1
        elif sitting.session.n_answers:
            sitting.session.undo()
            asked = max(asked - 1, 0)


def _sort(sitting: Any, screens: int) -> None:
    """Show screens of rows to sort; each is learnt when its last row has a place."""
    done = 0
    click.echo(BY_PILES)
    while done < screens:
        screen = sitting.session.ask_screen()
        if screen is None:
            click.echo("There is nothing left to sort.")
            return
        placements = _placements(sitting, screen)
        if placements is None:
            return
        if placements:
            sitting.session.tell_screen(screen, placements)
            done += 1
        elif sitting.session.n_answers:
            sitting.session.undo()
            done = max(done - 1, 0)


def _placements(sitting: Any, screen: Any) -> list[Any] | None:
    """Ask where every row of a screen goes; an empty list goes back before it, None stops."""
    lines = sitting.shown_rows(screen)
    names = {pile.number: pile.name for pile in screen.piles}
    n_begun = 1 + max(names, default=-1)
    click.echo(f"\nScreen {sitting.session.n_answers + 1}, {counted(len(lines), 'row')}.")
    placed: list[Any] = []
    while len(placed) < len(lines):
        likely = screen.likely[len(placed)][:1]
        click.echo("  " + ", ".join(f"{name} {value}" for name, value in lines[len(placed)].items()))
        piles = "  ".join(f"{'>' * (number in likely)}[{number + 1}] {name}" for number, name in names.items())
        click.echo(f"  {piles}  [n]ew  [a]side  [b]ack  [q]uit > ", nl=False)
        typed = sys.stdin.readline()
        click.echo()
        word = typed.strip()
        if not typed or word == "q":
            return None
        if word == "b":
            if not placed:
                return []
            placed.pop()
        elif word == "" and likely:
            placed.append(likely[0])
        elif word.isdecimal() and int(word) - 1 in names:
            placed.append(int(word) - 1)
        elif word == "n" or (word[0:1] == "n" and word[1:].isdecimal()):
            placed.append(n_begun + int(word[1:] or 1))
        elif word == "a":
            placed.append("aside")
        elif word and not word.isdecimal():
            placed.append(word)
        else:
            click.echo(f"  {word!r} is none of these.")
    return placed


def _show(lines: dict[str, list[str]], number: int) -> None:
    width = max(map(len, lines))
    columns = [max(len(pair[side]) for pair in lines.values()) for side in (0, 1)]
    click.echo(f"\nQuestion {number}: do these two belong together?")
    for name, (left, right) in lines.items():
        click.echo(f"  {name.ljust(width)}  {left.ljust(columns[0])}  {right.ljust(columns[1])}".rstrip())


def _key() -> str:
    """Read one key from a terminal, or one line from anything else; the end of the input stops."""
    while True:
        click.echo("  [s]ame  [d]ifferent  [u]nsure  [b]ack  [q]uit > ", nl=False)
        try:
            typed: str = click.getchar(echo=True) if sys.stdin.isatty() else sys.stdin.readline()
        except EOFError:  # Ctrl-D
            typed = ""
        click.echo()
        key = typed.strip().lower()[:1] if typed else "q"
        if key in (*KEYS, "b", "q"):
            return key
        click.echo(f"  {typed.strip()!r} is none of these.")
