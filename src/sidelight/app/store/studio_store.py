"""What the studio remembers, in SQLite or PostgreSQL: projects, people, and everything people did, append-only.

With ``tables``, the only files with SQL. Nothing is ever changed in ``events``, and nothing but a whole project is
deleted: taking an answer back is one more event. An event is on the disk when ``append`` returns (SQLite: write-ahead
log with ``synchronous=FULL``). Events of a project are appended one transaction at a time, under a lock of the
database, so their numbers grow in the order in which they can be seen: reading those after the last known one
misses none.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sidelight.app.store.links import PUBLIC, Links, hashed
from sidelight.app.store.tables import MIGRATIONS, events_table, people_table, projects_table, version_table
from sidelight.errors import CannotWrite, InvalidData, MissingExtra, OutputExists, UnknownName, UnreadableFile, nearest

try:
    import sqlalchemy as sa
    from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, NoSuchModuleError
    from sqlalchemy.exc import TimeoutError as PoolTimeout
except ImportError as error:
    raise MissingExtra("sqlalchemy", "studio", "The studio") from error

_ONE_SERVER = 7_304_811  # the key of PostgreSQL's advisory lock; any number that no other program uses
_NAME = 80  # characters of a name
_KEY = 64  # characters of a key
_PATIENT = {"connect_timeout": 5, "keepalives_idle": 10, "tcp_user_timeout": 10_000}  # s, s and ms of PostgreSQL
_PATIENCE = 10.0  # seconds that an event waits for those before it


class DatabaseAway(CannotWrite):
    """The database does not answer, or has no room: the same may work in a moment."""


class TakenOver(CannotWrite):
    """Another studio serves the database."""


@dataclass(frozen=True, slots=True)
class Project:
    """One project: its number, its name and how it was set up."""

    id: int
    name: str
    settings: Mapping[str, Any]
    made_at: float


@dataclass(frozen=True, slots=True)
class Person:
    """A person of a project; ``token`` is the secret of their link, and ``role`` says what it opens."""

    id: int
    project: int
    name: str
    token: str
    is_simulated: bool
    role: str = "annotator"


@dataclass(frozen=True, slots=True)
class Event:
    """Something a person did: what, when, and how many seconds it took them (NaN where that was not measured)."""

    id: int
    project: int
    person: int
    kind: str
    content: Mapping[str, Any]
    at: float
    seconds: float
    key: str = ""


@dataclass(frozen=True, slots=True)
class NewEvent:
    """Something to keep; under a ``key`` it is kept once, however often and from wherever it is sent."""

    kind: str
    content: Mapping[str, Any]
    seconds: float = float("nan")
    key: str = ""


@dataclass(frozen=True, slots=True)
class Activity:
    """How many answers a project has, of how many people, and when something happened last."""

    n_answers: int
    n_people: int
    last_at: float


class Appending:
    """The end of a project's events, held by one writer until its transaction is over."""

    def __init__(self, connection: sa.Connection, project: int) -> None:
        self._connection, self._project = connection, project

    def events(self, after: int, key: str = "") -> list[Event]:
        """Return the events after event ``after``, before them an older one of ``key``; none can come in between."""
        wanted = events_table.c.id > after
        if key:
            wanted |= events_table.c.key == _checked_key(key)
        return [_event(row) for row in self._connection.execute(_events_where(self._project, wanted))]

    def delete_all(self) -> None:
        """Remove the project with its people and events."""
        for table, column in (
            (events_table, events_table.c.project), (people_table, people_table.c.project),
            (projects_table, projects_table.c.id),
        ):  # fmt: skip
            self._connection.execute(table.delete().where(column == self._project))

    def add(self, person: Person, new: NewEvent) -> Event:
        """Add one event; return the one that is kept under its key where there is one."""
        under_key = events_table.c.key == _checked_key(new.key)
        kept = self._connection.execute(_events_where(self._project, under_key)).first() if new.key else None
        return self.insert(person, new) if kept is None else sent_again(_event(kept), person, new)

    def insert(self, person: Person, new: NewEvent) -> Event:
        """Add one event, of whose key there is none."""
        row = self._row(person, new, time.time())
        made = self._connection.execute(events_table.insert().values(row).returning(events_table.c.id)).scalar_one()
        return Event(
            int(made), person.project, person.id, new.kind, dict(new.content), row["at"], new.seconds, new.key
        )  # fmt: skip

    def add_all(self, person: Person, events: Sequence[NewEvent], *, at: float) -> list[Event]:
        """Add many events without keys in one go."""
        largest = sa.select(sa.func.max(events_table.c.id)).where(events_table.c.project == self._project)
        last = self._connection.execute(largest).scalar() or 0
        now = at or time.time()
        if events:
            self._connection.execute(events_table.insert(), [self._row(person, new, now) for new in events])
        return self.events(last)  # the lock keeps others from adding meanwhile

    @staticmethod
    def _row(person: Person, new: NewEvent, at: float) -> dict[str, Any]:
        return {
            "project": person.project,
            "person": person.id,
            "kind": new.kind,
            "content": json.dumps(dict(new.content)),
            "at": at,
            "seconds": new.seconds if new.seconds == new.seconds else None,
            "key": new.key or None,
        }


