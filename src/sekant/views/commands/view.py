"""`sekant view`: a page that plays result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sekant.views.telling import tell


def view(
    file: Annotated[Path, typer.Argument(help="Result file (.nc or .csv).", show_default=False)],
    other: Annotated[
        Path | None, typer.Argument(help="A second result to compare it with.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Page (.html).", show_default="FILE with .html, here"),
    ] = None,
    show: Annotated[
        list[str] | None, typer.Option("--show", help="An output whose curve is drawn at first; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a page that plays one result, or compares two; open it in any browser, offline."""
    from sekant.views.player import view as write_page

    path = write_page(
        [file] if other is None else [file, other], output or Path(f"{file.stem}.html"), plots=show
    )
    tell(as_json, str, dict, (path,))
