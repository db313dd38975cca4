"""Channels of a stacked matrix: which columns belong to which."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.errors import InvalidData, InvalidParameter, SidelightWarning, UnknownName, nearest, warn

Ints = NDArray[np.intp]


def channel_columns(
    owner: object, channels: Any, n_columns: int, names: Any = None, *, least: int = 2
) -> dict[str, Ints]:
    """Read ``channels``: names to slices, column numbers or names, or masks; None makes every column a channel."""
    who = type(owner).__name__
    if channels is None:
        channels = {str(name): [i] for i, name in enumerate(names if names is not None else range(n_columns))}
    if not isinstance(channels, Mapping):
        raise InvalidParameter(
            f"The 'channels' parameter of {who} must be a mapping of channel names to slices or columns, as "
            f"stack_channels returns it. Got {channels!r} instead."
        )
    columns = {str(name): _columns(who, name, where, n_columns, names) for name, where in channels.items()}
    if len(columns) < least:
        raise InvalidData(
            f"{who} needs at least {least} channels, got {len(columns)} from n_features={n_columns} columns. Channels "
            "are clustered through what occurs together in them."
        )
    _warn_of_shared(who, columns)
    return columns


def _warn_of_shared(who: str, columns: dict[str, Ints]) -> None:
    owner: dict[int, str] = {}
    for name, where in columns.items():
        for j in where.tolist():
            if owner.setdefault(j, name) != name:
                warn(
                    f"{who}: the channels {owner[j]!r} and {name!r} share column {j} (counted from 0), so they occur "
                    "together whatever was recorded. Give every channel columns of its own.",
                    SidelightWarning,
                    stacklevel=4,
                )
                return


def check_channel(owner: object, name: Any, known: Any, what: str = "channel") -> None:
    """Raise unless ``name`` is one of the channels."""
    if not isinstance(name, Hashable) or name not in known:
        raise UnknownName(f"{type(owner).__name__} has no {what} {name!r}. {nearest(name, known)}")


def _columns(who: str, name: Any, where: Any, n_columns: int, names: Any) -> Ints:
    if isinstance(where, slice):
        columns = np.arange(n_columns)[where]
        beyond = where.stop is not None and where.stop > n_columns
    else:
        columns = np.atleast_1d(np.asarray(where))
        if columns.dtype.kind == "b" and columns.shape == (n_columns,):
            columns = np.flatnonzero(columns)
        if columns.dtype.kind in "UO" and names is not None:
            columns = _numbers(who, name, columns.tolist(), list(names))
        if columns.dtype.kind not in "iu":
            raise InvalidParameter(
                f"{who}: channel {name!r} must be a slice, column numbers, a mask, or names of columns where X is a "
                f"data frame; got {where!r}."
            )
        beyond = columns.size > 0 and (columns.max() >= n_columns or columns.min() < 0)
    if beyond or columns.size == 0:
        raise InvalidData(
            f"{who}: channel {name!r} wants the columns {where!r}, but X has n_features={n_columns} columns. Stack the "
            "channels again, with the same measurements in the same order."
        )
    return columns.astype(np.intp)


def _numbers(who: str, channel: Any, wanted: list[Any], names: list[Any]) -> Any:
    for name in wanted:
        if name not in names:
            raise UnknownName(f"{who}: channel {channel!r} wants the column {name!r}. {nearest(str(name), names)}")
    return np.array([names.index(name) for name in wanted], dtype=np.intp)