class StudioStore:
    """Projects, people and events of one studio.

    Parameters
    ----------
    where : str or path
        A file for SQLite, or the address of a PostgreSQL: ``postgresql://user@host/name``.
    key : str or path, optional
        The file of the secret that links of people are made with; by default it lies beside the file of SQLite, and
        follows from the address of a PostgreSQL, with its password.
    """

    def __init__(self, where: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None) -> None:
        text = os.fspath(where)
        self.is_file = "://" not in text
        self.where = text if self.is_file else _without_password(text)
        self._lock_file: Any = None
        self._lock_connection: sa.Connection | None = None
        self._is_claimed = self._is_taken_over = False
        self._turns: dict[int, threading.Lock] = {}  # of this process, a project: who appends next
        self._engine = self._connect(text)
        self._links = Links.of(text.encode()) if key is None and not self.is_file else Links.at(key or f"{text}.key")
        try:
            with self._told("open"):
                self._migrate()
        except BaseException:
            self._engine.dispose()
            raise

    def close(self) -> None:
        """Let go of the database."""
        if self._lock_connection is not None:
            with suppress(DBAPIError):  # a connection that is lost holds no lock
                self._lock_connection.execute(sa.select(sa.func.pg_advisory_unlock(_ONE_SERVER)))
            self._lock_connection.close()
        self._engine.dispose()
        if self._lock_file is not None:
            self._lock_file.close()
        self._lock_connection = self._lock_file = None

    def claim(self) -> None:
        """Make this process the only server of the database; raise when there is one already."""
        if self.is_file:
            self._claim_file()
            return
        with self._told("open"):
            connection = self._engine.connect()
            mine = connection.execute(sa.select(sa.func.pg_try_advisory_lock(_ONE_SERVER))).scalar()
            connection.commit()
        if not mine:
            connection.close()
            raise self._taken()
        self._lock_connection, self._is_claimed = connection, True

    def hold_claim(self) -> None:
        """Look whether the claim still holds, and take it again after the database was away.

        Raises ``CannotWrite`` while the database does not answer; ``is_taken_over`` says whether another server has it.
        """
        if self.is_file or not self._is_claimed or self._is_taken_over:
            return
        if self._lock_connection is not None:
            with suppress(DBAPIError):
                self._lock_connection.execute(sa.select(1))
                self._lock_connection.commit()
                return
            with suppress(DBAPIError):
                self._lock_connection.invalidate()
                self._lock_connection.close()
            self._lock_connection = None
        try:
            self.claim()
        except TakenOver:
            self._is_taken_over = True

    @property
    def is_taken_over(self) -> bool:
        """Whether another server claimed the database while it was away from this one."""
        return self._is_taken_over

    # -- projects and people -----------------------------------------------------------------------------------------

    def add_project(self, name: str, settings: Mapping[str, Any]) -> Project:
        """Remember a new project; a name is used once."""
        name = _checked_name(name, "A project")
        row = {"name": name, "settings": json.dumps(dict(settings)), "made_at": time.time()}
        try:
            with self._told("add a project to"), self._engine.begin() as connection:
                made = connection.execute(
                    projects_table.insert().values(row).returning(projects_table.c.id)
                ).scalar_one()
        except OutputExists:
            raise OutputExists(
                f"There is a project called {name!r} already. Choose another name; nothing was changed."
            ) from None
        return Project(int(made), name, dict(settings), row["made_at"])  # type: ignore[arg-type] # a time, see above

    def update_project(
        self, number: int, *, name: str | None = None, settings: Mapping[str, Any] | None = None
    ) -> Project:
        """Call a project something else, or change how it is set up; its events stay as they are."""
        project = self.project(number)
        values: dict[str, Any] = {} if name is None else {"name": _checked_name(name, "A project")}
        if settings is not None:
            values["settings"] = json.dumps(dict(settings))
        try:
            with self._told("change a project in"), self._engine.begin() as connection:
                connection.execute(projects_table.update().where(projects_table.c.id == number).values(**values))
        except OutputExists:
            raise OutputExists(
                f"There is a project called {values['name']!r} already. Choose another name; nothing was changed."
            ) from None
        return self.project(project.id)

    def delete_project(self, number: int) -> None:
        """Remove a project with its people and events, all of it or nothing."""
        with self.appending(number) as end:
            end.delete_all()

    def activity(self) -> dict[int, Activity]:
        """Return how much happened in every project, without reading its events."""
        n, last = sa.func.count(), sa.func.max(events_table.c.at)
        heard = sa.func.count(sa.distinct(events_table.c.person))
        by = sa.select(events_table.c.project, n, last, heard).group_by(events_table.c.project)
        said = by.where(events_table.c.kind.in_(("answer", "label", "screen", "study answer")))
        with self._told("read"), self._engine.connect() as connection:
            answers = {row[0]: (row[1], row[3]) for row in connection.execute(said)}
            times = {row[0]: row[2] for row in connection.execute(by)}
        return {number: Activity(*answers.get(number, (0, 0)), last_at) for number, last_at in times.items()}

    def projects(self) -> list[Project]:
        """Return every project, the oldest first."""
        with self._told("read"), self._engine.connect() as connection:
            rows = connection.execute(sa.select(projects_table).order_by(projects_table.c.id)).all()
        return [Project(row.id, row.name, json.loads(row.settings), row.made_at) for row in rows]

    def project(self, number: int) -> Project:
        """Return the project of that number."""
        known = {project.id: project for project in self.projects()}
        if number not in known:
            raise UnknownName(f"There is no project {number}.")
        return known[number]

    def project_called(self, name: str) -> Project:
        """Return the project of that name."""
        known = {project.name: project for project in self.projects()}
        if name not in known:
            raise UnknownName(f"There is no project called {name!r}. {nearest(name, known)}")
        return known[name]

    def add_person(self, project: int, name: str, *, is_simulated: bool = False, role: str = "annotator") -> Person:
        """Remember a new person, with an unguessable token; return the person of that name where there is one.

        A person of that name who is simulated, or is not, where ``is_simulated`` says otherwise is another person.
        """
        name = _checked_name(name, "A person")
        row = {"project": project, "name": name, "token": self._links.new(), "is_simulated": is_simulated}
        row["role"] = role
        with suppress(OutputExists), self._told("add a person to"), self._engine.begin() as connection:
            connection.execute(people_table.insert().values(row))
        person = next((person for person in self.people(project) if person.name == name), None)
        if person is None:
            raise UnknownName(f"There is no project {project}.")
        if person.is_simulated != is_simulated:
            kind = "simulated" if person.is_simulated else "not simulated"
            raise OutputExists(f"There is somebody called {name!r} already, who is {kind}. Choose another name.")
        if person.role != role:
            raise OutputExists(
                f"There is somebody called {name!r} already, whose link is that of an {person.role}. A link is never "
                "raised: choose another name."
            )
        return person

    def people(self, project: int) -> list[Person]:
        """Return the people of a project, in the order they came."""
        wanted = sa.select(people_table).where(people_table.c.project == project).order_by(people_table.c.id)
        with self._told("read"), self._engine.connect() as connection:
            return [self._person(row) for row in connection.execute(wanted)]

    def person_of(self, token: str) -> Person:
        """Return whose link carries ``token``."""
        if "\0" not in token:  # PostgreSQL has no text with a zero
            with self._told("read"), self._engine.connect() as connection:
                kept = people_table.c.token
                wanted = sa.func.substr(kept, 1, PUBLIC).in_([token[:PUBLIC], hashed(token)[:PUBLIC]])
                for row in connection.execute(sa.select(people_table).where(wanted)):
                    if self._links.opens(token, row.token):
                        return self._person(row)
        raise UnknownName("This link belongs to no person. Ask the owner of the project for a new one.")

    # -- events ------------------------------------------------------------------------------------------------------

    def append(
        self, person: Person, kind: str, content: Mapping[str, Any], *, seconds: float = float("nan"), at: float = 0.0
    ) -> Event:
        """Add one event; it is on the disk when this returns."""
        return self.append_all(person, [(kind, content, seconds)], at=at)[0]

    def append_once(
        self, person: Person, key: str, kind: str, content: Mapping[str, Any], *, seconds: float = float("nan")
    ) -> Event:
        """Add one event under a key, or return the one that was kept under it; refuse another one of the same key."""
        with self.appending(person.project) as end:
            return end.add(person, NewEvent(kind, content, seconds, key))

    def append_all(
        self, person: Person, events: Iterable[tuple[str, Mapping[str, Any], float]], *, at: float = 0.0
    ) -> list[Event]:
        """Add several events of one person, all or none."""
        with self.appending(person.project) as end:
            return end.add_all(person, [NewEvent(*event) for event in events], at=at)

    @contextmanager
    def appending(self, project: int) -> Iterator[Appending]:
        """Hold the end of a project's events: what is decided and added within is one step, all of it or nothing."""
        turn = self._turns.setdefault(project, threading.Lock())
        if not turn.acquire(timeout=_PATIENCE):
            raise CannotWrite("The studio's database is slow: answers wait for each other. Try again in a moment.")
        try:
            with self._told("add the answer to"), self._engine.begin() as connection:
                if self.is_file:
                    connection.execute(sa.text("BEGIN IMMEDIATE"))
                else:
                    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ONE_SERVER, project)))
                yield Appending(connection, project)
        finally:
            turn.release()

    def events(self, project: int, *, after: int = 0) -> list[Event]:
        """Return the events of a project in their order, those after event ``after``."""
        with self._told("read"), self._engine.connect() as connection:
            return [_event(row) for row in connection.execute(_events_where(project, events_table.c.id > after))]

    # -- the database ------------------------------------------------------------------------------------------------

    def _connect(self, text: str) -> sa.Engine:
        if self.is_file:
            try:
                Path(text).parent.mkdir(parents=True, exist_ok=True)
                _keep_private(text)
            except OSError as error:
                raise CannotWrite(f"Cannot make the folder of {text!r}: {error.strerror}.") from error
            engine = sa.create_engine(sa.URL.create("sqlite", database=text), connect_args={"timeout": 10.0})
            sa.event.listen(engine, "connect", _durable)
            return engine
        try:
            url = sa.make_url(text)
            if url.drivername in ("postgresql", "postgres"):
                url = url.set(drivername="postgresql+psycopg")
            if url.get_backend_name() != "postgresql":
                raise InvalidData(f"The studio keeps answers in SQLite or PostgreSQL, not in {url.drivername!r:.80}.")
            return sa.create_engine(url, pool_pre_ping=True, pool_size=10, connect_args=_PATIENT)
        except (ArgumentError, NoSuchModuleError) as error:
            raise InvalidData(
                "The address of the database is not one: write postgresql://user@host:5432/name, or a file."
            ) from error
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres", "PostgreSQL") from error

    def _migrate(self) -> None:
        with self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ONE_SERVER + 1)))
            else:
                connection.execute(sa.text("BEGIN IMMEDIATE"))
            version_table.create(connection, checkfirst=True)
            version = connection.execute(sa.select(version_table.c.version)).scalar()
            if version is not None and version > len(MIGRATIONS):
                raise UnreadableFile(
                    f"The studio's database {self.where!r} has version {version}; this Sidelight knows versions up to "
                    f"{len(MIGRATIONS)}. Use a newer Sidelight."
                )
            for migration in MIGRATIONS[version or 0 :]:
                migration(connection)
            if version is None:
                connection.execute(version_table.insert().values(version=len(MIGRATIONS)))
            elif version < len(MIGRATIONS):
                connection.execute(version_table.update().values(version=len(MIGRATIONS)))

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Raise what the database says as errors of ours."""
        if self._is_taken_over:
            raise self._taken()
        try:
            yield
        except IntegrityError as error:
            raise OutputExists(f"Cannot {doing} the studio's database: it is there already.") from error
        except PoolTimeout as error:
            raise DatabaseAway("The studio's database is slow. Try again in a moment.") from error
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0][:200] if str(error.orig).strip() else "no reason given"
            if getattr(error.orig, "sqlite_errorcode", None) in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise UnreadableFile(f"{self.where!r} is no database of the studio: {reason}.") from error
            raise DatabaseAway(
                f"Cannot {doing} the studio's database {self.where!r}: {reason}. What was acknowledged before is kept; "
                "try again when the database answers and its disk has room."
            ) from error

    def _person(self, row: Any) -> Person:
        token = self._links.token(row.token)
        return Person(row.id, row.project, row.name, token, bool(row.is_simulated), row.role)

    def _claim_file(self) -> None:
        """Lock the database itself: a file beside it can be deleted, and another name of it has another one."""
        try:
            import fcntl
        except ImportError:  # Windows: SQLite's own locks still keep the file whole
            return
        if self._lock_file is None:
            self._lock_file = open(self.where, "rb")  # noqa: SIM115 - as long as the store: closing it drops SQLite's locks
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise self._taken() from None

    def _taken(self) -> TakenOver:
        return TakenOver(
            f"Another studio serves {self.where!r} already. Stop it, open its page, "
            "or give this one a folder of its own."
        )


def _keep_private(path: str) -> None:
    """Let nobody else read the database; its log takes the permissions of the file."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    for name in (path, f"{path}-wal", f"{path}-shm"):
        with suppress(OSError):  # another user's file, or a file system without permissions
            if os.stat(name).st_mode & 0o077:
                os.chmod(name, 0o600)


