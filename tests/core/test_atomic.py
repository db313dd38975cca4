"""Files and folders appear whole or not at all, and what a dead process left is removed."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from sidelight._core.atomic import _machine, check_writable, folder_beside, replacing
from sidelight.errors import CannotWrite


def test_a_file_gets_the_permissions_that_the_umask_leaves_without_touching_it(tmp_path):
    code = (
        "import os, sys; os.umask(0o027); from pathlib import Path; from sidelight._core.atomic import replacing\n"
        "calls = []; plain = os.umask; os.umask = lambda mask: calls.append(mask) or plain(mask)\n"
        "with replacing(Path(sys.argv[1])) as handle: handle.write(b'x')\n"
        "assert not calls"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], check=True)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_an_error_leaves_the_old_file_and_no_other(tmp_path):
    (tmp_path / "file").write_text("old")
    with pytest.raises(TypeError), replacing(tmp_path / "file", "w") as handle:
        handle.writelines(["new", 7])
    assert (tmp_path / "file").read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_the_machine_refuses_is_one_message(tmp_path):
    with pytest.raises(CannotWrite, match="No space left"), replacing(tmp_path / "file"):
        raise OSError(28, "No space left on device")
    with pytest.raises(CannotWrite, match="too long"), replacing(tmp_path / ("n" * 300)) as handle:
        handle.write(b"")
    assert os.listdir(tmp_path) == []


def test_what_a_dead_process_left_is_removed_and_what_a_live_one_writes_is_not(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", "pass"])
    gone.wait()
    dead_file = tmp_path / f".sidelight-{_machine()}-{gone.pid}-00000000.partial"
    dead_folder = tmp_path / f".sidelight-{_machine()}-{gone.pid}-00000001.partial"
    alive = tmp_path / f".sidelight-{_machine()}-{os.getpid()}-00000000.partial"
    elsewhere = tmp_path / f".sidelight-00000000-{gone.pid}-00000000.partial"  # another machine's, on a shared disk
    stranger = tmp_path / ".sidelight-notes.partial"
    for path in (dead_file, alive, elsewhere, stranger):
        path.write_text("half")
    dead_folder.mkdir()
    (dead_folder / "assignments.csv").write_text("half")
    with replacing(tmp_path / "file", "w") as handle:
        handle.write("x")
    assert set(os.listdir(tmp_path)) == {alive.name, elsewhere.name, stranger.name, "file"}


def test_kill_9_leaves_something_that_the_next_writer_removes(tmp_path):
    code = (
        "import os, sys, signal; from pathlib import Path; from sidelight._core.atomic import folder_beside\n"
        "with folder_beside(Path(sys.argv[1])) as work: (work / 'a').write_text('half'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=False)
    assert len(os.listdir(tmp_path)) == 1
    with folder_beside(tmp_path / "out") as work:
        assert os.listdir(tmp_path) == [work.name]
    assert os.listdir(tmp_path) == []


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link", "w") as handle:
        handle.write("new")
    assert (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


def test_a_folder_without_permission_is_told_before_the_work(tmp_path, monkeypatch):
    locked, asked = tmp_path / "locked", []
    locked.mkdir()
    real = os.access  # root may write everywhere, so the answer of the system is stood in for
    monkeypatch.setattr(os, "access", lambda path, mode: asked.append(mode) or (path != locked and real(path, mode)))
    check_writable(tmp_path / "new" / "deep")
    with pytest.raises(CannotWrite, match="Permission denied"):
        check_writable(locked / "new" / "deep")
    with pytest.raises(CannotWrite, match="Permission denied"):
        check_writable(locked)
    assert set(asked) == {os.W_OK | os.X_OK}
    assert list(tmp_path.iterdir()) == [locked]


def test_a_name_that_no_process_can_have_stops_nobody(tmp_path):
    """An empty file with a number that no process has stopped every writer of its folder."""
    planted = [tmp_path / f".sidelight-{_machine()}-{number}-00000000.partial" for number in ("9999999999", "4194999")]
    for path in planted:
        path.touch()
    with replacing(tmp_path / "a.txt") as handle:
        handle.write(b"all of it")
    assert (tmp_path / "a.txt").read_bytes() == b"all of it"
    assert not any(path.exists() for path in planted)


def test_leftovers_that_may_not_be_removed_stay(tmp_path, monkeypatch):
    left = tmp_path / f".sidelight-{_machine()}-9999999999-00000000.partial"
    left.touch()

    def forbidden(self, missing_ok=False):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(type(left), "unlink", forbidden)
    with replacing(tmp_path / "a.txt") as handle:
        handle.write(b"all of it")
    assert left.exists()
