"""`sekant kinematics`: drive a mechanism through a range of positions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sekant.views.faults import with_lines
from sekant.views.options import Assignments, parse_assignments
from sekant.views.telling import refuse_unwritable, tell


@with_lines
def kinematics(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    drive: Annotated[
        list[str],
        typer.Option(
            help="What is driven: hinge.angle, hub.z, strut.length, a sensor, 'distance(a, b)'; two make a grid."
        ),
    ],
    first: Annotated[
        list[str], typer.Option("--from", help="First value, e.g. -30deg or -0.08; one a drive.")
    ],
    last: Annotated[list[str], typer.Option("--to", help="Last value; one a drive.")],
    points: Annotated[
        list[int] | None,
        typer.Option(help="Number of values; one a drive.", show_default="101, or 21 each of two"),
    ] = None,
    quantity: Annotated[
        list[str] | None,
        typer.Option(
            "--quantity", "-q", help="What to report; repeatable.", show_default="coordinates of joints"
        ),
    ] = None,
    relative: Annotated[
        bool,
        typer.Option("--relative", help="Values count from where the model starts, as travel does in kc."),
    ] = False,
    hold: Annotated[list[str] | None, typer.Option(help="Keep this where it starts; repeatable.")] = None,
    assignments: Assignments = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write a CSV file.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Also draw it (.svg, .pdf, .png).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Drive a mechanism through a range; tell its positions, their derivatives and where the travel ends."""
    given = parse_assignments(assignments)
    counts = points or [101 if len(drive) == 1 else 21] * len(drive)
    for option, values in (("--from", first), ("--to", last), ("--points", counts)):
        if len(values) != len(drive):
            raise typer.BadParameter(
                f"{len(drive)} drives need as many values (got {len(values)})", param_hint=option
            )
    refuse_unwritable(csv, plot)
    from sekant.progress_bar import ProgressBar

    with ProgressBar("reading", enabled=not as_json) as bar:
        from sekant.io.yaml import load

        model = load(file, set=given)
        bar.stage("moving the mechanism")
        from sekant.analyses.kinematics import kinematics as analyze

        ranges = list(zip(first, last, counts, strict=True))
        result = analyze(model, drive, ranges, hold=hold or (), relative=relative)
        for name in quantity or ():
            result.quantity(name)
        if csv is not None:
            result.to_csv(csv, quantity)
        if plot is not None:
            result.plot(plot, quantity)
    tell(as_json, result.summary, lambda: {"file": str(file)} | result.digest(), (csv, plot))
