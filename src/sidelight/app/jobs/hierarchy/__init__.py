"""The hierarchy job: the tree behind labels with gaps, and the gaps filled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sidelight.app.jobs.hierarchy.options import Hierarchy
from sidelight.app.jobs.job import Fit, Job, Method
from sidelight.lazy import functions_of

if TYPE_CHECKING:
    from sidelight.data.dataset import Dataset

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
    "nobody looked), a column of label sets, or a second table. A label that was ticked is certain; one that was "
    "not may be a gap.\n\nWrites assignments (.parquet, .csv) with the gaps filled, gaps.csv (what was added, and "
    "how sure), tree.csv, model.sidelight, run.toml and report.html into the output folder.",
    you_have="several labels a row, some of them forgotten (tags, topics, gene functions)",
    example={"label": ["tag_*"]},
    methods={"": Method(Hierarchy, _here("work.work"), _here("in_parts.work"))},
    fits=_fits,
    files={"gaps": "every label that was added", "tree": "one line for each label"},
    demos={"hierarchy": _here("demo.kinds_of_numbers")},
    shown=(
        "structure", "tree", "learn_tree", "empty", "use", "corrections", "id", "label", "label_file", "features",
        "ignore", "show", "missing",
    ),
)  # fmt: skip
