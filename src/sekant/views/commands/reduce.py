"""`sekant reduce`: replace a mechanism with loops by bodies that follow its poses over one or two coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from sekant.views.options import Assignments, in_unit, parse_assignments, ranges_of
from sekant.views.telling import refuse_unwritable, tell, with_lines


@with_lines
def reduce(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    keep: Annotated[list[str], typer.Option(help="Body that remains, or one of its frames; repeatable.")],
    over: Annotated[
        list[str],
        typer.Option(
            help="Coordinate of the reduced model and its range, e.g. 'hub.z=-80..80 mm' or "
            "'hinge.angle=-30..30 deg'; give the option twice for a surface."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            help="Reduced model to write (.yaml); its poses are written to the same folder.",
        ),
    ],
    relative_to: Annotated[str, typer.Option(help="Body relative to which the poses are stored.")] = "ground",
    method: Annotated[str, typer.Option(help="Form of the stored poses: table or path.")] = "table",
    tolerance: Annotated[
        float | None, typer.Option(help="Tolerance of the poses, in m and rad.", show_default="1e-8")
    ] = None,
    nodes: Annotated[
        list[int] | None,
        typer.Option(
            help="Number of poses; with two coordinates, give the option twice.",
            show_default="as many as the tolerance requires",
        ),
    ] = None,
    inertia: Annotated[
        str, typer.Option(help="Treatment of the mass of dropped bodies: exact, split, ignore or identify.")
    ] = "exact",
    elastic: Annotated[
        bool,
        typer.Option(
            "--elastic", help="Include the elastic modes of the bushings (requires exactly one --keep)."
        ),
    ] = False,
    modes: Annotated[
        int | None,
        typer.Option(min=1, max=5, help="Number of elastic modes.", show_default="all"),
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Force, contact or sensor to leave out; repeatable.")
    ] = None,
    compare: Annotated[
        float | None,
        typer.Option(
            help="Simulate the full and the reduced model for this many seconds, and compare them.",
            parser=in_unit("s"),
        ),
    ] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(
            help="With --compare: frame, or body (its center of mass), to compare; repeatable.",
            show_default="the bodies or frames of --keep",
        ),
    ] = None,
    assignments: Assignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Replace a mechanism with bodies that follow the same poses, and report the error."""
    given = parse_assignments(assignments)
    over, ends = ranges_of(over, "--over")
    if nodes is None and any(count for _, _, count in ends):
        nodes = [count or 0 for _, _, count in ends]
    if nodes is not None and (len(nodes) != len(over) or not all(nodes)):
        from sekant.errors import counted

        given_counts = counted(sum(count > 0 for count in nodes), "numbers")
        raise typer.BadParameter(
            f"give one number for each coordinate (got {given_counts} for {counted(len(over), 'coordinates')})",
            param_hint="--nodes",
        )
    refuse_unwritable(models=[output])
    from sekant.io.yaml import load
    from sekant.progress_bar import ProgressBar
    from sekant.reduction import reduce as analyze

    with ProgressBar("reading", enabled=not as_json) as bar:
        model = load(file, set=given)
        bar.stage("reducing")
        found = analyze(
            model,
            keep,
            over,
            [(a, b) for a, b, _ in ends],
            relative_to=relative_to,
            method=method,
            tolerance=tolerance,
            nodes=nodes,
            inertia=inertia,
            drop=drop or (),
            elastic=modes or elastic,
        )
    written = found.save(output)

    def data() -> dict[str, Any]:
        seen = {} if compare is None else {"comparison": found.compare(compare, point).digest()}
        return {"file": str(file)} | found.digest() | seen

    tell(as_json, found.summary, data, written)
    if compare is not None and not as_json:
        typer.echo("\n" + found.compare(compare, point).summary())
