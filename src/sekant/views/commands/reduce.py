"""`sekant reduce`: a mechanism with loops to bodies that follow their poses over one or two coordinates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sekant.views.options import Assignments, in_unit, parse_assignments


def reduce(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    keep: Annotated[list[str], typer.Option(help="Body to keep, or a frame of it that follows; repeatable.")],
    over: Annotated[
        list[str],
        typer.Option(help="Coordinate that stays: hub.z, hinge.angle, strut.length; two make a surface."),
    ],
    first: Annotated[list[str], typer.Option("--from", help="First value, e.g. -0.08 or -30deg; one each.")],
    last: Annotated[list[str], typer.Option("--to", help="Last value; one each.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Reduced model (.yaml); poses go beside it.")
    ],
    relative_to: Annotated[str, typer.Option(help="Body that the kept ones move against.")] = "ground",
    method: Annotated[str, typer.Option(help="table or path.")] = "table",
    tolerance: Annotated[
        float | None, typer.Option(help="Of the poses, in m and rad.", show_default="1e-8")
    ] = None,
    nodes: Annotated[
        list[int] | None,
        typer.Option(help="Number of poses; one each.", show_default="as the tolerance needs"),
    ] = None,
    inertia: Annotated[str, typer.Option(help="Of dropped bodies: exact, split or ignore.")] = "exact",
    drop: Annotated[list[str] | None, typer.Option(help="Force or sensor to leave out; repeatable.")] = None,
    compare: Annotated[
        float | None,
        typer.Option(help="Run both models for so many seconds and compare.", parser=in_unit("s")),
    ] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(help="Frame to compare; repeatable.", show_default="centers of mass of kept bodies"),
    ] = None,
    assignments: Assignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Replace a mechanism by bodies that follow their poses; tell how well they do."""
    given = parse_assignments(assignments)
    for option, values in (("--from", first), ("--to", last), ("--nodes", nodes or [0] * len(over))):
        if len(values) != len(over):
            raise typer.BadParameter(
                f"{len(over)} coordinates need as many values (got {len(values)})", param_hint=option
            )
    from sekant.results.place import check_writable

    check_writable(output)
    from sekant.io.yaml import load
    from sekant.reduction import reduce as analyze

    found = analyze(
        load(file, set=given),
        keep,
        over,
        list(zip(first, last, strict=True)),
        relative_to=relative_to,
        method=method,
        tolerance=tolerance,
        nodes=nodes,
        inertia=inertia,
        drop=drop or (),
    )
    written = [str(place) for place in found.save(output)]
    if not as_json:
        typer.echo(found.summary())
        typer.echo("\nwritten: " + ", ".join(written))
    seen = None if compare is None else found.compare(compare, point)
    if as_json:
        from sekant.results.summary import to_json

        told = {"ok": True, "file": str(file)} | found.digest() | {"files": written}
        typer.echo(to_json(told if seen is None else told | {"comparison": seen.digest()}, indent=2))
    elif seen is not None:
        typer.echo("\n" + seen.summary())
