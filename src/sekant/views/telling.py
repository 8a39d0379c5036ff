"""What commands print: text for readers or JSON for programs, both with the files that were written."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import typer


def tell(
    as_json: bool,
    text: Callable[[], object],
    told: Callable[[], Mapping[str, Any]],
    files: Iterable[Path | str | None],
) -> None:
    """Print what `told` finds, as JSON with "ok" first and "files" last, or what `text` makes, perhaps nothing."""
    names = [str(file) for file in files if file is not None]
    if as_json:
        from sekant.results.summary import to_json

        typer.echo(to_json({"ok": True, **told(), "files": names}, indent=2))
        return
    shown = str(text())
    if shown:
        typer.echo(shown)
    if names:
        typer.echo(("\n" if shown else "") + "written: " + ", ".join(names))


def refuse_unwritable(*files: Path | None) -> None:
    """An error for the first file that could not be written, before any work is done for it."""
    from sekant.files import check_writable

    for file in files:
        if file is not None:
            check_writable(file)


def hint(*lines: str) -> None:
    """Suggest the next command on the error stream, if that is a terminal."""
    if sys.stderr.isatty():
        typer.secho("next: " + "\n      ".join(lines), dim=True, err=True)
