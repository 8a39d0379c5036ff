"""`sekant plot`: pictures of result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.telling import refuse_unwritable, tell


def plot(
    file: Annotated[Path, typer.Argument(help="Result file (.nc or .csv).", show_default=False)],
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Channels to draw, e.g. arm.position, hinge.q, '*.q'.", show_default="an overview"
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Picture to write (.svg, .pdf, .png).", show_default="FILE with .svg"
        ),
    ] = None,
    x: Annotated[
        str, typer.Option("--x", help="Channel for the horizontal axis, e.g. hinge.q.", show_default="time")
    ] = "",
    against: Annotated[
        Path | None,
        typer.Option(
            help="Reference result: draw both results, and their difference in percent of the reference's range.",
            show_default=False,
        ),
    ] = None,
    energy: Annotated[
        bool, typer.Option("--energy", help="Draw the energies, the work and the energy balance.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Plot channels of a result against time, compare it with another result, or show its energy balance."""
    if energy and (names or against is not None):
        raise typer.BadParameter("cannot be combined with channels or --against", param_hint="--energy")
    if x and (against is not None or energy or not names):
        raise typer.BadParameter(
            "requires channels to draw, and cannot be combined with --against or --energy", param_hint="--x"
        )
    from sekant.results.result import Result
    from sekant.views.pictures import save_picture

    result = Result.load(file)
    path = output or Path(file.name).with_suffix(".svg")
    refuse_unwritable(pictures=[path])
    data: dict[str, Any] = {"file": str(file)}
    if against is not None:
        from sekant.results.compare import compare
        from sekant.views.comparison import comparison_picture

        other = Result.load(against)
        labels = (file.stem, against.stem) if file.stem != against.stem else (str(file), str(against))
        save_picture(lambda: comparison_picture(result, other, names or (), labels), path)
        found = compare(result, other, names or ())
        data["errors"] = {column.name: {"max": column.largest, "rms": column.rms} for column in found}
    else:
        save_picture(lambda: result.plot(*(names or ()), x=x, energy=energy), path)
    tell(as_json, str, lambda: data, (path,))
