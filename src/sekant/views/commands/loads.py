"""`sekant loads`: forces on every part and pick-up point of an axle or a car, for load cases."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.telling import refuse_unwritable, tell, with_lines


@with_lines
def loads(
    file: Annotated[
        Path,
        typer.Argument(
            help="Hard points of an axle, or a car whose axles have hard points (YAML).", show_default=False
        ),
    ],
    cases: Annotated[
        Path | None,
        typer.Option(
            help="File of load cases by name (YAML), e.g. {braking: {ax: -1.5}}.",
            show_default="the cases in FILE",
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", help="Write a table with a row for each part, point and case (.csv)."),
    ] = None,
    envelope: Annotated[
        Path | None,
        typer.Option(help="Write the largest force at each point and in each member over all cases (.csv)."),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            help="Write a page that plays the cases with force arrows (.html; for a car, one page per "
            "axle, such as loads-front.html)."
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print axial forces and wheel loads as JSON.")
    ] = False,
) -> None:
    """Compute loads for stress analysis: balanced forces on each part, in the axes of the part and of the vehicle."""
    refuse_unwritable(tables=[csv, envelope], pages=[html])
    from sekant.errors import SekantError
    from sekant.files import replace_file
    from sekant.io.source import located, read_source
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.car.files import is_car_file, load_car
    from sekant.vehicle.car.loads import car_loads
    from sekant.vehicle.hardpoints.files import load_axle
    from sekant.vehicle.kc.animation import loads_result
    from sekant.vehicle.kc.loads import member_loads, write_envelope, write_loads
    from sekant.views.player.page import page
    from sekant.views.player.view import shown_results

    source = None if cases is None else read_source(cases)
    given: Any = None if source is None else source.data
    with ProgressBar("reading", enabled=not as_json) as bar:
        try:
            if is_car_file(file):
                if given is None:
                    raise SekantError(
                        "describes a car, which requires load cases; with --cases, name a YAML file that contains, "
                        "for example,\n  braking: {ax: -1.5}\n"
                        "  turn: {ay: 1.2, speed: 20 m/s}",
                        file=str(file),
                    )
                car = load_car(file)
                bar.stage("loading the car")
                found = car_loads(car, given)
                tables, wheels, summary = found.axles, found.wheels, found.summary
            else:
                axle = load_axle(file)
                if not (axle.load_cases if given is None else given):
                    raise SekantError(
                        "has no load cases; with --cases, name a YAML file that contains, for example,\n"
                        "  braking: {ax: -1.2}\n"
                        "  bump: {az: 2}",
                        file=str(file),
                    )
                bar.stage("loading the axle")
                table = member_loads(axle, given)
                tables, wheels, summary = {"": table}, table.applied, table.summary
        except SekantError as error:
            if source is None or error.file is not None or not error.path or error.path[0] != "load_cases":
                raise
            error.path = error.path[1:]
            raise located(error, source.places, str(cases)) from None
        if csv is not None:
            write_loads(tables, csv)
        if envelope is not None:
            write_envelope(tables, envelope)
        players = {} if html is None else {_player(html, axle): table for axle, table in tables.items()}
        for target, table in players.items():
            bar.stage("writing players")
            stages = [(float(k), case) for k, case in enumerate(table.cases)]
            shown = shown_results(
                [loads_result(table)], title=f"{table.name}: loads", plots=[], stages=stages
            )
            replace_file(target, page(shown).encode())

    def data() -> dict[str, Any]:
        axial = {
            axle: {
                name: dict(zip(table.cases, values.tolist(), strict=True))
                for name, values in table.axial.items()
            }
            for axle, table in tables.items()
        }
        return {"file": str(file), "wheels": wheels, "axial": axial.get("", axial)}

    tell(as_json, summary, data, (csv, envelope, *players))


def _player(html: Path, axle: str) -> Path:
    return html.with_stem(f"{html.stem}-{axle}") if axle else html
