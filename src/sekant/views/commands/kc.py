"""`sekant kc`: the kinematic curves of a suspension."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def kc(
    file: Annotated[
        Path,
        typer.Argument(
            help="Hard points, a model, or a model with a description (YAML).", show_default=False
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--csv", "-o", help="Write the curves (.csv; deg and mm).")
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the curves as JSON (SI).")] = False,
) -> None:
    """Camber, toe, caster, roll center, motion ratio and more over travel and steering."""
    from sekant.vehicle import load_suspension, suspension_curves
    from sekant.vehicle.ranges import given_range, through_zero

    if side not in (None, "left", "right"):
        raise typer.BadParameter(f"'{side}' is neither left nor right", param_hint="--side")
    model, roles = load_suspension(file, side=side)  # pyright: ignore[reportArgumentType]
    heights = through_zero(*given_range(travel, roles.travel, "--travel"), points)
    moves = None
    if steering is not None or (roles.steering is not None and roles.rack in model.joints):
        moves = through_zero(*given_range(steering, roles.steering, "--steering"), racks)
    if plot is not None:
        from sekant.views.pictures import picture_format

        picture_format(plot)
    curves = suspension_curves(model, roles, travel=heights, steering=moves)
    written = []
    if output is not None:
        written.append(curves.to_csv(output))
    if plot is not None:
        from sekant.views.pictures import save_picture
        from sekant.views.suspension_plot import suspension_picture

        written.append(save_picture(lambda: suspension_picture(curves), plot))
    if model_file is not None:
        from sekant.io import dump
        from sekant.results.place import replace_file

        replace_file(model_file, dump(model).encode())
        written.append(model_file)
    if as_json:
        import json

        told = {"ok": True, "file": str(file), "written": [str(path) for path in written]}
        typer.echo(json.dumps(told | curves.as_dict()))
    else:
        typer.echo(curves.summary())
        typer.echo("\n".join(str(path) for path in written), nl=bool(written))
