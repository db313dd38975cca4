"""Run a job: RunConfig in, a folder of files out.

A job does ``work(config) -> Result``; this file checks the output folder and the input first, so that a refusal comes
at once, and writes what was found: assignments, tables, model, ``run.toml`` and the page of the result.
"""

from __future__ import annotations

import json
import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sidelight
from sidelight._core.unchanged import unchanged_rows
from sidelight.app.jobs.catalogue import find_job
from sidelight.app.jobs.config import RunConfig, read_toml
from sidelight.app.jobs.first_look import check_columns, check_there
from sidelight.app.jobs.options import fields_of
from sidelight.app.jobs.output import (
    MANIFEST,
    check_free,
    output_folder,
    table_path,
    write_csv,
    write_text,
)
from sidelight.progress import report
from sidelight.words import Setting, Spell, in_words, render

if TYPE_CHECKING:
    from sidelight.app.jobs.result import Result
    from sidelight.app.report import Page

NUMBERS = "numbers.json"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Where the files are, what was found, and the sentences to show."""

    folder: Path
    files: Sequence[str]
    sentences: Sequence[str]
    result: Result | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        numbers = {} if self.result is None else self.result.numbers()
        return {"folder": str(self.folder), "files": list(self.files), "result": numbers}


def run(config: RunConfig, out: str | Path, *, overwrite: bool = False, spell: Spell = str) -> Outcome:
    """Run ``config`` and write its files into the folder ``out``; nothing appears unless all of it does.

    Parameters
    ----------
    config : RunConfig
        What to do.
    out : str or Path
        Where the files go.
    overwrite : bool
        Whether the files of an earlier run may be replaced.
    spell : callable
        How the reader of the sentences would type a setting: the shell that asked knows.
    """
    out = Path(out)
    check_free(out, overwrite)
    for path in config.paths():
        check_there(path)
    check_columns(config.source, config.roles)
    with unchanged_rows():
        result = find_job(config.job).work_of(config)(config)
    return publish(config, result, out, overwrite=overwrite, spell=spell)


def publish(
    config: RunConfig,
    result: Result,
    out: Path,
    *,
    overwrite: bool = False,
    spell: Spell = str,
    page: Page | None = None,
    command: str = "",
) -> Outcome:
    """Write what a job found: assignments, tables, model, run.toml and report.html."""
    from sidelight.app.jobs.page import page_of
    from sidelight.app.report import Provenance, to_html

    shown = page or page_of(result)
    report("writing the page", 0, 1)
    made = Provenance(
        provenance(config, result), files_told(result, find_job(config.job).files), command or command_of(config, spell)
    )
    html = to_html(shown, made, spell=spell)
    versions = versions_in_use()
    read = {**fingerprint_of(config), **result.reading.columns, **card_of(result.reading.material)}
    remember_columns(result.model, result.reading.features)
    if result.reading.material:
        result.model.material_ = result.reading.material  # new folders are cut in the same way

    def manifest(files: Sequence[str]) -> str:
        return config.to_toml(files=files, versions=versions, read=read, beside=out)

    with output_folder(out, manifest, overwrite=overwrite) as folder:
        disarm = config.roles.disarm
        result.write_assignments(folder, disarm=disarm)
        for name, columns in result.tables.items():
            write_csv(table_path(folder, name), columns, disarm=disarm)
        sidelight.save(result.model, folder / "model.sidelight")
        write_text(folder / "report.html", html)
        numbers = json.dumps(result.numbers(), ensure_ascii=False, allow_nan=False, indent=1)
        write_text(folder / NUMBERS, numbers + "\n")
        report("writing the page", 1, 1)
        names = sorted([*(path.name for path in folder.iterdir()), MANIFEST])
    return Outcome(out, names, [render(sentence, spell) for sentence in shown.told], result)


def files_told(result: Result, own: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Return the files of a run beside its page, and what each holds; ``own`` has the words of the job."""
    words = {**_FILES, **own}
    tables = {f"{name}.csv": words.get(name, "") for name in result.tables}
    of_rows = dict(result.assignment_files)
    return {
        **dict(list(of_rows.items())[:1]),
        **tables,
        **of_rows,
        "model.sidelight": "the fitted model, for new tables and for sidelight.load",
        NUMBERS: "every figure of this page, for programs",
        MANIFEST: "what the run was told; sidelight run repeats it",
    }


