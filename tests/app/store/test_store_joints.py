"""The joints of the store: times, keys, bounds, claims and locks, on SQLite and PostgreSQL."""

from __future__ import annotations

import math
import os
import time

import numpy as np
import pytest

import sidelight as sl
from sidelight.app.store import answer_file, studio_store
from sidelight.app.store.studio_store import NewEvent, StudioStore
from sidelight.app.studio.history import EventLog
from sidelight.errors import InvalidData, OutputExists, UnknownName, UnreadableFile, WrongKind

SAME, DIFFERENT = ({"rows": [0, 1], "answer": word} for word in ("same", "different"))


@pytest.fixture
def ann(store):
    """Somebody of a project, beside another project with an event of its own."""
    frogs = store.add_project("frogs", {}).id
    store.append(store.add_person(frogs, "Zoe"), "answer", SAME)
    store.add_person(frogs, "Yan")
    return store.add_person(store.add_project("birds", {"seed": 1}).id, "Ann")


# -- events ----------------------------------------------------------------------------------------------------------


def test_an_event_has_the_time_it_came_unless_one_is_given(store, ann):
    now = time.time()
    once = store.append_once(ann, "k", "answer", SAME, seconds=1.5)
    plain = store.append(ann, "answer", SAME)
    given = store.append(ann, "answer", SAME, at=7.0)
    with store.appending(ann.project) as end:
        alone = end.add(ann, NewEvent("answer", SAME))
    assert all(abs(event.at - now) < 60 for event in (once, plain, alone))
    assert given.at == 7.0
    assert (once.seconds, once.key, plain.key) == (1.5, "k", "")
    kept = store.events(ann.project)
    assert [event.at for event in kept] == [once.at, plain.at, 7.0, alone.at]
    assert [event.key for event in kept] == ["k", "", "", ""]
    assert kept[0] == once
    assert math.isnan(kept[1].seconds)
    assert {event.project for event in kept} == {ann.project}
    assert [event.id for event in store.events(ann.project, after=plain.id)] == [given.id, alone.id]


def test_several_events_come_back_as_they_were_kept(store, ann):
    store.append(ann, "note", {"text": "first"})
    kept = store.append_all(ann, [("answer", SAME, 1.0), ("label", {"row": 3}, 2.0)], at=5.0)
    assert [(event.kind, event.content, event.seconds, event.at) for event in kept] == [
        ("answer", SAME, 1.0, 5.0), ("label", {"row": 3}, 2.0, 5.0),
    ]  # fmt: skip
    assert store.append_all(ann, []) == []
    assert abs(store.append_all(ann, [("answer", SAME, 1.0)])[0].at - time.time()) < 60
    first = store.add_person(store.add_project("wrens", {}).id, "Ann")
    assert len(store.append_all(first, [("answer", SAME, 1.0)])) == 1  # the first events of a project


def test_a_key_belongs_to_one_kind_of_one_person_and_may_be_as_long_as_is_said(store, ann):
    first = store.append_once(ann, "k", "answer", SAME)
    assert store.append_once(ann, "k", "answer", SAME | {"key": "k"}).id == first.id  # as older databases kept it
    with pytest.raises(InvalidData, match="another answer"):
        store.append_once(ann, "k", "label", SAME)
    assert store.append_once(ann, "x" * 64, "answer", SAME).key == "x" * 64
    with store.appending(ann.project) as end:
        every = [event.id for event in store.events(ann.project)]
        assert [event.id for event in end.events(first.id)] == every[1:]
        assert [event.id for event in end.events(every[-1], "k")] == [first.id]  # whatever its number
        assert end.events(every[-1], "other") == []


# -- projects and people ---------------------------------------------------------------------------------------------


def test_projects_and_people_are_found_by_number_name_and_link(store, ann):
    frogs, birds = store.projects()
    assert (frogs.name, birds.name, birds.settings) == ("frogs", "birds", {"seed": 1})
    assert store.project(birds.id) == store.project_called("birds") == birds
    assert abs(birds.made_at - time.time()) < 60
    for find in (lambda: store.project(99), lambda: store.project_called("bird")):
        with pytest.raises(UnknownName):
            find()
    assert store.people(birds.id) == [ann]
    assert (ann.project, ann.is_simulated, ann.role) == (birds.id, False, "annotator")
    assert store.person_of(ann.token) == ann


