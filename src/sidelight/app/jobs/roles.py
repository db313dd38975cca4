"""What jobs are told in the same words: what columns are, how a file is written, and options that several have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from sidelight.app.jobs.options import Kind, Options, at_least, option
from sidelight.errors import InvalidParameter
from sidelight.words import Setting

COLUMNS, FILE = "Columns", "File"  # headings of the help and of forms
USUAL = ("id", "bag", "label", "label_file", "truth", "features", "ignore", "text", "missing")  # what most runs say
_FORBIDS = "none: no column is one."
Column = str | bool | None  # a column, False to forbid the guess, None to guess
Columns = list[str] | str | bool | None


def column(text: str, *, kind: Kind | None = None, shown: str = "", word: str = "", also: str = "") -> msgspec.Meta:
    """Describe a column, or what is said about columns."""
    return option(text, kind=kind, shown=shown, group=COLUMNS, word=word, also=also)


_FALSE_IS_NONE = (
    "id", "bag", "label", "bag_label", "truth", "show", "sequence", "events", "text", "candidates", "components",
)  # fmt: skip


class Roles(Options, frozen=True):
    """Columns and file; what is not said is guessed, and ``describe`` says how."""

    id: Annotated[Column, column(f"Column that names each row; {_FORBIDS}")] = None
    bag: Annotated[Column, column(f"Column that names the bag of each row; {_FORBIDS}")] = None
    label: Annotated[
        Columns,
        column("Column with the labels; several columns of 0 and 1 are fine; none: no column."),
    ] = None
    label_file: Annotated[
        str | None,
        column(
            "Second table with the labels: bag (or file of a folder) and label, or a column for each label.",
            kind=Kind.PATH,
            also="labels",
        ),
    ] = None
    label_separator: Annotated[
        str | None, column("What stands between several labels in one cell, such as '|'.", kind=Kind.MARK)
    ] = None
    label_level: Annotated[
        Literal["row", "bag"] | None, column("Whether the labels speak of the row or of its bag.")
    ] = None
    label_numbers: Annotated[
        Literal["rows", "shares", "present"] | None,
        column("What numbers beside the labels of bags say: rows of the bag, shares of them, or only 'there'."),
    ] = None
    same: Annotated[
        dict[str, list[str] | str],
        column(
            "A label that is another spelling of a second one: 'Zaunkonig=Zaunkönig'; a=a: a label of its own.",
            kind=Kind.CHANNELS,
            shown="LABEL=LABEL",
        ),
    ] = {}
    bag_label: Annotated[Column, column("Column with the labels of the bag (not of the row).")] = None
    truth: Annotated[Column, column(f"Column with what each row truly is, to compare with; {_FORBIDS}")] = None
    features: Annotated[
        list[str],
        column("Column to use as a feature; * stands for anything. Default: every numeric column."),
    ] = []
    ignore: Annotated[list[str], column("Column to leave out; * stands for anything.")] = []
    keep: Annotated[list[str], column("Column to copy into the assignments, beside the row's name.")] = []
    show: Annotated[
        Columns, column("Column with texts or paths to show beside a row; none: no column.", shown="COLUMN")
    ] = None
    sequence: Annotated[Column, column(f"Column that names the recording or session of each row; {_FORBIDS}")] = None
    channels: Annotated[
        dict[str, list[str] | str],
        column("A channel and its columns, such as face='face_*,nose'.", word="channel"),
    ] = {}
    events: Annotated[
        list[str] | bool,
        column("The table is a list of events: count these columns together.", shown="COLUMN", word="event"),
    ] = []
    weight: Annotated[str | None, column("Column that says how often an event happened.", kind=Kind.COLUMN)] = None
    text: Annotated[
        Columns, column("Column of texts whose words become the features.", kind=Kind.COLUMNS, shown="COLUMN")
    ] = None
    transpose: Annotated[
        list[str],
        column("Matrix of a MATLAB or NPZ file that lies on its side (features x rows).", shown="NAME"),
    ] = []
    candidates: Annotated[
        Column, column("Column or 0/1 matrix with the labels of each row, one of which is right (instances).")
    ] = None
    components: Annotated[
        Columns,
        column(
            "Column of an embedding or of principal components; * stands for anything; none: no column is one.",
            kind=Kind.COLUMNS,
            shown="COLUMN",
            word="components",
        ),
    ] = None
    missing_words: Annotated[
        Columns,
        column(
            "Word that means 'nothing is known', such as -999; none: only empty cells, NA, ? and -. Default: found.",
            kind=Kind.COLUMNS,
            shown="WORD",
            word="missing-word",
        ),
    ] = None
    missing: Annotated[
        Literal["error", "mean", "drop"],
        column("What to do about missing cells: stop, take the column's mean, or leave the row out."),
    ] = "error"
    embed: Annotated[
        str | None,
        option(
            "What describes a folder: auto (the best that is installed), a card, FILE.onnx, FILE.tflite, or none.",
            shown="CARD",
            group=FILE,
        ),
    ] = None
    whole: Annotated[
        bool | None,
        option("A folder of recordings or photographs: one row a file, instead of sounds or regions.", group=FILE),
    ] = None
    format: Annotated[
        str | None, option("Skip the recognition: delimited, matlab, arff, ...", shown="NAME", group=FILE)
    ] = None
    separator: Annotated[
        str | None, option("What stands between the columns of a text file.", kind=Kind.MARK, group=FILE)
    ] = None
    encoding: Annotated[str | None, option("Encoding of a text file, such as latin-1.", shown="NAME", group=FILE)] = (
        None
    )
    header: Annotated[bool | None, option("Whether the first line names the columns.", group=FILE)] = None
    bad_lines: Annotated[
        Literal["stop", "skip"],
        option("What to do about a line of a text file, or of JSON lines, that is no row.", group=FILE),
    ] = "stop"
    max_memory: Annotated[
        str | None,
        option(
            "What the file may take, such as 8GB; by default half of the memory there is.", shown="SIZE", group=FILE
        ),
    ] = None

    disarm: Annotated[
        bool,
        option("Write an apostrophe before cells of CSV files that a spreadsheet would run as a formula.", group=FILE),
    ] = False

    yes: Annotated[
        bool, option("Where a column may be read in several ways, take the first and do not ask.", group=FILE)
    ] = False

    def __post_init__(self) -> None:
        """Refuse True, which names no column."""
        for name in _FALSE_IS_NONE:
            if getattr(self, name) is True:
                raise InvalidParameter(
                    f"{name} takes a column, or false for none. Got true instead.",
                    do=["Name the column: ", Setting(name), "."],
                )

    def for_read(self) -> dict[str, Any]:
        """Return the parameters of :func:`sidelight.read`."""
        usual = ("bad_lines",) if self.bad_lines == "stop" else ()
        return self.without("missing", "disarm", "yes", *usual)


Clusters = Annotated[
    Annotated[int, at_least(1)] | Literal["auto"],
    option(
        "Number of clusters; auto takes what comes back from other rows, sequences or counts.",
        word="clusters",
        letter="k",
    ),
]
Starts = Annotated[int, option("Number of starts.", word="starts", ge=1)]
Scale = Annotated[
    Literal["standard", "none"],
    option("Give every feature mean 0 and variance 1 first; the saved model remembers it."),
]
TableMethod = Literal["annealed", "information", "spectral", "weights"]  # what clusters a table of co-occurrences
Curve = Annotated[
    tuple[Annotated[int, at_least(1)], Annotated[int, at_least(1)]] | None,
    option("Numbers of clusters for the curve of preserved information, such as 2:10."),
]
ENGINE = ("engine", "scheduler", "scratch", "memory")  # options of who goes over the rows
_MANY = "More rows than memory"  # heading of the help and of forms
Engine = Annotated[
    Literal["auto", "memory", "disk", "dask"],
    option(
        "Who goes over the rows of Parquet files: this process with all rows, or with a copy on disk, or a cluster.",
        group=_MANY,
    ),
]
Scheduler = Annotated[
    str | None, option("Address of a Dask scheduler, such as tcp://host:8786.", shown="ADDRESS", group=_MANY)
]
Scratch = Annotated[
    str | None,
    option("Folder for copies on disk, removed afterwards; workers must see it, too.", kind=Kind.PATH, group=_MANY),
]
Memory = Annotated[
    str | None,
    option("What rows may take before they go to disk, such as 4GB; half of the memory.", shown="SIZE", group=_MANY),
]


class Where(Options, frozen=True, kw_only=True):
    """Who goes over the rows of Parquet files; these options stand behind those of a job."""

    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None


class InParts(Where, frozen=True, kw_only=True):
    """What jobs can be told whose rows may be read part by part."""

    memory: Memory = None


def check_curve(curve: tuple[int, int] | None) -> None:
    """Refuse a curve that runs backwards."""
    if curve is not None and curve[0] > curve[1]:
        raise InvalidParameter(f"curve takes two whole numbers, the smaller first. Got {list(curve)} instead.")
