"""Apply a saved model to the rows of another table, block by block, so that any number of rows fits into memory."""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from shutil import move
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import sidelight
from sidelight._core.atomic import folder_beside
from sidelight.app.jobs.config import as_toml, read_toml
from sidelight.app.jobs.first_look import check_prediction, is_pattern, matching
from sidelight.app.jobs.in_parts import PlaceRows, ask_all
from sidelight.app.jobs.output import MANIFEST, disarmed, output_folder, with_headings
from sidelight.app.jobs.parts import OpenParts, arranged
from sidelight.app.jobs.placing import COVERAGE, Placed, feature_names_of, inner_of, place_of, takes
from sidelight.app.jobs.reading import read_as_it_is, without_gaps
from sidelight.app.jobs.result import Columns, columns_of
from sidelight.app.jobs.roles import Roles, Where
from sidelight.app.jobs.run import versions_in_use
from sidelight.data.dataset import Dataset
from sidelight.errors import InvalidData
from sidelight.files.arrays.parquet import ParquetSource
from sidelight.files.limits import memory_limit
from sidelight.files.part_tables import ParquetRows
from sidelight.files.problems import about_skipped, skipping
from sidelight.files.reading import open_table
from sidelight.files.roles.columns import MemorySource
from sidelight.files.roles.plan import asked
from sidelight.files.source import Source
from sidelight.files.streaming import RowsInBlocks, align
from sidelight.files.text.delimited import DelimitedSource
from sidelight.files.text.words import counting_known
from sidelight.progress import report
from sidelight.words import Sentence, Setting, Spell, counted, present, render, some_of

if TYPE_CHECKING:
    from sidelight.files.material.rows import Material


@dataclass(frozen=True)
class Prediction:
    """Where the assignments are, and what they hold in short."""

    out: Path
    files: Sequence[str]
    sentences: Sequence[str]
    numbers: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        return {"out": str(self.out), "files": list(self.files), "result": dict(self.numbers)}


def predict(
    model_path: str,
    table: str | Source,
    out: str | Path,
    roles: Roles,
    *,
    overwrite: bool = False,
    spell: Spell = str,
    where: Where | None = None,
    coverage: float = COVERAGE,
) -> Prediction:
    """Place the rows of ``table`` with a model, and write one line for each.

    Parameters
    ----------
    model_path : str
        A ``model.sidelight``, or the folder of the run that wrote it.
    table : str or Source
        Any table that :func:`sidelight.read` understands. Columns are found by name.
    out : str or Path
        A folder, or a file that ends with ``.csv`` or ``.parquet``.
    roles : Roles
        What the columns are; what is not said is what it was in the run that made the model, or is guessed.
    overwrite : bool
        Whether what an earlier call wrote may be replaced.
    spell : callable
        How the reader of the sentences would type a setting.
    where : Where, optional
        Who places the rows of a pattern of files: this process by default.
    coverage : float
        The share of rows, and of the labels of bags, that sets of names hold; about, and where lists were held out.
    """
    out, source = Path(out), Source.of(table)
    file, is_file = check_prediction(model_path, source, out, roles, overwrite=overwrite)
    model = sidelight.load(file)
    place_of(model)  # a model that places no new rows is told before columns are looked for
    source = _cut(model, source, roles.embed) if source.path.is_dir() else source
    blocks: RowsInBlocks | OpenParts | list[Dataset]
    words: list[str] | None = None
    skipped: dict[int, str] = {}
    if is_pattern(source.given):
        columns = list(ParquetRows.look_into(Path(matching(source.given)[0]))[0])
        known = _roles_of_run(file, model, roles, columns)
        lists_are = "sequences" if hasattr(model, "predict_channel") else "bags"
        lists_are = "rows" if hasattr(model, "complete") else lists_are
        blocks = OpenParts(source.given, known, feature_names_of(model), lists_are=lists_are, gaps=True)
    else:
        with memory_limit(roles.max_memory), skipping(roles.bad_lines == "skip") as skipped:
            opened = open_table(source, roles.format, **{key: getattr(roles, key) for key in _HOW})
        known = _roles_of_run(file, model, roles, None if opened is None else opened.names)
        words = _words_of(model, known)
        with counting_known(words):
            blocks = _open(model, source, opened, known, len(words or ()))
    work = _Work(model, source, blocks, known, knew_answers=_knew_answers(file, model), words=words, coverage=coverage)
    if is_file:
        with folder_beside(out) as folder:
            work.write(folder, parquet=out.suffix == ".parquet")
            os.replace(folder / f"assignments{out.suffix}", out)
        files = [out.name]
    else:
        with output_folder(out, lambda names: _manifest(file, source.given, names), overwrite=overwrite) as folder:
            if isinstance(blocks, OpenParts):
                work.write_parts(folder, blocks, where or Where())
            else:
                work.write(folder, parquet=True)
            files = sorted([*(path.name for path in folder.iterdir()), MANIFEST])
    told = [*work.sentences(), *([f"{about_skipped(skipped)}."] if skipped else [])]
    return Prediction(out, files, [render(sentence, spell) for sentence in told], work.numbers())


