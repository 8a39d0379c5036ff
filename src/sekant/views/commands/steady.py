"""`sekant steady`: steady turns, spins and straight runs, with their modes."""

from __future__ import annotations

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
    output_unit,
    parameters_of,
    steady_of,
)
from sekant.views.options import Assignments, parse_assignments
from sekant.views.telling import refuse_unwritable, tell, with_lines

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel
    from sekant.analyses.linear.root_locus import RootLocus
    from sekant.analyses.steady.motion import SteadyMotion


@with_lines
def steady(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    turn: Turn = None,
    velocity: Velocity = None,
    rate: Rates = None,
    unknown: Unknowns = None,
    target: Targets = None,
    formulation: Formulation = "joint",
    assignments: Assignments = None,
    sensitivity: SensitivityNames = None,
    locus: LocusRange = None,
    mode: ModeNumbers = None,
    plot: ModesPicture = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the motion and its modes as JSON.")] = False,
) -> None:
    """Find a steady turn, spin or straight run; report the unknowns found, the modes and their sensitivity.

    --locus accepts a number of the model, "turn", a coordinate from --rate or an output from --target. A car runs
    straight ahead at the speed in its file; --target speed sets another speed, and --target lateral_acceleration
    a turn.
    """
    given = parse_assignments(assignments)
    names = names_in(sensitivity, "--sensitivity")
    refuse_unwritable(pictures=[plot])
    from sekant.analyses.linear.linearize import linearize as analyze
    from sekant.engine.system import compile as compile_model
    from sekant.io.yaml import load
    from sekant.progress_bar import ProgressBar
    from sekant.vehicle.car import is_car_file
    from sekant.views.steady_cars import UNITS, car_locus, steady_car

    with ProgressBar("reading", enabled=not as_json) as bar:
        a_car = is_car_file(file)
        asked = {
            "turn",
            "velocity",
            *parse_assignments(rate, "--rate"),
            *parse_assignments(target, "--target"),
        }
        varied = [name for name in locus_name(locus) if name not in asked]
        if a_car:
            varied = [name for name in varied if name.removeprefix("chassis.") not in UNITS]
            bar.stage("finding the steady motion")
            options = {"--turn": turn, "--rate": rate, "--unknown": unknown, "--set": given}
            system, motion = steady_car(file, velocity, target, [*dict.fromkeys([*names, *varied])], options)
        else:
            numbers = dict.fromkeys([*parameters_of(unknown or [], rate), *names, *varied])
            system = compile_model(load(file, set=given), formulation=formulation, parameters=list(numbers))
            bar.stage("finding the steady motion")
            motion = steady_of(system, turn, velocity, rate, unknown, target)

        def follow(text: str) -> RootLocus:
            return (car_locus(file, motion, text) if a_car else None) or _locus(system, motion, text)

        found = modes_report(
            bar, analyze(system, motion), names, None if locus is None else lambda: follow(locus)
        )
    found.draw(mode, plot)
    tell(as_json, lambda: found.text(motion), lambda: {"file": str(file)} | found.digest(motion), (plot,))


def _locus(system: Any, motion: SteadyMotion, text: str) -> RootLocus:
    """Modes of steady motions over a number; the search for each motion starts from the nearest known one."""
    from sekant.analyses.linear.linearize import linearize as analyze
    from sekant.errors import SolverError
    from sekant.model.resolve import number_unit

    known: list[tuple[float | None, SteadyMotion]] = [(None, motion)]
    targets = motion.asked["targets"]
    (asked,) = locus_name(text)
    if f"chassis.{asked}" in targets:  # of a car
        text = f"chassis.{text.strip()}"

    def unit(name: str) -> str | None:
        if name in motion.unknowns:
            raise SolverError(
                f"--locus: '{name}' is an unknown of the steady motion and cannot be varied; vary a rate, a target "
                "or another number"
            )
        if name == "turn":
            return "rad/s"
        if name in motion.rates:
            return output_unit(system, f"{name.rpartition('.')[0]}.v")
        return output_unit(system, name) if name in targets else number_unit(system.model, name)

    def at(name: str, value: float) -> LinearModel:
        near = min(known, key=lambda pair: abs((pair[0] if pair[0] is not None else value) - value))[1]
        if name == "turn":
            found = near.again(system, turn=value)
        elif name in motion.rates:
            found = near.again(system, rates={name: value})
        elif name in targets:
            found = near.again(system, targets={name: value})
        else:
            found = near.again(system, {name: value})
        known.append((value, found))
        return analyze(system, found)

    return locus_over(system, text, at, unit)
