"""Click options, made from the typed models of ``jobs/options``: nothing about an option is said here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import click

from sidelight.app.cli.values import as_word, read_words
from sidelight.app.cli.wording import flag_of, with_flags
from sidelight.app.jobs.job import Job
from sidelight.app.jobs.options import Field, Kind, Roles, fields_of
from sidelight.app.jobs.options.model import build
from sidelight.app.jobs.options.shared import Where
from sidelight.errors import SidelightError

F = TypeVar("F", bound=Callable[..., Any])


class Grouped(click.Command):
    """A command whose help lists its options under the headings of their fields."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one block for each heading."""
        blocks: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if record is not None:
                blocks.setdefault(getattr(param, "group", "") or "Options", []).append(record)
        for title, records in sorted(blocks.items(), key=lambda block: block[0] != "Options"):
            with formatter.section(title):
                formatter.write_dl(records)


class FieldOption(click.Option):
    """An option that knows its field, and leaves every decision about values to it."""

    def __init__(self, field: Field, **changes: Any) -> None:
        self.field, self.group = field, field.group
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


def role_options(function: F) -> F:
    """What every command that reads a table can be told about it."""
    return _with(function, fields_of(Roles))


def where_options(function: F) -> F:
    """Who goes over the rows of Parquet files."""
    return _with(function, fields_of(Where))


def where_from(typed: Mapping[str, Any]) -> Where:
    """Make Where of what was typed."""
    return build(Where, values_of(fields_of(Where), typed), "option")


def job_options(job: Job) -> Callable[[F], F]:
    """The options of all methods of a job, those of the default method first."""
    fields: dict[str, Field] = {}
    methods: dict[str, list[str]] = {}
    for name, model in job.models.items():
        for field in fields_of(model):
            fields.setdefault(field.name, field)
            methods.setdefault(field.name, []).append(name)

    def decorate(function: F) -> F:
        for field in reversed(fields.values()):
            changes: dict[str, Any] = {}
            if field.name == "method" and len(job.models) > 1:
                changes = {"metavar": f"[{'|'.join(job.models)}]", "type": click.Choice(list(job.models))}
            elif len(methods[field.name]) < len(job.models):
                changes = {"help": f"{_help(field)} [{', '.join(methods[field.name])} only]", "required": False}
            function = _with(function, [field], **changes)
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


def out_options(function: F) -> F:
    """Where the files go, and in which form the numbers are shown."""
    function = shown_options(function)
    function = click.option(
        "--overwrite", is_flag=True, help="Replace the files of an earlier run in that folder; others stay."
    )(function)
    return click.option("--out", required=True, type=click.Path(), help="Folder for the results; made if missing.")(
        function
    )


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


def _with(function: F, fields: Iterable[Field], **changes: Any) -> F:
    params = getattr(function, "__click_params__", None)
    if params is None:
        params = []
        function.__click_params__ = params  # type: ignore[attr-defined]  # where click's own decorators keep them
    params.extend(FieldOption(field, **changes) for field in reversed(list(fields)))
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
