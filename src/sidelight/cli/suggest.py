"""Command lines that fit a file, built from what the commands really accept: what does not parse is never shown."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import click

from sidelight.cli.app import Commands

# What a run calls a role, and what the parameter of a command may be called.
_NAMES = {
    "id": ("id_column", "id"),
    "bag": ("bag",),
    "label": ("label", "labels"),
    "label_file": ("label_file",),
    "label_separator": ("label_separator",),
    "features": ("features",),
    "ignore": ("ignore",),
    "missing": ("missing",),
    "sequence": ("sequence", "sequences"),
    "channels": ("channels", "channel"),
    "events": ("events", "axes", "event", "axis"),
    "weight": ("weight", "weights", "count"),
}
_K = ("n_clusters", "clusters", "k")


def command_line(job: str, path: str, roles: Mapping[str, Any], n_clusters: int) -> str | None:
    """Return a line ready to paste, or None when there is no such command or it wants what nobody can guess."""
    commands = Commands()
    command = commands.get_command(click.Context(commands), job)
    if command is None:
        return None
    words = _words(command, path, roles, n_clusters)
    if words is None or not _is_accepted(command, words):
        return None
    return shlex.join(["sidelight", job, *words])


def _words(command: click.Command, path: str, roles: Mapping[str, Any], n_clusters: int) -> list[str] | None:
    said = {name: roles[role] for role, names in _NAMES.items() if role in roles for name in names}
    words: list[str] = []
    has_file = False
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            if has_file:
                if parameter.required:
                    return None
                continue
            words.append(path)
            has_file = True
        elif parameter.name in said:
            words += _option(parameter, said[parameter.name])
        elif parameter.name == "out":
            words += [parameter.opts[0], "results"]
        elif parameter.required:
            if parameter.name not in _K:
                return None
            words += [parameter.opts[0], str(n_clusters)]
    return words if has_file else None


def _option(parameter: click.Parameter, value: Any) -> list[str]:
    flag = max(parameter.opts, key=len)
    if value is False:
        values = ["none"]
    elif isinstance(value, Mapping):
        values = [f"{name}={pattern}" for name, pattern in value.items()]
    else:
        values = [value] if isinstance(value, str) else [str(item) for item in value]
    if not values:
        return []
    if getattr(parameter, "multiple", False):
        return [word for item in values for word in (flag, item)]
    return [flag, *values] if parameter.nargs == len(values) else [flag, ",".join(values)]


def _is_accepted(command: click.Command, words: list[str]) -> bool:
    try:
        command.make_context(str(command.name), list(words)).close()
    except (click.ClickException, click.exceptions.Exit):
        return False
    return True
