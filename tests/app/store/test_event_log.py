"""One ordered log: events are seen in the order of their numbers, kept once a key, decided on before they are kept."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa
from tests.app.store.races import at_once, in_processes
from tests.app.studio.conftest import blobs

from sidelight.app.store import studio_store
from sidelight.app.store.studio_store import NewEvent, StudioStore
from sidelight.app.studio.history import EventLog, Replay
from sidelight.app.studio.studio import Studio
from sidelight.errors import InvalidData, SidelightError

SAME, DIFFERENT = ({"rows": [0, 1], "answer": word} for word in ("same", "different"))


@pytest.fixture
def ann(store):
    """Somebody of a project."""
    return store.add_person(store.add_project("birds", {}).id, "Ann")


def test_the_same_key_at_once_is_one_event(store, ann):
    for trial in range(10):
        kept = at_once(*[lambda key=f"k{trial}": store.append_once(ann, key, "answer", SAME, seconds=1.0)] * 6)
        assert len({event.id for event in kept}) == 1
    assert len(store.events(ann.project)) == 10


def test_a_key_used_again_for_something_else_is_refused_and_says_so(store, ann):
    first = store.append_once(ann, "k", "answer", SAME)
    assert (
        store.append_once(ann, "k", "answer", SAME, seconds=2.0).id == first.id
    )  # sent again: its time does not matter
    bob = store.add_person(ann.project, "Bob")
    for person, content in ((ann, DIFFERENT), (ann, {"rows": [2, 3], "answer": "same"}), (bob, SAME)):
        with pytest.raises(InvalidData, match="belongs to another answer"):
            store.append_once(person, "k", "answer", content)
    other = store.add_person(store.add_project("wrens", {}).id, "Ann")
    assert store.append_once(other, "k", "answer", DIFFERENT).key == "k"  # keys are a project's own
    with pytest.raises(InvalidData, match="another answer"):
        store.append_once(ann, "k", "label", SAME)
    assert store.append_once(other, "x" * 64, "answer", SAME).key == "x" * 64
    for bad in ("x" * 65, "a\0b", "a\nb"):
        with pytest.raises(InvalidData, match="key of an answer"):
            store.append_once(ann, bad, "answer", SAME)
    assert len(store.events(ann.project)) == 1


@pytest.mark.slow
def test_a_reader_after_the_last_event_misses_none(store, where):
    project = store.add_project("birds", {}).id
    writers = in_processes(where, project, ["Ann", "Bob", "Cid"], 25)
    seen, last = [], 0
    while any(writer.poll() is None for writer in writers):
        new = store.events(project, after=last)
        seen += [event.id for event in new]
        last = seen[-1] if seen else 0
    seen += [event.id for event in store.events(project, after=last)]
    told = [int(line) for writer in writers for line in writer.stdout.read().split()]
    for writer in writers:
        writer.stdout.close()
        writer.stdin.close()
        assert writer.wait() == 0
    assert len(told) == 75
    assert seen == sorted(told) == [event.id for event in store.events(project)]


def test_no_event_is_seen_before_one_of_a_smaller_number(store, where, ann):
    other = StudioStore(where)
    with ThreadPoolExecutor() as pool:
        with store.appending(ann.project) as end:
            first = end.add(ann, NewEvent("answer", SAME))
            later = pool.submit(other.append, ann, "answer", DIFFERENT)
            time.sleep(0.3)  # time enough to overtake
            seen = other.events(ann.project)
        second = later.result()
    assert seen == []
    assert [event.id for event in store.events(ann.project)] == [first.id, second.id]
    other.close()


def test_several_events_are_kept_all_or_none(store, ann):
    with pytest.raises(TypeError):
        store.append_all(ann, [("answer", SAME, 1.0), ("answer", {"rows": object()}, 1.0)])
    assert store.events(ann.project) == []


def test_numbers_grow_when_the_clock_goes_back(store, ann, monkeypatch):
    times = iter([2000.0, 1000.0, 1500.0])
    monkeypatch.setattr(studio_store.time, "time", lambda: next(times))
    kept = [store.append(ann, "answer", {"number": i}) for i in range(3)]
    assert [event.content["number"] for event in store.events(ann.project)] == [0, 1, 2]
    assert [event.id for event in store.events(ann.project, after=kept[0].id)] == [event.id for event in kept[1:]]


def test_what_was_decided_cannot_be_decided_twice(store, where, ann):
    """Two servers' logs, of two connections: an answer is taken back once, a question answered once."""
    replays = [Replay(), Replay()]
    others = [store, StudioStore(where)]
    logs = [EventLog(one, ann.project, replay.take) for one, replay in zip(others, replays)]

    def answer(log, replay, word):
        def check():
            if replay.standing.has(ann.id, (0, 1)):
                raise InvalidData("answered already")

        return log.append_once(ann, NewEvent("answer", {"rows": [0, 1], "answer": word}), check)

    def undo(log, replay):
        def decide():
            if not replay.standing.answers:
                raise InvalidData("nothing to take back")
            return [NewEvent("undo", {"of": next(iter(replay.standing.answers))})]

        return log.append(ann, decide)

    for _ in range(5):
        found = at_once(
            *[lambda i=i: answer(logs[i % 2], replays[i % 2], ("same", "different")[i // 2]) for i in range(4)]
        )
        assert sum(isinstance(result, InvalidData) for result in found) == 3, found
        found = at_once(*[lambda i=i: undo(logs[i % 2], replays[i % 2]) for i in range(4)])
        assert sum(isinstance(result, InvalidData) for result in found) == 3, found
    events = store.events(ann.project)
    assert [event.kind for event in events] == ["answer", "undo"] * 5
    assert all([event.id for event in log.read()] == [event.id for event in events] for log in logs)
    others[1].close()


def test_keys_of_an_older_database_are_taken_over_and_doubles_are_left(where, monkeypatch):
    monkeypatch.setattr(studio_store, "MIGRATIONS", studio_store.MIGRATIONS[:2])
    old = StudioStore(where)
    project = old.add_project("birds", {})
    with old._engine.begin() as connection:
        connection.exec_driver_sql(
            f"INSERT INTO people (id, project, name, token) VALUES (7, {project.id}, 'Ann', 't')"
        )
        for key in ("a", "b", "a", None):
            content = json.dumps({"rows": [0, 1], "answer": "same"} | ({"key": key} if key else {}))
            connection.exec_driver_sql(
                f"INSERT INTO events (project, person, kind, content, at) VALUES ({project.id}, 7, 'answer', "
                f"'{content}', 1.0)"
            )
    old.close()
    monkeypatch.undo()
    store = StudioStore(where)
    (person,) = store.people(project.id)
    assert (person.role, person.is_simulated) == ("annotator", False)
    assert [event.key for event in store.events(project.id)] == ["a", "b", "", ""]
    assert store.append_once(person, "a", "answer", SAME).id == store.events(project.id)[0].id
    with pytest.raises(SidelightError, match="another answer"):
        store.append_once(person, "b", "answer", DIFFERENT)
    store.close()


@pytest.mark.parametrize("key", ["", "k"])
def test_an_answer_needs_one_select_of_events(store, tmp_path, key):
    """The one under the lock: the events of others and of the key; the page and the model need no other."""
    studio = Studio(tmp_path)
    studio.store.close()
    studio.store = store
    project = studio.project(studio.add("blobs", blobs(30), {}).id)
    ann = project.owner()
    project.model.snapshot()
    statements = []
    sa.event.listen(
        store._engine, "before_cursor_execute", lambda *about: statements.append(" ".join(about[2].split()))
    )
    project.answer(ann, (0, 1), "same", key=key)
    project.questions(ann)
    assert project.status(is_read=True)["answers"] == 1
    assert project.model.snapshot().version == 1
    assert len([text for text in statements if text.startswith("SELECT") and "FROM events" in text]) == 1, statements
    project.close()


def test_an_answer_that_is_sent_again_under_its_key_is_not_checked_as_if_it_were_new(store, ann):
    replay = Replay()
    log = EventLog(store, ann.project, replay.take)
    new, checked = NewEvent("answer", SAME, key="k"), []
    first, is_new = log.append_once(ann, new, lambda: checked.append("first"))
    log.append(ann, lambda: [NewEvent("note", {"row": 0, "text": "more came in between"})])
    again, is_new_again = log.append_once(ann, new, lambda: checked.append("again"))
    assert (first.id, is_new, is_new_again) == (again.id, True, False)
    assert checked == ["first"]
    other = EventLog(store, ann.project, Replay().take)  # a server that has read nothing yet
    found, is_new_elsewhere = other.append_once(ann, new, lambda: checked.append("elsewhere"))
    assert (found.id, is_new_elsewhere) == (first.id, False)
    assert checked == ["first"]
    with pytest.raises(InvalidData, match="another answer"):
        log.append_once(ann, NewEvent("answer", DIFFERENT, key="k"), lambda: checked.append("other"))
    assert checked == ["first"]
    assert [event.kind for event in store.events(ann.project)] == ["answer", "note"]
