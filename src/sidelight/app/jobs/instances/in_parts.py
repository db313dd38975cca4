"""Coverage of more rows than memory: figures of all rows, pictures and lists of a sample, assignments part by part."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.app.jobs.checking import checked
from sidelight.app.jobs.config import RunConfig
from sidelight.app.jobs.headings import with_headings
from sidelight.app.jobs.instances.coverage import ENGINE, result_of
from sidelight.app.jobs.instances.naming import name_clusters
from sidelight.app.jobs.instances.options import Coverage
from sidelight.app.jobs.instances.result import CoverageResult
from sidelight.app.jobs.parts import dataset_of, engine_of, label_column, open_parts
from sidelight.app.jobs.placing import place_of
from sidelight.app.jobs.reading import collect_notes
from sidelight.app.jobs.result import big
from sidelight.data.bag_lists import joined_lists
from sidelight.data.dataset import ColumnRole, Dataset
from sidelight.data.parts import draw
from sidelight.data.spill import scratch_folder
from sidelight.errors import InvalidParameter
from sidelight.estimators.coverage.clustering import CoverageClustering
from sidelight.estimators.scaling import Standardized
from sidelight.files.parts import Parts
from sidelight.progress import report
from sidelight.words import Setting, counted

if TYPE_CHECKING:
    from sidelight.app.report import Page

SHOWN = 10_000  # rows of the sample that pictures and lists are made of


@dataclass(frozen=True, kw_only=True, eq=False)
class PartedCoverageResult(CoverageResult):
    """Rows named by the lists of their bags, of which only a sample was ever in memory."""

    n_shown: int
    folder: TemporaryDirectory[str] = big()

    def page(self) -> Page:
        """Say what was found, and of which rows."""
        from sidelight.app.jobs.instances.pages.coverage import page

        shown = page(self)
        told = (
            f"Figures are of all rows; pictures, tables of rows and bags.csv are of {counted(self.n_shown, 'row')} in "
            "whole bags, drawn by a hash of their names. The assignments of all rows are the Parquet files in the "
            "folder assignments."
        )
        return replace(shown, sure=[*shown.sure, told])

    def write_assignments(self, folder: Path, *, disarm: bool) -> None:
        """Move the assignments of all rows to their place."""
        (folder / "assignments").mkdir()
        for path in sorted(Path(self.folder.name).iterdir()):
            move(path, folder / "assignments" / path.name)
        self.folder.cleanup()

    @property
    def assignment_files(self) -> dict[str, str]:
        """The files of assignments, and what they hold."""
        return {"assignments": "a folder of Parquet files: what each row was found to be"}


def work(config: RunConfig) -> PartedCoverageResult:
    """Read rows in bags part by part, and cluster them; bags whose rows lie apart are brought together first."""
    options = config.options
    assert isinstance(options, Coverage)  # the catalogue says so
    _refuse(options)
    parts = open_parts(config.table, config.roles)
    if parts.survey.is_arranged:
        return cluster(parts, config, options)
    with scratch_folder(options.scratch) as folder:
        return cluster(parts.together(folder), config, options)


def cluster(parts: Parts, config: RunConfig, options: Coverage) -> PartedCoverageResult:
    """Explain the rows by the labels of their bags, and write what each row is as it is found."""
    settings = options.without("method", "scale", "lists", "empty", "rows", "corrections", "names", *ENGINE)
    inner = CoverageClustering(random_state=config.seed, **settings)
    model: Any = (
        Standardized(inner, feature_names=parts.feature_names, kind="numbers") if options.scale == "standard" else inner
    )
    with collect_notes() as heard:
        model.fit(parts, engine=engine_of(options, parts))
        notes = name_clusters(model, options.names)
        data = _sample(parts, config)
        result = _of_sample(data, model)
    folder = TemporaryDirectory(prefix="sidelight-", dir=options.scratch)
    try:
        found = _write(parts, model, config.table, Path(folder.name))
    except BaseException:
        folder.cleanup()
        raise
    return _with_figures(checked(result, data, judged="label"), found, parts, folder, (*notes, *heard))


class _Found:
    """What is counted while the assignments of all rows are written."""

    def __init__(self) -> None:
        self.sizes: Counter[str] = Counter()
        self.n_sure = self.n_moved = self.n_labelled = self.n_bags_novel = 0

    def add(self, data: Dataset, columns: Any) -> None:
        """Count the rows of a part."""
        assert data.bags is not None  # the job looked
        self.sizes.update(columns["cluster"])
        self.n_sure += int((np.asarray(columns["probability"]) > 0.9).sum())
        alone = columns.get("by features alone", columns["label"])
        self.n_moved += sum(a != b for a, b in zip(columns["label"], alone))
        self.n_labelled += int(data.bags.is_labelled.sum())
        novel = np.asarray(columns["novelty"]) > 0.5
        self.n_bags_novel += len(np.unique(data.bags.codes[novel]))


def _write(parts: Parts, model: Any, table: str, folder: Path) -> _Found:
    """Place the rows of every part and write them at once: nothing of the size of the rows stays in memory."""
    import polars as pl

    found, place, recipes = _Found(), place_of(model), parts.parts()
    for part in recipes:
        report("writing assignments", part.number, len(recipes))
        data = dataset_of(parts, part, table)
        columns = place(model, data).rows
        found.add(data, columns)
        frame = pl.DataFrame({"row": data.row_numbers, **with_headings(columns)})
        frame.write_parquet(folder / f"part-{part.number:06d}.parquet")
    return found


def _sample(parts: Parts, config: RunConfig) -> Dataset:
    """Return whole bags as a table of their own, with the rows' numbers in all files."""
    share = SHOWN / parts.n_rows
    drawn = [draw(part.rows(), part.lists(), part.numbers(), share) for part in parts.parts()]
    numbers = [draw(part.numbers(), part.lists(), part.numbers(), share)[0] for part in parts.parts()]
    lists = joined_lists([some for _, some in drawn])
    assert lists is not None  # the job looked
    roles = tuple(ColumnRole(name, "feature", "a column of numbers") for name in parts.feature_names)
    roles += (ColumnRole(str(config.roles.bag), "bag", "you said so", "text"),)
    roles += (ColumnRole(str(label_column(config.roles)), "label", "you said so", "text"),)
    return Dataset(
        np.concatenate([rows for rows, _ in drawn]).astype(np.float64), parts.feature_names, path=config.table,
        format="Parquet files", bags=lists.as_bags(parts.classes), label_names=tuple(map(str, parts.classes)),
        roles=roles, reader="parquet", row_numbers=np.concatenate(numbers) + 1,
    )  # fmt: skip


