"""`sekant check`: validate a model and list its contents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.progress_bar import ProgressBar
from sekant.views.options import Assignments, parse_assignments
from sekant.views.telling import hint, with_lines

if TYPE_CHECKING:
    from sekant.engine import System


@with_lines
def check(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    assignments: Assignments = None,
    equations: Annotated[
        bool, typer.Option("--equations", help="Print the equations of motion in symbols (requires SymPy).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check a model; print its bodies, degrees of freedom and mass, and how smooth its curves and tables are."""
    given = parse_assignments(assignments)
    if equations:
        with ProgressBar("deriving the equations", enabled=not as_json):
            text = _equations_of(file, given, as_json)
        typer.echo(text)
        return
    from sekant.cache.files import cached_of_file, files_read

    question = ("check", repr(sorted(given.items())))
    with ProgressBar("reading", enabled=not as_json), files_read() as files:
        answer = cached_of_file(
            file, question, lambda: _answer(file, given), lambda made: made["may be cached"]
        )
    read = sorted(os.path.relpath(place) for place in files)
    if as_json:
        from sekant.results.summary import to_json

        report = {"ok": True, "file": str(file), "files_read": read} | answer["described"]
        report |= {"smoothness": answer["smoothness"]}
        typer.echo(to_json(report, indent=2))
    else:
        typer.echo(answer["summary"])
        smoothness = answer["smoothness"]
        width = max((len(name) for name in smoothness), default=0)
        for name, found in smoothness.items():
            typer.echo(f"{found['kind']:<7} {name:<{width}}  {found['size']}, {found['continuity']}")
        for line in answer["lines"]:
            typer.echo(line)
        if len(read) > 1:
            typer.echo(f"files read: {', '.join(read)}")
        hint(f"sekant run {file} --plot {file.stem}.svg")


def _equations_of(file: Path, given: dict[str, str], as_json: bool) -> str:
    """The equations of motion as text, with the named parameters of the model as symbols."""
    from sekant.engine import compile
    from sekant.errors import ModelError
    from sekant.io.yaml import load

    model = load(file, set=given)
    try:
        found = compile(model, parameters=list(model.parameters)).symbolic()
    except ModelError as error:  # a parameter that shapes the mechanism cannot remain a symbol
        typer.secho(
            f"the equations contain the values of the parameters, not their symbols: {error}", err=True
        )
        found = compile(model).symbolic()
    if as_json:
        from sekant.results.summary import to_json

        return to_json({"ok": True, "file": str(file), "latex": found.latex()}, indent=2)
    return str(found)


def _answer(file: Path, given: dict[str, str]) -> dict[str, Any]:
    """The complete answer: a summary, its data, constraints and start, and the smoothness of curves."""
    from sekant.cache.content import is_foreign
    from sekant.engine import compile
    from sekant.errors import warning_lines
    from sekant.io.yaml import load
    from sekant.model.large_angles import large_angles

    model = load(file, set=given)
    system, lines, start = compile(model), [], {}
    angles = large_angles(model)
    if system.equations.constraints:
        from sekant.analyses.assembly.assemble import assemble
        from sekant.analyses.structure import structural_analysis

        state = assemble(system)
        report = state.report
        lines = [
            str(structural_analysis(system, state)),
            *report.free_lines(),
            *warning_lines(report.warnings),
        ]
        start = {
            "free_velocities": {one.name: one.value for one in report.free},
            "warnings": [warning.as_dict() for warning in report.warnings],
        }
    if angles:
        lines += warning_lines(angles)
        start["warnings"] = [*start.get("warnings", []), *(warning.as_dict() for warning in angles)]
    return {
        "summary": system.summary(),
        "described": _described(system) | start,
        "lines": lines,
        "smoothness": _smoothness(model),
        "may be cached": not is_foreign(model),
    }


def _smoothness(model: Any) -> dict[str, dict[str, str]]:
    """Size and continuity of every curve, surface and table by name; the text reports where continuity is lowest."""
    from sekant.geometry.curves.pose_curve import PoseCurve
    from sekant.tables.continuity import grid_continuity, table_continuity

    found = {}
    for name, geometry in getattr(model, "curves", {}).items():
        table = geometry.table
        if isinstance(geometry, PoseCurve):
            n, _, k = table.coefficients.shape
            size, smooth = f"{n} piece{'s' if n > 1 else ''} of degree {k - 1}", str(geometry.continuity)
            found[name] = {"kind": "curve", "size": size, "continuity": smooth}
        else:
            n1, n2, _, k1, k2 = table.coefficients.shape
            along = zip(geometry.parameters, grid_continuity(table), strict=True)
            smooth = "; ".join(f"along {parameter}: {order}" for parameter, order in along)
            size = f"{n1} x {n2} patches of degree {k1 - 1} x {k2 - 1}"
            found[name] = {"kind": "surface", "size": size, "continuity": smooth}
    for name, data in getattr(model, "tables", {}).items():
        table = data.table(name)
        n = len(table.coefficients)
        size = f"{data.kind}, {n} piece{'s' if n > 1 else ''}"
        found[name] = {"kind": "table", "size": size, "continuity": str(table_continuity(table))}
    return found


def _described(system: System) -> dict[str, Any]:
    from sekant.engine.reports import constraint_rank

    inventory = system.equations.reports.inventory(system.parameter_vector())
    return {
        "model": system.model.name,
        "degrees_of_freedom": system.nv - constraint_rank(system),
        "coordinates": system.nv,
        "mass": inventory.mass or 0.0,
        **inventory.items,
    }
