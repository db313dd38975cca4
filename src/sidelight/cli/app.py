"""The group of commands, found by file name and loaded on first use, and what an error looks like in a terminal.

Exit codes: 0 done, 2 the input or the call is wrong (one message, no traceback), 130 interrupted.
"""

from __future__ import annotations

import pkgutil
import sys
import warnings
from importlib import import_module
from typing import Any, TextIO

import click

import sidelight
from sidelight.cli.wording import as_flag
from sidelight.errors import SidelightError, SidelightWarning

_NOT_COMMANDS = {"app", "options", "suggest", "terminal", "wording"}
_noted: set[str] = set()  # warnings that were shown already


class Commands(click.Group):
    """Every file of this folder with a ``command`` is a command of that name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the command files."""
        import sidelight.cli as room

        found = [module.name for module in pkgutil.iter_modules(room.__path__)]
        return sorted(name for name in found if name not in _NOT_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = import_module(f"sidelight.cli.{cmd_name}").command
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest the nearest command when there is none of that name."""
        from sidelight.errors import nearest

        if args and args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. {nearest(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(sidelight.__version__, prog_name="sidelight")
@click.pass_context
def app(ctx: click.Context) -> None:
    """Learn from side information: tables in, tables and one HTML report out."""
    if ctx.invoked_subcommand is None:
        click.echo(overview(ctx))


def overview(ctx: click.Context) -> str:
    """Say which command fits what the user has; each job's file says its own two lines."""
    lines = ["You have ...", ""]
    for name in sorted(app.list_commands(ctx), key=_overview_order):
        module = import_module(f"sidelight.cli.{name}")
        if hasattr(module, "YOU_HAVE"):
            lines += [f"  {module.YOU_HAVE}", f"    -> {module.RUN}", ""]
    lines.append("sidelight COMMAND --help says more about each command.")
    return "\n".join(lines)


def _overview_order(name: str) -> tuple[int, str]:
    """Where a newcomer begins comes first, what repeats a run last."""
    return {"describe": 0, "sample": 1, "demo": 2, "run": 9}.get(name, 5), name


def run() -> None:
    """Run the command line and turn errors into one message and an exit code."""
    _noted.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _note  # catch_warnings puts the old one back
            code = app.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except SidelightError as error:
        click.echo(f"sidelight: {error.told(as_flag)}", err=True)
        code = 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("sidelight: interrupted; nothing was written.", err=True)
        code = 130
    sys.exit(code if isinstance(code, int) else 0)


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning as one line, once, and only if it speaks to the user."""
    text = message.told(as_flag) if isinstance(message, SidelightWarning) else str(message)
    if text not in _noted and not issubclass(category, (DeprecationWarning, FutureWarning)):
        _noted.add(text)
        click.echo(f"sidelight: note: {text}", err=True)
