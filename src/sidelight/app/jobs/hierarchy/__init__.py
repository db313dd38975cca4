"""The hierarchy job: the tree behind labels with gaps, and the gaps filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from sidelight.app.jobs.job import Fit, Job, Method
from sidelight.app.jobs.options import Kind, at_least, option
from sidelight.app.jobs.options import Options as Options
from sidelight.app.jobs.roles import InParts, Scale
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset


class Hierarchy(InParts, frozen=True):
    """The tree behind labels with gaps."""

    structure: Annotated[
        Literal["counts", "graph", "joint"],
        option("counts: a tree; graph: labels may have further parents; joint: the slow method of the thesis."),
    ] = "counts"
    tree: Annotated[
        str | None,
        option(
            "A known tree: a text file with one label a line, children indented below their parent. A tree that the "
            "table itself declares is used unless it is to be learnt.",
            kind=Kind.PATH,
        ),
    ] = None
    learn_tree: Annotated[bool, option("Learn the tree although the table declares one, and compare them.")] = False
    alpha: Annotated[
        Literal["auto", "shared", "label"], option("Whether labels are forgotten at one rate, or each at its own.")
    ] = "auto"
    threshold: Annotated[
        Annotated[float, at_least(0)] | Literal["f1", "set"],
        option("Fill gaps above this probability; f1: where the expected F1 is largest; set: the most probable set."),
    ] = "f1"
    empty: Annotated[
        Literal["unlabelled", "none"],
        option("What a row whose labels are missing means: nobody looked at it, or none of the labels was ticked."),
    ] = "unlabelled"
    use: Annotated[Literal["features", "labels"], option("Learn from the features too, or from the labels alone.")] = (
        "features"
    )
    corrections: Annotated[
        str | None,
        option("The check.csv of an earlier run with right entries (0 or 1) filled in.", kind=Kind.PATH),
    ] = None
    penalty: Annotated[float, option("Weight of |W|^2 / 2; smaller is sharper.", ge=0)] = 10.0
    scale: Scale = "standard"


_here = functions_of(__name__)


def _fits(data: Dataset, roles: Mapping[str, Any]) -> Fit | None:
    if data.Y is None or data.Y.shape[1] < 3 or data.n_rows < 2:
        return None
    used = ("id", "label", "label_file", "label_separator", "missing_words", "missing")
    why = "several labels a row: the tree behind them, and what was forgotten"
    return Fit("hierarchy", why, {name: value for name, value in roles.items() if name in used})


JOB = Job(
    name="hierarchy",
    summary="Find the tree behind labels with gaps, and fill the gaps.",
    text="Find the tree behind the labels of the rows of TABLE, and the labels that somebody forgot.\n\nEvery row has "
    "several labels, some ticked and some forgotten: a column of 0 and 1 for each label (an empty cell means that "
    "nobody looked), a column of label sets, or a second table. A label that was ticked is taken as right; one that "
    "was not may be a gap.\n\nWrites assignments (.parquet, .csv) with the gaps filled, gaps.csv (what was added, and "
    "how sure), tree.csv, model.sidelight, run.toml and report.html into the output folder.",
    you_have="several labels a row, some of them forgotten (tags, topics, gene functions)",
    example={"label": ["tag_*"]},
    methods={"": Method(Hierarchy, _here("work.work"), in_parts=True)},
    fits=_fits,
    files={"gaps": "every label that was added", "tree": "one line for each label"},
    demos={"hierarchy": _here("demo.kinds_of_numbers")},
    shown=(
        "structure", "tree", "learn_tree", "empty", "use", "corrections", "id", "label", "label_file", "features",
        "ignore", "show", "missing",
    ),
)  # fmt: skip
