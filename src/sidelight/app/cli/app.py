"""The group of commands, loaded on first use, and what an error looks like in a terminal.

Exit codes: 0 done; 2 the input or the call is wrong; 1 the machine failed (disk, permission, memory); 130 interrupted
(Ctrl-C, or a polite kill). Whatever happens is one message, never a traceback, and nothing half-written is left behind.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, TextIO

import click

import sidelight
from sidelight.app.cli.options import as_flag
from sidelight.app.jobs.catalogue import JOBS
from sidelight.errors import Cancelled, SidelightError, SidelightWarning, capture_warnings, nearest
from sidelight.progress import interrupts

DONE, MACHINE, CALL, INTERRUPTED = 0, 1, 2, 130
_COMMANDS = {  # commands that are no job, and the file of this folder that each is in
    **{name: name for name in ("ask", "describe", "predict", "studio")},
    **dict.fromkeys(("compare", "export", "run", "score"), "results"),
    **dict.fromkeys(("convert", "demo", "embeddings", "from", "sample"), "tables"),
    "completion": "app",
}
_ALIASES = {"coverage": "instances"}  # what an older name means now; not listed
_noted: set[str] = set()  # warnings that were shown already


class Commands(click.Group):
    """Every job of the catalogue is a command, and so is every function that ``_COMMANDS`` names."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the jobs and of the other commands."""
        return sorted({*JOBS, *_COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one command."""
        from sidelight.app.cli.job import job_command

        if cmd_name in JOBS:
            return job_command(cmd_name)
        if cmd_name in _ALIASES:
            return job_command(_ALIASES[cmd_name], called=cmd_name, hidden=True)
        if cmd_name not in _COMMANDS:
            return None
        command: click.Command = getattr(_module_of(cmd_name), f"{cmd_name}_command")
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest the nearest command when there is none of that name."""
        known = {*self.list_commands(ctx), *_ALIASES}
        if args and args[0] not in known and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. {nearest(args[0], self.list_commands(ctx))}")
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--version", is_flag=True, help="Show the version and exit; with --verbose all that a report needs.")
@click.option("--verbose", is_flag=True, hidden=True)
@click.pass_context
def app(ctx: click.Context, version: bool, verbose: bool) -> None:
    """Learn from side information: tables in, tables and one HTML report out."""
    if version:
        click.echo(version_text(verbose=verbose))
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(overview(ctx))
    else:
        _check_room()


@click.command("completion", short_help="Print the script that completes commands in your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: sidelight completion bash >> ~/.bashrc. For zsh: sidelight completion zsh >> ~/.zshrc. For fish: sidelight
    completion fish > ~/.config/fish/completions/sidelight.fish. Then open a new shell.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None  # click has all three
    click.echo(found(app, {}, "sidelight", "_SIDELIGHT_COMPLETE").source())


def version_text(*, verbose: bool) -> str:
    """Return the version; ``verbose`` adds the machine and the libraries, for a report."""
    if not verbose:
        return f"sidelight, version {sidelight.__version__}"
    import platform
    from importlib.metadata import PackageNotFoundError, version

    lines = [f"sidelight {sidelight.__version__}", f"python {platform.python_version()}", platform.platform()]
    for name in _REPORTED:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} is not installed")
    return "\n".join(lines)


_REPORTED = (
    "numpy", "scipy", "scikit-learn", "numba", "polars", "click", "pillow", "matplotlib", "python-calamine",
    "soundfile", "onnxruntime", "ai-edge-litert", "fastapi", "sqlalchemy", "psycopg",
)  # fmt: skip


def overview(ctx: click.Context) -> str:
    """Say which command fits what the user has."""
    from sidelight.app.cli.job import command_line

    lines = ["You have ...", ""]
    for name in sorted(app.list_commands(ctx), key=_overview_order):
        if name in JOBS:
            lines += [f"  {JOBS[name].you_have}", f"    -> {command_line(name, 'TABLE', JOBS[name].example)}", ""]
            continue
        if name in getattr(_module_of(name), "OVERVIEW", {}):
            you_have, call = _module_of(name).OVERVIEW[name]
            lines += [f"  {you_have}", f"    -> {call}", ""]
    lines.append("sidelight COMMAND --help says more about each command.")
    return "\n".join(lines)


def _module_of(name: str) -> Any:
    """Return the file of a command."""
    return import_module(f"sidelight.app.cli.{_COMMANDS[name]}")


def _overview_order(name: str) -> tuple[int, str]:
    """Where a newcomer begins comes first, what repeats a run last."""
    return {"describe": 0, "sample": 1, "demo": 2, "run": 9}.get(name, 5), name


def run() -> None:
    """Run the command line and turn errors into one message and an exit code."""
    _noted.clear()
    _open_streams()
    code: Any = MACHINE
    try:
        with _interruptible(), capture_warnings(_hear), warnings.catch_warnings():
            warnings.simplefilter("default")
            warnings.showwarning = _note  # of other libraries; catch_warnings puts the old one back
            code = app.main(standalone_mode=False)
            sys.stdout.flush()  # a full device says so here, and not after everything is over
            interrupts.results_are_whole()
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = CALL
    except (KeyboardInterrupt, click.Abort, Cancelled):
        code = _say("interrupted; nothing was written.", INTERRUPTED)
    except BrokenPipeError:
        code = MACHINE  # the reader of the output is gone
    except SidelightError as error:
        code = _say(f"{error.told(as_flag)} [{error.code}]", MACHINE if _is_the_machines(error) else CALL)
    except MemoryError as error:
        code = _say(f"out of memory ({error}). Use fewer rows or columns." if str(error) else _NO_MEMORY, MACHINE)
    except OSError as error:
        place = f"{error.filename!r}: " if error.filename else ""
        code = _say(f"{place}{error.strerror or error}.", MACHINE)
    except Exception as error:  # a library that could not be loaded, or a mistake of ours: still one message
        if os.environ.get(_SHOW):
            raise
        told = f"unexpected {type(error).__name__}: {error}".splitlines()[0]
        code = _say(f"{told} (set {_SHOW}=1 to see where, and please report it)", MACHINE)
    _leave(code if isinstance(code, int) else DONE)


_SHOW = "SIDELIGHT_TRACEBACK"  # environment variable for developers
_NO_MEMORY = "out of memory. Use fewer rows or columns."
_ROOM = 2500 << 20  # bytes of addresses that numpy, scipy, polars and numba reserve between them, measured on two cores


def _is_the_machines(error: SidelightError) -> bool:
    """Say whether the machine failed, and not the call: an OSError of ours that is no question of names."""
    return isinstance(error, OSError) and not isinstance(error, FileExistsError)


def _say(text: str, code: int) -> int:
    with suppress(OSError):  # there may be nowhere to say it
        click.echo(f"sidelight: {text}", err=True)
    return code


def _leave(code: int) -> None:
    """Exit; whatever is left in the buffer of a full device is given up."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        sys.stdout = None  # else the interpreter tries again, and shows a traceback
    exec("")  # Python remembers an interrupt inside exec(), as imports call it, and ends `python -m` by it
    sys.exit(code)


def _check_room() -> None:
    """Raise where ``ulimit -v`` leaves less than the libraries take: some of them end in an abort, or never end."""
    try:
        import resource  # not on Windows
    except ImportError:
        return
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < _ROOM:
        told = (
            f"the libraries take up to {_ROOM >> 20:,} MB of addresses, and this process may use {allowed >> 20:,} MB. "
            f"Raise the limit with ulimit -v {_ROOM >> 10}, or lift it with ulimit -v unlimited."
        )
        raise click.exceptions.Exit(_say(told, MACHINE))


def _open_streams() -> None:
    """Open what the caller closed (``2>&-``) on nothing: else the next file opened takes its number, and its words."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))  # noqa: SIM115  # as long as the process


@contextmanager
def _interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end the work as Ctrl-C does, with nothing left behind; ``nohup`` ignores them for good.

    Once the results are whole all of them are ignored, also while the interpreter ends; after an interrupt the next
    one ends the process at once, with the same exit code.
    """
    interrupts.begin()
    wanted = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    if threading.current_thread() is not threading.main_thread():
        wanted = []  # only the main thread may ask
    before = {number: signal.getsignal(number) for number in wanted}
    taken = {number: handler for number, handler in before.items() if handler != signal.SIG_IGN}
    for number in taken:
        signal.signal(number, interrupts.handle)
    try:
        yield
    finally:
        ending: Any = signal.SIG_IGN if interrupts.too_late else _end_now if interrupts.asked else None
        for number, handler in taken.items():
            signal.signal(number, handler if ending is None else ending)
        if ending is _end_now:
            atexit.register(_ignore, tuple(taken))  # the last steps of the interpreter know no handlers


def _end_now(*_: object) -> None:
    """End a process whose work is interrupted and cleaned up: Python's own way would be to die of the signal."""
    os._exit(INTERRUPTED)


def _ignore(numbers: tuple[int, ...]) -> None:
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)


def _hear(warning: SidelightWarning) -> None:
    _show(warning.told(as_flag))


def _note(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Show a warning of another library, if it speaks to the user."""
    if not issubclass(category, (DeprecationWarning, FutureWarning)):
        _show(" ".join(str(message).split()))


def _show(text: str) -> None:
    """Show a note as one line, once."""
    if text not in _noted:
        _noted.add(text)
        click.echo(f"sidelight: note: {text}", err=True)
