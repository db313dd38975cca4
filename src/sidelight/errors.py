"""Everything Sidelight raises or warns about, in one tree.

::

    SidelightError
    ├── InvalidInput (ValueError)         something given to us cannot be used
    │   ├── InvalidParameter              a constructor or function parameter
    │   ├── InvalidData                   rows, bags, answers, tables of counts, trees
    │   │   ├── OutOfRange (IndexError)   a row that is not there
    │   │   └── WrongKind (TypeError)     something of a kind that cannot hold rows or answers
    │   ├── ConflictingAnswers            answers that cannot all be true
    │   ├── UnknownName (KeyError)        a column, bag, class, axis or sample that does not exist
    │   ├── Undecided                     a file that may be read in several ways, and no way was chosen
    │   ├── UnreadableFile                a file that is not what it should be
    │   │   └── TooLarge                  a file that would take more memory than it may
    │   └── UnsafeArchive                 a model file that is damaged, hostile or from the future
    ├── OutputExists (FileExistsError)    an output folder or file that would be overwritten
    ├── CannotWrite (OSError)             the disk is full, a folder is not ours to write in
    ├── MissingExtra (ImportError)        an optional dependency that is not installed
    ├── WorkerDied (OSError)              a worker of a cluster died on a part of the rows, more than once
    ├── ClusterGone (ConnectionError)     the scheduler or all workers of a cluster cannot be reached
    └── Cancelled                         the work was cancelled through ``sidelight.progress``

    SidelightWarning (UserWarning)        the result stands, but look at this
    ├── ConvergenceWarning                a solver stopped at its limit
    ├── BagsWereCut                       rows were taken out of labelled bags
    ├── LabelsWithoutRows                 bags list more labels than they have rows
    ├── EmptyClusters                     fewer clusters than asked for hold anything
    ├── InseparableLabels                 lists of bags that cannot tell some labels apart
    ├── AnswersDisagree                   answers that cannot all be true were weighed against each other
    ├── LabelsOverlap                     labels occur together and none implies another, so no tree was made
    └── TargetIgnored                     y holds labels of rows, which no step uses

Every message says who complains, what was expected, what came, and what to do next. What to do next may name parameters
(``do=["Leave it out with ", Setting("ignore", name), "."]``): ``str(error)`` spells them as Python does, and a shell
spells them its own way with ``error.told(spell)``. Nothing decides by the text of a message: it asks for the class, or
for its ``code``, which does not change between releases; the reference has a line for each code.
"""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sidelight.words import MessageWithAdvice, Sentence, Setting


class SidelightError(MessageWithAdvice, Exception):
    """The root of everything Sidelight raises on purpose.

    Parameters
    ----------
    *args : str
        What happened.
    who : str
        The estimator or function that complains, where the message does not name it.
    do : str, or sequence of str and Setting
        What to do about it.
    """

    code = "SL000"


class InvalidInput(SidelightError, ValueError):
    """Something given to Sidelight cannot be used; nothing was changed."""

    code = "SL100"


class InvalidParameter(InvalidInput):
    """A parameter has a value outside its documented range."""

    code = "SL110"


class InvalidData(InvalidInput):
    """Rows, bags, answers, counts or trees that contradict themselves or each other."""

    code = "SL120"


class OutOfRange(InvalidData, IndexError):
    """A row that is not there."""

    code = "SL121"


class WrongKind(InvalidData, TypeError):
    """Something of a kind that cannot hold rows, bags, answers or counts."""

    code = "SL122"


class ConflictingAnswers(InvalidInput):
    """Answers about rows that cannot all be true."""

    code = "SL130"


class UnknownName(InvalidInput, KeyError):
    """A name that is not among the known ones; the message lists the nearest."""

    code = "SL140"


class Undecided(InvalidInput):
    """A file may be read in several ways, and no way was chosen; the advice lists them."""

    code = "SL150"


class UnreadableFile(InvalidInput):
    """A file that cannot be read as what it should be."""

    code = "SL160"


class TooLarge(UnreadableFile):
    """A file that would take more memory than it may; nothing was read."""

    code = "SL161"


class UnsafeArchive(InvalidInput):
    """A model file that is damaged, hostile or written by a newer version."""

    code = "SL170"


class OutputExists(SidelightError, FileExistsError):
    """Writing would overwrite something; nothing was written."""

    code = "SL200"


class CannotWrite(SidelightError, OSError):
    """The machine refused: a full disk, a folder without permission; nothing was written."""

    code = "SL210"


class MissingExtra(SidelightError, ImportError):
    """An optional dependency is missing; the message says what to type."""

    code = "SL300"

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f'{purpose} needs the package {package!r}, which is not installed. Type: pip install "sidelight[{extra}]"'
        )
        self.package, self.extra, self.purpose = package, extra, purpose


class WorkerDied(SidelightError, OSError):
    """Workers of a cluster died, or ran out of time, on a part of the rows; the message names it."""

    code = "SL500"


class ClusterGone(SidelightError, ConnectionError):
    """The scheduler of a cluster, or every worker, cannot be reached, or its workers run other versions than we do."""

    code = "SL510"


class Cancelled(SidelightError):
    """The work was cancelled; the estimator is as it was before."""

    code = "SL400"


