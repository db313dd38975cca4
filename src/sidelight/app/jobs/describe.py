"""What is inside a file, how it was understood, and which jobs fit it: the words behind ``sidelight describe``."""

from __future__ import annotations

import os
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np

from sidelight._core.params import is_sparse
from sidelight.app.jobs.catalogue import JOBS, find_job
from sidelight.app.jobs.columns import answers_by_column, columns_that_repeat
from sidelight.app.jobs.first_look import is_pattern, matching
from sidelight.app.jobs.fitting import can_start, fit_of_folder, fit_of_lists, has_rows, lists_inside
from sidelight.app.jobs.job import Fit
from sidelight.app.jobs.large import count, first_rows
from sidelight.app.jobs.roles import Roles
from sidelight.data.dataset import Dataset
from sidelight.data.inseparable import inseparable_labels
from sidelight.errors import InvalidData, SidelightError
from sidelight.files.answer_tables import name_their_rows
from sidelight.files.answers import are_pairs, find_answers, kind_of_answers, possible_answers
from sidelight.files.material.listing import Listing
from sidelight.files.problems import forgiving
from sidelight.files.reading import read
from sidelight.files.roles.builder import column_facts, is_finite, n_repeated_rows
from sidelight.files.source import Source
from sidelight.words import Sentence, Setting, counted, some_of

_FEW = 12
_FEW_NUMBERS = 4  # beside texts: the texts are what the rows are about
TABLES = ("delimited", "parquet", "workbook", "sqlite", "server", "json", "feather")  # readers of tables with columns
_TOLD = 2  # columns that are told one by one; more are counted
MOST_FITS = 3  # commands that are suggested: more are not read


