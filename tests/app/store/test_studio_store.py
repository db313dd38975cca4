"""What the studio remembers: the same on SQLite and PostgreSQL, append-only, and never lost once acknowledged."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
import sqlalchemy as sa

from sidelight.app.store import studio_store
from sidelight.app.store.studio_store import StudioStore
from sidelight.errors import CannotWrite, InvalidData, OutputExists, UnknownName, UnreadableFile


def test_events_come_back_in_order_with_time_person_and_duration(store, where):
    project = store.add_project("birds", {"strategy": "rows"})
    ann, bob = store.add_person(project.id, "Ann"), store.add_person(project.id, "Bob")
    store.append(ann, "answer", {"rows": [1, 2], "answer": "same"}, seconds=2.5)
    store.append(bob, "answer", {"rows": [3, 4], "answer": "different ünsure\u2028"})
    again = StudioStore(where)
    first, second = again.events(project.id)
    assert (first.content, first.seconds, first.person) == ({"rows": [1, 2], "answer": "same"}, 2.5, ann.id)
    assert second.content["answer"] == "different ünsure\u2028"
    assert second.seconds != second.seconds
    assert abs(first.at - time.time()) < 60
    assert [event.id for event in again.events(project.id, after=first.id)] == [second.id]
    assert again.projects()[0].settings == {"strategy": "rows"}
    again.close()


def test_a_project_name_is_used_once_and_nothing_changes(store):
    store.add_project("birds", {})
    with pytest.raises(OutputExists, match="another name"):
        store.add_project(" birds ", {})
    assert len(store.projects()) == 1


def test_a_person_keeps_an_unguessable_token(store):
    project = store.add_project("birds", {})
    ann = store.add_person(project.id, "Ann")
    assert store.add_person(project.id, "Ann") == ann
    assert len(ann.token) >= 32
    assert store.person_of(ann.token) == ann
    for guess in ("", "x", "' OR 1=1 --", "a\0b", "é" * 40):
        with pytest.raises(UnknownName):
            store.person_of(guess)


def test_names_from_people_are_parameters_never_sql(store):
    project = store.add_project("'; DROP TABLE events; --", {})
    store.add_person(project.id, '"); DELETE FROM people; --')
    assert store.project_called("'; DROP TABLE events; --").id == project.id
    assert len(store.people(project.id)) == 1
    for bad in ("", "x" * 81, "a\nb", "a\0b"):
        with pytest.raises(InvalidData, match="needs a name"):
            store.add_project(bad, {})


def test_an_older_database_is_brought_up_to_date(where, monkeypatch):
    monkeypatch.setattr(studio_store, "MIGRATIONS", studio_store.MIGRATIONS[:1])
    StudioStore(where).close()
    monkeypatch.undo()
    store = StudioStore(where)
    project = store.add_project("birds", {})
    assert store.add_person(project.id, "robot", is_simulated=True).is_simulated
    store.close()


def test_a_newer_database_is_refused(where, monkeypatch):
    StudioStore(where).close()
    monkeypatch.setattr(studio_store, "MIGRATIONS", studio_store.MIGRATIONS[:1])
    with pytest.raises(UnreadableFile, match="newer Sidelight"):
        StudioStore(where)


def test_only_one_server_may_claim_a_database(store, where):
    store.claim()
    other = StudioStore(where)
    with pytest.raises(CannotWrite, match="Another studio"):
        other.claim()
    store.close()
    other.claim()
    other.close()


SERVE = """
import sys
from sidelight.app.store.studio_store import StudioStore
store = StudioStore(sys.argv[1])
try:
    store.claim()
except Exception as error:
    print("refused:", error)
else:
    print("serves")
