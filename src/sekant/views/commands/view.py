"""`sekant view`: a page that plays result files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.progress_bar import ProgressBar
from sekant.views.options import in_unit
from sekant.views.telling import refuse_unwritable, tell


def view(
    file: Annotated[
        Path,
        typer.Argument(help="Result file (.nc or .csv), or with --live a model file.", show_default=False),
    ],
    other: Annotated[
        Path | None, typer.Argument(help="A second result to compare with the first.", show_default=False)
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Page to write (.html).", show_default="FILE with .html, in this folder"
        ),
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option("--show", help="Output that the page plots at first; repeatable."),
    ] = None,
    live: Annotated[
        Path | None,
        typer.Option("--live", help="Write a page that simulates a model file (.html).", show_default=False),
    ] = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="NAME=RANGE",
            help="With --live: add a slider for a number, e.g. strut.stiffness='10..40 kN/m'; repeatable.",
            show_default=False,
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(parser=in_unit("s"), help="With --live: end time of the run, s.", show_default=False),
    ] = None,
    method: Annotated[
        str | None, typer.Option("--method", help="With --live: integrator.", show_default=False)
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(
            parser=in_unit("s"), help="With --live: step size of a fixed-step method, s.", show_default=False
        ),
    ] = None,
    modes: Annotated[
        bool,
        typer.Option(
            "--modes", help="With --live: show the eigenvalues about the equilibrium, and their root locus."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a page that plays one result, or compares two; it opens in any browser, offline.

    With --live, the page simulates a model: sliders change parameters, and the motion follows.
    """
    refuse_unwritable(pages=[live, output])
    if live is not None or vary:
        with ProgressBar("compiling the page", enabled=not as_json):
            path = _live(file, live, vary, show, modes, {"until": until, "method": method, "step": step})
        tell(as_json, str, dict, (path,))
        return
    from sekant.views.player import view as write_page

    page = output or Path(f"{file.stem}.html")
    with ProgressBar("writing the page", enabled=not as_json):
        path = write_page([file] if other is None else [file, other], page, plots=show)
    tell(as_json, str, dict, (path,))


def _live(
    file: Path,
    page: Path | None,
    vary: list[str] | None,
    show: list[str] | None,
    modes: bool,
    options: dict[str, Any],
) -> Path:
    from sekant.io.yaml import load
    from sekant.model.ranges import read_named_range
    from sekant.views.live import live

    if page is None:
        raise typer.BadParameter("requires --live PAGE.html", param_hint="--vary")
    if not vary:
        raise typer.BadParameter(
            "--live requires at least one --vary NAME=RANGE, e.g. --vary 'k=10..40 kN/m'", param_hint="--vary"
        )
    ranges = dict(read_named_range(text, "--vary") for text in vary)
    return live(load(file), page, vary=ranges, plots=show, modes=modes, **options).path
