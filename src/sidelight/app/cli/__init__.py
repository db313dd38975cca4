"""SHELL: the command line; one file per command: parse, one call into jobs, render."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from sidelight.app.cli.app import run

    run()


__all__ = ["main"]
