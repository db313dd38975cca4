"""Sphinx configuration; the command reference is written from the commands' own help before each build."""

from __future__ import annotations

from pathlib import Path

import click

import sidelight
from sidelight.cli.app import app
from sidelight.cli.wording import flag_of, with_flags
from sidelight.jobs.options import JOBS, Roles, fields_of

project = "Sidelight"
author = "The Sidelight developers"
copyright = "2026, the Sidelight developers"
release = version = sidelight.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "Sidelight"
suppress_warnings = ["myst.xref_missing"]  # guides link to files of the repository, which are not pages
default_role = "code"


def write_command_pages() -> None:
    """Write docs/reference/generated/commands.md from ``--help``, so that it cannot go stale."""
    folder = Path(__file__).parent / "reference" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    context = click.Context(app, info_name="sidelight")
    lines = ["# Commands", "", "```text", app.get_help(context), "```", ""]
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        help_text = command.get_help(click.Context(command, info_name=name, parent=context))
        lines += [f"## sidelight {name}", "", "```text", help_text, "```", ""]
    (folder / "commands.md").write_text("\n".join(lines), encoding="utf-8")


def write_option_tables() -> None:
    """Write docs/reference/generated/options.md from the typed models that run.toml and commands are made of."""
    models = [("Columns and file, in every job: `[roles]`", Roles)]
    for name, job in JOBS.items():
        models += [
            (f"`{name}`{f', method `{method}`' if method else ''}: `[options]`", m) for method, m in job.methods.items()
        ]
    lines = ["# Options", "", "What a `run.toml` may say, and the option that says the same on the command line.", ""]
    for title, model in models:
        lines += [f"## {title}", "", "| key | option | takes | default | |", "|---|---|---|---|---|"]
        for field in fields_of(model):
            default = (
                "required" if field.is_required else "" if field.default in (None, [], {}) else repr(field.default)
            )
            cells = (f"`{field.name}`", f"`{flag_of(field)}`", field.expected, default, with_flags(field.text))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    (Path(__file__).parent / "reference" / "generated" / "options.md").write_text("\n".join(lines), encoding="utf-8")


write_command_pages()
write_option_tables()
