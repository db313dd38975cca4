"""What the pages tell people to paste runs, in order, in an empty folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from sidelight.cli.app import app

ROOT = Path(__file__).parents[1]
PAGES = ("docs/tutorial.md", "docs/guide/commands.md")
FENCE = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = FENCE.findall((ROOT / page).read_text(encoding="utf-8"))
    assert blocks, f"{page} has nothing to paste"
    names: dict[str, object] = {"__name__": page}
    for language, text in blocks:
        if language == "python":
            exec(compile(text, page, "exec"), names)  # our own pages
        else:
            for line in text.splitlines():
                run_line(page, line)


def run_line(page: str, line: str) -> None:
    assert line.startswith("$ sidelight "), f"{page}: a console block holds commands, one a line. Got {line!r}."
    done = CliRunner().invoke(app, shlex.split(line)[2:])
    assert done.exit_code == 0, f"{page}: {line}\n{done.output}"
