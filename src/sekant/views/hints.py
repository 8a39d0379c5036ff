"""What to do next, told to a person at a terminal and never to a pipe or a log."""

from __future__ import annotations

import sys

import typer


def hint(*lines: str) -> None:
    """Suggest the next command on the error stream, if that is a terminal."""
    if sys.stderr.isatty():
        typer.secho("next: " + "\n      ".join(lines), dim=True, err=True)
