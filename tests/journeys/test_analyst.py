"""An analyst: events in SQLite and in JSON lines, some broken, become the right co-clusters by what describe prints."""

from __future__ import annotations

import csv
import json
import re
import shlex
import sqlite3
from datetime import datetime

import numpy as np
import pytest

import sidelight as sl

pytestmark = pytest.mark.slow
USERS, PAGES, GROUPS = 60, 40, 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Six thousand events of users in three groups who visit pages of three kinds; nine in ten stay with their own."""
    place, generator = tmp_path_factory.mktemp("analyst"), np.random.default_rng(5)
    users = generator.integers(USERS, size=6000)
    own = generator.random(6000) < 0.9
    kinds = np.where(own, users % GROUPS, generator.integers(GROUPS, size=6000))
    pages = generator.integers(PAGES // GROUPS, size=6000) * GROUPS + kinds
    rows = [(f"u{u:02}", f"p{p:02}", f"2026-11-{1 + k % 7:02}T10:00:00") for k, (u, p) in enumerate(zip(users, pages))]
    with sqlite3.connect(place / "visits.sqlite") as base:
        base.execute("create table sessions (id integer, device text, length real)")
        base.executemany("insert into sessions values (?, ?, ?)", [(k, "abc"[k % 3], k * 0.5) for k in range(100)])
        base.execute("create table events (user text, page text, time text)")
        base.executemany("insert into events values (?, ?, ?)", rows)
    lines = [json.dumps(dict(zip(("user", "page", "time"), row))) for row in rows]
    lines[3000], lines[4000] = lines[3000][:25], "## restarted"
    (place / "events.jsonl").write_text("\n".join(lines))
    return place


def agreement(path, column):
    """Say how far the clusters of users or pages agree with the hidden groups."""
    with path.open() as file:
        lines = list(csv.DictReader(file))
    truth = [int(line[column][1:]) % GROUPS for line in lines]
    return sl.metrics.adjusted_rand_index(truth, [line["cluster"] for line in lines])


def printed(told):
    """Return the first command that describe prints."""
    return shlex.split(next(line for line in told.splitlines() if re.match(r"\s+sidelight (?!describe)", line)))[1:]


def test_the_largest_table_of_a_database_by_what_describe_prints(folder, sidelight):
    code, told = sidelight("describe", "visits.sqlite", cwd=folder)
    assert code == 0, told
    assert told.index("events") < told.index("sessions")
    command = [*printed(told), "--yes"]
    assert command[0] == "coclusters"
    code, told = sidelight(*command, cwd=folder)
    assert code == 0, told
    assert agreement(folder / "results" / "assignments.csv", "user") > 0.9


def test_broken_lines_do_not_stop_the_weekly_run(folder, sidelight):
    code, told = sidelight("describe", "events.jsonl", cwd=folder)
    assert code == 2
    assert "line 3001" in told
    assert "--bad-lines skip" in told
    code, told = sidelight("describe", "events.jsonl", "--bad-lines", "skip", cwd=folder)
    assert code == 0, told
    command = printed(told)
    command[command.index("--out") + 1] = "runs/%Y-%m-%d"
    day = datetime.now().astimezone().strftime("%Y-%m-%d")
    code, told = sidelight(*command, cwd=folder)
    assert code == 0, told
    assert "2 lines left out that are no row: line 3001" in told.replace("Two", "2")
    runs = sorted((folder / "runs").iterdir())
    assert day in {run.name for run in runs} or len(runs) == 1
    assert agreement(runs[0] / "assignments.csv", "user") > 0.9