def _cut(model: Any, folder: Source, embed: str | None) -> Source:
    """Return the table of a folder, cut and described as the model's own material was."""
    from sidelight.files.cards.choosing import known_again
    from sidelight.files.material.folder import cached_table
    from sidelight.files.material.rows import Material

    how = getattr(model, "material_", "")
    if not how:
        raise InvalidData(
            f"{folder.given!r} is a folder, and the model was not fitted to rows that were cut from one. Cut the "
            "folder into a table with the columns of the fit first."
        )
    material = Material.from_json(how)
    card = material.network()
    if card is not None:
        material = replace(material, card=known_again(card, embed).to_dict())
    return Source(cached_table(folder.path, material=material).path)


def _check_card(model: Any, material: Material | None) -> None:
    """Refuse rows that another network described than the one that the model knows."""
    how = getattr(model, "material_", "")
    if not how or material is None:
        return
    from sidelight.files.material.rows import Material

    known = Material.from_json(how).card
    if known and material.card and known.get("checksum") != material.card.get("checksum"):
        raise InvalidData(
            f"The rows were described by {material.card.get('name')} ({material.card.get('checksum')}), and the model "
            f"was fitted to rows of {known.get('name')} ({known.get('checksum')}). Cut the folder with the model: "
            "sidelight predict MODEL FOLDER."
        )


