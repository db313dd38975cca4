"""What :func:`sidelight.read` returns: rows with their side information, and what each column was taken for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight import words
from sidelight.data.bags import Bags
from sidelight.data.cooccurrence import CoOccurrence
from sidelight.data.summaries import html_table
from sidelight.errors import WrongKind
from sidelight.words import some_of

if TYPE_CHECKING:
    from sidelight.data.hierarchy import LabelTree  # brings compiled loops, which take seconds to import

TORN = "torn labels"  # code of the note that rows of one bag name different labels
OF_ROWS = "labels of rows"  # code of the note that the labels of bags were made of those of rows
TOLD = "told"  # code of notes that stand at the top of every page: what was lost, and what was taken for the same
_SHOWN_ROLES = 30  # columns that a notebook lists
WEAK = 0.6  # a guess that is less sure than this is asked, not made
Matrix = Any  # a dense float64 array or a scipy CSR array


def _counted_from_one(row: int) -> str:
    return f"row {row + 1}"


class Note(words.Note):
    """What a careful reader of a file would like to know: a text with a code, so that code never reads the text.

    Attributes
    ----------
    code : str
        What it is about, such as ``"torn labels"``; empty when no code of ours needs to know.
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, text: str, code: str = "", do: words.Sentence = ()) -> Self:
        """Make a text with a code, and with what to do about it."""
        note = super().__new__(cls, text, do)
        note.code = code
        return note


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows of a file that are not in the data, and why.

    Attributes
    ----------
    names : ndarray
        What the file calls these rows: their ids, else their numbers, counted from 1.
    reason : str
        ``"gap"`` (a cell that is missing or infinite), ``"no sequence"`` or ``"event gap"``.
    columns : tuple of str
        The columns in question.
    place : str
        Where the first one is, in the file's own terms.
    n_rows : int
        How many rows the file has.
    """

    names: NDArray[Any]
    reason: str
    columns: tuple[str, ...]
    place: str
    n_rows: int

    def __str__(self) -> str:
        """Say how many rows there are, what they lack, and where the first one is."""
        n = len(self.names)
        has = f"1 of {self.n_rows} rows has" if n == 1 else f"{n} of {self.n_rows} rows have"
        where = f"in {self.place}" if n == 1 else f"the first in {self.place}"
        what = "no sequence" if self.reason == "no sequence" else f"a gap in {some_of(map(repr, self.columns))}"
        return f"{has} {what}, {where}"


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What one column (or attribute, or variable of a file) was taken for, and why.

    Attributes
    ----------
    name : str
        The column as the file calls it.
    role : str
        ``"feature"``, ``"id"``, ``"bag"``, ``"label"``, ``"bag label"``, ``"truth"``, ``"sequence"``, ``"show"``,
        ``"event"``, ``"weight"``, ``"candidates"`` or ``"ignored"``.
    why : str
        The evidence, in a few words; ``"you said so"`` for explicit roles.
    kind : str
        ``"number"``, ``"text"``, ``"0/1"`` or ``"empty"``.
    is_guess : bool
        Whether the role was guessed; False where the user or the format said it.
    sure : float
        How strong the evidence is, from 0 to 1; below :data:`WEAK` a careful person would ask (see ``Dataset.doubts``).
    """

    name: str
    role: str
    why: str
    kind: str = "number"
    is_guess: bool = False
    sure: float = 1.0


@dataclass(frozen=True, slots=True)
class Doubt:
    """A guess that is too weak to be made without asking.

    Attributes
    ----------
    question : str
        What a careful person would ask.
    readings : tuple of (str, mapping)
        The answers there are: in words, and as parameters of :func:`sidelight.read`. The first is the one that was
        taken.
    """

    question: str
    readings: tuple[tuple[str, Mapping[str, Any]], ...]


