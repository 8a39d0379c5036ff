"""Faults that show in the equations only, with the line of their item in the file that a command was given."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import Any

from sekant.errors import SekantError


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
