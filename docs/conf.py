"""Sphinx configuration; the command reference is written from the commands' own help before each build."""

from __future__ import annotations

import inspect
import re
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path

import click

import sidelight
from sidelight.app.cli.app import app
from sidelight.app.cli.options import WHOLE, flag_of, with_flags
from sidelight.app.jobs.catalogue import JOBS
from sidelight.app.jobs.options import fields_of
from sidelight.app.jobs.roles import Roles
from sidelight.app.report.page import document

GENERATED = Path(__file__).parent / "reference" / "generated"
project = "Sidelight"
author = "The Sidelight developers"
copyright = "2026, the Sidelight developers"
release = version = sidelight.__version__
sys.path.insert(0, str(Path(__file__).parent))  # our own extension and examples lie here
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "mathml", "measured", "numpydoc"]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
exclude_patterns = ["_build", "decisions"]  # decisions are for those who change the code: CONTRIBUTING.md leads to them
html_static_path = ["_static", "images", "reference/generated/frames"]  # pictures, and a page of each component
html_extra_path = ["reference/generated/extra"]  # llms.txt, at the root of the site
html_css_files = ["cards.css"]
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
        inner = click.Context(command, info_name=name, parent=context)
        inner.meta[WHOLE] = True  # all options, as --help-all lists them
        help_text = command.get_help(inner)
        lines += [f"## sidelight {name}", "", "```text", help_text, "```", ""]
    (folder / "commands.md").write_text("\n".join(lines), encoding="utf-8")


def write_option_tables() -> None:
    """Write docs/reference/generated/options.md from the typed models that run.toml and commands are made of."""
    models = [("Columns and file, in every job: `[roles]`", Roles)]
    for name, job in JOBS.items():
        models += [
            (f"`{name}`{f', method `{method}`' if method else ''}: `[options]`", m) for method, m in job.models.items()
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


def write_component_pages() -> None:
    """Write one page for each component of a report: the example's code, and what it draws, in a frame."""
    from components import EXAMPLES

    folder = Path(__file__).parent / "reference" / "generated" / "components"
    frames = folder.parent / "frames"  # apart from the pages: Sphinx does not look for pages where it copies files from
    for place in (folder, frames):
        place.mkdir(parents=True, exist_ok=True)
    head = "What reports are built of, each on made-up numbers. They are plain functions that return markup."
    lines = ["# Components of a page", "", head, "", "```{toctree}", ":maxdepth: 1", ""]
    for name, make in EXAMPLES.items():
        about = inspect.getdoc(make) or ""
        drawn = document(name, make())
        (frames / f"component-{name}.html").write_text(drawn, encoding="utf-8")
        frame = f'<iframe class="sl-component" title="{name}" src="../../../_static/component-{name}.html"></iframe>'
        text = [f"# {about.split(':')[0]}", "", about, "", "```{raw} html", frame, "```", ""]
        text += ["```python", inspect.getsource(make).rstrip(), "```", ""]
        (folder / f"{name}.md").write_text("\n".join(text), encoding="utf-8")
        lines.append(name)
    (folder / "index.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")


def write_licence_page() -> None:
    """Write the licences of what we need, as their installed metadata states them."""
    rows = []
    for line in requires("sidelight") or []:
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"extra == [\"'](\w+)", line)
        if name is None or name[0] == "sidelight" or (extra and extra[1] == "all"):
            continue
        with suppress(PackageNotFoundError):
            about = metadata(name[0])
            classes = [one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or [] if "License ::" in one]
            terms = about.get("License-Expression") or ", ".join(classes) or (about.get("License") or "").split("\n")[0]
            rows.append(f"| {name[0]} | {extra[1] if extra else 'base'} | {terms or 'see its files'} |")
    head = [
        "# Licences",
        "",
        "Sidelight is BSD-3-Clause. What it needs, and the terms that the installed packages state:",
        "",
    ]
    lines = [*head, "| package | installed by | licence |", "|---|---|---|", *sorted(set(rows)), ""]
    lines += [
        "`psycopg` (extra `postgres`) and libsndfile, which `soundfile` brings (extra `audio`), are under the LGPL:",
        "used as we do, unchanged and as packages of their own, they ask nothing of your code. The base install has",
        "none under the GPL.",
        "",
    ]
    (GENERATED / "licences.md").write_text("\n".join(lines), encoding="utf-8")


def write_llms_text() -> None:
    """Write llms.txt: what there is and how to call it, for programs that read documentation."""
    lines = ["# Sidelight", "", "> " + (metadata("sidelight")["Summary"]), "", "## Commands", ""]
    context = click.Context(app, info_name="sidelight")
    lines += [
        f"- `sidelight {name}`: {app.get_command(context, name).short_help}" for name in app.list_commands(context)
    ]
    lines += ["", "## Python: import sidelight as sl", ""]
    for name in sidelight.__all__:
        thing = getattr(sidelight, name)
        if callable(thing):
            about = (inspect.getdoc(thing) or "").split("\n")[0]
            lines.append(f"- [sl.{name}](reference/generated/sidelight.{name}.html){_signature(thing)}: {about}")
    lines += ["", "## Guides", ""]
    for page in sorted((Path(__file__).parent / "guide").glob("*.md")):
        title = page.read_text(encoding="utf-8").split("\n")[0].lstrip("# ")
        lines.append(f"- [{title}](guide/{page.stem}.html)")
    folder = GENERATED / "extra"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "llms.txt").write_text("\n".join([*lines, ""]), encoding="utf-8")


def _signature(thing: object) -> str:
    with suppress(ValueError, TypeError):
        names = [str(one) for one in inspect.signature(thing).parameters.values()]  # type: ignore[arg-type]
        return "(" + ", ".join(re.sub(r": .*?(?= =|$)", "", name).replace(" = ", "=") for name in names) + ")"
    return ""


def write_gallery() -> None:
    """Write one page for each example: what it shows, and its code, which the tests run."""
    folder = GENERATED / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    head = "Short scripts, each a whole story; `tests/test_examples.py` runs every one of them."
    lines = ["# Gallery", "", head, "", "```{toctree}", ":maxdepth: 1", ""]
    for path in sorted((Path(__file__).parents[1] / "examples").glob("*.py")):
        code = path.read_text(encoding="utf-8")
        title, _, rest = code.split('"""')[1].partition(":")
        text = [f"# {title}", "", f"{title}:{rest}" if rest else title, "", f"`python examples/{path.name}`", ""]
        text += ["```python", code.split('"""', 2)[2].strip(), "```", ""]
        kept = Path(__file__).parent / "images" / "gallery"  # written by docs/make_gallery.py
        if (kept / f"{path.stem}.txt").is_file():
            text += ["It prints:", "", "```text", (kept / f"{path.stem}.txt").read_text("utf-8").strip(), "```", ""]
        if (kept / f"{path.stem}.png").is_file():
            text += [f"![{title}](/images/gallery/{path.stem}.png)", ""]
        (folder / f"{path.stem}.md").write_text("\n".join(text), encoding="utf-8")
        lines.append(path.stem)
    (folder / "index.md").write_text("\n".join([*lines, "```", ""]), encoding="utf-8")


write_component_pages()
write_gallery()
write_licence_page()
write_llms_text()
write_command_pages()
write_option_tables()
