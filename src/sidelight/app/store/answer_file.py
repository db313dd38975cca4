"""Answers in one file of JSON lines: appended, flushed to the disk one by one, never rewritten."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.errors import CannotWrite, InvalidParameter, UnreadableFile, WrongKind


class AnswerFile:
    """A recorder for :class:`~sidelight.ActiveSession`: every event is on the disk before the session learns it.

    Parameters
    ----------
    path : str or path
        The file; it is made when it is not there, and added to when it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        try:
            self.path = Path(path)
        except TypeError:
            raise InvalidParameter(f"AnswerFile needs a path, text or pathlib.Path. Got {path!r:.80}.") from None
        if self.path.is_dir():
            raise InvalidParameter(f"AnswerFile needs the path of a file. {str(path)!r} is a folder.")
        self._mend()

    def record(self, event: Mapping[str, Any]) -> None:
        """Append one event and wait until it is on the disk."""
        line = _as_line(event)
        try:
            with open(self.path, "ab", buffering=0) as handle:
                size = handle.seek(0, os.SEEK_END)
                try:
                    while line:
                        line = line[handle.write(line) :]
                    os.fsync(handle.fileno())
                except OSError:
                    handle.truncate(size)  # half a line would spoil the next one
                    raise
        except OSError as error:
            raise CannotWrite(f"Cannot add the answer to {str(self.path)!r}: {error.strerror}.") from error

    def events(self) -> list[dict[str, Any]]:
        """Return every event in order."""
        if not self.path.exists() or not self.path.stat().st_size:
            return []
        read = []
        for number, line in enumerate(self._read().removesuffix("\n").split("\n"), start=1):
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            if not isinstance(event, dict):
                raise UnreadableFile(
                    f"Line {number} of {str(self.path)!r} is no answer. Move the file away, or mend it."
                )
            read.append(event)
        return read

    def _read(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableFile(f"Cannot read the answers in {str(self.path)!r}: {error}.") from error

    def _mend(self) -> None:
        """Cut off half a line that a dead process left, never acknowledged; end a whole one."""
        if not self.path.exists():
            return
        content = self.path.read_bytes()
        if content.endswith(b"\n"):
            return
        begin = content.rfind(b"\n") + 1
        with open(self.path, "r+b") as handle:
            if _is_event(content[begin:]):
                handle.seek(0, os.SEEK_END)
                handle.write(b"\n")
            else:
                handle.truncate(begin)


def _as_line(event: Any) -> bytes:
    """Return an event as one line of JSON; NumPy's numbers are numbers."""
    if not isinstance(event, Mapping):
        raise WrongKind(f"AnswerFile.record takes an event, a mapping such as {{'event': 'undo'}}. Got {event!r:.80}.")
    try:
        text = json.dumps(dict(event), ensure_ascii=False, allow_nan=False, default=_plain)
        return (text + "\n").encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise WrongKind(
            f"AnswerFile.record keeps texts, numbers, and lists and mappings of them: {error}. Got {event!r:.200}. "
            "Turn everything else into text first."
        ) from error


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} cannot be written down")


def _is_event(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False
