"""``sidelight completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import click


@click.command("completion", short_help="Print the script that completes commands in your shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL.

    For bash: sidelight completion bash >> ~/.bashrc. For zsh: sidelight completion zsh >> ~/.zshrc. For fish: sidelight
    completion fish > ~/.config/fish/completions/sidelight.fish. Then open a new shell.
    """
    from click.shell_completion import get_completion_class

    from sidelight.app.cli.app import app

    found = get_completion_class(shell)
    assert found is not None  # click has all three
    click.echo(found(app, {}, "sidelight", "_SIDELIGHT_COMPLETE").source())
