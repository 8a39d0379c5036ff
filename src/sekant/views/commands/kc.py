"""`sekant kc`: the kinematic curves of a suspension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sekant.views.options import in_unit
from sekant.views.telling import refuse_unwritable, tell, with_lines

if TYPE_CHECKING:
    from sekant.model.model import Model
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.curves.table import SuspensionCurves
    from sekant.views.commands.kc_designs import OutputFiles, Positions


class Side(StrEnum):
    """Side of a corner."""

    left = "left"
    right = "right"


@with_lines
def kc(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Hard points (YAML, .csv, .xlsx), a model, or an axle or car on measured curves (YAML); "
            "several files with hard points are compared.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--csv", help="Write the curves (.csv; deg and mm).")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the curves (.svg, .pdf, .png).")] = None,
    travel: Annotated[
        str | None,
        typer.Option(
            metavar="RANGE", help="Range of wheel travel, e.g. '-80..80 mm'.", show_default="from the file"
        ),
    ] = None,
    steering: Annotated[
        str | None,
        typer.Option(
            metavar="RANGE", help="Range of rack travel, e.g. '-30..30 mm'.", show_default="from the file"
        ),
    ] = None,
    points: Annotated[
        int, typer.Option(min=2, max=100_000, help="Number of positions across the wheel travel.")
    ] = 41,
    racks: Annotated[int, typer.Option(min=1, max=1000, help="Number of rack positions.")] = 5,
    side: Annotated[
        Side | None,
        typer.Option(help="Side of the corner, left or right; hard points of the other side are mirrored."),
    ] = None,
    model_file: Annotated[
        Path | None, typer.Option("--model", help="Write the model built from the hard points (.yaml).")
    ] = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            help="Measured curves (.csv, with Sekant's headers) to draw together with the computed curves; the "
            "deviations are printed."
        ),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option(
            help="Show how each hard point changes a curve, e.g. camber (--csv writes a table, --plot draws bars)."
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="Write a page (.html) with a player, the curves and the loads of an axle, or of several designs "
            "side by side.",
        ),
    ] = None,
    targets: Annotated[
        Path | None,
        typer.Option(help="Targets for curves (YAML), which --report and --live show and check."),
    ] = None,
    tune: Annotated[
        Path | None,
        typer.Option(
            metavar="TARGETS",
            help="Move hard points until the curves meet these targets (YAML); -o writes the moved points.",
        ),
    ] = None,
    as_axle: Annotated[
        bool,
        typer.Option("--axle", help="Compute both wheels of an axle, even if the file describes a corner."),
    ] = False,
    motion: Annotated[
        str, typer.Option(help="Motion of an axle: parallel, or roll (one wheel up, the other down).")
    ] = "parallel",
    identify: Annotated[
        list[Path] | None,
        typer.Option(
            help="Identify compliance rates from load ramps (.csv); -o writes the rates; repeatable."
        ),
    ] = None,
    rates: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the rates of --identify (.csv) or the hard points of --tune (.yaml).",
        ),
    ] = None,
    radius: Annotated[
        float,
        typer.Option(
            help="With --identify: distance from the wheel center down to the point where the load acts, m.",
            parser=in_unit("m"),
        ),
    ] = 0.0,
    of: Annotated[
        str | None, typer.Option("--of", help="Axle to use if the file describes a car on measured curves.")
    ] = None,
    live: Annotated[
        Path | None,
        typer.Option(help="Write a page (.html) on which you drag hard points and the curves follow."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the curves as JSON (SI).")] = False,
) -> None:
    """Compute camber, toe, caster, roll center, motion ratio and more versus travel and steering."""
    refuse_unwritable(tables=[output], pictures=[plot], pages=[report, live], models=[model_file])
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle import load_suspension, suspension_curves
    from sekant.vehicle.hardpoints.files import describes_axle
    from sekant.vehicle.measured.files import on_measured_curves
    from sekant.views.commands.kc_designs import OutputFiles, Positions, compare_axles, live_design, tune_axle

    if identify:
        _identify(identify, rates, radius, as_json)
        return
    if not files:
        raise typer.BadParameter("name a file, or load ramps with --identify", param_hint="FILES")
    file = files[0]
    if tune is not None:
        if len(files) > 1:
            raise typer.BadParameter("--tune works on one design; name one file", param_hint="FILES")
        tune_axle(file, rates, OutputFiles(output, plot, report, tune, as_json))
        return
    if rates is not None:
        raise typer.BadParameter(
            "requires --identify or --tune; to write curves use --csv", param_hint="--output"
        )
    if targets is not None and report is None and live is None:
        raise typer.BadParameter(
            "requires --report or --live, which show the targets; to move hard points use --tune",
            param_hint="--targets",
        )
    asked = Positions(travel, steering, points, racks)
    outputs = OutputFiles(output, plot, report, targets, as_json)
    alone = {"--model": model_file, "--measured": measured, "--sensitivity": sensitivity, "--of": of}
    if len(files) > 1:
        if live is not None:
            raise typer.BadParameter("--live shows one design; name one file", param_hint="FILES")
        _refuse({"--side": side} | alone, "works with one file only")
        for one in files:
            _refuse_curves(one)
        compare_axles(files, asked, motion, outputs)
        return
    _refuse_curves(file)
    both = as_axle or report is not None or describes_axle(file)
    if side is not None and both:
        raise typer.BadParameter("an axle has both sides; remove this option", param_hint="--side")
    if live is not None:
        others = {"--csv": output, "--plot": plot, "--report": report} | alone
        _refuse(others, "--live writes only a page; remove this option")
        live_design(file, live, as_axle, side, asked, targets, as_json)
        return
    if on_measured_curves(file):
        with ProgressBar("moving the axle", enabled=not as_json):
            curves, model, rig, texts = _on_curves(file, of, asked, motion)
        _tell(curves, model, file, outputs, model_file, texts=texts, drawn=rig)
        return
    if of is not None:
        raise typer.BadParameter(
            f"{file} is not a car on measured curves; remove this option", param_hint="--of"
        )
    if sensitivity is not None:
        _sensitivity(file, sensitivity, output, plot)
        return
    asked = replace(asked, rig=_read(measured))
    if both:
        with ProgressBar("moving the axle", enabled=not as_json) as bar:
            curves, model, written, texts = _axle(bar, file, asked, outputs, motion)
        _tell(curves, model, file, outputs, model_file, asked.rig, texts, written=written)
        return
    if motion != "parallel":
        raise typer.BadParameter(
            f"{file} describes a corner; add --axle for both wheels", param_hint="--motion"
        )
    model, roles = load_suspension(file, side=None if side is None else side.value)
    heights, moves = asked.heights(roles.travel), asked.moves(roles.steering, roles.rack in model.joints)
    with ProgressBar("moving the suspension", enabled=not as_json):
        curves = suspension_curves(model, roles, travel=heights, steering=moves)
    _tell(curves, model, file, outputs, model_file, asked.rig)


def _refuse(options: Mapping[str, object], why: str) -> None:
    """Raise an error for the first of these options that is given."""
    for name, given in options.items():
        if given is not None:
            raise typer.BadParameter(why, param_hint=name)


def _refuse_curves(file: Path) -> None:
    """Raise an error for a file of measured curves, which alone does not define a suspension."""
    if file.suffix.lower() != ".csv" or not file.is_file():
        return
    from sekant.columns import read_columns
    from sekant.errors import DataError, SekantError

    try:
        names = {name.rpartition(".")[2] for name in read_columns(str(file), gaps=True).names}
    except SekantError:  # a table of points
        return
    if {"travel", "camber"} <= names:
        raise DataError(
            "contains measured curves, not a suspension; to compare the curves with a suspension, run sekant kc "
            f"suspension.yaml --measured {file.name}; to use them in an axle file, write suspension: {{curves: "
            f"{file.name}, wheel_center: ..., spring: ..., damper: ...}}",
            file=str(file),
        )


def _identify(files: list[Path], rates: Path | None, radius: float, as_json: bool) -> None:
    """Compliance rates from load ramps."""
    from dataclasses import asdict

    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.measured.ramps import identify, read_ramps

    if rates is None:
        raise typer.BadParameter("name a file for the rates, e.g. -o rates.csv", param_hint="--output")
    with ProgressBar("identifying compliance", enabled=not as_json):
        found = identify(read_ramps(files, radius))
    written = [found.to_csv(rates)]
    tell(
        as_json,
        found.summary,
        lambda: {
            "files": [str(file) for file in files],
            "travel": found.travel.tolist(),
            "compliance": found.C.tolist(),
            "misfits": [asdict(misfit) for misfit in found.misfits],
        },
        written,
    )


def _on_curves(
    file: Path, of: str | None, asked: Positions, motion: str
) -> tuple[SuspensionCurves, Model, SuspensionCurves | None, list[str]]:
    """Curves of an axle on measured curves, its model, the measured curves, and lines of text."""
    from sekant.errors import SekantError
    from sekant.vehicle.measured.rig import measured_axles, one_axle, rig_curves

    try:
        axle = one_axle(measured_axles(file), of)
        heights = None if asked.travel is None else asked.heights(None)
        found = rig_curves(axle, travel=heights, steering=asked.moves(None), motion=motion)
    except SekantError as error:
        error.file = error.file or str(file)
        raise
    return found.curves, axle.model(), found.measured, found.texts


def _read(measured: Path | None) -> SuspensionCurves | None:
    if measured is None:
        return None
    from sekant.vehicle.measured.curves import read_measured

    return replace(read_measured(measured), name=str(measured))


def _sensitivity(file: Path, curve: str, output: Path | None, plot: Path | None) -> None:
    """Print and write the effect of each hard point on a curve."""
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
    bar: ProgressBar, file: Path, asked: Positions, outputs: OutputFiles, motion: str
) -> tuple[SuspensionCurves, Model, list[Path], list[str]]:
    """Curves of both wheels of an axle, its model, the files written, and texts on loads; writes the report."""
    from sekant.vehicle import axle, axle_compliance, axle_curves, member_loads
    from sekant.views.commands.kc_designs import moved_axle

    given, curves = moved_axle(file, asked, motion)
    written = []
    if outputs.report is not None:
        bar.stage("writing the report")
        parallel = curves
        if motion != "parallel":
            moves = curves.steering if curves.moved is not None and curves.moved.steered else None
            parallel = axle_curves(given, travel=curves.travel, steering=moves)
        written = outputs.write_page([(file.stem, given, parallel)])
    texts = []
    if given.bushings and given.compliant and not outputs.as_json:
        bar.stage("loading the axle")
        texts.append(axle_compliance(given).summary())
    if given.load_cases and not outputs.as_json:
        bar.stage("loads of members")
        texts.append(member_loads(given).summary())
    return curves, axle(given), written, texts


def _tell(
    curves: SuspensionCurves,
    model: Model,
    file: Path,
    outputs: OutputFiles,
    model_file: Path | None,
    measured: SuspensionCurves | None = None,
    texts: Sequence[str] = (),
    drawn: SuspensionCurves | None = None,
    written: Sequence[Path] = (),
) -> None:
    """Write the files, and print a summary or JSON; `drawn`: curves that are already compared."""
    if measured is not None:
        from sekant.vehicle.measured.curves import deviations

        gaps = [
            f"  {name:<28}{gap:12.4f}  {unit}" for name, (unit, gap) in deviations(curves, measured).items()
        ]
        places = ", ".join(f"{1e3 * rack:.4g}" for rack in measured.steering)
        title = f"root-mean-square deviation from {measured.name} (rack at {places} mm)"
        texts = [*texts, title, *gaps]
    written = [*written, *outputs.write(curves, measured or drawn)]
    if model_file is not None:
        from sekant.files import replace_file
        from sekant.io.writing import model_text

        replace_file(model_file, model_text(model).encode())
        written.append(model_file)
    text = "\n".join([curves.summary(), *texts])
    tell(outputs.as_json, lambda: text, lambda: {"file": str(file)} | curves.as_dict(), written)
