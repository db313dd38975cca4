"""Answers on disk: every one of them, in order, whatever happens."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import sidelight as sl
from sidelight.errors import CannotWrite, UnreadableFile

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


def test_a_file_that_holds_no_answers_is_named(tmp_path):
    (tmp_path / "answers.jsonl").write_text("hello\n")
    with pytest.raises(UnreadableFile, match="Line 1"):
        sl.AnswerFile(tmp_path / "answers.jsonl").events()


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
