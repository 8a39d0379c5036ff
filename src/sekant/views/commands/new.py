"""`sekant new`: a commented model to start from."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Template(StrEnum):
    """The models that can be written; each is a folder of `sekant.views.templates`."""

    pendulum = "pendulum"
    quarter_car = "quarter-car"
    four_bar = "four-bar"
    path = "path"
    points = "points"
    car = "car"
    formula = "formula"
    track = "track"


def new(
    template: Annotated[
        Template,
        typer.Argument(
            help="What to start from: a chain of bodies, springs, a loop, measured poses, points and rods, "
            "a car, a race car, or a track."
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="Folder for the files; created if necessary.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a commented model file to start from; files that exist are not overwritten."""
    from sekant.views.scaffold import write_template

    written = write_template(template.value, folder)
    model = written[0]
    steps = [f"sekant check {model}", f"sekant run {model} --plot {model.with_suffix('.svg').name}"]
    if template in (Template.car, Template.formula):
        steps = [
            f"sekant drive {model} --html run.html --report report.html",
            f"sekant kc {model.parent / 'front.yaml'} --axle --report front.html",
        ]
    if template is Template.formula:
        steps.append(f"sekant loads {model} --cases {model.parent / 'loads.yaml'} --csv loads.csv")
    if template is Template.track:
        steps = [f"sekant drive CAR.yaml --maneuver {model} --html lap.html --report lap_report.html"]
    if as_json:
        import json

        typer.echo(
            json.dumps({"ok": True, "files": [str(path) for path in written], "next": steps}, indent=2)
        )
        return
    for path in written:
        typer.echo(f"written: {path}")
    typer.echo("next: " + "\n      ".join(steps))
