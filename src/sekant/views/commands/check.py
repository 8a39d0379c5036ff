"""`sekant check`: is a model right, and what does it consist of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.hints import hint
from sekant.views.options import Assignments, parse_assignments

if TYPE_CHECKING:
    from sekant.engine import System


def check(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    assignments: Assignments = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Validate a model; print its tree of bodies, degrees of freedom and mass."""
    given = parse_assignments(assignments)
    from sekant.io import load

    model = load(file, set=given)
    from sekant.engine import compile

    system = compile(model)
    if as_json:
        from sekant.results.summary import to_json

        typer.echo(to_json({"ok": True, "file": str(file)} | _described(system), indent=2))
    else:
        typer.echo(system.summary())
        if system.equations.formulation == "natural":
            from sekant.analyses.structure import structure

            typer.echo(str(structure(system)))
        hint(f"sekant run {file} --plot {file.stem}.svg")


def _described(system: System) -> dict[str, Any]:
    links = system.equations.motion.links
    return {
        "model": system.model.name,
        "degrees_of_freedom": system.nv - system.constraint_rank(),
        "coordinates": system.nv,
        "mass": system.total_mass(),
        "bodies": [
            {
                "name": link.body,
                "parent": links[link.parent].body if link.parent >= 0 else "ground",
                "joint": link.joint_name,
                "joint_type": link.joint.type,
                "free": len(free),
                "driven": link.joint.nv - len(free),
            }
            for link, free in zip(links, system.equations.motion.free, strict=True)
        ],
        "forces": list(system.model.forces),
        "drivers": list(system.model.drivers),
        "sensors": list(system.model.sensors),
        "parameters": list(system.model.parameters),
    }
