"""Options that several commands share."""

from __future__ import annotations

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


def parse_assignments(assignments: list[str] | None) -> dict[str, str]:
    """``["k=2.5", "arm.mass=3 kg"]`` as ``{"k": "2.5", "arm.mass": "3 kg"}``."""
    found: dict[str, str] = {}
    for text in assignments or []:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise typer.BadParameter(f"'{text}' is not of the form NAME=VALUE", param_hint="--set")
        if name in found:
            raise typer.BadParameter(f"'{name}' is set twice", param_hint="--set")
        found[name] = value
    return found