@dataclass(frozen=True)
class Description:
    """Everything that ``describe`` says; ``as_dict`` is its JSON."""

    path: str
    format: str
    facts: Mapping[str, Any]
    roles: tuple[Mapping[str, str], ...]
    warnings: tuple[str, ...]
    fits: tuple[Fit, ...]
    doubts: tuple[Mapping[str, Any], ...] = ()
    next: tuple[tuple[str, Sentence], ...] = ()  # commands of a folder, with what each is for
    # rows, counts, events, pair answers, placements, annotations, label track, channels, label sets, texts; or several
    kind: str | tuple[str, ...] | None = None
    evidence: Mapping[str, Sequence[str]] = field(default_factory=dict)  # what the rules said about each column

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that can be written as JSON."""
        return asdict(self)


def describe(path: str | Source, roles: Roles | None = None) -> Description:
    """Read ``path`` and say what is inside.

    Parameters
    ----------
    path : str or Source
        Any file that :func:`sidelight.read` understands.
    roles : Roles, optional
        What the columns are, as in a run; the rest is guessed.
    """
    explicit = (roles or Roles()).for_read()
    source = Source.of(path)
    if is_pattern(source.given):
        return _first_of_many(source.given, roles)
    folder = describe_folder(source.path) if source.path.is_dir() and not explicit else None
    if folder is not None:
        return folder
    with forgiving() as odd:
        first = first_rows(source, explicit)
        if first is not None:
            return _of_large(source, first, explicit)
        data = read(source, **explicit)
        is_called_so = (
            not explicit and data.reader in TABLES and name_their_rows(tuple(role.name for role in data.roles))
        )
        is_pairs = is_called_so and source.path.is_file() and are_pairs(source.path)
        if data.kind in _NO_ROWS or is_pairs:
            return _no_rows(data, source, is_pairs=is_pairs)
        described = _with_answers(describe_data(data, explicit), data, source, explicit.get("label_file"))
        if not described.fits and not explicit:
            described = replace(described, fits=tuple(_at_second_sight(data, source)))
        with_words = ["text" in fit.roles for fit in described.fits]
        if any(with_words):  # where numbers stand beside the texts, the file is both
            described = replace(described, kind="texts" if all(with_words) else ("texts", "rows"))
        if not explicit:
            lists = fit_of_folder(source.path, data) if source.path.is_dir() else fit_of_lists(source.path, data)
            described = replace(described, fits=(*lists, *described.fits))
    return replace(described, warnings=(*described.warnings, *_odd_cells(odd)), fits=described.fits[:MOST_FITS])


def _of_large(source: Source, first: Dataset, explicit: Mapping[str, Any]) -> Description:
    """Describe a large text by its first rows, and count what can be counted in one pass."""
    found = describe_data(first, explicit)
    told = (
        f"roles and commands go by the first rows ({first.n_rows:,}); rows, gaps and labels are counted in all of them"
    )
    facts = {name: value for name, value in found.facts.items() if name not in ("repeated rows", "constant features")}
    return replace(found, facts={**facts, **count(source, first)}, warnings=(*found.warnings, told))


_NO_ROWS = ("label track", "annotations", "distances", "pair answers", "placements")


def _no_rows(data: Dataset, source: Source, *, is_pairs: bool) -> Description:
    """Describe a table that says something about rows that are elsewhere, and say what to bring."""
    described = describe_data(data)
    if data.kind == "label track":
        words: tuple[str, ...] = (
            "a label track says when (or where) something was marked: it is no table of rows; bring the recordings or "
            "pictures, and it gives their labels",
        )
        command: Sentence = ["sidelight from FOLDER ", Setting("labels", str(source.given)), " ",
                             Setting("out", "rows.parquet")]  # fmt: skip
        return replace(
            described, fits=(), warnings=(*described.warnings, *words),
            next=(("with the folder of recordings or pictures in the place of FOLDER", command),),
        )  # fmt: skip
    if data.kind == "placements":
        why = "rows that somebody sorted onto piles: give them with the table whose rows they name"
        return replace(described, fits=(Fit("relations", why, {"placements": data.path}, table="TABLE"),), doubts=())
    about = "pairs" if data.kind == "pair answers" or is_pairs else kind_of_answers(source.path)
    if about is not None:
        why = f"answers about {about}: give them with the table whose rows they name"
        fit = Fit("relations", why, {about: data.path}, table="TABLE")
        return replace(described, fits=(fit,), doubts=(), kind="pair answers" if about == "pairs" else data.kind)
    if data.kind == "annotations":
        words = ("answers of annotators: they say what people think of things whose rows are elsewhere",)
        return replace(described, fits=(), warnings=(*described.warnings, *words))
    return replace(described, fits=())


def _first_of_many(pattern: str, roles: Roles | None) -> Description:
    """Describe the first file of a pattern; commands that read files part by part take the pattern."""
    from sidelight.files.part_tables import ParquetRows

    files = matching(pattern)
    found = describe(files[0], roles)
    n_rows = sum(ParquetRows.look_into(Path(file))[1] for file in files)
    facts = {"files": len(files), "rows in all files": n_rows}
    facts |= {f"{name}, first file": value for name, value in found.facts.items()}
    said = f"{found.format}; {Path(files[0]).name} is the first of {counted(len(files), 'file')}, read part by part"
    fits = []
    for fit in found.fits:
        if any(method.in_parts for method in find_job(fit.job).methods.values()):
            idle = _numbers_beside(found.roles, fit.roles)
            fits.append(replace(fit, table=pattern, roles={**fit.roles, **({"ignore": idle} if idle else {})}))
    return replace(found, path=pattern, format=said, facts=facts, fits=tuple(fits))


def _numbers_beside(columns: Sequence[Mapping[str, str]], roles: Mapping[str, Any]) -> list[str]:
    """Name columns of numbers that are no features: read part by part, every number that is not named is one."""
    named = {name for value in roles.values() for name in ([value] if isinstance(value, str) else value or ())}
    return [c["name"] for c in columns if c["role"] != "feature" and c["kind"] == "number" and c["name"] not in named]


def describe_folder(path: Path) -> Description | None:
    """Say what lies in a folder that is no table by itself; None where its files are read as rows."""
    listing = Listing.of(path)
    tables = listing.files.get("tables", ())
    material = [kind for kind in ("sounds", "pictures", "texts") if listing.files.get(kind)]
    known = [name for names in listing.files.values() for name in names]
    if (not tables and len(material) == 1) or (not known and listing.other):
        return None
    with suppress(InvalidData):  # two kinds, and neither is a by-catch: both are offered
        material = [listing.kind() or kind for kind in material[:1]]
    where = shlex.quote(str(path))
    named = lists_inside(path, material[0], listing) if len(material) == 1 else []
    next_: list[tuple[str, Sentence]] = [*named]
    next_ += [
        (f"the table {name}", f"sidelight describe {shlex.quote(os.path.join(path, name))}")
        for name in tables[:MOST_FITS]
    ]
    for kind in material:
        rows: Sentence = [f"sidelight from {where} ", Setting("kind", kind), " ", Setting("out", "rows.parquet")]
        next_.append((f"rows of its {kind}", rows))
    if material and "texts" not in material:
        next_.append(("look at them and answer questions", f"sidelight studio {where}"))
    facts: dict[str, Any] = {kind: len(names) for kind, names in listing.files.items()}
    facts |= {"other files": listing.other} if listing.other else {}
    told = f"a folder with {listing.in_words()}"
    told += "" if named else ": describe one of its files, or make rows of one kind of them"
    return Description(str(path), told, facts, (), (), (), (), tuple(next_[:MOST_FITS]))


def _odd_cells(odd: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """List the cells that should be numbers: a description goes on where a run would stop."""
    if len(odd) > _TOLD:
        (column, cells), *_ = odd.items()
        yield (
            f"{len(odd)} columns hold cells that are no numbers ({column!r}: {cells[0]}; {some_of(list(odd)[1:], 2)}); "
            "a run stops there: correct the cells, say what they mean with a missing word, or leave the columns out"
        )
        return
    for column, cells in odd.items():
        more = f" and {len(cells) - 2} more" if len(cells) > 2 else ""
        yield (
            f"column {column!r}: expected numbers, found {', '.join(cells[:2])}{more}; a run stops there: correct "
            "the cells, say what they mean with a missing word, or leave the column out"
        )


def _at_second_sight(data: Dataset, source: Source) -> list[Fit]:
    """Say what a file without features and counts may be: answers about another table, or a list of events."""
    if data.reader not in TABLES or not data.n_rows:
        return []
    kind = kind_of_answers(data.path) if data.reader in ("delimited", "parquet") else None
    if kind is not None:
        why = f"answers about {kind}: give them with the table whose rows they name"
        return [Fit("relations", why, {kind: data.path}, table="TABLE")]
    texts = _texts_of(data)
    with suppress(SidelightError):  # texts that share no word: a guess refuses no file
        if texts:
            return list(_fits(read(source, text=texts[0]), {"text": [texts[0]]}))
    repeated = columns_that_repeat(data, source) if data.reader in ("delimited", "parquet") else []
    if len(repeated) < 2:
        return []
    return [Fit("coclusters", "if every line is an event: what occurs together", {"events": repeated[:2]})]


def _with_answers(described: Description, data: Dataset, source: Source, labels: str | None) -> Description:
    """Add answers about the rows that lie beside the table, and the command that uses them; ``labels`` are none."""
    if not (data.n_rows and possible_answers(described.path)):
        return described
    beside = find_answers(described.path, data.row_names.tolist())
    own = None if labels is None else Path(labels).expanduser().resolve()
    beside = {kind: found for kind, found in beside.items() if found[0].resolve() != own}
    is_table = data.reader in ("delimited", "parquet")
    by_column = answers_by_column(data, source) if is_table and not beside else None
    if by_column is not None:
        column, beside = by_column
    if not beside:
        return described
    told = {file.name: f"{n} answers about {kind}" for kind, (file, n) in beside.items()}
    files = {kind: str(file) for kind, (file, _) in beside.items()}
    files |= {} if by_column is None else {"id": column}
    fits = [
        replace(
            fit, job="relations", why="rows with features, and answers about them beside the table",
            roles={**fit.roles, **files},
        )
        for fit in described.fits
        if fit.job == "cluster"
    ]  # fmt: skip
    fits += [fit for fit in described.fits if fit.job != "cluster"]
    return replace(described, facts={**described.facts, "answers beside it": told}, fits=tuple(fits))


def describe_data(data: Dataset, explicit: Mapping[str, Any] | None = None) -> Description:
    """Describe data that were read already, some of their roles explicitly."""
    facts, noted = _facts(data)
    listed = tuple(asdict(role) for role in data.roles)
    doubts = tuple(
        {"question": doubt.question, "readings": [{"words": words, "settings": dict(s)} for words, s in doubt.readings]}
        for doubt in data.doubts
    )
    fits = _fits(data, explicit or {})
    return Description(
        data.path, data.format, facts, listed, tuple(noted), fits, doubts, (), _kind_of(data), data.evidence
    )


def _kind_of(data: Dataset) -> str | None:
    """Say in one word what a file holds; None where nothing in it can be clustered."""
    if data.kind:
        return None if data.kind == "distances" else data.kind
    if data.counts is not None:
        return "events"
    if data.channels:
        return "channels"
    if has_rows(data):
        return "rows"
    return "label sets" if data.Y is not None and data.Y.size else None


def _facts(data: Dataset) -> tuple[dict[str, Any], list[str]]:
    facts: dict[str, Any] = {"rows": data.n_rows, "features": data.n_features}
    warnings = [*data.notes, *(f"{rows}: left out" for rows in data.left_out)]
    if is_sparse(data.X) and data.n_rows * data.n_features:
        facts["filled cells"] = f"{data.X.nnz / (data.n_rows * data.n_features):.2%}"
    if data.X.shape[0] and data.X.shape[1]:
        columns = column_facts(data.X)
        facts["missing cells"] = int(columns.n_missing.sum())
        facts["infinite cells"] = int(columns.n_infinite.sum())
        facts["repeated rows"] = n_repeated_rows(data.X)
        constant = [data.feature_names[j] for j in np.flatnonzero(columns.is_constant).tolist()]
        facts["constant features"] = int(columns.is_constant.sum())
        if constant:
            warnings.append(f"features that never change say nothing: {some_of(constant)}")
        if facts["repeated rows"] > 0.1 * data.n_rows:
            warnings.append(f"{facts['repeated rows']} rows are copies of earlier rows")
    _bag_facts(data, facts, warnings)
    _label_facts(data, facts)
    if data.sequence is not None:
        facts["sequences"] = len(set(data.sequence.tolist()))
    if data.counts is not None:
        facts["axes"] = dict(zip(data.counts.axes, data.counts.shape))
        total = data.counts.total
        facts["events counted"] = int(total) if float(total).is_integer() else total
        facts["different combinations"] = data.counts.nnz
    return facts, warnings


def _bag_facts(data: Dataset, facts: dict[str, Any], warnings: list[str]) -> None:
    if data.bags is None:
        return
    sizes = data.bags.sizes
    facts["bags"] = data.bags.n_bags
    facts["rows a bag"] = {"least": int(sizes.min()), "median": float(np.median(sizes)), "most": int(sizes.max())}
    if data.bags.is_labelled.any():
        n_labels = data.bags.n_labels[data.bags.is_labelled]
        facts["labelled bags"] = int(data.bags.is_labelled.sum())
        facts["labels a bag"] = round(float(n_labels.mean()), 2)
        facts["bags with a single label"] = int((n_labels == 1).sum())
        counts = data.bags.label_counts
        facts["bags with each label"] = _top(dict(zip(map(str, data.bags.classes), counts.tolist())))
        unused = [str(c) for c, n in zip(data.bags.classes, counts.tolist()) if not n]
        if unused:
            warnings.append(f"labels that no bag has: {some_of(unused)}")
        warnings += inseparable_labels(data.bags).sentences()
    if data.bags.n_bags == data.n_rows:
        warnings.append("every bag holds a single row")


def _label_facts(data: Dataset, facts: dict[str, Any]) -> None:
    if data.label_names:
        facts["classes"] = len(data.label_names)
    if data.y is not None:
        facts["labelled rows"] = int((data.y != "").sum())
        facts["rows with each label"] = _rows_of_each(data.y)
    if data.truth is not None:
        facts["rows of each true kind"] = _rows_of_each(data.truth)
    if data.Y is not None:
        known = (data.Y != -1).any(axis=1)
        present = data.Y == 1
        facts["labels a row"] = round(float(present[known].sum(axis=1).mean()), 2) if known.any() else 0.0
        facts["rows with each label"] = _top(dict(zip(data.label_names, present.sum(axis=0).tolist())))
    if data.tree is not None:
        facts["label hierarchy"] = (
            f"{data.tree.n_labels} labels, {len(data.tree.tops)} at the top, {data.tree.depth} deep"
        )


def _fits(data: Dataset, explicit: Mapping[str, Any]) -> tuple[Fit, ...]:
    """Say which jobs fit, the most specific first."""
    roles = {**_roles(data), **explicit}
    if has_rows(data) and not is_sparse(data.X) and not is_finite(data.X):
        roles["missing"] = "mean"
    elif data.left_out:  # events with a gap: a description leaves them out, a run only when it is told to
        roles["missing"] = "drop"
    suggested = [job.fits(data, roles) for job in JOBS.values()]
    if data.channels is None:  # channels by names alone: sepal and petal may be just columns
        suggested.sort(key=lambda fit: fit is not None and fit.job == "sources")
    if any((role.role, role.kind) == ("feature", "text") for role in data.roles):  # texts first, then their words
        suggested.sort(key=lambda fit: fit is not None and fit.job == "coclusters")
    texts = _texts_of(data)
    if texts and has_rows(data) and not is_sparse(data.X):
        named = {name: value for name, value in roles.items() if name in ("id", "truth", "missing")}
        suggested.insert(
            0 if data.n_features <= _FEW_NUMBERS else 1,
            Fit("cluster", f"the words of {texts[0]!r} as features", {**named, "text": texts[:1]}),
        )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns without a single number
        told = [_answering(fit, data, explicit) for fit in suggested if fit is not None]
        return tuple(fit for fit in told if can_start(fit, data))


def _answering(fit: Fit, data: Dataset, explicit: Mapping[str, Any]) -> Fit:
    """Let a suggested command repeat what the user said, and answer every question by the reading that was taken."""
    said = {name: value for doubt in data.doubts for name, value in doubt.readings[0][1].items()}
    said |= {} if "text" in fit.roles and "text" not in explicit else explicit
    return replace(fit, roles={**said, **{k: v for k, v in fit.roles.items() if v not in ({}, [])}}) if said else fit


def _texts_of(data: Dataset) -> list[str]:
    """Return the columns of sentences."""
    return [role.name for role in data.roles if role.kind == "text" and role.why.startswith("texts;")]


def _roles(data: Dataset) -> dict[str, Any]:
    """Return the roles that were taken, as a run calls them; formats that imply them need none."""
    if data.reader not in TABLES:
        return {}
    names = {role: data.columns(role) for role in ("id", "bag", "sequence", "truth", "candidates")}
    roles: dict[str, Any] = {role: found[0] for role, found in names.items() if found}
    labels = data.columns("label")
    if labels:
        roles["label"] = labels[0] if len(labels) == 1 else _in_short(labels, [role.name for role in data.roles])
    events, weight = list(data.columns("event")), data.columns("weight")
    if events:
        roles["events"] = events
    if weight:
        roles["weight"] = weight[0]
    return roles


def _in_short(columns: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return one pattern for columns that share a beginning which no other column has, else their names."""
    prefix = commonprefix(list(columns))  # noqa: RUF071 - names of columns, compared by their letters
    is_plain = len(columns) > 2 and prefix and not set(prefix) & set("*?[")
    alike = [name for name in every if name.startswith(prefix)]
    return [f"{prefix}*"] if is_plain and sorted(alike) == sorted(columns) else list(columns)


def _rows_of_each(labels: Any) -> dict[str, int]:
    names, counts = np.unique(labels[labels != ""].astype(str), return_counts=True)
    return _top(dict(zip(names.tolist(), counts.tolist())))


def _top(counts: Mapping[str, int]) -> dict[str, int]:
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return dict(ordered[:_FEW])
