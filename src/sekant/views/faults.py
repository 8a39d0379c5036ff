"""Faults that show in the equations only, with the line of their item in the file that a command was given."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from sekant.errors import SekantError


def with_lines(command: Callable[..., None]) -> Callable[..., None]:
    """The command, whose errors name the line of their item in its argument `file`."""

    @wraps(command)
    def called(*values: Any, file: Path, **options: Any) -> None:
        try:
            command(*values, file=file, **options)
        except SekantError as error:
            from sekant.io.reading import located_in_file

            raise located_in_file(error, file) from None

    return called
