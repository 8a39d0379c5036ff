"""`sekant linearize`: modes about an equilibrium, a steady motion or an instant of a motion."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.linear_options import (
    Formulation,
    LocusRange,
    ModeNumbers,
    ModesPicture,
    Rates,
    SensitivityNames,
    Targets,
    Turn,
    Unknowns,
    Velocity,
    locus_name,
    locus_over,
    modes_report,
    names_in,
    number_of,
    parameters_of,
    steady_of,
)
from sekant.views.options import Assignments, parse_assignments
from sekant.views.telling import refuse_unwritable, tell, with_lines

if TYPE_CHECKING:
    from sekant.engine.state import State
    from sekant.engine.system import System


class At(StrEnum):
    """The operating point of a linearization."""

    EQUILIBRIUM = "equilibrium"
    STEADY = "steady"
    TIME = "time"


@with_lines
def linearize(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    at: Annotated[
        At,
        typer.Option(
            help="Operating point: equilibrium, steady (a steady motion), or time (an instant of a motion)."
        ),
    ] = At.EQUILIBRIUM,
    time: Annotated[str, typer.Option(help="With --at time: simulate until this time, e.g. 1.5 s.")] = "0 s",
    turn: Turn = None,
    velocity: Velocity = None,
    rate: Rates = None,
    unknown: Unknowns = None,
    target: Targets = None,
    fixed_axes: Annotated[
        bool,
        typer.Option("--fixed-axes", help="With --at steady: linearize in axes that do not move."),
    ] = False,
    formulation: Formulation = "joint",
    assignments: Assignments = None,
    sensitivity: SensitivityNames = None,
    locus: LocusRange = None,
    mode: ModeNumbers = None,
    plot: ModesPicture = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="Input for the Bode plot: an input or a motion of the model, or a coordinate on which a force acts; "
            "repeatable.",
        ),
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--response", help="Response in the Bode plot: an output or a pattern of outputs; repeatable."
        ),
    ] = None,
    bode: Annotated[Path | None, typer.Option(help="Draw a Bode plot (.svg, .pdf, .png).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print modes and matrices as JSON.")] = False,
) -> None:
    """Compute the modes of small motions: eigenvalues, frequencies, damping ratios and shapes."""
    given = parse_assignments(assignments)
    steady_only = {
        "--turn": turn,
        "--velocity": velocity,
        "--rate": rate,
        "--unknown": unknown,
        "--target": target,
    }
    for option, value in steady_only.items():
        if value and at is not At.STEADY:
            raise typer.BadParameter("requires --at steady", param_hint=option)
    if bode is not None and not (inputs and outputs):
        raise typer.BadParameter("requires an --input and a --response", param_hint="--bode")
    if locus is not None and at is not At.EQUILIBRIUM:
        raise typer.BadParameter(
            "requires --at equilibrium; for steady motions use sekant steady --locus", param_hint="--locus"
        )
    names = names_in(sensitivity, "--sensitivity")
    refuse_unwritable(pictures=[plot, bode])
    from sekant.vehicle.car import is_car_file

    if at is not At.TIME and is_car_file(file):
        raise typer.BadParameter(
            f"{file} is a car with a driver, which has no equilibrium; for its modes straight ahead and in turns, "
            f"run: sekant steady {file} --target speed='80 km/h' --target lateral_acceleration=3",
            param_hint="FILE",
        )
    from sekant.analyses.linear.linearize import linearize as analyze
    from sekant.engine.system import compile as compile_model
    from sekant.io.yaml import load
    from sekant.progress_bar import ProgressBar

    with ProgressBar("reading", enabled=not as_json) as bar:
        model: Any = load(file, set=given)
        numbers = dict.fromkeys([*parameters_of(unknown or [], rate), *names, *locus_name(locus)])
        system = compile_model(model, formulation=formulation, parameters=list(numbers))
        bar.stage("linearizing")
        ports: dict[str, Any] = {"inputs": inputs or (), "outputs": outputs or ()}
        if at is At.STEADY:
            state = steady_of(system, turn, velocity, rate, unknown, target)
            linear = analyze(system, state, at="motion" if fixed_axes else None, **ports)
        elif at is At.TIME:
            state, until = _state_at(system, time)
            linear = analyze(system, state, until, at="motion", **ports)
        else:
            from sekant.analyses.statics.equilibrium import equilibrium

            state = equilibrium(system)
            linear = analyze(system, state, **ports)
        found = modes_report(bar, linear, names, None if locus is None else lambda: locus_over(system, locus))
    found.draw(mode, plot)
    if bode is not None:
        from sekant.views.linear_pictures import bode_picture
        from sekant.views.pictures import save_picture

        save_picture(lambda: bode_picture(linear), bode)
    about = state if at is not At.TIME else f"at t = {until:.6g} s of the motion"
    facts = {"file": str(file), "at": at.value}
    tell(as_json, lambda: found.text(about), lambda: facts | found.digest(state), (plot, bode))


def _state_at(system: System, text: str) -> tuple[State, float]:
    from sekant.analyses.assembly.assemble import assemble
    from sekant.analyses.simulation.simulate import simulate
    from sekant.errors import SolverError

    until = number_of(text, "--time", "s")
    if until == 0.0:
        return (assemble(system) if system.facts.constrained else system.initial_state()), 0.0
    result = simulate(system, until=until)
    if not result.ok:
        raise SolverError(f"the run ended before t = {until:.6g} s: {result.message}")
    return result.final_state, until  # type: ignore[return-value]
