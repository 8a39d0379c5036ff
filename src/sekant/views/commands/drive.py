"""`sekant drive`: cars through a maneuver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.options import RelativeTolerance, StepSize, number_or_text, parse_assignments
from sekant.views.telling import lines_of, refuse_unwritable, tell

if TYPE_CHECKING:
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.maneuvers import DrivenManeuver


def drive(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="One or more car files (YAML), or a maneuver file that names a car; several cars are compared.",
            show_default=False,
        ),
    ] = None,
    maneuver: Annotated[
        str | None,
        typer.Option(
            help="Name of a maneuver (--list shows all), or a maneuver file.",
            show_default="the maneuver in the first car file",
        ),
    ] = None,
    speed: Annotated[str | None, typer.Option(help="Initial speed, e.g. '80 km/h'.")] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set an option of the maneuver (--list shows all options), e.g. offset='3 m'; repeatable.",
        ),
    ] = None,
    reduced: Annotated[
        bool, typer.Option("--reduced", help="Replace the suspensions with path and surface joints.")
    ] = False,
    all_links: Annotated[
        bool,
        typer.Option(
            "--all-links",
            help="Simulate all links of the suspensions, even if the file says reduced: true.",
        ),
    ] = False,
    method: Annotated[
        str | None, typer.Option(help="Integrator; for the choices, see sekant run --help.")
    ] = None,
    step: StepSize = None,
    rtol: RelativeTolerance = None,
    html: Annotated[
        Path | None, typer.Option(help="Write a page that plays the runs of one or two cars (.html).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page with the measures and curves of all cars (.html).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save the result of one car (.nc).")
    ] = None,
    live: Annotated[
        Path | None,
        typer.Option(help="Write a page on which you drive the car along the maneuver's course (.html)."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the maneuvers and their options.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the measures as JSON.")] = False,
) -> None:
    """Drive one or more cars through a maneuver and measure the motion."""
    if listed:
        _list(as_json)
        return
    if not files and maneuver is None:
        raise typer.BadParameter(
            "name a car file, such as car.yaml (sekant new car writes one)", param_hint="FILES"
        )
    files = files or []
    if speed is not None and speed.strip().replace(".", "", 1).isdecimal():
        raise typer.BadParameter(
            f"'{speed}' has no unit; write '{speed} km/h' or '{speed} m/s'", param_hint="--speed"
        )
    refuse_unwritable(results=[output], pages=[html, report, live])
    if live is not None:
        _write_live(live, *_asked(files, maneuver, speed, parse_assignments(assignments)), as_json)
        return
    if html is not None and len(files) > 2:
        raise typer.BadParameter(
            "a page plays the runs of one or two cars; use --report for more", param_hint="--html"
        )
    if output is not None and len(files) > 1:
        raise typer.BadParameter(
            "a result file contains the run of one car; name one car file", param_hint="--output"
        )
    from sekant.progress_bar import ProgressBar

    if reduced and all_links:
        raise typer.BadParameter("--reduced and --all-links exclude each other")
    corners = True if reduced else False if all_links else None
    with ProgressBar("reading", enabled=not as_json) as bar:
        how = {"reduced": corners, "method": method, "step": step, "rtol": rtol}
        runs = _runs(bar, how, *_asked(files, maneuver, speed, parse_assignments(assignments)))
        bar.stage("writing files")
        _write(runs, html, report, output)
    tell(as_json, lambda: _text(runs), lambda: _told(runs), (output, html, report))
    if any(not run.result.ok for run in runs):
        raise typer.Exit(1)


def _runs(
    bar: ProgressBar, how: dict[str, Any], files: list[Path], name: str | None, options: dict[str, Any]
) -> list[DrivenManeuver]:
    from sekant.vehicle.car import load_car
    from sekant.vehicle.driving import drive as drive_car

    cars = [load_car(file) for file in files]
    name = name or cars[0].maneuver
    labels = [file.stem for file in files]
    labels = [one if labels.count(one) == 1 else str(file) for one, file in zip(labels, files, strict=True)]
    runs = []
    for car, label, file in zip(cars, labels, files, strict=True):
        bar.stage(f"driving {label}")
        with lines_of(file):
            runs.append(drive_car(car, name, label=label, **how, **options))
    return runs


def _asked(
    files: list[Path], kind: str | None, speed: str | None, given: dict[str, str]
) -> tuple[list[Path], str | None, dict[str, Any]]:
    """Car files, the name of the maneuver (None: the car's own), and its options; a maneuver file may give all."""
    from sekant.vehicle.maneuvers.files import names_a_car, read_maneuver

    if kind is None and len(files) == 1 and names_a_car(files[0]):
        kind, files = str(files[0]), []
    name, options = kind, {}
    if kind is not None and Path(kind).suffix in (".yaml", ".yml"):
        found = read_maneuver(kind)
        name, options = found.kind, dict(found.options)
        files = files or ([] if found.car is None else [found.car])
        if not files:
            raise typer.BadParameter(f"{kind} does not name a car; add a car file", param_hint="FILES")
    options |= {key: number_or_text(value) for key, value in given.items()}
    if speed is not None:
        options["speed"] = speed
    return files, name, options


def _write_live(
    live: Path, files: list[Path], name: str | None, options: dict[str, Any], as_json: bool
) -> None:
    """Write the page on which a reader drives one car."""
    if len(files) != 1:
        raise typer.BadParameter("--live writes a page for one car; name one file", param_hint="FILES")
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.car import load_car
    from sekant.views.cockpit.page import write_drive

    with ProgressBar("reading", enabled=not as_json) as bar:
        car = load_car(files[0])
        bar.stage(f"compiling {files[0].stem} for a page")
        with lines_of(files[0]):
            write_drive(live, car, name, **options)
    tell(as_json, lambda: "", dict, (live,))


def _write(runs: list[DrivenManeuver], html: Path | None, report: Path | None, output: Path | None) -> None:
    if output is not None:
        runs[0].result.save(output)
    if html is not None:
        from sekant.vehicle.driving import with_scenery
        from sekant.views.player import view

        maneuver = runs[0].maneuver
        title = maneuver.type + (f", {maneuver.pace}" if maneuver.pace else "")
        plots = [name for name in maneuver.shown if name in runs[0].result.names]
        labels = [run.label for run in runs]
        view([with_scenery(run) for run in runs], html, labels=labels, title=title, plots=plots)
    if report is not None:
        from sekant.views.drive_report import write_report

        write_report(runs, report)


def _told(runs: list[DrivenManeuver]) -> dict[str, Any]:
    return {
        "ok": all(run.result.ok for run in runs),
        "maneuver": runs[0].maneuver.type,
        "speed": runs[0].maneuver.speed,
        "runs": [
            {
                "label": run.label,
                "status": run.result.status,
                "measures": [
                    {key: getattr(one, key) for key in ("name", "value", "unit", "definition")}
                    for one in run.measures
                ],
                "warnings": list(run.warnings),
            }
            for run in runs
        ],
    }


def _text(runs: list[DrivenManeuver]) -> str:
    from sekant.vehicle.maneuvers import side_by_side

    first = runs[0]
    title = " ".join(filter(None, (first.maneuver.type, first.maneuver.pace)))
    lines = [f"{title}: {first.maneuver.summary}"]
    lines += [f"warning: {run.label}: {warning}" for run in runs for warning in run.warnings]
    rows = side_by_side(runs)
    wide = max(len(measure.name) for measure, _ in rows)
    if len(runs) > 1:
        lines.append(" " * wide + "  " + "  ".join(f"{run.label:>12.12}" for run in runs))
    for measure, values in rows:
        columns = "  ".join(f"{value:12.5g}" if value == value else f"{'-':>12}" for value in values)
        unit = "" if measure.unit == "1" else measure.unit
        lines.append(f"{measure.name:{wide}}  {columns} {unit}".rstrip())
    return "\n".join(lines)


def _list(as_json: bool) -> None:
    import json

    from sekant.model.field_docs import field_docs
    from sekant.vehicle.maneuvers import MANEUVERS

    if as_json:
        report = {
            name: {
                "summary": cls.summary,
                "source": cls.source,
                "options": {key: field_docs(cls).get(key, "") for key in cls.model_fields},
            }
            for name, cls in MANEUVERS.items()
        }
        typer.echo(json.dumps(report, indent=2))
        return
    wide = max(len(name) for name in MANEUVERS)
    for name, cls in MANEUVERS.items():
        typer.echo(f"{name:{wide}}  {cls.summary} (options: {', '.join(cls.model_fields)})")
