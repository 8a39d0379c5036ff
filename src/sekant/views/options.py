"""Options that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
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
    """Reads an option as a number in `unit`, or with one of its own: ``3``, ``3 s``, ``500ms``."""

    def read(text: str) -> float:
        from sekant.errors import SekantError
        from sekant.units import convert

        number, own = re.fullmatch(r"\s*([-+.\d]*(?:[eE][-+]?\d+)?)\s*(.*?)\s*", str(text)).groups()  # type: ignore[union-attr]
        try:
            return convert(float(number), own, unit) if own else float(number)
        except (ValueError, SekantError):
            raise typer.BadParameter(f"'{text}' is not a number in {unit}") from None

    read.__name__ = unit
    return read


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


def ranges_of(
    names: list[str], first: list[str] | None, last: list[str] | None, option: str
) -> tuple[list[str], list[tuple[str, str, int | None]]]:
    """Names, and for each the texts of its ends and how many values, if that is said.

    Ranges stand in `names`, as ``hub.z=-80..80 mm``, or in `first` and `last`, one each.
    """
    from sekant.model.ranges import is_range, read_named_range, split_range

    if any(is_range(name) for name in names):
        if first or last or not all(is_range(name) for name in names):
            raise typer.BadParameter("give every name its range, and no --from and --to", param_hint=option)
        pairs = [read_named_range(name, option) for name in names]
        return [name for name, _ in pairs], [split_range(told, option) for _, told in pairs]
    for other, values in (("--from", first), ("--to", last)):
        if len(values or ()) != len(names):
            raise typer.BadParameter(
                f"{names[0]} needs a range: {option} '{names[0]}=-80..80 mm', or --from and --to"
                if not values
                else f"{len(names)} names need as many values (got {len(values)})",
                param_hint=other,
            )
    return names, [(a, b, None) for a, b in zip(first or (), last or (), strict=True)]


def number_or_text(text: str) -> float | str:
    """A number where the text is one."""
    try:
        return float(text)
    except ValueError:
        return text
