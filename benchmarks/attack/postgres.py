"""A PostgreSQL of our own, in a temporary folder and on a free port, which can be stopped at any moment."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any


class Server:
    """Started by ``with``; its address is for :class:`~sidelight.app.store.studio_store.StudioStore`."""

    def __init__(self) -> None:
        places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
        found = shutil.which("pg_ctl")
        self._bin = Path(found).parent if found else places[0] if places else Path("/nowhere")
        self._folder = Path(tempfile.mkdtemp(prefix="sidelight-attack-pg-"))
        self._folder.chmod(0o777)
        self._user: dict[str, Any] = {}
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            self._user = {"user": "nobody", "group": "nogroup", "extra_groups": []}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"postgresql://studio@127.0.0.1:{self._port}/postgres"

    def __enter__(self) -> Server:
        data = str(self._folder / "data")
        self._call("initdb", "-D", data, "-U", "studio", "-A", "trust", "--no-sync", "-E", "UTF8")
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        """Start it."""
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1"
        self._call("pg_ctl", "-D", str(self._folder / "data"), "-o", options, "-l", str(self._folder / "log"), "start")

    def stop(self) -> None:
        """Stop it at once, as a power cut would."""
        self._call("pg_ctl", "-D", str(self._folder / "data"), "-m", "immediate", "stop")

    def _call(self, name: str, *words: str) -> None:
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(self._folder)}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        where = {"cwd": self._folder, "env": env}
        subprocess.run([str(self._bin / name), *words], check=True, timeout=90, **where, **quiet, **self._user)
