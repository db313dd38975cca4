"""Options of the hierarchy job."""

from __future__ import annotations

from typing import Annotated, Literal

from sidelight.app.jobs.options.model import Kind, Options, at_least, option
from sidelight.app.jobs.options.shared import Engine, Memory, Scale, Scheduler, Scratch


class Hierarchy(Options, frozen=True):
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
    engine: Engine = "auto"
    scheduler: Scheduler = None
    scratch: Scratch = None
    memory: Memory = None
