"""What makes a data object frozen: no attribute can be set, every array is read-only, copies are the object itself.

Derived arrays are cached on first use; pickling leaves them behind.
"""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np

from sidelight._core.params import is_sparse


class Frozen:
    """A base for objects that never change after they are made."""

    _fields: tuple[str, ...] = ()  # what the object is; everything else in __dict__ is derived and can be recomputed

    @classmethod
    def _make(cls, **fields: Any) -> Self:
        made = cls.__new__(cls)
        made.__setstate__(fields)
        return made

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: read_only(_in_order(value)) for name, value in state.items()})

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in self._fields}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be set. Make a new object instead.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is frozen: {name!r} cannot be deleted.")


def _in_order(value: Any) -> Any:
    """Return a matrix row by row in memory, whatever order it came in: compiled loops take no other."""
    is_other = isinstance(value, np.ndarray) and value.ndim > 1 and not value.flags.c_contiguous
    return np.ascontiguousarray(value) if is_other else value


def read_only(value: Any) -> Any:
    """Lock an array, or the three arrays of a CSR matrix; anything else passes."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif is_sparse(value):
        for part in (value.data, value.indices, value.indptr):
            part.flags.writeable = False
    return value
