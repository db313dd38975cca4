"""Run a job: RunConfig in, a folder of files out.

A job is a module here with ``work(config) -> Findings``; this file checks the output folder first, writes what was
found, and adds the model, the report and ``run.toml``.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import sidelight
from sidelight.errors import UnknownName, nearest
from sidelight.jobs.config import RunConfig
from sidelight.jobs.output import Columns, check_free, output_folder, write_csv, write_parquet
from sidelight.report import Report, Section

# Each job is a module of this room. A new job is one line here.
JOBS = (
    "bags",
    "coclusters",
    "coverage",
    "instances",
    "relations",
    "sources",
)
LIBRARIES = ("sidelight", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, slots=True)
class Findings:
    """What a job found: a fitted model, tables for the folder, and what the report says."""

    title: str
    sentences: Sequence[str]
    model: Any
    assignments: Columns
    tables: Mapping[str, Columns] = field(default_factory=dict)
    sections: Sequence[Section] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the files are, and the sentences to show."""

    folder: Path
    files: Sequence[str]
    sentences: Sequence[str]


def run(config: RunConfig, out: str | Path, *, overwrite: bool = False) -> Outcome:
    """Run ``config`` and write its files into the folder ``out``; nothing appears unless all of it does."""
    out = Path(out)
    check_free(out, overwrite)  # before the work, so that nobody waits for a refusal
    findings = worker(config.job)(config)
    return publish(config, findings, out, overwrite=overwrite)


def worker(job: str) -> Callable[[RunConfig], Findings]:
    """Find the function that does ``job``."""
    if job not in JOBS:
        raise UnknownName(f"There is no job called {job!r}. {nearest(job, JOBS)}")
    work: Callable[[RunConfig], Findings] = import_module(f"sidelight.jobs.{job}").work
    return work


def publish(config: RunConfig, findings: Findings, out: Path, *, overwrite: bool = False) -> Outcome:
    """Write what a job found: assignments, tables, model, run.toml and report.html."""
    with output_folder(out, overwrite=overwrite) as folder:
        write_parquet(folder / "assignments.parquet", findings.assignments)
        write_csv(folder / "assignments.csv", findings.assignments)
        for name, columns in findings.tables.items():
            write_csv(folder / f"{name}.csv", columns)
        sidelight.save(findings.model, folder / "model.sidelight")
        (folder / "run.toml").write_text(config.to_toml() + _versions_toml(), encoding="utf-8")
        Report(findings.title, findings.sentences, findings.sections, provenance(config, findings.facts)).write(
            folder / "report.html"
        )
        names = sorted(path.name for path in folder.iterdir())
    return Outcome(out, names, findings.sentences)


def provenance(config: RunConfig, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Say where every figure of a report came from."""
    options = ", ".join(f"{key}={value}" for key, value in config.options.items() if value is not None)
    versions = ", ".join(f"{name} {number}" for name, number in versions_in_use().items())
    return {
        "job": config.job,
        "table": config.table,
        **facts,
        "options": options,
        "seed": config.seed,
        "versions": versions,
    }


def versions_in_use() -> dict[str, str]:
    """Versions of Python and of the libraries that decide the numbers."""
    return {"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}}


def _versions_toml() -> str:
    lines = [f'{name} = "{number}"' for name, number in versions_in_use().items()]
    return "\n".join(["", "[versions]", *lines]) + "\n"