def _of_sample(data: Dataset, model: Any) -> CoverageResult:
    """Make the result of a run that had seen the sample alone, under the model of all rows."""
    shadow = copy.copy(model)
    inner = shadow
    if "estimator_" in vars(shadow):
        inner = shadow.estimator_ = copy.copy(model.estimator_)
    inner.labels_ = model.predict(data.X, bags=data.bags)
    assert data.bags is not None  # the job looked
    values = np.full(data.bags.n_bags, 0.0)
    values[data.bags.is_labelled] = model.bag_scores(data.X, data.bags)
    inner.bag_log_likelihood_ = values
    return replace(result_of(data, data.bags, shadow), model=model)


def _with_figures(
    result: CoverageResult, found: _Found, parts: Parts, folder: TemporaryDirectory[str], heard: tuple[str, ...]
) -> PartedCoverageResult:
    """Put the figures of all rows in the place of those of the sample."""
    own = dict(zip(result.model.cluster_names_, result.own_labels))
    used = [own[name] for name, size in found.sizes.items() if size]
    n_rows = parts.n_rows
    changed: dict[str, Any] = {
        "reading": replace(result.reading, n_rows=n_rows),
        "n_bags": parts.n_bags,
        "n_labelled": found.n_labelled,
        "n_labels_found": len({label for label in used if label >= 0}),
        "n_clusters_used": len(used),
        "n_novel_used": sum(label < 0 for label in used),
        "n_bags_novel": found.n_bags_novel,
        "share_sure": found.n_sure / n_rows,
        "contents": replace(result.contents, sizes=[found.sizes[str(name)] for name in result.contents.names]),
        "moved": replace(result.moved, n_moved=found.n_moved, n_rows=n_rows),
        "heard": heard,
    }
    fields = {name: getattr(result, name) for name in result.__dataclass_fields__}
    n_shown = len(result.assignments["cluster"])
    return PartedCoverageResult(**{**fields, **changed}, n_shown=n_shown, folder=folder)


def _refuse(options: Coverage) -> None:
    """Refuse by name what a run by parts cannot be told."""
    usual = Coverage()
    for name in ("lists", "empty", "rows", "corrections"):
        if getattr(options, name) != getattr(usual, name):
            raise InvalidParameter(
                f"Rows that are read part by part cannot be fitted with {name}.",
                do=["Leave ", Setting(name), " out, or run on one table that fits into memory."],
            )
