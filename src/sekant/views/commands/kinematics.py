"""`sekant kinematics`: move a mechanism through a range of positions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sekant.views.options import Assignments, parse_assignments, ranges_of
from sekant.views.telling import refuse_unwritable, tell, with_lines

if TYPE_CHECKING:
    from sekant.analyses.kinematics.result import KinematicsResult


@with_lines
def kinematics(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    drive: Annotated[
        list[str],
        typer.Option(
            help="Quantity to drive and its range, e.g. 'hub.z=-80..80 mm', 'hinge.angle=-30..30 deg', "
            "'distance(a, b)=0.2..0.3 m', or a sensor; give the option twice for a grid."
        ),
    ],
    points: Annotated[
        list[int] | None,
        typer.Option(
            help="Number of positions; with two drives, give the option twice.",
            show_default="101, or 21 for each of two drives",
        ),
    ] = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            "--quantity", "-q", help="Quantity to report; repeatable.", show_default="coordinates of joints"
        ),
    ] = None,
    relative: Annotated[
        bool,
        typer.Option(
            "--relative", help="Measure the drive from its start value, as sekant kc measures travel."
        ),
    ] = False,
    hold: Annotated[
        list[str] | None, typer.Option(help="Quantity to hold at its start value; repeatable.")
    ] = None,
    assignments: Assignments = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write a CSV file.")] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Also write pose tables (.csv with a header, .txt without): BODY.csv for the body of that "
            "name; any other name, such as poses.csv, for all bodies, in one file each (poses_BODY.csv)."
        ),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw a plot (.svg, .pdf, .png).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Move a mechanism through a range; report positions, their derivatives and the ends of the reachable range."""
    given = parse_assignments(assignments)
    drive, ends = ranges_of(drive, "--drive")
    counts = points or [own or (101 if len(drive) == 1 else 21) for _, _, own in ends]
    if len(counts) != len(drive):
        from sekant.errors import counted

        raise typer.BadParameter(
            f"give one number for each drive (got {counted(len(counts), 'numbers')} for "
            f"{counted(len(drive), 'drives')})",
            param_hint="--points",
        )
    refuse_unwritable(table, tables=[csv], pictures=[plot])
    from sekant.progress_bar import ProgressBar

    with ProgressBar("reading", enabled=not as_json) as bar:
        from sekant.io.yaml import load

        model = load(file, set=given)
        bar.stage("moving the mechanism")
        from sekant.analyses.kinematics import kinematics as analyze

        ranges = [(a, b, count) for (a, b, _), count in zip(ends, counts, strict=True)]
        result = analyze(model, drive, ranges, hold=hold or (), relative=relative)
        for name in quantity or ():
            result.quantity(name)
        if csv is not None:
            result.to_csv(csv, quantity)
        if plot is not None:
            result.plot(plot, quantity)
        tables = [] if table is None else _tables(result, table)
    tell(as_json, result.summary, lambda: {"file": str(file)} | result.digest(), (csv, plot, *tables))


def _tables(result: KinematicsResult, path: Path) -> list[Path]:
    """Write the pose table of the body after which the file is named, or one file for each body."""
    found = result.pose_table()
    if path.stem in found.bodies:
        places = {path.stem: path}
    else:
        places = {body: path.with_name(f"{path.stem}_{body}{path.suffix}") for body in found.bodies}
    for body, place in places.items():
        found.to_text(place, body, header=path.suffix.lower() == ".csv")
    return list(places.values())
