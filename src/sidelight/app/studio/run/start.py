"""Where a run ended: the cluster and probability of every row, as the run wrote them, and the lists of its bags.

It lies beside the rows of the project, one file for each time that the run was repeated, so that the project needs
nothing else and begins exactly there.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sidelight._core.atomic import replacing
from sidelight.errors import UnreadableFile


class Found(NamedTuple):
    """A label that a bag carries or seems to: how probable it is where no list says so, and the rows that show it.

    The probability is None where no held-out list says how often such numbers are right.
    """

    label: str
    chance: float | None
    is_listed: bool
    rows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Start:
    """What a run found.

    Attributes
    ----------
    job : str
        Which job ran.
    takes : str
        What the job can be told about rows: ``"labels"``, ``"pairs"``, ``"names"`` of its clusters, or nothing.
    names : tuple of str
        What the run calls its clusters.
    label_of : tuple of str
        The label of each cluster; several clusters may share one.
    labels, sure : ndarray of shape (n_rows,)
        The cluster of each row and its probability.
    bags : ndarray of shape (n_rows,)
        The bag of each row, -1 where there are none.
    bag_names : tuple of str
        What the bags are called.
    lists : tuple of (tuple of str or None)
        The labels that each bag lists; None where no list was given.
    one_of : tuple of (tuple of str)
        The fewest labels of each row that the run is sure enough of; empty where it did not say.
    found : tuple of (tuple of Found)
        What each bag carries by its list, or seems to carry by its rows; empty where the run did not ask.
    """

    job: str
    takes: str
    names: tuple[str, ...]
    label_of: tuple[str, ...]
    labels: np.ndarray
    sure: np.ndarray
    bags: np.ndarray
    bag_names: tuple[str, ...] = ()
    lists: tuple[tuple[str, ...] | None, ...] = ()
    one_of: tuple[tuple[str, ...], ...] = ()
    found: tuple[tuple[Found, ...], ...] = ()

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Every label that the run knows, those of lists without a row among them."""
        listed = (label for labels in self.lists if labels for label in labels)
        return tuple(dict.fromkeys([*self.label_of, *sorted(set(listed))]))

    def list_of(self, row: int) -> tuple[str, ...] | None:
        """Return the labels that the bag of a row lists; None where there is no list."""
        bag = int(self.bags[row])
        return None if bag < 0 else self.lists[bag]

    def beside(self, row: int) -> list[int]:
        """Return the other rows of a row's bag."""
        bag = int(self.bags[row])
        return [] if bag < 0 else [int(other) for other in np.flatnonzero(self.bags == bag) if other != row]


def path_of(folder: Path, number: int) -> Path:
    """Return the file of a run, counted from 0, of the project in ``folder``."""
    return folder / f"run-{number}.npz"


def write_start(folder: Path, number: int, start: Start) -> None:
    """Keep where a run ended."""
    about = {
        "sidelight run": 1, "job": start.job, "takes": start.takes, "names": start.names, "label_of": start.label_of,
        "bag_names": start.bag_names, "lists": start.lists, "one_of": start.one_of, "found": start.found,
    }  # fmt: skip
    with replacing(path_of(folder, number)) as handle:
        np.savez(
            handle, about=np.array(json.dumps(about)), labels=start.labels.astype(np.int64), sure=start.sure,
            bags=start.bags.astype(np.int64),
        )  # fmt: skip


def read_start(folder: Path, number: int, n_rows: int) -> Start:
    """Return where a run ended."""
    path = path_of(folder, number)
    try:
        with open(path, "rb") as handle, np.load(handle, allow_pickle=False) as kept:
            about = json.loads(str(kept["about"]))
            labels, sure, bags = (np.asarray(kept[name]) for name in ("labels", "sure", "bags"))
        if not labels.shape == sure.shape == bags.shape == (n_rows,):
            raise ValueError("it is about other rows")
        return Start(
            str(about["job"]), str(about["takes"]), _texts(about["names"]), _texts(about["label_of"]), labels, sure,
            bags, _texts(about["bag_names"]),
            tuple(None if labels_ is None else _texts(labels_) for labels_ in about["lists"]),
            tuple(_texts(names) for names in about.get("one_of", ())),
            tuple(tuple(_found(one) for one in some) for some in about.get("found", ())),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, EOFError) as error:
        raise UnreadableFile(
            f"Where the run of this project ended cannot be read from {str(path)!r}: {error}. Its answers are kept."
        ) from error


def _found(kept: Sequence[Any]) -> Found:
    label, chance, is_listed, rows = kept
    return Found(str(label), None if chance is None else float(chance), bool(is_listed), tuple(map(int, rows)))


def _texts(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(str(value) for value in values)
