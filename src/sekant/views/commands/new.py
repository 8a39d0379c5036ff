"""`sekant new`: a commented model to start from."""

from __future__ import annotations

import os
from enum import StrEnum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

FOLDER = files("sekant.views") / "templates"


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
            help="Template: pendulum (a chain of bodies), quarter-car (springs), four-bar (a loop), path "
            "(measured poses), points (points and rods), car, formula (a race car), or track."
        ),
    ],
    folder: Annotated[Path, typer.Argument(help="Folder for the files; created if necessary.")] = Path(),
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a commented model file as a starting point; existing files are never overwritten."""
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


def write_template(name: str, folder: str | os.PathLike[str]) -> list[Path]:
    """Copy the files of a template into `folder`; the model file comes first in the list."""
    from sekant.errors import SekantError
    from sekant.files import make_folder, replace_file

    source = sorted(
        ((entry.name, entry.read_bytes()) for entry in (FOLDER / name).iterdir() if entry.is_file()),
        key=lambda item: (not item[0].endswith(".yaml"), item[0]),
    )
    target = Path(folder)
    for file, _ in source:
        if (target / file).exists():
            raise SekantError(
                f"already exists and will not be overwritten; name another folder: sekant new {name} FOLDER",
                file=str(target / file),
            )
    make_folder(target)
    for file, content in source:
        replace_file(target / file, content)
    return [target / file for file, _ in source]