_FILES = {  # tables that several jobs write
    "bags": "one line for each bag",
    "check": "what is most worth a look by hand",
    "clusters": "one line for each cluster",
    "stability": "how surely each number of clusters comes back",
    "truth": "clusters against the truth in the table",
}


def command_of(config: RunConfig, spell: Spell) -> str:
    """Return the command that repeats a run, in the words of the shell that asked; empty when no shell did."""
    if spell is str:
        return ""
    words = ["sidelight", config.job, shlex.quote(config.table)]
    for model in (config.options, config.roles):
        usual = {field.name: field.default for field in fields_of(type(model))}
        if "method" in usual:  # the default of its own options, not of the job
            usual["method"] = next(iter(find_job(config.job).methods)) or usual["method"]
        words += [spell(Setting(name, value)) for name, value in model.settings().items() if value != usual[name]]
    return " ".join([*words, spell(Setting("seed", config.seed))])


def remember_columns(model: Any, names: Sequence[str]) -> None:
    """Let a model know its columns by name; scikit-learn's own attribute would demand data frames from then on."""
    if names and getattr(model, "n_features_in_", None) == len(names):
        model.column_names_ = tuple(str(name) for name in names)


def fingerprint_of(config: RunConfig) -> dict[str, str]:
    """Return a short name of the table's content, for a later run to compare; nothing for what is no file."""
    fingerprint = config.source.fingerprint()
    return {} if fingerprint is None else {"fingerprint": fingerprint}


def card_of(material: str) -> dict[str, str]:
    """Return the network that described the rows, its checksum and its licence, for run.toml."""
    card = json.loads(material).get("card") if material else None
    if not card:
        return {}
    told = " ".join(str(card.get(key, "")) for key in ("name", "checksum")).strip()
    return {"described by": told, "licence of the weights": str(card.get("licence", ""))}


def what_changed(run_toml: str | Path, config: RunConfig) -> dict[str, str]:
    """Say in what an earlier run was not what a repetition is: its ``table``, the ``versions`` of what made it."""
    written, now = read_toml(run_toml), fingerprint_of(config).get("fingerprint")
    read, versions = (kept if isinstance(kept := written.get(name), dict) else {} for name in ("read", "versions"))
    changed: dict[str, str] = {}
    if None not in (before := read.get("fingerprint"), now) and before != now:
        changed["table"] = f"{config.table} has changed since the run of {str(run_toml)!r}: the result may differ."
    others = [
        f"{name} {versions[name]} (here {here})"
        for name, here in versions_in_use().items()
        if str(versions.get(name, here)) != here
    ]
    if others:
        what = "the result may differ" if "sidelight" in others[0] else "the result may differ in its last digits"
        changed["versions"] = f"the run of {str(run_toml)!r} was made with {in_words(others)}: {what}."
    return changed


def provenance(config: RunConfig, result: Result) -> dict[str, Any]:
    """Say where every figure of a page came from."""
    options = ", ".join(f"{key}={value}" for key, value in config.options.settings().items())
    roles = ", ".join(f"{key}={value}" for key, value in config.roles.settings().items() if value)
    return {
        "job": config.job,
        "table": config.table,
        "rows": result.reading.n_rows,
        "features": result.reading.n_features,
        "columns": roles or "guessed",
        "options": options,
        "seed": config.seed,
        "versions": ", ".join(f"{name} {number}" for name, number in versions_in_use().items()),
    }


def versions_in_use() -> dict[str, str]:
    """Versions of Python and of the libraries that decide the numbers."""
    from importlib.metadata import version

    libraries = {name: version(name) for name in LIBRARIES}
    return {"sidelight": sidelight.__version__, "python": platform.python_version(), **libraries}