@dataclass(frozen=True, eq=False)
class Dataset:
    r"""One file, understood.

    Rows have names: the file's own ids, else their numbers in the file. Rows are counted from 1, without the header;
    a row that is left out keeps its number, so that ``row_names`` always lead back to the file.

    Attributes
    ----------
    X : ndarray of float64 or CSR array, shape (n_rows, n_features)
        The features; missing cells are NaN.
    feature_names : tuple of str
        One name a column of ``X``.
    row_ids : ndarray or None
        The file's own names of the rows, unique; None when it has none.
    row_numbers : ndarray of int
        The number of each row in the file, counted from 1.
    bags : Bags or None
        Which row belongs to which bag, and the labels of the bags where the file gives them.
    y : ndarray of object or None
        One label a row as text, ``""`` where unknown; None when rows carry no single label.
    Y : ndarray of int8 or None, shape (n_rows, n_labels)
        Label sets of rows: 1 present, 0 absent, -1 unknown; None when there are none.
    label_names : tuple of str
        The classes: columns of ``Y``, classes of the bags, or the values of ``y``.
    truth : ndarray of object or None
        What each row truly is, ``""`` where unknown, in a column beside the labels; no fit learns from it.
    candidates : ndarray of int8 or None, shape (n_rows, n_labels)
        For each row the labels one of which is right; None when there are none.
    tree : LabelTree or None
        The hierarchy of the labels, when the file declares one.
    counts : CoOccurrence or None
        How often things occur together, when the file is a table of events.
    sequence : ndarray or None
        Which recording, session or sequence each row belongs to, in the file's order.
    channels : dict or None
        Channel name -> slice of the columns of ``X``, when the features come in several channels.
    show : dict
        Column -> texts, paths of images and sounds, or images themselves (arrays of grey pixels), to show beside a row.
    kept : dict
        Column -> cells that were asked for with ``keep``, to be carried along with each row.
    roles : tuple of ColumnRole
        What each column was taken for, and why.
    doubts : tuple of Doubt
        Guesses that are too weak to be made without asking; jobs stop at them, ``describe`` asks.
    notes : tuple of Note
        What a careful reader of the file would like to know.
    left_out : tuple of LeftOut
        The rows of the file that are not here, and why.
    location : callable
        ``location(row)`` says where a row of ``X`` was in the file: ``"line 17"``, or its row counted from 1.
    path, format : str
        Where it came from, and what it was recognised as, in words.
    material : str
        How the rows were cut from a folder, as JSON; empty where they were not.
    components : tuple of str
        Patterns of the columns that are principal components or an embedding, one a family; their relative variances
        are kept where other columns are standardised.
    readable : tuple of (tuple of str, ndarray) or None
        Numbers that people can read, for pages, where the features are those of a network: their names, and one line
        a row.
    kind : str
        What a table is that holds no rows with features: ``"events"``, ``"counts"``, ``"label track"``,
        ``"annotations"``, ``"distances"``, ``"label sets"``; empty for rows.
    evidence : mapping of str to tuple of str
        Column -> what the rules said about it, and what was decided.
    reader : str
        The reader that was used: ``"delimited"``, ``"parquet"``, ``"npz"``, ...; empty for data that were made.

    Examples
    --------
    >>> import sidelight as sl
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "birds.csv"
    ...     _ = path.write_text("recording,species,f1,f2\nr1,wren,1,2\nr1,jay,3,4\nr2,owl,5,6\n")
    ...     data = sl.read(path)
    >>> data.X.shape, list(data.bags.names), data.y.tolist()
    ((3, 2), ['r1', 'r2'], ['wren', 'jay', 'owl'])
    """

    X: Matrix
    feature_names: tuple[str, ...]
    path: str = ""
    format: str = ""
    row_ids: NDArray[Any] | None = None
    bags: Bags | None = None
    y: NDArray[np.object_] | None = None
    Y: NDArray[np.int8] | None = None
    label_names: tuple[str, ...] = ()
    truth: NDArray[np.object_] | None = None
    candidates: NDArray[np.int8] | None = None
    tree: LabelTree | None = None
    counts: CoOccurrence | None = None
    sequence: NDArray[Any] | None = None
    channels: dict[str, slice] | None = None
    show: dict[str, NDArray[np.object_]] = field(default_factory=dict)
    kept: dict[str, NDArray[Any]] = field(default_factory=dict)
    roles: tuple[ColumnRole, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    location: Callable[[int], str] = _counted_from_one
    reader: str = ""
    material: str = ""
    components: tuple[str, ...] = ()
    readable: tuple[tuple[str, ...], NDArray[np.float64]] | None = None
    kind: str = ""
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    row_numbers: NDArray[np.intp] = None  # type: ignore[assignment]  # filled in below: one number a row

    def __post_init__(self) -> None:
        """Check that X is a table, and number its rows unless they have numbers."""
        if len(getattr(self.X, "shape", ())) != 2:
            raise WrongKind(
                f"Dataset: X must be a dense array or a CSR array with rows and columns. Got {self.X!r:.80}."
            )
        if self.row_numbers is None:
            object.__setattr__(self, "row_numbers", np.arange(1, self.n_rows + 1))

    @property
    def n_rows(self) -> int:
        """The number of rows of ``X``."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of columns of ``X``."""
        return int(self.X.shape[1])

    @property
    def row_names(self) -> NDArray[Any]:
        """What the file calls each row: its id, else its number in the file, counted from 1."""
        return self.row_numbers if self.row_ids is None else self.row_ids

    @property
    def row_title(self) -> str:
        """What ``row_names`` are called: the id column, else ``"row"``."""
        return next(iter(self.columns("id")), "row")

    def take(self, rows: Any, *, left_out: LeftOut | None = None) -> Dataset:
        """Return these rows, under their own names.

        Parameters
        ----------
        rows : array of int or bool
            Which rows of ``X`` to keep.
        left_out : LeftOut, optional
            What to remember about the others.
        """
        index = np.flatnonzero(rows) if np.asarray(rows).dtype == bool else np.asarray(rows, dtype=np.intp)
        location = self.location

        def cut(part: Any) -> Any:
            return None if part is None else part[index]

        return replace(
            self,
            X=self.X[index],
            row_ids=cut(self.row_ids),
            row_numbers=self.row_numbers[index],
            bags=cut(self.bags),
            y=cut(self.y),
            Y=cut(self.Y),
            truth=cut(self.truth),
            candidates=cut(self.candidates),
            sequence=cut(self.sequence),
            show={name: part[index] for name, part in self.show.items()},
            kept={name: part[index] for name, part in self.kept.items()},
            readable=None if self.readable is None else (self.readable[0], self.readable[1][index]),
            left_out=self.left_out if left_out is None else (*self.left_out, left_out),
            location=lambda row: location(int(index[row])),
        )

    def with_notes(self, *notes: str) -> Dataset:
        """Return the data with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def telling(self) -> tuple[Matrix, tuple[str, ...]]:
        """Numbers that a page can speak of, and their names: the readable ones where there are some, else features."""
        return (self.X, self.feature_names) if self.readable is None else (self.readable[1], self.readable[0])

    def columns(self, role: str) -> tuple[str, ...]:
        """Return the names of the columns that were taken for ``role``."""
        return tuple(r.name for r in self.roles if r.role == role)

    def __repr__(self) -> str:
        parts = [f"{self.n_rows} rows x {self.n_features} features"]
        if self.bags is not None:
            parts.append(f"{len(self.bags.names)} bags")
        if self.label_names:
            parts.append(f"{len(self.label_names)} labels")
        if self.counts is not None:
            parts.append("co-occurrence counts")
        return f"Dataset({', '.join(parts)}; {self.format})"

    def _repr_html_(self) -> str:
        facts: dict[str, Any] = {"rows": self.n_rows, "features": self.n_features}
        if self.bags is not None:
            facts["bags"] = len(self.bags.names)
        if self.label_names:
            facts["labels"] = some_of(self.label_names)
        if self.channels:
            facts["channels"] = some_of(list(self.channels))
        for role in self.roles[:_SHOWN_ROLES]:
            facts[role.name] = f"{role.role}: {role.why}" if role.why else role.role
        if len(self.roles) > _SHOWN_ROLES:
            facts["..."] = f"{len(self.roles) - _SHOWN_ROLES} more columns, in .roles"
        if self.doubts:
            facts["not sure about"] = f"{len(self.doubts)}, in .doubts"
        return html_table(f"Dataset, {self.format}", facts)