class SidelightWarning(MessageWithAdvice, UserWarning):
    """The result stands, but something about it deserves a look.

    Parameters
    ----------
    *args : str
        What deserves the look.
    who : str
        The estimator or function that says so, where the text does not name it.
    do : str, or sequence of str and Setting
        What to do about it.
    """

    code = "SL900"


Hear = Callable[[SidelightWarning], object]
_hear: ContextVar[Hear | None] = ContextVar("who hears the warnings of this run", default=None)


def warn(message: str | SidelightWarning, category: type[SidelightWarning] | None = None, stacklevel: int = 1) -> None:
    """Warn the listener of this run (:func:`capture_warnings`), else through Python's ``warnings``.

    Python's filters belong to the whole process; a context variable lets two runs at once hear their own warnings only.

    Parameters
    ----------
    message : str or SidelightWarning
        What deserves a look.
    category : type of SidelightWarning, optional
        The class of a message that is text.
    stacklevel : int
        As in ``warnings.warn``.
    """
    warning = message if isinstance(message, SidelightWarning) else (category or SidelightWarning)(message)
    hear = _hear.get()
    if hear is None:
        warnings.warn(warning, stacklevel=stacklevel + 1)
    else:
        hear(warning)


@contextmanager
def capture_warnings(hear: Hear) -> Iterator[None]:
    """Send every warning of Sidelight's inside the block to ``hear``, of this thread or task only."""
    token = _hear.set(hear)
    try:
        yield
    finally:
        _hear.reset(token)


@contextmanager
def ignore_warnings(*kinds: type[SidelightWarning]) -> Iterator[None]:
    """Keep warnings of some kinds (all when none is named) from the listener; the others pass."""
    outer = _hear.get()

    def pass_on(warning: SidelightWarning) -> None:
        if not isinstance(warning, kinds or (SidelightWarning,)):
            _hear.set(outer)
            try:
                warn(warning, stacklevel=4)
            finally:
                _hear.set(pass_on)

    with capture_warnings(pass_on):
        yield


class ConvergenceWarning(SidelightWarning):
    """A solver stopped at its iteration limit before it converged."""

    code = "SL910"


class AnswersDisagree(SidelightWarning):
    """Answers that cannot all be true were weighed against each other."""

    code = "SL920"


class EmptyClusters(SidelightWarning):
    """Fewer clusters have members than were asked for."""

    code = "SL930"


class BagsWereCut(SidelightWarning):
    """Labelled bags lost rows, so not every label of theirs need be carried any more; ``BagKFold`` never does this."""

    code = "SL940"


class LabelsWithoutRows(SidelightWarning):
    """Some bags list more labels than they have rows, so not every label can be carried."""

    code = "SL950"


class InseparableLabels(SidelightWarning):
    """Some labels are on the same lists, or on every list: the lists cannot tell them apart."""

    code = "SL960"


class LabelsOverlap(SidelightWarning):
    """Labels occur together, and none implies another: they form no tree, and no gap was filled."""

    code = "SL980"


class TargetIgnored(SidelightWarning):
    """``y`` holds labels of rows, which this estimator does not learn from."""

    code = "SL970"


@contextmanager
def as_invalid_data(who: str = "") -> Iterator[None]:
    """Raise what other libraries say about bad input as our own errors, with their words.

    Parameters
    ----------
    who : str
        The estimator or function that complains, where the words do not name it.
    """

    def told(error: Exception) -> str:
        return f"{who}: {error}" if who and who not in str(error) else str(error)

    try:
        yield
    except SidelightError:
        raise
    except TypeError as error:
        raise WrongKind(told(error)) from error
    except (ValueError, OverflowError, AttributeError) as error:
        if type(error) not in (ValueError, OverflowError, AttributeError, UnicodeEncodeError, UnicodeDecodeError):
            raise  # NotFittedError and the like are what people wait for
        raise InvalidData(told(error)) from error


def close_names(name: object, known: Iterable[object], *, limit: int = 3) -> list[str]:
    """Return the known names that ``name`` may have been meant to be, the nearest first."""
    return difflib.get_close_matches(str(name), [str(k) for k in known], n=limit, cutoff=0.6)


def nearest(name: object, known: Iterable[object], *, limit: int = 3) -> str:
    """Return a clause that names what ``name`` may have been meant to be.

    >>> nearest("colour", ["color", "size"])
    "Did you mean 'color'?"
    >>> nearest("x", ["apple", "pear"])
    "Known names: 'apple', 'pear'."
    """
    names = [str(k) for k in known]
    close = close_names(name, names, limit=limit)
    if close:
        return "Did you mean " + " or ".join(repr(c) for c in close) + "?"
    if not names:
        return "There are no names to choose from."
    shown = ", ".join(repr(n) for n in names[:8])
    return f"Known names: {shown}." if len(names) <= 8 else f"Known names: {shown} and {len(names) - 8} more."


def unknown_column(path: object, wanted: str, role: str, names: Iterable[object]) -> UnknownName:
    """Return the error that a table has no such column, with the ones that are near."""
    is_file = role == "label" and wanted.lower().endswith((".csv", ".tsv", ".txt", ".xlsx", ".ods", ".parquet"))
    do: Sentence = ["A table of labels is given with ", Setting("label_file", wanted), "."] if is_file else ()
    return UnknownName(f"{path}: there is no column {wanted!r} (asked for as {role}). {nearest(wanted, names)}", do=do)