"""


def test_no_second_server_whatever_the_database_is_called(tmp_path):
    """The lock lay in a file beside the database: deleted, or under another name of it, a second server started."""
    first = StudioStore(tmp_path / "studio.db")
    first.claim()
    for path in tmp_path.glob("*.lock"):
        path.unlink()
    os.link(tmp_path / "studio.db", tmp_path / "other.db")
    for name in ("studio.db", "other.db"):
        words = [sys.executable, "-c", SERVE, str(tmp_path / name)]
        told = subprocess.run(words, capture_output=True, text=True, check=False).stdout
        assert told.startswith("refused: Another studio serves"), told
    first.close()


def test_nobody_else_reads_the_database(tmp_path):
    path = tmp_path / "studio.db"
    path.touch()
    path.chmod(0o644)  # as 0.2.0 left it
    store = StudioStore(path)
    store.add_person(store.add_project("birds", {}).id, "Ann")
    modes = {one.name: oct(one.stat().st_mode & 0o777) for one in tmp_path.iterdir()}
    assert set(modes) >= {"studio.db", "studio.db-wal", "studio.db.key"}
    assert set(modes.values()) == {"0o600"}
    store.close()


def test_what_the_database_keeps_of_a_link_opens_nothing(store, where):
    project = store.add_project("birds", {}).id
    ann, bob = (store.add_person(project, name) for name in ("Ann", "Bob"))
    assert store.person_of(ann.token) == ann
    with store._engine.connect() as connection:
        kept = [row.token for row in connection.execute(sa.text("SELECT token FROM people ORDER BY id"))]
    assert not {ann.token, bob.token} & set(kept)
    for guess in (*kept, kept[0] + bob.token[len(kept[0]) :], ann.token[:-1], ann.token + "x"):
        with pytest.raises(UnknownName):
            store.person_of(guess)
    again = StudioStore(where)
    assert again.person_of(ann.token) == ann
    again.close()


def test_links_of_0_2_0_go_on_opening(where, monkeypatch):
    monkeypatch.setattr(studio_store, "MIGRATIONS", studio_store.MIGRATIONS[:4])
    old = StudioStore(where)
    number = old.add_project("birds", {}).id
    with old._engine.begin() as connection:
        words = "INSERT INTO people (project, name, token, is_simulated, role) VALUES (:p, 'Ann', :t, :s, 'annotator')"
        connection.execute(sa.text(words), {"p": number, "t": "of-old-time_" + "x" * 20, "s": False})
    old.close()
    monkeypatch.undo()
    store = StudioStore(where)
    ann = store.person_of("of-old-time_" + "x" * 20)
    assert ann.name == "Ann"
    assert store.person_of(ann.token) == ann  # the link that is shown from now on
    with store._engine.connect() as connection:
        assert "of-old-time_" not in str(connection.execute(sa.text("SELECT token FROM people")).all())
    store.close()


def test_a_torn_secret_is_said(tmp_path):
    (tmp_path / "studio.db.key").write_bytes(b"torn")
    with pytest.raises(UnreadableFile, match="Delete it"):
        StudioStore(tmp_path / "studio.db")


def test_a_lost_connection_is_a_message_and_comes_back(postgres):
    psycopg = pytest.importorskip("psycopg")
    store = StudioStore(postgres)
    name = f"lost {time.time()}"
    person = store.add_person(store.add_project(name, {}).id, "Ann")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
    store.append(person, "answer", {"rows": [0, 1]})  # a dead connection of the pool is replaced before it is used
    assert len(store.events(person.project)) == 1
    store.close()
    with pytest.raises(CannotWrite, match="try again"):
        StudioStore("postgresql://studio@127.0.0.1:9/none")


def test_no_database_and_a_broken_one_are_messages(tmp_path):
    (tmp_path / "text.db").write_text("this is a letter, not a database " * 50)
    (tmp_path / "torn.db").write_bytes(b"SQLite format 3\0" + os.urandom(4000))
    with pytest.raises(UnreadableFile, match="no database"):
        StudioStore(tmp_path / "text.db")
    with pytest.raises(UnreadableFile):
        StudioStore(tmp_path / "torn.db")
    for address in ("mysql://x/y", "sqlite:///x.db", "nonsense://", "postgresql://[bad", "postgresql+psycopg://a@[bad"):
        with pytest.raises((InvalidData, CannotWrite)):
            StudioStore(address)


@pytest.mark.slow
def test_a_full_disk_is_a_message_and_the_answers_before_it_stay(tmp_path):
    store = StudioStore(tmp_path / "studio.db")
    person = store.add_person(store.add_project("birds", {}).id, "Ann")

    def shrink(connection, record):
        connection.execute(f"PRAGMA max_page_count={pages}")

    pages = 30  # of 4 kB: what SQLite says when there is no room is what it says when the disk is full
    studio_store.sa.event.listen(store._engine, "connect", shrink)
    store._engine.dispose()
    kept = 0

    def fill():
        nonlocal kept
        for _ in range(200):
            store.append(person, "answer", {"rows": [0, 1], "note": "x" * 3000})
            kept += 1

    with pytest.raises(CannotWrite, match="full"):
        fill()
    assert kept > 0
    assert len(store.events(person.project)) == kept
    store.close()


_WRITER = """
import sys
from sidelight.app.store.studio_store import StudioStore
store = StudioStore(sys.argv[1])
person = store.add_person(store.projects()[0].id, "Ann")
for number in range(100_000):
    store.append(person, "answer", {"rows": [0, 1], "number": number})
    print(number, flush=True)
