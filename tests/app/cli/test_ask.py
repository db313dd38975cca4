"""Asking in the terminal: keys, answers on the disk, going on, and other rows."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from sidelight.app.cli.ask import _key
from sidelight.app.cli.ask import ask_command as command
from sidelight.errors import InvalidData, InvalidParameter

pytest.importorskip("polars")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    generator = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("ask") / "rows.csv"
    X = generator.normal(size=(30, 3)) + 5 * (np.arange(30) % 2)[:, None]
    lines = ["id,x,y,z", *(f"r{i},{a:.3f},{b:.3f},{c:.3f}" for i, (a, b, c) in enumerate(X))]
    path.write_text("\n".join(lines) + "\n")
    return path


def ask(table, out, keys, *more):
    return CliRunner().invoke(command, [str(table), "--out", str(out), *more], input=keys)


def test_answers_are_kept_and_the_next_sitting_goes_on(table, tmp_path):
    out = tmp_path / "answers"
    first = ask(table, out, "d\nx\nu\ns\nb\nd\nq\n", "-k", "2")
    assert first.exit_code == 0, first.output
    assert "'x' is none of these" in first.stdout
    events = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [event.get("answer", "undo") for event in events] == ["different", "unsure", "same", "undo", "different"]
    second = ask(table, out, "s\n")
    assert second.exit_code == 0, second.output
    assert "3 answers are there already" in second.stdout
    assert len((out / "assignments.csv").read_text().splitlines()) == 31
    assert (out / "pairs.csv").read_text().startswith("left,right,answer")


def test_answers_about_other_rows_are_refused(table, tmp_path):
    out = tmp_path / "answers"
    ask(table, out, "d\n")
    other = tmp_path / "other.csv"
    other.write_text("id,x,y,z\n" + "".join(f"r{i},{i},{i},1\n" for i in range(9)))
    refused = ask(other, out, "s\n")
    assert "other rows" in str(refused.exception)
    assert len((out / "answers.jsonl").read_text().splitlines()) == 1


def sitting(table, folder, n_clusters=None):
    from sidelight.app.jobs.ask.work import Sitting
    from sidelight.app.jobs.roles import Roles

    return Sitting(str(table), Roles(), str(folder), n_clusters=n_clusters, seed=0)


def test_a_refused_beginning_leaves_nothing_behind(tmp_path):
    path, out = tmp_path / "three.csv", tmp_path / "answers"
    path.write_text("a\n1\n2\n9\n")
    with pytest.raises(InvalidParameter, match="3 rows, too few for 5 clusters"):
        sitting(path, out, 5)
    path.write_text("a\n1\n")
    with pytest.raises(InvalidData, match="has one row"):
        sitting(path, out)
    assert not out.exists()


def test_another_number_of_clusters_is_refused_once_there_are_answers(table, tmp_path):
    out = tmp_path / "answers"
    sitting(table, out, 5)
    first = sitting(table, out, 2)  # no answer yet: begun anew
    first.tell(first.session.ask(), "different")
    with pytest.raises(InvalidParameter, match="begun with 2 clusters, not with 3"):
        sitting(table, out, 3)
    assert sitting(table, out).session.n_clusters == sitting(table, out, 2).session.n_clusters == 2
    assert len((out / "answers.jsonl").read_text().splitlines()) == 1


def test_a_column_that_never_varies_is_not_shown(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,flat\n" + "".join(f"{i},7\n" for i in range(6)))
    one = sitting(path, tmp_path / "answers")
    assert list(one.shown(one.session.ask())) == ["row", "x"]


def test_an_interruption_says_that_answers_are_kept(table, tmp_path, monkeypatch):
    keys = iter("d")

    def key():
        try:
            return next(keys)
        except StopIteration:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("sidelight.app.cli.ask._key", key)
    out = tmp_path / "answers"
    result = CliRunner().invoke(command, [str(table), "--out", str(out)])
    assert result.exit_code == 130
    assert "every answer so far is in" in result.output
    assert len((out / "answers.jsonl").read_text().splitlines()) == 1


def test_the_end_of_the_input_stops(monkeypatch):
    def end(echo):
        raise EOFError

    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("click.getchar", end)
    assert _key() == "q"


def test_texts_that_nobody_sees_are_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,said\n" + "".join(f"{i},word {i % 4}\n" for i in range(8)))
    assert sitting(path, tmp_path / "answers").texts_not_shown == ["said"]
    result = CliRunner().invoke(command, [str(path), "--out", str(tmp_path / "answers")], input="q\n")
    assert "Not shown: said. --show said shows it." in result.output
    seen = CliRunner().invoke(command, [str(path), "--out", str(tmp_path / "seen"), "--show", "said"], input="q\n")
    assert "Not shown" not in seen.output
    assert "word" in seen.output


def test_rows_are_sorted_by_numbers(table, tmp_path):
    out = tmp_path / "answers"
    keys = ["n", "9", "n2", "1", "b", "a", "red", "red", "n", "n", "n2", "a", "n"]  # 9 and 1 are no piles yet
    first = ask(table, out, "\n".join([*keys, "b", "n", "n", ""]), "--by", "piles")
    assert first.exit_code == 0, first.output
    assert first.stdout.count("is none of these") == 2
    events = [json.loads(line) for line in (out / "answers.jsonl").read_text().splitlines()]
    assert [event["event"] for event in events] == ["screen"]
    assert len(events[0]["rows"]) == 10
    assert events[0]["piles"] == [0, None, 1, 1, 0, 0, 2, None, 0, 0]
    assert events[0]["names"] == {"1": "red"}
    assert (out / "piles.csv").read_text().startswith("row,pile\n")
    assert "Give piles.csv to sidelight relations" in (out / "report.html").read_text()
    second = ask(table, out, "\n".join(["", *["1"] * 9, "b"]), "--by", "piles")
    assert second.exit_code == 0, second.output
    assert "1 answer is there already" in second.stdout
    assert json.loads((out / "answers.jsonl").read_text().splitlines()[-1]) == {"event": "undo"}
    assert "Screen 2, 10 rows" in second.stdout
