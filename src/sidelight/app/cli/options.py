"""Click options, made from the typed models of the jobs: how each is typed, read, spelled and listed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

import click

from sidelight.app.jobs.catalogue import JOBS
from sidelight.app.jobs.job import Job
from sidelight.app.jobs.options import Field, Kind, build, fields_of
from sidelight.app.jobs.roles import USUAL, Roles, Where
from sidelight.errors import SidelightError
from sidelight.words import Setting

# What is typed for a value of each kind, and how typed words are read: one is the inverse of the other.


_TAB = ("tab", "\\t")
_NONE = "none"  # what is typed for "no column"


def read_words(field: Field, words: Sequence[str]) -> Any:
    """Turn words into the kind of value that a field keeps; what cannot be is left for the field to refuse."""
    kind, word = field.kind, words[0]
    if field.can_be_none and list(words) == [_NONE]:
        return False
    if kind is Kind.COLUMNS:
        return list(words)
    if kind is Kind.CHANNELS:
        return _pairs(field, words)
    if word in field.choices or kind in (Kind.CHOICE, Kind.TEXT, Kind.PATH, Kind.COLUMN):
        return word
    if kind is Kind.MARK:
        return "\t" if word in _TAB else word
    if kind is Kind.COUNTS and "=" in word:
        return _pairs(field, word.split(","))
    if kind in (Kind.RANGE, Kind.WHOLES):
        return [_number(part) for part in word.split(":" if kind is Kind.RANGE else ",")]
    return _number(word)


def words_for(field: Field, value: Any) -> list[str]:
    """Return what to type for a value, a word for each time that the option is typed."""
    if value is False:
        return [_NONE]
    if field.kind is Kind.MARK and value == "\t":
        return [_TAB[0]]
    if isinstance(value, dict):
        pairs = [
            f"{name}={','.join(part) if isinstance(part, (list, tuple)) else part}" for name, part in value.items()
        ]
        return pairs if field.kind.is_repeated else [",".join(pairs)]
    if isinstance(value, (list, tuple)):
        words = [str(item) for item in value]
        return words if field.kind.is_repeated else [(":" if field.kind is Kind.RANGE else ",").join(words)]
    return [as_word(value)]


def as_word(value: Any) -> str:
    """Return what to type for one number or text."""
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _pairs(field: Field, words: Sequence[str]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    is_channel = field.kind is Kind.CHANNELS
    for word in words:
        name, mark, value = word.partition("=") if is_channel else word.rpartition("=")
        name = name.strip()
        if not mark or not name or not value:
            raise click.BadParameter(f"{field.metavar} expected. Got {word!r} instead.", param_hint=f"--{field.word}")
        if name in pairs:
            raise click.BadParameter(
                f"{name!r} is named twice. Give each a name of its own; several columns go into one word: "
                f"--{field.word} {name}=a_*,b.",
                param_hint=f"--{field.word}",
            )
        columns = [part.strip() for part in value.split(",") if part.strip()]
        pairs[name] = columns if is_channel else _number(value.strip())
    return pairs


def _number(word: str) -> Any:
    """Return a whole number, a number, or the word."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word


# How the command line spells a setting: as the option to type.


def flag_of(field: Field) -> str:
    """Return the long option of a field: ``--clusters`` for ``n_clusters``."""
    return f"--{field.word}"


def as_flag(setting: Setting) -> str:
    """Return ``--ignore note`` for ``ignore="note"``, ``--id none`` for ``id=False``, ``-k`` for ``n_clusters``."""
    field = _fields().get(setting.name)
    flag = f"--{setting.name.replace('_', '-')}" if field is None else flag_of(field)
    if field is not None and field.letter:
        flag = f"-{field.letter}"
    if setting.value is None or (field is None and setting.value is True):
        return flag
    if field is not None and field.kind is Kind.FLAG:
        return flag if setting.value else flag.replace("--", "--no-", 1)
    words = [as_word(setting.value)] if field is None else words_for(field, setting.value)
    return " ".join(f"{flag} {shlex.quote(word)}" for word in words)


def with_flags(text: str) -> str:
    """Spell the fields that a description speaks of: ``{n_novel}`` becomes ``--novel``."""
    return text.format_map(_Flags()) if "{" in text else text