"""


@pytest.mark.slow
def test_kill_9_at_any_moment_loses_no_acknowledged_answer(tmp_path):
    path = tmp_path / "studio.db"
    store = StudioStore(path)
    project = store.add_project("birds", {})
    before = 0
    for moment in (0.02, 0.11, 0.05):
        writer = subprocess.Popen([sys.executable, "-c", _WRITER, str(path)], stdout=subprocess.PIPE, text=True)
        first = writer.stdout.readline()
        assert first
        time.sleep(moment)
        writer.send_signal(signal.SIGKILL)
        acknowledged = 1 + len(writer.stdout.read().splitlines())
        writer.wait()
        writer.stdout.close()
        kept = len(store.events(project.id)) - before
        assert kept >= acknowledged  # one more may be on the disk whose acknowledgement died
        assert kept <= acknowledged + 1
        before += kept
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_a_project_is_renamed_set_up_otherwise_counted_and_deleted_whole(where):
    store = StudioStore(where)
    birds, frogs = store.add_project("birds", {"seed": 1}), store.add_project("frogs", {})
    ann = store.add_person(birds.id, "Ann", role="viewer")
    bob = store.add_person(frogs.id, "Bob")
    store.append(ann, "answer", {"rows": [0, 1], "answer": "same"}, at=5.0)
    store.append(ann, "label", {"row": 3, "label": "wren"}, at=7.0)
    store.append(ann, "name", {"row": 0, "name": "wrens"}, at=9.0)
    kept = store.append(bob, "answer", {"rows": [0, 1], "answer": "same"}, at=6.0)
    done = store.activity()
    assert (done[birds.id].n_answers, done[birds.id].n_people, done[birds.id].last_at) == (2, 1, 9.0)
    assert store.update_project(birds.id, name="wrens").name == "wrens"
    assert store.update_project(birds.id, settings={"seed": 2}).settings == {"seed": 2}
    with pytest.raises(OutputExists, match="already"):
        store.update_project(birds.id, name="frogs")
    with pytest.raises(OutputExists, match="never raised"):
        store.add_person(birds.id, "Ann", role="owner")
    store.delete_project(birds.id)
    assert [project.name for project in store.projects()] == ["frogs"]
    assert store.events(birds.id) == []
    assert store.people(birds.id) == []
    assert [event.id for event in store.events(frogs.id)] == [kept.id]
    with pytest.raises(UnknownName):
        store.person_of(ann.token)
    again = store.append(bob, "answer", {"rows": [2, 3], "answer": "same"})
    assert again.id > kept.id  # readers that go on after the last event they know miss none
    store.close()


def test_an_answer_that_waits_too_long_for_others_is_told_so(store, monkeypatch):
    monkeypatch.setattr(studio_store, "_PATIENCE", 0.05)
    project = store.add_project("birds", {})
    ann = store.add_person(project.id, "Ann")
    with store.appending(project.id), pytest.raises(CannotWrite, match="Try again in a moment"):
        store.append(ann, "answer", {"rows": [1, 2], "answer": "same"})
    assert store.append(ann, "answer", {"rows": [1, 2], "answer": "same"}).id


@pytest.mark.parametrize("scheme", ["postgres", "postgresql"])
def test_an_address_of_postgresql_may_be_written_as_people_write_it(scheme):
    with pytest.raises(CannotWrite) as told:
        StudioStore(f"{scheme}://ann:secret-word@127.0.0.1:1/none")
    assert "secret-word" not in str(told.value)
    assert "127.0.0.1" in str(told.value)


def test_a_name_belongs_to_one_person_who_is_simulated_or_not(store):
    ann = store.add_person(store.add_project("birds", {}).id, "Ann")
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
