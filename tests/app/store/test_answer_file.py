"""Answers on disk: every one of them, in order, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import sidelight as sl
from sidelight.app.store import answer_file
from sidelight.errors import CannotWrite, UnreadableFile, WrongKind

X, Y = load_iris(return_X_y=True)


def test_a_session_can_be_replayed_from_its_answers(tmp_path):
    file = sl.AnswerFile(tmp_path / "answers.jsonl")
    session = sl.ActiveSession(X, 3, recorder=file, random_state=0)
    session.run(sl.Oracle(Y), budget=8)
    session.undo()
    again = sl.ActiveSession(X, 3, random_state=0)
    again.replay(file.events())
    assert again.history == session.history
    np.testing.assert_array_equal(again.labels_, session.labels_)


def test_half_a_line_of_a_dead_process_is_cut_off(tmp_path):
    path = tmp_path / "answers.jsonl"
    sl.AnswerFile(path).record({"event": "answer", "rows": [0, 1], "answer": "same"})
    with open(path, "ab") as handle:
        handle.write(b'{"event": "ans')
    file = sl.AnswerFile(path)
    file.record({"event": "undo"})
    assert [event["event"] for event in file.events()] == ["answer", "undo"]


def test_a_name_with_a_line_separator_of_unicode_stays_on_one_line(tmp_path):
    file = sl.AnswerFile(tmp_path / "answers.jsonl")
    file.record({"event": "answer", "rows": [0, 1], "answer": "same", "who": "A\u2028B\x85C"})
    assert file.events()[0]["who"] == "A\u2028B\x85C"


def test_a_disk_that_fails_leaves_no_half_line(tmp_path, monkeypatch):
    file = sl.AnswerFile(tmp_path / "answers.jsonl")
    file.record({"event": "answer", "rows": [0, 1], "answer": "same"})

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("sidelight.app.store.answer_file.os.fsync", fail)
        with pytest.raises(CannotWrite, match="No space left"):
            file.record({"event": "answer", "rows": [0, 2], "answer": "same"})
    file.record({"event": "answer", "rows": [0, 2], "answer": "different"})
    assert [event["answer"] for event in file.events()] == ["same", "different"]


def test_a_last_answer_without_an_end_of_line_is_kept(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text('{"event": "undo"}\n{"event": "answer"}')
    file = sl.AnswerFile(path)
    file.record({"event": "undo"})
    assert [event["event"] for event in file.events()] == ["undo", "answer", "undo"]


def test_an_answer_is_in_the_file_when_the_disk_is_waited_for(tmp_path, monkeypatch):
    path, at_sync = tmp_path / "answers.jsonl", []
    monkeypatch.setattr(answer_file.os, "fsync", lambda descriptor: at_sync.append(path.read_bytes()))
    sl.AnswerFile(path).record({"event": "undo"})
    assert at_sync == [b'{"event": "undo"}\n']


def test_no_file_and_an_empty_one_hold_no_answers(tmp_path):
    assert sl.AnswerFile(tmp_path / "none.jsonl").events() == []
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert sl.AnswerFile(tmp_path / "empty.jsonl").events() == []


@pytest.mark.parametrize(("content", "line"), [("hello\n", 1), ("[1]\n", 1), ('{"a": 1}\n5\n', 2), ('{"a": 1}\n\n', 2)])
def test_a_line_that_is_no_answer_is_named(tmp_path, content, line):
    (tmp_path / "answers.jsonl").write_text(content)
    with pytest.raises(UnreadableFile, match=f"Line {line} "):
        sl.AnswerFile(tmp_path / "answers.jsonl").events()


def test_numbers_of_numpy_are_written_and_what_is_no_event_is_refused(tmp_path):
    file = sl.AnswerFile(tmp_path / "answers.jsonl")
    file.record({"event": "answer", "rows": np.array([0, 1]), "seconds": np.float64(0.5), "who": "Zoë"})
    assert file.events() == [{"event": "answer", "rows": [0, 1], "seconds": 0.5, "who": "Zoë"}]
    assert "Zoë" in (tmp_path / "answers.jsonl").read_text(encoding="utf-8")  # people look into it
    for bad in ("undo", ["event"], {"seconds": float("nan")}, {"who": object()}):
        with pytest.raises(WrongKind):
            file.record(bad)
    assert len(file.events()) == 1