class _Work:
    """One pass over a table: blocks in, lines out, and what is worth saying about them."""

    def __init__(
        self,
        model: Any,
        table: Source,
        blocks: RowsInBlocks | OpenParts | list[Dataset],
        roles: Roles,
        *,
        knew_answers: bool = False,
        words: Sequence[str] | None = None,
        coverage: float = COVERAGE,
    ) -> None:
        self.words, self.coverage = words, coverage
        self.model, self.table, self.roles, self.knew_answers = model, table, roles, knew_answers
        self.place = place_of(model, coverage)
        self.blocks = blocks
        self.n_rows = self.n_bags = self.n_left_out = 0
        self.sizes: Counter[str] = Counter()
        self.strange: dict[str, None] = {}

    def write(self, folder: Path, *, parquet: bool) -> None:
        """Write assignments (and bags), a block at a time."""
        with _Lines(folder / "assignments.csv", parquet=parquet, disarm=self.roles.disarm) as rows:
            bags = _Lines(folder / "bags.csv", disarm=self.roles.disarm)
            for data in self._data():
                data = self._without_gaps(data)
                placed = self.place(self.model, data)
                rows.add(columns_of(data, placed.rows))
                bags.add(placed.bags)
                self._count(data, placed)
            if not self.n_rows:
                raise InvalidData(f"{self.table!r} has no row without a gap, so there is nothing to place.")
            if parquet:
                report("writing", 0, None, "assignments.parquet")
                rows.to_parquet(folder / "assignments.parquet")

    def write_parts(self, folder: Path, blocks: OpenParts, where: Where) -> None:
        """Write a folder of assignments, and one of bags where bags are judged: a Parquet file for each part."""
        with TemporaryDirectory(prefix="sidelight-", dir=where.scratch) as beside:
            rows, bags = Path(beside) / "assignments", Path(beside) / "bags"
            rows.mkdir()
            bags.mkdir()
            ready = Ready.of(self.model, self.roles.missing)
            ask = PlaceRows(self.model, self.place, count_placed, blocks.table, str(rows), ready, str(bags))
            with arranged(blocks.parts, self.roles, where) as parts:
                for total in ask_all(parts, ask, where):
                    self._add(total)
            if not self.n_rows:
                raise InvalidData(f"{self.table!r} has no row without a gap, so there is nothing to place.")
            for made in (rows, bags):
                if any(made.iterdir()):
                    move(made, folder / made.name)

    def _add(self, total: Counter[Any]) -> None:
        self.n_rows, self.n_bags = self.n_rows + total["rows"], self.n_bags + total["bags"]
        self.n_left_out += total["left out"]
        for key, n in total.items():
            if isinstance(key, tuple) and key[0] == "strange":
                self.strange[key[1]] = None
            elif isinstance(key, tuple):
                self.sizes[key[1]] += n

    def sentences(self) -> list[Sentence]:
        """Say how many rows went where, and what was not used."""
        told: list[Sentence] = []
        sizes = some_of([f"{name} {n}" for name, n in self.sizes.most_common()], 8)
        what = "with labels" if hasattr(self.model, "complete") else f"in {counted(len(self.sizes), 'cluster')}"
        in_bags = f" of {counted(self.n_bags, 'bag')}" if self.n_bags else ""
        told.append(f"{counted(self.n_rows, 'row')}{in_bags} placed {what}{f' ({sizes})' if self.sizes else ''}.")
        if self.knew_answers:
            told.append(
                "They are placed by their features alone. The run also used answers about its own rows: for those, its "
                "assignments.csv knows more."
            )
        told += self._about_sets()
        if self.n_left_out:
            told.append(f"{counted(self.n_left_out, 'row')} with gaps left out.")
        if self.strange:
            told.append(f"The model has never heard of {some_of(map(repr, self.strange))}: not used.")
        if isinstance(self.blocks, RowsInBlocks):
            if self.blocks.is_sorted_here:
                told.append("The rows of a bag did not stand together, so the lines come bag by bag.")
            extra = self.blocks.extra
            if extra:
                told.append(f"{counted(len(extra), 'column was', 'columns were')} not used: {some_of(extra, 6)}.")
        return told

    def _about_sets(self) -> list[Sentence]:
        """Say what the columns of sets promise."""
        known = getattr(self.model, "calibration_", None)
        if known is None:
            return []
        share = f"{self.coverage:.0%}"
        return present(
            f"About {share} of rows like those of the fit are what one of their names in 'one_of' says."
            if known.get("n_rows")
            else None,
            f"On average {share} of the labels of bags like those of the fit are in 'may_hold' of bags.csv."
            if self.n_bags and len(known.get("lists", {}).get("bag", ()))
            else None,
        )

    def numbers(self) -> dict[str, Any]:
        """Return what was counted."""
        return {
            "n_rows": self.n_rows,
            "n_bags": self.n_bags,
            "n_left_out": self.n_left_out,
            "sizes": dict(self.sizes),
            "unknown_labels": list(self.strange),
            "unused_columns": self.blocks.extra if isinstance(self.blocks, RowsInBlocks) else [],
        }

    def _data(self) -> Iterator[Dataset]:
        with memory_limit(self.roles.max_memory), counting_known(self.words):
            yield from self.blocks

    def _without_gaps(self, data: Dataset) -> Dataset:
        kept = Ready.of(self.model, self.roles.missing)(data)
        self.n_left_out += data.n_rows - kept.n_rows
        return kept

    def _count(self, data: Dataset, placed: Placed) -> None:
        self.n_rows += data.n_rows
        self.n_bags += len(placed.bags.get("bag", ()))
        self.sizes.update(map(str, placed.rows.get("label", placed.rows.get("cluster", ()))))
        self.strange.update(dict.fromkeys(placed.strange))


@dataclass(frozen=True)
class Ready:
    """What is done about gaps: filled with the means that the model remembers, left out with their rows, or refused."""

    missing: str
    mean: Any
    who: str
    channels: tuple[Any, ...] | None  # those that a row may lack as a whole

    @classmethod
    def of(cls, model: Any, missing: str) -> Ready:
        """Return what is done about gaps in rows that a model is asked about."""
        inner = inner_of(model)
        lacking = getattr(inner, "joined_", None) is not None
        channels = tuple(inner.channel_columns_.values()) if lacking else None
        return cls(missing, vars(model).get("mean_"), type(inner).__name__, channels)

    def __call__(self, data: Dataset) -> Dataset:
        """Return rows without gaps, but for channels that they lack as a whole."""
        if self.missing != "mean" or sp.issparse(data.X):
            return without_gaps(data, self.missing, channels=self.channels)
        if self.mean is None:
            raise InvalidData(
                f"{self.who} keeps no means of its columns to fill gaps with.",
                do=["Leave rows with gaps out: ", Setting("missing", "drop"), "."],
            )
        return replace(data, X=np.where(np.isfinite(data.X), data.X, self.mean))


