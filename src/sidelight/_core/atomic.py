"""The one way to write: files and folders that appear whole or not at all.

What is being written has a temporary name beside its place, with the machine and the process in it, so that the next
writer in that folder can tell what a dead process left behind, and remove it. Permissions are the operating system's
business: a new file gets what the umask leaves of 0o666, and nothing about the process is changed.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import socket
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from sidelight.errors import CannotWrite, SidelightError, UnreadableFile

_PARTIAL = re.compile(r"\.sidelight-([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{8}\.partial")


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "wb", **options: Any) -> Iterator[IO[Any]]:
    """Open a temporary file beside ``path``; it takes the name of ``path`` when the block ends without an error."""
    place = Path(os.path.realpath(path)) if os.path.islink(path) else Path(path)  # write through a link, not over it
    check_folder(place)
    remove_leftovers(place.parent)
    temporary = place.parent / _partial_name()
    with _as_our_error(path):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with _as_our_error(path):
            with os.fdopen(descriptor, mode, **options) as handle:
                yield handle
                handle.flush()
                os.fsync(handle.fileno())
            os.replace(temporary, place)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Make a temporary folder beside ``path``, for the caller to move; it is gone when the block ends."""
    with _as_our_error(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent)
    temporary = path.parent / _partial_name()
    with _as_our_error(path):
        temporary.mkdir()
    try:
        with _as_our_error(path):
            yield temporary
    except CannotWrite as error:
        cause = error.__cause__
        raise _cannot_write(path, cause if isinstance(cause, OSError) else error) from cause  # not the temporary name
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def check_folder(path: Path) -> None:
    """Raise unless the folder of ``path`` is there."""
    if not path.parent.is_dir():
        raise UnreadableFile(f"Cannot write {str(path)!r}: the folder {str(path.parent)!r} does not exist. Create it.")


def check_writable(path: Path) -> None:
    """Raise unless the nearest folder above ``path`` that is there may be written in: told before the work, not after.

    Parameters
    ----------
    path : Path
        A file or folder that will be written; folders that are missing will be made.
    """
    folders = [path, *path.absolute().parents] if path.is_dir() else path.absolute().parents
    for folder in folders:
        if folder.is_dir():
            if not os.access(folder, os.W_OK | os.X_OK):
                raise _cannot_write(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
            if folder != path:
                return


def remove_leftovers(folder: Path) -> None:
    """Remove what a process of this machine that is no longer there was writing in ``folder``."""
    if os.name != "posix":
        return  # asking for a process by number would end it elsewhere
    try:
        names = os.listdir(folder)
    except OSError:
        return  # the next write says what is wrong
    for name in names:
        match = _PARTIAL.fullmatch(name)
        if match and match[1] == _machine() and not _is_alive(int(match[2])):
            left = folder / name
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
            else:
                with suppress(OSError):  # somebody else's, in a folder that many write to
                    left.unlink(missing_ok=True)


@contextmanager
def _as_our_error(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the machine says into one message that names the place."""
    try:
        yield
    except SidelightError:
        raise
    except OSError as error:
        raise _cannot_write(path, error) from error


def _cannot_write(path: str | os.PathLike[str], error: OSError) -> CannotWrite:
    reason = error.strerror or str(error) or type(error).__name__
    return CannotWrite(
        f"Cannot write {os.fspath(path)!r}: {reason}. Nothing was written there. Make room, ask for permission, or "
        "choose another place."
    )


def _partial_name() -> str:
    return f".sidelight-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.partial"


def _machine() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # no process has such a number
        return False
    except OSError:
        return True  # another process's, and alive
    return True
