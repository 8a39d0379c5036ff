"""`sekant explain`: an item of a model file, its fields and an example."""

from __future__ import annotations

import shutil
import textwrap
from typing import Annotated

import typer


def explain(
    item: Annotated[
        str | None,
        typer.Argument(
            help="Name of an item, e.g. joint.path, spring_damper, body, road.sine, car.",
            show_default="list all items",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print the fields, units, defaults and an example of any item of a model file."""
    from sekant.io.reference import explained, known_items
    from sekant.results.summary import to_json

    if item is None:
        names = list(known_items())
        typer.echo(to_json({"ok": True, "items": names}, indent=2) if as_json else "\n".join(names))
        return
    name, about, fields, example = explained(item)
    if as_json:
        described = [field.__dict__ for field in fields]
        typer.echo(
            to_json(
                {"ok": True, "item": name, "about": about, "fields": described, "example": example}, indent=2
            )
        )
        return
    typer.echo(textwrap.fill(f"{name}: {about}", shutil.get_terminal_size().columns) + "\n")
    rows = [
        (each.name, each.form.replace("`", ""), each.default.replace("`", ""), each.text) for each in fields
    ]
    widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row[:3], widths, strict=True)]
        typer.echo("  ".join([*cells, row[3]]).rstrip())
    if example:
        typer.echo(f"\n{example}", nl=False)
