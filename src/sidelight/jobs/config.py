"""What a run is: a job, a table, the roles of its columns, the options of its estimator, and a seed."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from sidelight.errors import InvalidInput, UnknownName, UnreadableFile, nearest


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that decides the result of a run; ``run.toml`` in the output folder is one of these.

    Parameters
    ----------
    job : str
        Which job, for example ``"relations"``.
    table : str
        The file to read.
    roles : mapping
        What the columns are, for example ``{"id": "photo", "features": ["f*"]}``.
    options : mapping
        Parameters of the job and its estimator.
    seed : int
        The one seed of the run.
    """

    job: str
    table: str
    roles: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def to_toml(self) -> str:
        """Return the file's text; ``from_toml`` reads it back."""
        lines = [f"job = {_toml(self.job)}", f"table = {_toml(self.table)}", f"seed = {self.seed}"]
        for name in ("roles", "options"):
            lines += ["", f"[{name}]"]
            lines += [f"{_key(k)} = {_toml(v)}" for k, v in getattr(self, name).items() if v is not None]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> RunConfig:
        """Read a run from a TOML file; unknown keys are refused by name."""
        try:
            content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UnreadableFile(f"Cannot read {str(path)!r}: {error.strerror}. Check the path.") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UnreadableFile(f"{str(path)!r} is not a TOML file: {error}. Compare it with a run.toml.") from error
        known = [f.name for f in fields(cls)]
        content.pop("versions", None)  # written for people; a run is decided by the rest
        for key in content:
            if key not in known:
                raise UnknownName(f"{str(path)!r} has an unknown key {key!r}. {nearest(key, known)}")
        for key in ("job", "table"):
            if not isinstance(content.get(key), str):
                raise InvalidInput(f'{str(path)!r} must say {key} = "...". Got {content.get(key)!r}.')
        return cls(**content)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_toml(v)}" for k, v in value.items()) + " }"
    return _string(str(value))


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # else a JSON string is a TOML string


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _string(name)