def test_a_change_of_one_project_changes_no_other(store, ann):
    frogs, birds = store.projects()
    assert store.update_project(birds.id, name="wrens").settings == {"seed": 1}
    assert store.update_project(birds.id, settings={"seed": 2}).name == "wrens"
    assert store.project(frogs.id) == frogs
    done = store.activity()
    assert (done[frogs.id].n_answers, done[frogs.id].n_people) == (1, 1)
    assert birds.id not in done  # nothing happened in it


def test_a_name_belongs_to_one_person_who_is_simulated_or_not(store, ann):
    robot = store.add_person(ann.project, "robot", is_simulated=True)
    assert store.add_person(ann.project, "robot", is_simulated=True) == robot
    for name, is_simulated in (("robot", False), ("Ann", True)):
        with pytest.raises(OutputExists, match="Choose another name"):
            store.add_person(ann.project, name, is_simulated=is_simulated)
    owner = store.add_person(ann.project, "Olga", role="owner")
    assert store.add_person(ann.project, "Olga", role="owner") == owner
    assert store.add_person(ann.project, "x" * 80).name == "x" * 80
    assert [person.name for person in store.people(ann.project)] == ["Ann", "robot", "Olga", "x" * 80]
    with pytest.raises(InvalidData):
        store.add_person(ann.project, "   ")


# -- the database ----------------------------------------------------------------------------------------------------


def test_a_file_is_made_with_its_folders_and_opened_again(tmp_path):
    for folder in (tmp_path / "a" / "b", tmp_path):
        for _ in range(2):
            store = StudioStore(folder / "studio.db")
            with store._engine.connect() as connection:
                wait, level, keys = (
                    connection.exec_driver_sql(f"PRAGMA {name}").scalar()
                    for name in ("busy_timeout", "synchronous", "foreign_keys")
                )
            assert (wait, level, keys) == (10_000, 2, 1)  # ms, FULL, ON
            store.close()
        assert (folder / "studio.db").exists()


def test_a_connection_to_postgresql_gives_up_in_seconds_and_there_are_ten(postgres):
    store = StudioStore(postgres)
    assert store._engine.pool.size() == 10
    with store._engine.connect() as connection:
        options = connection.connection.driver_connection.info.get_parameters()
    assert {name: int(options[name]) for name in studio_store._PATIENT} == studio_store._PATIENT
    store.close()


def test_the_version_of_a_database_is_that_of_the_last_step(where, monkeypatch):
    for n in (1, 2, 4, 4):
        monkeypatch.setattr(studio_store, "MIGRATIONS", studio_store.MIGRATIONS[:n])
        store = StudioStore(where)
        with store._engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT version FROM sidelight_version").scalars().all() == [n]
        store.close()
        monkeypatch.undo()
    assert not studio_store.version_table.c.version.nullable


def test_who_claimed_nothing_holds_nothing(store, where):
    store.hold_claim()
    other = StudioStore(where)
    other.claim()  # it is free
    other.hold_claim()
    assert not other.is_taken_over
    other.close()
    store.claim()
    store.hold_claim()
    assert not store.is_taken_over
    assert store.projects() == []


def test_what_sqlite_says_of_a_file_that_is_no_database_is_told_from_one_that_is_away(tmp_path, monkeypatch):
    store = StudioStore(tmp_path / "studio.db")
    store.close()
    (tmp_path / "studio.db").write_bytes(b"SQLite format 3\0" + os.urandom(4000))
    with pytest.raises((UnreadableFile, studio_store.DatabaseAway)) as told:
        StudioStore(tmp_path / "studio.db")
    assert isinstance(told.value, UnreadableFile)


def test_an_address_with_a_driver_of_ones_own_is_taken_as_it_is():
    with pytest.raises(InvalidData, match="SQLite or PostgreSQL"):
        StudioStore("sqlite:///x.db")
    with pytest.raises(studio_store.DatabaseAway):
        StudioStore("postgresql+psycopg://studio@127.0.0.1:1/none")


# -- the log of a server ---------------------------------------------------------------------------------------------


class Followed:
    """A log whose events are followed, each under its lock."""

    def __init__(self, store, project):
        self.seen, self.owned = [], []
        self.log = EventLog(store, project, self.follow)

    def follow(self, event):
        self.owned.append(self.log.lock._is_owned())
        self.seen.append(event.id)

    def owns(self):
        self.owned.append(self.log.lock._is_owned())