def count_placed(data: Dataset, placed: Placed) -> Counter[Any]:
    """Count rows, bags, rows by what they are, and labels that the model does not know."""
    total: Counter[Any] = Counter(rows=data.n_rows, bags=len(placed.bags.get("bag", ())))
    total.update(("of", str(name)) for name in placed.rows.get("label", placed.rows.get("cluster", ())))
    total.update(("strange", name) for name in placed.strange)
    return total


_FEW = 5000  # lines that a loop writes in less time than the import of polars takes


class _Lines(ExitStack):
    """A CSV file that grows, and the same lines as Parquet, without ever being in memory at once.

    Until it is written, Parquet is one file for each block, with the types of the cells: texts that look like numbers
    stay texts. Few lines are written by a loop, without polars.
    """

    def __init__(self, path: Path, *, parquet: bool = False, disarm: bool = False) -> None:
        super().__init__()
        self.path, self._disarm = path, disarm
        self._names: set[str] = set()
        self._texts: set[str] = set()
        self._blocks = Path(self.enter_context(TemporaryDirectory(dir=path.parent))) if parquet else None
        self._n_blocks = 0

    def add(self, columns: Columns) -> None:
        """Write some lines."""
        if not columns:
            return
        columns = with_headings(columns)
        if self._blocks is None and max(map(len, columns.values())) <= _FEW:
            self._add_few(disarmed(columns) if self._disarm else columns)
            return
        frame = self._frame(columns)
        with self.path.open("ab") as handle:
            shown = self._frame(disarmed(columns)) if self._disarm else frame
            shown.write_csv(handle, include_header=not self._names)
        self._names |= set(columns)
        self._texts |= {name for name, kind in frame.schema.items() if kind == self._pl.String}
        if self._blocks is not None:
            frame.write_ipc(self._blocks / f"{self._n_blocks}.arrow")
            self._n_blocks += 1

    def _add_few(self, columns: Columns) -> None:
        with self.path.open("a", encoding="utf-8", errors="backslashreplace", newline="") as handle:
            writer = csv.writer(handle, lineterminator="\n")
            if not self._names:
                writer.writerow(columns)
            writer.writerows(zip(*([_as_polars_does(cell) for cell in cells] for cells in columns.values())))
        self._names |= set(columns)

    @cached_property
    def _pl(self) -> Any:
        import polars

        return polars

    def _frame(self, columns: Columns) -> Any:
        return self._pl.DataFrame({name: self._series(cells) for name, cells in columns.items()}, strict=False)

    def _series(self, cells: Sequence[Any]) -> Any:
        if any(isinstance(cell, str) for cell in cells):
            return self._pl.Series([_plain(cell) for cell in cells], dtype=self._pl.String)
        return self._pl.Series(list(cells))

    def to_parquet(self, path: Path) -> None:
        """Write the lines once more, as Parquet; a column with a text anywhere is a column of texts."""
        assert self._blocks is not None  # asked for
        blocks = [self._pl.scan_ipc(self._blocks / f"{number}.arrow") for number in range(self._n_blocks)]
        as_text: dict[Any, Any] = dict.fromkeys(self._texts, self._pl.String)
        self._pl.concat([block.cast(as_text) for block in blocks], how="vertical_relaxed").sink_parquet(path)


def _as_polars_does(cell: Any) -> Any:
    return str(cell).lower() if isinstance(cell, bool | np.bool_) else "NaN" if cell != cell else cell


def _plain(cell: Any) -> str:
    return str(cell).encode("utf-8", "backslashreplace").decode("utf-8")


def _words_of(model: Any, roles: Roles) -> list[str] | None:
    """Return the features of a model that are words of texts; numbers that the run named stand before them."""
    features = feature_names_of(model)
    if features is None or not (roles.text or _is_of_texts(model)):
        return None
    numbers = next((k for k, name in enumerate(features) if not _is_named(name, roles.features)), len(features))
    return features[numbers:]


def _is_of_texts(model: Any) -> bool:
    how = getattr(model, "material_", "")
    if not how:
        return False
    from sidelight.files.material.rows import Material  # .1 s, and most models are of tables

    material = Material.from_json(how)
    return material.kind == "texts" and not material.card


