"""A table is opened once when it is small, and at most three times when it is large: look, rows, fingerprint."""

from __future__ import annotations

import os
import sys

import pytest
from click.testing import CliRunner
from tests.examples import but_slow

from sidelight.app.cli.app import app
from sidelight.app.jobs.samples import write_sample

_watched: dict[str, int] = {}  # how often each of some files was opened; empty while nothing is counted


def _count(event, args):
    if _watched and event == "open" and isinstance(args[0], (str, os.PathLike)):
        path = os.path.abspath(args[0])
        if path in _watched:
            _watched[path] += 1


sys.addaudithook(_count)  # a hook stays for good
CALLS = {
    "describe": ("birds", "describe {table}"),
    "relations": ("iris", "relations {table} -k 3 --out out"),
    "instances": ("birds", "instances {table} --out out"),
    "bags": ("birds", "bags {table} -k 3 --starts 1 --out out"),
    "hierarchy": ("label-tree", "hierarchy {table} --use labels --out out"),
    "sources": ("people", "sources {table} -k 3 --channel face=face_* --channel upper=upper_* --out out"),
    "coclusters": ("visits", "coclusters {table} -k 3 --out out"),
    "convert": ("iris", "convert {table} out.csv"),
}


def opens(folder, call, *tables):
    """Run a command in a folder, and return how often it opened each table."""
    _watched.update(dict.fromkeys(map(str, tables), 0))
    here = os.getcwd()
    os.chdir(folder)
    try:
        done = CliRunner().invoke(app, [*call.split(), "--quiet"])
        assert done.exit_code == 0, done.output
        return list(_watched.values())
    finally:
        os.chdir(here)
        _watched.clear()


def large(path, target, size=3 << 20):
    """Write a table with the same columns and enough of the same rows to be no small file."""
    header, *rows = path.read_text().splitlines(keepends=True)
    target.write_text(header + "".join(rows) * (size // sum(map(len, rows)) + 1))


@pytest.mark.parametrize("name", but_slow(CALLS, "describe", "relations"))
def test_a_small_table_is_opened_once(tmp_path, name):
    sample, call = CALLS[name]
    table = tmp_path / "table.csv"
    write_sample(sample, str(table))
    is_small = table.stat().st_size < 1 << 20  # "people" is not
    assert opens(tmp_path, call.format(table=table.name), table) == [1 if is_small else 3]


@pytest.mark.parametrize("name", but_slow(["describe", "coclusters", "convert"], "convert"))
def test_a_large_table_is_opened_at_most_three_times(tmp_path, name):
    sample, call = CALLS[name]
    write_sample(sample, str(tmp_path / "small.csv"))
    table = tmp_path / "table.csv"
    large(tmp_path / "small.csv", table)
    (count,) = opens(tmp_path, call.format(table=table.name), table)
    assert 1 < count <= 3
