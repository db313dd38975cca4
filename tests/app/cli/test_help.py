"""The help of every command, word for word: what it says changes on purpose only.

``python tests/app/cli/test_help.py`` writes the texts anew.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import click
import pytest

from sidelight.app.cli.app import app
from sidelight.app.cli.options import WHOLE, Grouped
from sidelight.app.jobs.catalogue import JOBS

FOLDER = Path(__file__).parent / "help"


@cache
def every_help():
    """Return the help of every command and of the commands inside commands, by the words that are typed."""
    context = click.Context(app, info_name="sidelight", terminal_width=100, color=False)
    texts = {"sidelight": app.get_help(context)}
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        inner = click.Context(command, info_name=name, parent=context, terminal_width=100, color=False)
        texts[name] = command.get_help(inner)
        if isinstance(command, Grouped):
            inner.meta[WHOLE] = True
            texts[f"{name} all"] = command.get_help(inner)
            inner.meta[WHOLE] = False
        for part, sub in getattr(command, "commands", {}).items():
            own = click.Context(sub, info_name=part, parent=inner, terminal_width=100, color=False)
            texts[f"{name} {part}"] = sub.get_help(own)
    return {name.replace(" ", "-"): text.rstrip() + "\n" for name, text in texts.items()}


@pytest.mark.parametrize("name", sorted(every_help()))
def test_the_help_says_what_it_said(name):
    assert every_help()[name] == (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def test_no_help_is_left_of_a_command_that_went():
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(every_help())


@pytest.mark.parametrize("job", JOBS)
def test_the_help_of_a_job_lists_twenty_options_and_the_whole_help_the_others(job):
    command = app.get_command(click.Context(app), job)
    shown, whole = every_help()[job], every_help()[f"{job}-all"]
    assert 10 < shown.count("\n  -") <= 20
    params = [param for param in command.get_params(click.Context(command)) if isinstance(param, click.Option)]
    assert whole.count("\n  -") == len(params)
    assert all(f"{option}" in whole for param in params for option in param.opts)


def test_help_all_is_typed_and_short_help_says_so(sidelight):
    code, out, _ = sidelight("instances", "--help-all")
    assert code == 0
    assert "Only of spectral:" in out
    code, out, _ = sidelight("instances", "--help")
    assert "--help-all" in out
    assert "--alpha" not in out


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name, text in every_help().items():
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
