"""Names that are loaded on first use; every one of them lies inside the package that names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    room: str, homes: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a room.

    Parameters
    ----------
    room : str
        The package, its ``__name__``.
    homes : mapping of str to sequence of str
        The public names of each module *inside* the room: no name can lead out of it.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        return getattr(import_module(f"{room}.{home[name]}"), name)

    return find, lambda: sorted(home), sorted(home)


class Late:
    """A function that is imported when it is called, or asked for."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def load(self) -> Callable[..., Any]:
        """Return the function itself."""
        found: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return found

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call the function."""
        return self.load()(*args, **options)


def functions_of(package: str) -> Callable[[str], Late]:
    """Return ``here``: ``here("work.cluster")`` is that function of that module inside ``package``, imported when
    called.

    Parameters
    ----------
    package : str
        The package, its ``__name__``.
    """

    def here(place: str) -> Late:
        module, _, name = place.rpartition(".")
        return Late(f"{package}.{module}", name)

    return here
