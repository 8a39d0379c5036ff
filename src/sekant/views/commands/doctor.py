"""`sekant doctor`: a check of this installation."""

from __future__ import annotations

from typing import Annotated

import typer


def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Show versions, cache and processor, and test the engine on a pendulum."""
    from sekant.views.diagnosis import diagnose

    found = diagnose()
    if as_json:
        from sekant.results.summary import to_json

        typer.echo(to_json(found.as_dict(), indent=2))
    else:
        typer.echo(found.text())
    if not found.ok:
        raise typer.Exit(1)
