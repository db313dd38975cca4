"""What a run is: a job, a table, the roles of its columns, the options of its method, and a seed."""

from __future__ import annotations

import glob
import json
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import structs

from sidelight.app.jobs.catalogue import ALIASES, find_job
from sidelight.app.jobs.options import Options, build
from sidelight.app.jobs.roles import Roles
from sidelight.errors import InvalidInput, UnknownName, UnreadableFile, nearest
from sidelight.files.source import Source, is_server

_KEYS = ("job", "table", "seed", "roles", "options")
_WRITTEN = ("versions", "files", "read")  # written for people and for the next run; a run is decided by the rest
_MOST_SEED = 2**32 - 1  # what scikit-learn takes


@dataclass(frozen=True, init=False)
class RunConfig:
    """Everything that decides the result of a run; ``run.toml`` in the output folder is one of these.

    Parameters
    ----------
    job : str
        Which job, for example ``"relations"``.
    table : str
        The file to read.
    roles : Roles or mapping
        What the columns are, for example ``{"id": "photo", "features": ["f*"]}``.
    options : Options or mapping
        What the job's method can be told, for example ``{"n_clusters": 10}``.
    seed : int
        The one seed of the run.

    Names and values are checked here: an unknown one, or one of the wrong type, is an error that says so.
    """

    job: str
    table: str
    roles: Roles
    options: Options
    seed: int

    def __init__(
        self,
        job: str,
        table: str,
        roles: Roles | Mapping[str, Any] = MappingProxyType({}),
        options: Options | Mapping[str, Any] = MappingProxyType({}),
        seed: int = 0,
    ) -> None:
        if job in ALIASES and isinstance(options, Mapping):  # an older name
            job, method = ALIASES[job]
            options = {**method, **options}
        if not isinstance(table, str) or not table:
            raise InvalidInput(f"The table of a run is the name of a file. Got {table!r:.80} instead.")
        if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= _MOST_SEED:
            raise InvalidInput(f"The seed of a run is a whole number from 0 to {_MOST_SEED}. Got {seed!r:.80} instead.")
        kind = find_job(job)
        source = Source(table) if is_server(table) else None
        checked = {
            "job": job,
            "table": table if source is None else source.given,  # without its password, which is written nowhere
            "roles": roles if isinstance(roles, Roles) else build(Roles, roles, "role"),
            "options": options if isinstance(options, Options) else kind.options(options),
            "seed": seed,
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # frozen from here on
        if source is not None:
            self.__dict__["source"] = source  # it alone knows the password

    def to_toml(
        self,
        *,
        files: Sequence[str] = (),
        versions: Mapping[str, str] | None = None,
        read: Mapping[str, Any] | None = None,
        beside: Path | None = None,
    ) -> str:
        """Return the file's text; ``from_toml`` reads it back.

        Parameters
        ----------
        files : sequence of str
            What the run wrote: a later run in this place may replace these and nothing else.
        versions : mapping of str to str, optional
            Versions of the libraries, for people.
        read : mapping, optional
            The fingerprint of the table and what its columns were taken for.
        beside : Path, optional
            The folder that the text will lie in: paths are written as they look from there.
        """
        here = self.with_paths(lambda path: seen_from(beside, path))
        return as_toml(
            {"job": self.job, "table": here.table, "seed": self.seed, **({"files": list(files)} if files else {})},
            {
                "roles": here.roles.settings(),
                "options": here.options.settings(),
                **({"read": read} if read else {}),
                **({"versions": versions} if versions else {}),
            },
        )

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> RunConfig:
        """Read a run from a TOML file; unknown and ill-typed keys are refused by name."""
        content = read_toml(path)
        for key in content:
            if key not in _KEYS and key not in _WRITTEN:
                raise UnknownName(f"{str(path)!r} has an unknown key {key!r:.80}. {nearest(key, _KEYS)}")
        for key in ("job", "table"):
            if not isinstance(content.get(key), str):
                raise InvalidInput(f'{str(path)!r} must say {key} = "...". Got {content.get(key)!r:.80}.')
        try:
            there = cls(**{key: content[key] for key in _KEYS if key in content})
            return there.with_paths(lambda file: _found_from(Path(path).parent, file))
        except InvalidInput as error:
            raise type(error)(f"{str(path)!r}: {error.what}", do=error.do) from None

    @cached_property
    def source(self) -> Source:
        """The table, opened once and shared: what was read is not read again."""
        return Source(self.table)

    def paths(self) -> list[str]:
        """Return every file that the run names, the table first."""
        return [self.table, *self.roles.paths().values(), *self.options.paths().values()]

    def with_paths(self, change: Callable[[str], str]) -> RunConfig:
        """Return the same run with every file that it names seen from elsewhere."""
        roles = structs.replace(self.roles, **{name: change(path) for name, path in self.roles.paths().items()})
        options = structs.replace(self.options, **{name: change(path) for name, path in self.options.paths().items()})
        return RunConfig(self.job, change(self.table), roles, options, self.seed)


def seen_from(folder: Path | None, path: str) -> str:
    """Return a path as it looks from ``folder``; what is not there stays as it is."""
    if folder is None or not (os.path.exists(os.path.expanduser(path)) or glob.glob(os.path.expanduser(path))):
        return path
    try:
        return os.path.relpath(os.path.abspath(os.path.expanduser(path)), os.path.abspath(folder))
    except ValueError:  # another drive
        return os.path.abspath(path)


def _found_from(folder: Path, path: str) -> str:
    """Turn a path that is seen from the folder of a run.toml into one that is seen from here."""
    if "\0" in path or is_server(path) or os.path.isabs(os.path.expanduser(path)):
        return path
    there = os.path.normpath(folder / path)
    return there if os.path.exists(there) or not os.path.exists(path) else path  # runs of 0.1: seen from here


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a TOML file, or say what is wrong with it."""
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:  # ValueError: not UTF-8, not TOML, or a NUL in the path
        if isinstance(error, OSError):
            raise UnreadableFile(f"Cannot read {str(path)!r}: {error.strerror}. Check the path.") from error
        raise UnreadableFile(f"{str(path)!r} is not a TOML file: {error}. Compare it with a run.toml.") from error


def as_toml(keys: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Return keys, then one table after the other."""
    lines = [f"{_key(name)} = {_toml(value)}" for name, value in keys.items()]
    for name, table in tables.items():
        lines += ["", f"[{_key(name)}]", *(f"{_key(k)} = {_toml(v)}" for k, v in table.items())]
    return "\n".join(lines) + "\n"


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
    text = text.encode("utf-8", "replace").decode("utf-8")  # a file name that is not UTF-8 cannot be written as text
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # else a JSON string is a TOML string


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else _string(name)
