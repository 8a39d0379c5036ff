"""`sekant fit`: a path or surface from measured poses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.options import in_unit, number_or_text, parse_assignments
from sekant.views.telling import hint, refuse_unwritable, tell


def fit(
    file: Annotated[
        Path,
        typer.Argument(help="Poses (CSV), e.g. with the columns x [mm], yaw [deg].", show_default=False),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Curve or surface to write (.json).", show_default="FILE with .json"
        ),
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            "-p",
            help="Parameter of the path: arc_length, chord, or a monotonic column; for a surface, give the option "
            "twice, with two columns.",
            show_default="arc_length",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME=COLUMN",
            help="Column or constant to use as x, y, ...; repeatable.",
        ),
    ] = None,
    angles: Annotated[
        str | None,
        typer.Option(help="Columns with the Euler angles, e.g. toe,camber,spin; requires --sequence."),
    ] = None,
    sequence: Annotated[str | None, typer.Option(help="Order of the Euler angles, e.g. zyx.")] = None,
    unit: Annotated[
        list[str] | None,
        typer.Option(
            "--unit", metavar="COLUMN=UNIT", help="Unit of a column whose header has none; repeatable."
        ),
    ] = None,
    orientation: Annotated[
        str,
        typer.Option(
            help="Format of the orientation columns: auto, none, quaternion, or Euler angles, e.g. euler:zyx."
        ),
    ] = "auto",
    method: Annotated[
        str, typer.Option(help="Fitting method for a path: auto, interpolation, tao-watson or hall.")
    ] = "auto",
    kind: Annotated[str, typer.Option(help="Type of surface fit: auto, polynomial or spline.")] = "auto",
    noise: Annotated[
        float | None,
        typer.Option(
            help="Standard deviation of the measurement noise in each coordinate, m.",
            parser=in_unit("m"),
            show_default="estimated",
        ),
    ] = None,
    allow_gaps: Annotated[bool, typer.Option("--allow-gaps", help="Fit across gaps in the data.")] = False,
    closed: Annotated[
        bool, typer.Option("--closed", help="Fit a closed path, which ends where it begins.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw the fit and its errors (.svg, .pdf, .png).")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Fit a path or a surface to measured poses, save it, and report the errors of the fit."""
    given = parse_assignments(column, "--column")
    columns: dict[str, Any] = {role: number_or_text(name) for role, name in given.items()}
    if angles:
        columns["angles"] = [name.strip() for name in angles.split(",")]
    units = parse_assignments(unit, "--unit")
    options: dict[str, Any] = {"columns": columns, "units": units, "sequence": sequence}
    options |= {"orientation": orientation, "name": file.stem, "allow_gaps": allow_gaps}
    parameters = parameter or ["arc_length"]
    path = output or Path(file.name).with_suffix(".json")
    refuse_unwritable(curves=[path], pictures=[plot])
    if len(parameters) > 2:
        raise typer.BadParameter(
            "give one parameter for a path, or two for a surface", param_hint="--parameter"
        )
    from sekant.progress_bar import ProgressBar

    if len(parameters) == 2:
        if closed or noise is not None:
            raise typer.BadParameter("--closed and --noise apply only to paths", param_hint="--parameter")
        from sekant.geometry.surfaces.pose_surface import PoseSurface

        with ProgressBar("fitting a surface", enabled=not as_json):
            result: Any = PoseSurface.fit(file, (parameters[0], parameters[1]), kind=kind, **options)
    else:
        from sekant.geometry.curves.pose_curve import PoseCurve

        extrapolation = "periodic" if closed else "error"
        options |= {"method": method, "noise": noise, "extrapolation": extrapolation}
        with ProgressBar("fitting a path", enabled=not as_json):
            result = PoseCurve.fit(file, parameters[0], **options)
    result.save(path)
    if plot is not None:
        result.report.plot(plot)
    facts = {"file": str(file), "range": result.range}
    tell(as_json, lambda: result.report, lambda: facts | {"report": result.report.as_dict()}, (path, plot))
    if not as_json:
        hint(
            f"in a model file, write curves: {{{path.stem}: {{file: {path.name}}}}}; for an example: sekant new path"
        )