def test_every_event_is_followed_once_in_order_and_under_the_lock(store, ann):
    one, two = Followed(store, ann.project), Followed(store, ann.project)
    first = two.log.append(ann, lambda: [NewEvent("answer", SAME), NewEvent("undo", {})])
    kept, is_new = one.log.append_once(ann, NewEvent("answer", SAME, key="k"), one.owns)
    again, is_new_again = one.log.append_once(ann, NewEvent("answer", SAME, key="k"), one.owns)
    assert (is_new, is_new_again, again.id) == (True, False, kept.id)
    plain = [two.log.append_once(ann, NewEvent("note", {}), two.owns)[1] for _ in range(2)]
    assert plain == [True, True]  # without a key each is new

    def decide():
        one.owns()
        return [NewEvent("undo", {"of": 1})]

    one.log.append(ann, decide)
    every = [event.id for event in store.events(ann.project)]
    for followed in (one, two):
        assert [event.id for event in followed.log.read()] == every
        assert followed.seen == every
        assert all(followed.owned)
        assert followed.log.known("undo") == [event for event in followed.log.read() if event.kind == "undo"]
        assert followed.log.known("label") == []
        assert followed.log.last == every[-1]
    assert one.owned.count(True) == len(every) + 2  # check and decide were asked under the lock, too
    assert [event.kind for event in first] == ["answer", "undo"]


def test_only_what_is_new_is_read_and_two_readers_may_bring_the_same(store, ann, monkeypatch):
    followed = Followed(store, ann.project)
    (event,) = followed.log.append(ann, lambda: [NewEvent("answer", SAME)])
    followed.log._take([event])
    assert followed.seen == [event.id]
    asked, read = [], store.events
    monkeypatch.setattr(
        store, "events", lambda project, after=0: asked.append((project, after)) or read(project, after=after)
    )
    followed.log.read()
    assert asked == [(ann.project, event.id)]


def test_a_step_that_is_refused_keeps_nothing(store, ann):
    followed = Followed(store, ann.project)

    def refuse():
        raise InvalidData("no")

    for step in (
        lambda: followed.log.append(ann, refuse),
        lambda: followed.log.append_once(ann, NewEvent("answer", SAME), refuse),
    ):
        with pytest.raises(InvalidData):
            step()
    assert followed.log.read() == []


# -- answers in a file -----------------------------------------------------------------------------------------------


def test_an_answer_is_in_the_file_when_the_disk_is_waited_for(tmp_path, monkeypatch):
    path, at_sync = tmp_path / "answers.jsonl", []
    monkeypatch.setattr(answer_file.os, "fsync", lambda descriptor: at_sync.append(path.read_bytes()))
    sl.AnswerFile(path).record({"event": "undo"})
    assert at_sync == [b'{"event": "undo"}\n']


def test_no_file_and_an_empty_one_hold_no_answers(tmp_path):
    assert sl.AnswerFile(tmp_path / "none.jsonl").events() == []
    (tmp_path / "empty.jsonl").write_bytes(b"")
    assert sl.AnswerFile(tmp_path / "empty.jsonl").events() == []


@pytest.mark.parametrize(("content", "line"), [("[1]\n", 1), ('{"a": 1}\n5\n', 2), ('{"a": 1}\n\n', 2)])
def test_a_line_that_is_no_answer_is_named(tmp_path, content, line):
    (tmp_path / "answers.jsonl").write_text(content)
    with pytest.raises(UnreadableFile, match=f"Line {line} "):
        sl.AnswerFile(tmp_path / "answers.jsonl").events()


def test_half_a_first_line_is_cut_off_and_half_a_later_one_leaves_those_before(tmp_path):
    for before in ("", '{"event": "undo"}\n'):
        (tmp_path / "answers.jsonl").write_text(before + '{"event"')
        sl.AnswerFile(tmp_path / "answers.jsonl")
        assert (tmp_path / "answers.jsonl").read_text() == before


def test_numbers_of_numpy_are_written_and_what_is_no_event_is_refused(tmp_path):
    file = sl.AnswerFile(tmp_path / "answers.jsonl")
    file.record({"event": "answer", "rows": np.array([0, 1]), "seconds": np.float64(0.5), "who": "Zoë"})
    assert file.events() == [{"event": "answer", "rows": [0, 1], "seconds": 0.5, "who": "Zoë"}]
    assert "Zoë" in (tmp_path / "answers.jsonl").read_text(encoding="utf-8")  # people look into it
    for bad in ("undo", ["event"], {"seconds": float("nan")}, {"who": object()}):
        with pytest.raises(WrongKind):
            file.record(bad)
    assert len(file.events()) == 1
