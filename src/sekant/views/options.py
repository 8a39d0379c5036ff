"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Change a parameter or a field, e.g. k='30 N/mm', arm.mass=2; repeatable.",
        show_default=False,
    ),
]


def in_unit(unit: str) -> Callable[[str], float]:
    """A parser for an option: a number in `unit`, or one with a unit: ``3``, ``3 s``, ``500ms``."""

    def read(text: str) -> float:
        from sekant.errors import SekantError
        from sekant.units import convert

        number, own = re.fullmatch(r"\s*([-+.\d]*(?:[eE][-+]?\d+)?)\s*(.*?)\s*", str(text)).groups()  # type: ignore[union-attr]
        try:
            return convert(float(number), own, unit) if own else float(number)
        except ValueError:
            raise typer.BadParameter(
                f"'{text}' is not a number; write a number in {unit}, or a number with a unit"
            ) from None
        except SekantError as error:
            raise typer.BadParameter(error.message) from None

    read.__name__ = unit
    return read


StepSize = Annotated[
    float | None, typer.Option(help="Step size of a fixed-step method, s.", parser=in_unit("s"))
]
RelativeTolerance = Annotated[float | None, typer.Option(help="Relative tolerance.")]
ResultFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Result file.", show_default="FILE with .nc, in this folder"),
]


def result_path(output: Path | None, file: Path) -> Path:
    """The result file of `ResultFile`, for the model or study in `file`."""
    path = output or Path(f"{file.stem}.nc")
    if path.suffix.lower() != ".nc":
        raise typer.BadParameter(f"'{path}' must end in .nc; to write CSV, use --csv", param_hint="--output")
    return path


def parse_assignments(assignments: list[str] | None, option: str = "--set") -> dict[str, str]:
    """``["k=2.5", "arm.mass=3 kg"]`` as ``{"k": "2.5", "arm.mass": "3 kg"}``."""
    found: dict[str, str] = {}
    for text in assignments or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"'{text}' is not of the form NAME=VALUE", param_hint=option)
        if name in found:
            raise typer.BadParameter(f"'{name}' is set twice", param_hint=option)
        found[name] = value
    return found


def ranges_of(texts: list[str], option: str) -> tuple[list[str], list[tuple[str, str, int | None]]]:
    """Names in strings such as ``hub.z=-80..80 mm``, with the strings of the two ends and, if given, the number of
    values."""
    from sekant.model.ranges import is_range, read_named_range, split_range

    for text in texts:
        if not is_range(text):
            name = text.partition("=")[0].strip()
            raise typer.BadParameter(
                f"'{name}' requires a range: {option} '{name}=-80..80 mm', or '{name}=-30..30 deg' for an angle",
                param_hint=option,
            )
    pairs = [read_named_range(text, option) for text in texts]
    return [name for name, _ in pairs], [split_range(ends, option) for _, ends in pairs]


def number_or_text(text: str) -> float | str:
    """The number that a string represents, otherwise the string itself."""
    try:
        return float(text)
    except ValueError:
        return text