def _is_named(name: str, patterns: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    return any(name == pattern or fnmatchcase(name, pattern) for pattern in patterns)


def _open(
    model: Any,
    source: Source,
    opened: DelimitedSource | ParquetSource | MemorySource | None,
    roles: Roles,
    n_words: int,
) -> RowsInBlocks | list[Dataset]:
    """Return the rows of a table in blocks, or all of them where its format cannot be read in pieces."""
    features = feature_names_of(model)
    if opened is None or isinstance(opened, MemorySource):
        numbers = roles.features if n_words else []
        return [align(read_as_it_is(source, replace_role(roles, features=numbers, yes=True)), features)]
    wishes = {
        k: v
        for k, v in roles.for_read().items()
        if k not in (*_HOW, "format", "label_file", "max_memory", "transpose", "bad_lines")
    }
    beside = None if roles.label_file is None else Path(roles.label_file).expanduser()
    with memory_limit(roles.max_memory):
        wanted = asked(**{**wishes, "features": None})
        if isinstance(opened, ParquetSource):
            from sidelight.files.material.folder import with_recipe
            from sidelight.files.material.rows import material_of

            material = material_of(opened.path)
            _check_card(model, material)
            wanted = wanted if material is None else with_recipe(opened.path, material, wanted)
        blocks = RowsInBlocks(opened, wanted, features, label_file=beside, n_words=n_words)
    if features is None and len(blocks.features.names) != model.n_features_in_:
        raise InvalidData(
            f"{source!r} has {len(blocks.features.names)} columns of numbers, and the model, which does not know its "
            f"columns by name, was fitted on {model.n_features_in_}.",
            do=["Name the columns with ", Setting("features"), "."],
        )
    return blocks


_HOW = ("separator", "encoding", "header")


def replace_role(roles: Roles, **changes: Any) -> Roles:
    """Return roles with some of them changed."""
    return Roles(**{**roles.settings(), **changes})


def _roles_of_run(file: Path, model: Any, roles: Roles, columns: Sequence[str] | None) -> Roles:
    """Fill what was not said with the columns of the run that made the model; only what this model looks at."""
    run = file.parent / MANIFEST
    known: dict[str, Any] = {}
    if run.is_file():
        content = read_toml(run)
        for name in ("roles", "read"):
            part = content.get(name)
            known |= part if isinstance(part, dict) else {}
    said = roles.settings()
    defaults: dict[str, Any] = {}
    for name in (
        "id",
        "bag",
        "sequence",
        "label",
        "bag_label",
        "label_separator",
        "same",
        "label_level",
        "missing",
        "missing_words",
        "text",
        "features",
    ):
        value = known.get(name)
        if name in said and name != "missing":
            continue
        if name == "missing" and said.get(name) != "error":
            continue
        if name == "features" and not known.get("text"):
            continue  # a model knows its columns by name; beside words it must be said which are none
        if value is not None and _is_there(name, value, columns):
            defaults[name] = value
    merged = {**said, **defaults}
    if not takes(model, "bags") and not hasattr(model, "complete"):
        merged |= {"bag": False, "label": False, "bag_label": False}
        merged.pop("label_file", None)
    if not takes(model, "sequences"):
        merged["sequence"] = False
    return Roles(**merged)


def _knew_answers(file: Path, model: Any) -> bool:
    """Say whether the run of a model had answers about its rows; a model without its run.toml may have had some."""
    if not hasattr(inner_of(model), "violated_"):
        return False
    run = file.parent / MANIFEST
    options = read_toml(run).get("options", {}) if run.is_file() else {"pairs": ""}
    return isinstance(options, dict) and any(
        name in options for name in ("pairs", "triplets", "placements", "corrections")
    )


def _is_there(role: str, value: Any, columns: Sequence[str] | None) -> bool:
    """Say whether the columns of an earlier run are in this table, too."""
    if (
        role in ("label_separator", "same", "label_level", "missing", "missing_words")
        or value is False
        or columns is None
    ):
        return True
    from fnmatch import fnmatchcase

    names = [value] if isinstance(value, str) else list(value)
    return all(any(fnmatchcase(column, str(name)) or column == name for column in columns) for name in names)


def _manifest(model: Path, table: str, names: Sequence[str]) -> str:
    keys = {"job": "predict", "model": str(model), "table": table, "files": list(names)}
    return as_toml(keys, {"versions": versions_in_use()})
