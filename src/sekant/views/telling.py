"""Output of commands: text for readers or JSON for programs, with the written files; errors with the line of their
item."""

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
    found: Callable[[], Mapping[str, Any]],
    files: Iterable[Path | str | None],
) -> None:
    """Print the data of `found` as JSON with "ok" first and "files" last, or the text of `text`."""
    names = [str(file) for file in files if file is not None]
    if as_json:
        from sekant.results.summary import to_json

        typer.echo(to_json({"ok": True, **found(), "files": names}, indent=2))
        return
    shown = str(text())
    if shown:
        typer.echo(shown)
    if names:
        typer.echo(("\n" if shown else "") + "written: " + ", ".join(names))


ENDINGS = {
    "pages": ("a page", (".html", ".htm")),
    "tables": ("a table", (".csv", ".txt")),
    "models": ("a YAML file", (".yaml", ".yml")),
    "results": ("a result", (".nc", ".csv")),
    "curves": ("a JSON file", (".json",)),
}
"""Kinds of files, and their extensions."""


def refuse_unwritable(
    *files: Path | None, pictures: Iterable[Path | None] = (), **kinds: Iterable[Path | None]
) -> None:
    """Raise an error for the first file that cannot be written, or whose extension does not match its kind
    (`ENDINGS`).

    Commands call it before they start to compute.
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
    """Context in which errors name the line of their item in this model file."""
    try:
        yield
    except SekantError as error:
        from sekant.io.reading import located_in_file

        raise located_in_file(error, file) from None


def with_lines(command: Callable[..., None]) -> Callable[..., None]:
    """The command with errors that name the line of their item in its argument `file`, or the first of `files`."""

    @wraps(command)
    def called(*values: Any, **options: Any) -> None:
        file = options.get("file") or next(iter(options.get("files") or ()), None)
        with nullcontext() if file is None else lines_of(file):
            command(*values, **options)

    return called
