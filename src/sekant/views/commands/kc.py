"""`sekant kc`: the kinematic curves of a suspension."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.faults import with_lines
from sekant.views.telling import tell

if TYPE_CHECKING:
    from sekant.model.model import Model
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.curves.table import SuspensionCurves


@with_lines
def kc(
    file: Annotated[
        Path,
        typer.Argument(
            help="Hard points (YAML, .csv, .xlsx), a model, or a model with a description (YAML).",
            show_default=False,
        ),
    ],
    output: Annotated[Path | None, typer.Option("--csv", help="Write the curves (.csv; deg and mm).")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the curves (.svg, .pdf, .png).")] = None,
    travel: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Lowest and highest position, e.g. -80mm 80mm.", show_default="of the file"),
    ] = None,
    steering: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Range of the rack, e.g. -30mm 30mm.", show_default="of the file"),
    ] = None,
    points: Annotated[int, typer.Option(min=2, max=100_000, help="Positions over the travel.")] = 41,
    racks: Annotated[int, typer.Option(min=1, max=1000, help="Positions of the rack.")] = 5,
    side: Annotated[str | None, typer.Option(help="left or right: mirrors hard points if need be.")] = None,
    model_file: Annotated[
        Path | None, typer.Option("--model", help="Write the model made from hard points (.yaml).")
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(help="Measured curves (.csv, headers as ours): drawn over ours, deviations printed."),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option(
            help="A curve, as camber: what each hard point does to it (--csv: table, --plot: bars)."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write a page on an axle (.html): player, curves, loads.")
    ] = None,
    as_axle: Annotated[
        bool, typer.Option("--axle", help="Both wheels of an axle, even if the file describes a corner.")
    ] = False,
    motion: Annotated[
        str, typer.Option(help="Of an axle: parallel, or roll (one wheel rises, the other falls).")
    ] = "parallel",
    as_json: Annotated[bool, typer.Option("--json", help="Print the curves as JSON (SI).")] = False,
) -> None:
    """Camber, toe, caster, roll center, motion ratio and more over travel and steering."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle import load_suspension, suspension_curves
    from sekant.vehicle.curves.ranges import given_range, through_zero
    from sekant.vehicle.hardpoints.files import describes_axle

    if sensitivity is not None:
        _sensitivity(file, sensitivity, output, plot)
        return
    rig = _read(measured)
    if as_axle or report is not None or describes_axle(file):
        if side is not None:
            raise typer.BadParameter("an axle has both sides; leave it out", param_hint="--side")
        with ProgressBar("moving the axle", enabled=not as_json) as bar:
            told = _axle(bar, file, travel, steering, points, racks, report, motion, as_json, rig)
        curves, model, written, texts = told
        _tell(curves, model, file, output, plot, model_file, written, as_json, rig, texts)
        return
    if motion != "parallel":
        raise typer.BadParameter(
            f"{file} describes a corner; add --axle for both wheels", param_hint="--motion"
        )
    if side not in (None, "left", "right"):
        raise typer.BadParameter(f"'{side}' is neither left nor right", param_hint="--side")
    model, roles = load_suspension(file, side=side)  # pyright: ignore[reportArgumentType]
    heights = through_zero(*given_range(travel, roles.travel, "--travel"), points)
    moves = None
    if steering is not None or (roles.steering is not None and roles.rack in model.joints):
        moves = _also_at(through_zero(*given_range(steering, roles.steering, "--steering"), racks), rig)
    elif rig is not None and "rack" in rig.names and roles.rack in model.joints:
        moves = rig.steering
    if plot is not None:
        from sekant.files import picture_format

        picture_format(plot)
    with ProgressBar("moving the suspension", enabled=not as_json):
        curves = suspension_curves(model, roles, travel=heights, steering=moves)
    _tell(curves, model, file, output, plot, model_file, [], as_json, rig)


def _read(measured: Path | None) -> SuspensionCurves | None:
    if measured is None:
        return None
    from dataclasses import replace

    from sekant.vehicle.kc.measured import read_measured

    return replace(read_measured(measured), name=str(measured))


