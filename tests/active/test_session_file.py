"""What is left of a session between sittings: every part of it is read back, and what was changed is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sidelight.active.told import (
    GivenAnswer,
    SavedSession,
    checked_about,
    checked_person,
    in_steps,
    is_move,
    told_by,
)
from sidelight.errors import InvalidData, InvalidParameter, UnreadableFile

SAVED = SavedSession(
    rows="a print", n_clusters=3, strategy="pairs", belief="PCKMeans", seconds=[2.0, 3.5], seed=77, steps=[2, 1],
    events=[{"event": "answer", "rows": [0, 1], "answer": "same", "person": "Zoë\u2028"}, {"event": "undo"}],
)  # fmt: skip


def test_every_part_is_read_back(tmp_path):
    SAVED.write(tmp_path / "s.json")
    assert SavedSession.read(tmp_path / "s.json") == SAVED
    assert len((tmp_path / "s.json").read_text(encoding="utf-8").splitlines()) > 10  # people look into it


def test_a_file_written_by_hand_is_read_as_utf_8(tmp_path):
    SAVED.write(tmp_path / "s.json")
    content = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    (tmp_path / "s.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    assert SavedSession.read(tmp_path / "s.json") == SAVED


@pytest.mark.parametrize(("version", "is_read"), [(1, True), (2, False), (0, False), (-1, False), ("x", False)])
def test_only_formats_that_are_known_are_read(tmp_path, version, is_read):
    SAVED.write(tmp_path / "s.json")
    content = json.loads((tmp_path / "s.json").read_text()) | {"sidelight session": version}
    (tmp_path / "s.json").write_text(json.dumps(content))
    if is_read:
        assert SavedSession.read(tmp_path / "s.json") == SAVED
    else:
        with pytest.raises(UnreadableFile):
            SavedSession.read(tmp_path / "s.json")


def test_what_older_files_do_not_have_is_empty_and_a_step_has_an_answer(tmp_path):
    SAVED.write(tmp_path / "s.json")
    content = json.loads((tmp_path / "s.json").read_text()) | {"steps": [0, 2]}
    del content["belief"], content["seconds"]
    (tmp_path / "s.json").write_text(json.dumps(content))
    read = SavedSession.read(tmp_path / "s.json")
    assert (read.belief, read.seconds, read.steps) == (None, None, [1, 2])
    with pytest.raises(UnreadableFile, match="Cannot read"):
        SavedSession.read(tmp_path / "none.json")


@pytest.mark.parametrize(
    ("strategy", "belief", "options", "match"),
    [
        ("rows", None, {}, None),
        (None, None, {}, "strategy="),
        (None, None, {"strategy": object()}, None),
        (None, None, {"belief": object()}, "strategy="),
        ("rows", "PCKMeans", {}, "Give it again: belief="),
        ("rows", "PCKMeans", {"belief": object()}, None),
        ("rows", "BayesianActiveClustering", {}, "BayesianActiveClustering\\(...\\).resume"),
    ],
)
def test_objects_of_ones_own_are_given_again(strategy, belief, options, match):
    saved = SavedSession("r", 2, strategy, belief, None, 0, [], [])
    if match is None:
        saved.check_options("s.json", options)
    else:
        with pytest.raises(InvalidParameter, match=match):
            saved.check_options("s.json", options)


def test_a_person_is_a_name_or_a_whole_number():
    for person, expected in [
        (None, None), ("ann", "ann"), (3, 3), (0, 0), (np.int64(4), 4),
    ]:  # fmt: skip
        assert checked_person(person) == expected
        assert type(checked_person(person)) is type(expected)


@pytest.mark.parametrize("person", [True, 2.0, ["ann"], np.float64(1.0), b"ann"])
def test_nothing_else_is_a_person(person):
    with pytest.raises(InvalidParameter, match="a name or a whole number"):
        checked_person(person)


def test_numbers_of_numpy_are_kept_as_numbers_and_nothing_hides_the_answer():
    kept = checked_about({"seconds": np.float32(0.5), "who": "ann", "at": 3})
    assert kept == {"seconds": 0.5, "who": "ann", "at": 3}
    assert type(kept["seconds"]) is float
    for name in ("event", "rows", "answer"):
        with pytest.raises(InvalidParameter, match=name):
            checked_about({name: 1})


def test_a_correction_that_two_rows_are_alike_moves_the_first():
    for rows, answer, about, expected in [
        ((0, 1), "same", {"correction": True}, True), ((0, 1), "same", {"correction": False}, False),
        ((0, 1), "same", {}, False), ((0, 1), "different", {"correction": True}, False),
        ((0, 1, 2), "same", {"correction": True}, False),
    ]:  # fmt: skip
        assert is_move(rows, answer, about) == expected


def test_events_leave_the_answers_that_were_not_taken_back():
    def answer(rows, word, **more):
        return {"event": "answer", "rows": rows, "answer": word, **more}

    told = told_by(
        [answer([0, 1], "same"), {"event": "undo"}, answer([2, 3], "same", person="ann", correction=True),
         answer([2, 4, 5], "none"), answer([6, 7], "unsure")],
        n_rows=8,
    )  # fmt: skip
    assert told == [
        GivenAnswer((2, 3), "same", "ann", True), GivenAnswer((2, 4, 5), "none"), GivenAnswer((6, 7), "unsure"),
    ]  # fmt: skip


@pytest.mark.parametrize("event", [
    {"event": "undo"}, {"event": "answer", "rows": [0, 1], "answer": "none"}, {"event": "note"}, "undo", None,
    {"event": "answer", "rows": [0, 9], "answer": "same"}, {"rows": [0, 1], "answer": "same"},
])  # fmt: skip
def test_events_that_make_no_sense_are_refused(event):
    with pytest.raises(InvalidData):
        told_by([event], n_rows=8)


def test_answers_are_cut_into_steps():
    for steps, sizes in [([], [1] * 4), ([2, 2], [2, 2]), ([3], [3, 1]), ([9], [4]), ([4, 1], [4])]:
        told = [GivenAnswer((0, at), "same") for at in range(1, 5)]
        cut = list(in_steps(told, steps))
        assert [len(step) for step in cut] == sizes
        assert [given for step in cut for given in step] == told
