"""A new job is one folder and two words in the catalogue: the job of CONTRIBUTING.md, added to a copy of the tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sidelight

FILES = {
    "result.py": """
from dataclasses import dataclass

from sidelight.app.jobs.result import Result
from sidelight.app.report import Page


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragesResult(Result):
    largest: float

    def page(self):
        return Page("Averages", [f"The largest mean is {self.largest:g}."])
""",
    "work.py": """
from sidelight.app.jobs.averages.result import AveragesResult
from sidelight.app.jobs.reading import read_rows
from sidelight.app.jobs.result import Reading, columns_of
from sidelight.estimators.sources.codebook import Codebook


def work(config):
    data = read_rows(config.table, config.roles)
    model = Codebook(1, random_state=config.seed).fit(data.X)
    means = data.X.mean(axis=0).round(config.options.digits)
    return AveragesResult(
        reading=Reading.of(data, ("id", "feature")),
        model=model,
        assignments=columns_of(data, {"cluster": model.labels_.tolist()}),
        tables={"means": {"column": list(data.feature_names), "mean": means.tolist()}},
        largest=float(means.max()),
    )
""",
    "__init__.py": """
from typing import Annotated

from sidelight.app.jobs.fitting import has_rows
from sidelight.app.jobs.job import Fit, Job, Method
from sidelight.app.jobs.options import Options, option
from sidelight.lazy import functions_of


class Averages(Options, frozen=True):
    '''The mean of every column.'''

    digits: Annotated[int, option("Digits after the point.", ge=0)] = 2


_here = functions_of(__name__)
JOB = Job(
    name="averages",
    summary="Average the columns of a table.",
    text="Average the columns of TABLE. Writes means.csv.",
    you_have="a table of numbers",
    example={},
    methods={"": Method(Averages, _here("work.work"))},
    fits=lambda data, roles: Fit("averages", "rows with features", roles) if has_rows(data) else None,
    files={"means": "the mean of each column"},
)
""",
}
IMPORT = "from sidelight.app.jobs import ask, bags,"
LISTED = "relations.JOB)"


@pytest.fixture
def tree(tmp_path):
    """Return a copy of the package with the job added, and how many lines outside its folder that took."""
    package = tmp_path / "src" / "sidelight"
    shutil.copytree(Path(sidelight.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    folder = package / "app" / "jobs" / "averages"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    catalogue = package / "app" / "jobs" / "catalogue.py"
    before = catalogue.read_text()
    assert before.count(IMPORT) == before.count(LISTED) == 1
    after = before.replace(IMPORT, "from sidelight.app.jobs import ask, averages, bags,")
    after = after.replace(LISTED, "relations.JOB, averages.JOB)")
    catalogue.write_text(after)
    changed = sum(old != new for old, new in zip(before.splitlines(), after.splitlines(), strict=True))
    assert changed <= 3
    return tmp_path / "src"


@pytest.mark.slow
def test_a_folder_and_two_lines_make_a_command_a_page_and_a_suggestion(tree, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("name,a,b\nx,1,2\ny,2,5.5\nz,3,9\n")

    def run(*words):
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        command = [sys.executable, "-m", "sidelight", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "a table of numbers" in run()
    assert "--digits" in run("averages", "--help")
    assert f"sidelight averages {table} --out results" in run("describe", table)
    assert "The largest mean is 5.5." in run("averages", table, "--digits", 1, "--out", "results")
    assert (tmp_path / "results" / "means.csv").read_text().splitlines() == ["column,mean", "a,2.0", "b,5.5"]
    assert "the mean of each column" in (tmp_path / "results" / "report.html").read_text()
    assert "digits = 1" in (tmp_path / "results" / "run.toml").read_text()
