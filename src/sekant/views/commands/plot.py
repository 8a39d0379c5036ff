"""`sekant plot`: pictures of result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plot(
    file: Annotated[Path, typer.Argument(help="Result file (.nc or .csv).", show_default=False)],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Channels, e.g. arm.position, hinge.q, '*.q'.", show_default="an overview"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Picture (.svg, .pdf or .png).", show_default="FILE with .svg"),
    ] = None,
) -> None:
    """Draw time histories of a result file."""
    from sekant.results.files import open_result
    from sekant.views.plots import plot_overview, plot_series

    result = open_result(file)
    path = output or Path(file.name).with_suffix(".svg")
    if names:
        plot_series(result, names, path)
    else:
        plot_overview(result, path)
    typer.echo(f"{path}")