def _also_at(moves: Any, rig: SuspensionCurves | None) -> Any:
    """Positions of the rack (m), those of measured curves included."""
    import numpy as np

    return moves if rig is None or "rack" not in rig.names else np.union1d(moves, rig.steering)


def _sensitivity(file: Path, curve: str, output: Path | None, plot: Path | None) -> None:
    """What hard points of a corner do to a curve."""
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle import curve_sensitivities, load_axle

    with ProgressBar("differentiating curves by hard points"):
        found = curve_sensitivities(load_axle(file), [curve])
    typer.echo(found.summary(most=12))
    if output is not None:
        typer.echo(str(found.to_csv(output)))
    if plot is not None:
        from sekant.views.pictures import save_picture
        from sekant.views.suspension_plot import tornado_picture

        typer.echo(str(save_picture(lambda: tornado_picture(found, curve), plot)))


def _axle(
    bar: ProgressBar,
    file: Path,
    travel: tuple[str, str] | None,
    steering: tuple[str, str] | None,
    points: int,
    racks: int,
    report: Path | None,
    motion: str,
    as_json: bool,
    rig: SuspensionCurves | None,
) -> tuple[SuspensionCurves, Model, list[Path], list[str]]:
    """Curves of both wheels of an axle, its model, the report, if one is asked for, and texts on loads."""
    from sekant.errors import SekantError
    from sekant.vehicle import axle, axle_compliance, axle_curves, load_axle, member_loads
    from sekant.vehicle.curves.ranges import given_range, through_zero

    given = load_axle(file)
    roles = given.suspension
    update = {"travel": given_range(travel, roles.travel, "--travel")}
    if steering is not None or roles.steering is not None:
        update["steering"] = given_range(steering, roles.steering, "--steering")
    given = given.model_copy(update={"suspension": roles.model_copy(update=update)})
    moves = None
    if "steering" in update:
        moves = _also_at(through_zero(*update["steering"], racks), rig)
    elif rig is not None and "rack" in rig.names:
        moves = rig.steering
    try:
        curves = axle_curves(
            given,
            motion=motion,
            travel=through_zero(*update["travel"], points),
            steering=moves,
        )
    except SekantError as error:
        error.file = error.file or str(file)  # what does not assemble has no line of its own
        raise
    written = []
    if report is not None:
        bar.stage("writing the report")
        from sekant.views.kc_report import write_report

        parallel = curves
        if motion != "parallel":
            parallel = axle_curves(given, travel=curves.travel, steering=moves)
        written.append(write_report(report, given, parallel))
    texts = []
    if given.bushings and given.compliant and not as_json:
        bar.stage("loading the axle")
        texts.append(axle_compliance(given).summary())
    if given.load_cases and not as_json:
        bar.stage("loads of members")
        texts.append(member_loads(given).summary())
    return curves, axle(given), written, texts


def _tell(
    curves: SuspensionCurves,
    model: Model,
    file: Path,
    output: Path | None,
    plot: Path | None,
    model_file: Path | None,
    written: list[Path],
    as_json: bool,
    measured: SuspensionCurves | None,
    texts: Sequence[str] = (),
) -> None:
    """Write what is asked for, and print a summary or JSON."""
    if measured is not None:
        from sekant.vehicle.kc.measured import deviations

        gaps = [
            f"  {name:<28}{gap:12.4f}  {unit}" for name, (unit, gap) in deviations(curves, measured).items()
        ]
        places = ", ".join(f"{1e3 * rack:.4g}" for rack in measured.steering)
        told = f"deviation from {measured.name} (root mean square, rack {places} mm)"
        texts = [*texts, told, *gaps]
    if output is not None:
        written.append(curves.to_csv(output))
    if plot is not None:
        from sekant.views.pictures import save_picture
        from sekant.views.suspension_plot import suspension_picture

        written.append(save_picture(lambda: suspension_picture(curves, measured=measured), plot))
    if model_file is not None:
        from sekant.files import replace_file
        from sekant.io.writing import model_text

        replace_file(model_file, model_text(model).encode())
        written.append(model_file)

    def text() -> str:
        return "\n".join([curves.summary(), *texts])

    tell(as_json, text, lambda: {"file": str(file)} | curves.as_dict(), written)
