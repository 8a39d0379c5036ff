"""Output of commands: text for readers or JSON for programs, with the files that were written; and errors, with the
line of their item in the file given to a command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any

import typer

from sekant.errors import SekantError


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


ENDINGS = {
    "pages": ("a page", (".html", ".htm")),
    "tables": ("a table", (".csv", ".txt")),
    "models": ("YAML", (".yaml", ".yml")),
    "results": ("a result", (".nc", ".csv")),
    "curves": ("JSON", (".json",)),
}
"""Kinds of files, and how their names end."""


def refuse_unwritable(
    *files: Path | None, pictures: Iterable[Path | None] = (), **kinds: Iterable[Path | None]
) -> None:
    """An error for the first file that cannot be written, or whose name lacks the ending of its kind (`ENDINGS`).

    Commands call it before they do any work.
    """
    from sekant.files import check_ending, check_writable, picture_format

    for kind, targets in kinds.items():
        for file in targets:
            if file is not None:
                check_ending(file, *ENDINGS[kind])
                check_writable(file)
    for file in pictures:
        if file is not None:
            picture_format(file)
            check_writable(file)
    for file in files:
        if file is not None:
            check_writable(file)


def hint(*lines: str) -> None:
    """Suggest the next command on the error stream, if that is a terminal."""
    if sys.stderr.isatty():
        typer.secho("next: " + "\n      ".join(lines), dim=True, err=True)


@contextmanager
def lines_of(file: Path) -> Iterator[None]:
    """Errors within name the line of their item in this model file."""
    try:
        yield
    except SekantError as error:
        from sekant.io.reading import located_in_file

        raise located_in_file(error, file) from None


def with_lines(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose errors name the line of their item in its argument `file`, or the first of `files`."""

    @wraps(command)
    def called(*values: Any, **options: Any) -> None:
        file = options.get("file") or next(iter(options.get("files") or ()), None)
        with nullcontext() if file is None else lines_of(file):
            command(*values, **options)

    return called