class _Flags(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return as_flag(Setting(name))


@cache
def _fields() -> dict[str, Field]:
    models = [Roles, *(model for job in JOBS.values() for model in job.models.values())]
    return {field.name: field for model in reversed(models) for field in fields_of(model)}


F = TypeVar("F", bound=Callable[..., Any])


class Grouped(click.Command):
    """A command whose help lists the options that most people need; ``--help-all`` lists all, under their headings."""

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Add ``--help-all`` after ``--help``, where there is more to tell."""
        params = super().get_params(ctx)
        return [*params, self._help_all()] if any(_is_rare(param) for param in params) else params

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one block for each heading, those of the command first, then of its methods, then of what is read."""
        is_whole = ctx.meta.get(WHOLE, False)
        blocks: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            is_listed = isinstance(param, click.Option) and (is_whole or not _is_rare(param))
            record = param.get_help_record(ctx) if is_listed else None
            if record is not None:
                heading = param.heading(ctx) if isinstance(param, FieldOption) else "Options"
                blocks.setdefault(heading, []).append(record)
        for title in sorted(blocks, key=lambda title: 0 if title == "Options" else 1 if title.startswith(_ONLY) else 2):
            with formatter.section(title):
                formatter.write_dl(blocks[title])

    @staticmethod
    def _help_all() -> click.Option:
        def show(ctx: click.Context, param: click.Parameter, is_asked: bool) -> None:
            if is_asked and not ctx.resilient_parsing:
                ctx.meta[WHOLE] = True
                click.echo(ctx.get_help(), color=ctx.color)
                ctx.exit()

        text = "Show all options: of every method, of columns and of files."
        return click.Option(["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=show, help=text)


WHOLE = "sidelight.app.cli.options.whole"  # key of a context that lists all options
_ONLY = "Only of "


def _is_rare(param: click.Parameter) -> bool:
    return isinstance(param, FieldOption) and param.is_rare


class FieldOption(click.Option):
    """An option that knows its field, and leaves every decision about values to it."""

    def __init__(self, field: Field, *, is_rare: bool = False, only: str = "", **changes: Any) -> None:
        self.field, self.group = field, field.group
        self.is_rare = is_rare  # listed by --help-all alone
        self.only = only  # the methods that take it, where others do not
        is_flag = field.kind is Kind.FLAG
        flags = [f"--{field.word}/--no-{field.word}" if is_flag else flag_of(field)]
        if field.letter:
            flags.insert(0, f"-{field.letter}")
        if field.also:
            flags.append(f"--{field.also}")
        settings: dict[str, Any] = {
            "help": _help(field),
            "default": None,
            "multiple": field.kind.is_repeated,
            "is_flag": is_flag,
            "required": field.is_required,
        }
        if not is_flag:
            settings |= {"type": click.UNPROCESSED, "metavar": field.metavar}
        super().__init__([*flags, field.name], **(settings | changes))

    def heading(self, ctx: click.Context) -> str:
        """Return what it is about or, where all options are listed, the methods that take it."""
        return self.group or (f"{_ONLY}{self.only}" if self.only and ctx.meta.get(WHOLE, False) else "Options")

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Add the methods that take it, where no heading says so."""
        record = super().get_help_record(ctx)
        if record is None or not self.only or self.heading(ctx).startswith(_ONLY):
            return record
        return record[0], f"{record[1]} [{self.only} only]"

    def value_of(self, typed: Any) -> Any:
        """Return what the field keeps of what was typed; None when nothing was."""
        if typed is None or typed == ():
            return None
        try:
            if self.field.kind is Kind.FLAG:
                return self.field.takes(typed)
            return self.field.takes(read_words(self.field, typed if isinstance(typed, tuple) else (typed,)))
        except SidelightError as error:
            raise click.BadParameter(error.told(), param=self) from None


def role_options(function: F, *, shown: Collection[str] = USUAL) -> F:
    """What every command that reads a table can be told about it; the help lists those that are ``shown``."""
    for field in reversed(fields_of(Roles)):
        function = _with(function, FieldOption(field, is_rare=field.name not in shown))
    return function


def where_options(function: F) -> F:
    """Who goes over the rows of Parquet files."""
    for field in reversed(fields_of(Where)):
        function = _with(function, FieldOption(field, is_rare=True))
    return function


def where_from(typed: Mapping[str, Any]) -> Where:
    """Make Where of what was typed."""
    return build(Where, values_of(fields_of(Where), typed), "option")


def job_options(job: Job) -> Callable[[F], F]:
    """The options of all methods of a job, those of the default method first, and the roles of its table."""
    fields: dict[str, Field] = {}
    methods: dict[str, list[str]] = {}
    for name, model in job.models.items():
        for field in fields_of(model):
            fields.setdefault(field.name, field)
            methods.setdefault(field.name, []).append(name)

    def decorate(function: F) -> F:
        function = role_options(function, shown=job.shown or USUAL)
        for field in reversed(fields.values()):
            changes: dict[str, Any] = {"is_rare": bool(job.shown) and field.name not in job.shown}
            if field.name == "method" and len(job.models) > 1:
                changes |= {"metavar": f"[{'|'.join(job.models)}]", "type": click.Choice(list(job.models))}
            elif len(methods[field.name]) < len(job.models):
                changes |= {"only": ", ".join(methods[field.name]), "required": False}
            function = _with(function, FieldOption(field, **changes))
        return function

    return decorate


def roles_from(typed: Mapping[str, Any]) -> Roles:
    """Make Roles of what was typed."""
    return build(Roles, values_of(fields_of(Roles), typed), "role")


def values_of(fields: Iterable[Field], typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the fields that were typed."""
    values = {field.name: FieldOption(field).value_of(typed.get(field.name)) for field in fields}
    return {name: value for name, value in values.items() if value is not None}


def options_from(job: Job, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a job that were typed, whatever the method; the job checks that they go together."""
    values: dict[str, Any] = {}
    chosen = typed.get("method") if len(job.models) > 1 else None
    models = [] if chosen is None else [job.models[chosen]]
    for model in [*models, *job.models.values()]:
        fields = [field for field in fields_of(model) if field.name not in values and field.name != "method"]
        try:
            values |= values_of(fields, typed)
        except click.BadParameter as error:
            raise _with_methods(error, job, typed) from None
    if typed.get("method") is not None:
        values["method"] = typed["method"]
    return values


def _with_methods(error: click.BadParameter, job: Job, typed: Mapping[str, Any]) -> click.BadParameter:
    """Add the methods that take a value which the method in use refuses."""
    name = error.param.field.name if isinstance(error.param, FieldOption) else ""
    taking = [
        f"--method {method}"
        for method, model in job.models.items()
        for field in fields_of(model)
        if field.name == name and _takes(field, typed[name])
    ]
    if not taking:
        return error
    takes = "takes" if len(taking) == 1 else "take"
    return click.BadParameter(f"{error.message} {' and '.join(taking)} {takes} it.", param=error.param)


def _takes(field: Field, typed: Any) -> bool:
    try:
        FieldOption(field).value_of(typed)
    except click.BadParameter:
        return False
    return True


def table_argument(function: F) -> F:
    """The table to read."""
    return click.argument("table", type=click.Path())(function)


class Dated(click.Path):
    """A path in which %Y, %m, %d and other marks of a date stand for today."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of today."""
        dated = re.sub(r"%[YmdHMSGVj]", lambda mark: datetime.now().astimezone().strftime(mark[0]), str(value))
        return super().convert(dated, param, ctx)


def out_options(function: F) -> F:
    """Where the files go, and in which form the numbers are shown."""
    function = shown_options(function)
    function = click.option(
        "--overwrite", is_flag=True, help="Replace the files of an earlier run in that folder; others stay."
    )(function)
    return click.option(
        "--out", required=True, type=Dated(), help="Folder for the results; made if missing; %Y-%m-%d: the date."
    )(function)


def shown_options(function: F) -> F:
    """In which form the numbers are shown, and whether anything else is."""
    function = click.option(
        "--quiet", "-q", is_flag=True, help="Print errors and notes only (and what --json asks for)."
    )(function)
    return click.option("--json", "as_json", is_flag=True, help="Print the numbers as one JSON object.")(function)


def seed_option(function: F) -> F:
    """The one seed of a run."""
    return click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the run.")(
        function
    )


def _with(function: F, option: FieldOption) -> F:
    params = function.__dict__.setdefault("__click_params__", [])  # where click's own decorators keep them
    params.append(option)
    return function


def _help(field: Field) -> str:
    text = with_flags(field.text)
    if field.kind.is_repeated:
        text += " Repeat for more."
    if field.kind is Kind.FLAG:
        return text + ("  [default: on]" if field.default else "")
    if field.default is not None and field.default not in ([], {}):
        text += f"  [default: {as_word(field.default)}]"
    return text
