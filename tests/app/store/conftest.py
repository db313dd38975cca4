"""A real PostgreSQL of our own, where there is one, in a temporary folder and on a free loopback port."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from tests.conftest import skip_or_fail

from sidelight.app.store.studio_store import StudioStore

NEEDED = "SIDELIGHT_NEEDS_POSTGRES"


def _program(name: str) -> str | None:
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(places[0]) if places else None)


class Server:
    """A PostgreSQL of our own, which can be stopped and started."""

    def __init__(self) -> None:
        initdb, pg_ctl = _program("initdb"), _program("pg_ctl")
        if initdb is None or pg_ctl is None:
            skip_or_fail("no PostgreSQL here (Debian: apt-get install postgresql), nor SIDELIGHT_TEST_POSTGRES", NEEDED)
        self._user: dict[str, object] = {}
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            if shutil.which("setpriv") is None:
                skip_or_fail("PostgreSQL does not run as root, and there is no setpriv to become another", NEEDED)
            self._user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.folder = Path(tempfile.mkdtemp(prefix="sidelight-pg-"))
        self.folder.chmod(0o777)
        self.address = f"postgresql://studio@127.0.0.1:{port}/postgres"
        self._options = f"-p {port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        self._pg_ctl = (pg_ctl, "-D", str(self.folder / "data"))
        self._call(initdb, "-D", str(self.folder / "data"), "-U", "studio", "-A", "trust", "--no-sync", "-E", "UTF8")

    def start(self) -> None:
        """Start it."""
        self._call(*self._pg_ctl, "-o", self._options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        """Stop it at once, as a power cut would."""
        self._call(*self._pg_ctl, "-m", "immediate", "stop")

    def remove(self) -> None:
        """Stop it and remove its files."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _call(self, *words: str) -> None:
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self.folder)}
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=90,
            check=False,
            **self._user,
        )  # type: ignore[call-overload] # the user is only named for root
        if done.returncode:
            skip_or_fail(f"PostgreSQL does not start on this machine: {done.stdout.decode()[-300:]}", NEEDED)


@pytest.fixture(scope="session")
def postgres_server():
    """A PostgreSQL started for these tests; a test that stops it starts it again."""
    server = Server()
    server.start()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def postgres(request):
    """The address of a PostgreSQL: SIDELIGHT_TEST_POSTGRES, or a server started for these tests."""
    named = os.environ.get("SIDELIGHT_TEST_POSTGRES")
    return named or request.getfixturevalue("postgres_server").address


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def where(request, tmp_path):
    """A database of each kind, empty."""
    if request.param == "sqlite":
        return str(tmp_path / "studio.db")
    address = request.getfixturevalue("postgres")
    psycopg = pytest.importorskip("psycopg")
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS events, people, projects, sidelight_version")
    return address


@pytest.fixture
def store(where):
    """A store, closed afterwards."""
    opened = StudioStore(where)
    yield opened
    opened.close()
