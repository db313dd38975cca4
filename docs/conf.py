"""Sphinx configuration; the command reference is written from the commands' own help before each build."""

from __future__ import annotations

from pathlib import Path

import click

import sidelight
from sidelight.cli.app import app

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


write_command_pages()
