"""What the pages tell people to paste runs, in order, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from sidelight.app.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/tutorial.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs/guide").glob("*.md"))]
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NEEDS_A_SERVER = {"docs/guide/studio.md"}  # tests/app/studio/test_api.py makes the same calls
RUNS = {"console", "python"}
QUICK = {"README.md", *(f"docs/guide/{name}.md" for name in ("ask", "data", "files", "instances", "sources"))}


def blocks_of(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of each block, in order; examples with >>> are run by test_doctests.py."""
    found = FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
    return [(language, text) for language, text in found if not text.startswith(">>>")]


WITH_BLOCKS = [
    page for page in PAGES if page not in NEEDS_A_SERVER and RUNS & {language for language, _ in blocks_of(page)}
]


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (page not in QUICK)) for page in WITH_BLOCKS]
)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": page}
    for language, text in blocks_of(page):
        if language == "python":
            exec(compile(text, page, "exec"), names)  # our own pages
        elif language == "console":
            for line in text.splitlines():
                run_line(page, line)


@pytest.mark.parametrize("page", PAGES)
def test_what_can_be_pasted_is_marked_so(page):
    for language, text in blocks_of(page):
        assert language, f"{page}: a block without a language: {text[:60]!r}"
        assert language in RUNS or not re.search(r"^\$ sidelight", text, re.MULTILINE), f"{page}: {text[:60]!r}"


def test_the_first_pages_have_something_to_paste():
    assert {"README.md", "docs/tutorial.md", "docs/guide/files.md", "docs/guide/coverage.md"} <= set(WITH_BLOCKS)


def run_line(page: str, line: str) -> None:
    assert line.startswith("$ sidelight "), f"{page}: a console block holds commands, one a line. Got {line!r}."
    done = CliRunner().invoke(app, shlex.split(line)[2:])
    assert done.exit_code == 0, f"{page}: {line}\n{done.output}"