def _durable(connection: Any, record: Any) -> None:
    """Let every commit of SQLite wait for the disk."""
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}")


def _checked_name(name: str, what: str) -> str:
    name = name.strip()
    if not name or len(name) > _NAME or not name.isprintable():
        raise InvalidData(f"{what} needs a name of 1 to {_NAME} characters, in one line. Got {name!r:.100}.")
    return name


def _checked_key(key: str) -> str:
    if len(key) > _KEY or not key.isprintable():
        raise InvalidData(f"The key of an answer has at most {_KEY} characters, in one line. Got {key!r:.100}.")
    return key


def sent_again(kept: Event, person: Person, new: NewEvent) -> Event:
    """Return the event that is kept under the key of a new one, if that says the same."""
    if kept.person != person.id or kept.kind != new.kind or not _says(kept.content, new.content):
        raise InvalidData(
            f"The key {new.key!r} belongs to another answer, which was kept before; this one was not. Send it again "
            "with a key of its own."
        )
    return kept


def _says(kept: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether a kept event says the same as a new one, and perhaps more, which was worked out when it was kept."""
    return bool(json.loads(json.dumps({name: kept.get(name) for name in new})) == json.loads(json.dumps(dict(new))))


def _events_where(project: int, wanted: Any) -> Any:
    return sa.select(events_table).where(events_table.c.project == project, wanted).order_by(events_table.c.id)


def _without_password(text: str) -> str:
    with suppress(ArgumentError):
        return sa.make_url(text).render_as_string()  # which hides the password
    return "the given address"


def _event(row: Any) -> Event:
    seconds = float("nan") if row.seconds is None else row.seconds
    return Event(row.id, row.project, row.person, row.kind, json.loads(row.content), row.at, seconds, row.key or "")
