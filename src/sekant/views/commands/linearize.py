"""`sekant linearize`: modes about an equilibrium, a steady motion or an instant of a motion."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.faults import with_lines
from sekant.views.options import Assignments, number_or_text, parse_assignments
from sekant.views.telling import refuse_unwritable, tell

if TYPE_CHECKING:
    from sekant.analyses.linear.modes import Modes
    from sekant.engine.system import State, System


class At(StrEnum):
    """What the system is linearized about."""

    EQUILIBRIUM = "equilibrium"
    STEADY = "steady"
    TIME = "time"


@with_lines
def linearize(
    file: Annotated[Path, typer.Argument(help="Model file (YAML).", show_default=False)],
    at: Annotated[
        At, typer.Option(help="About an equilibrium, a steady motion, or a time.")
    ] = At.EQUILIBRIUM,
    time: Annotated[str, typer.Option(help="With --at time: simulate until then, e.g. 1.5 s.")] = "0 s",
    turn: Annotated[
        str | None, typer.Option(help="Steady: turn of all bodies about z, e.g. 0.1 rad/s.")
    ] = None,
    velocity: Annotated[
        str | None, typer.Option(metavar="X,Y,Z", help="Steady: velocity of all bodies, m/s.")
    ] = None,
    rate: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Steady: a coordinate that runs, e.g. shaft.angle=5; repeatable."
        ),
    ] = None,
    unknown: Annotated[
        list[str] | None,
        typer.Option(help="Steady: what is found: a parameter, a rate, turn, velocity; repeatable."),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Steady: an output, or body.speed, .radius, .lateral_acceleration; repeatable.",
        ),
    ] = None,
    fixed_axes: Annotated[
        bool, typer.Option("--fixed-axes", help="Steady: freeze the equations in axes that do not move.")
    ] = False,
    formulation: Annotated[str, typer.Option(help="Coordinates: joint, cartesian or natural.")] = "joint",
    assignments: Assignments = None,
    mode: Annotated[
        list[int] | None, typer.Option(help="Mode to draw, by its number in the table; repeatable.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Mode charts (.svg, .pdf, .png).")] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="Bode: an input, a motion, or a coordinate with a force; repeatable."),
    ] = None,
    outputs: Annotated[
        list[str] | None, typer.Option("--response", help="Bode: an output or a pattern; repeatable.")
    ] = None,
    bode: Annotated[Path | None, typer.Option(help="Bode plot (.svg, .pdf, .png).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print modes and matrices as JSON.")] = False,
) -> None:
    """Tell eigenvalues, frequencies, damping ratios and shapes of small motions."""
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
            raise typer.BadParameter("only with --at steady", param_hint=option)
    if bode is not None and not (inputs and outputs):
        raise typer.BadParameter("name an --input and a --response", param_hint="--bode")
    refuse_unwritable(plot, bode)
    from sekant.analyses.linear.linearize import linearize as analyze
    from sekant.engine.system import compile as compile_model
    from sekant.io.yaml import load
    from sekant.progress_bar import ProgressBar

    with ProgressBar("reading", enabled=not as_json) as bar:
        model: Any = load(file, set=given)
        system = compile_model(model, formulation=formulation, parameters=_parameters(unknown or [], rate))
        bar.stage("linearizing")
        ports: dict[str, Any] = {"inputs": inputs or (), "outputs": outputs or ()}
        if at is At.STEADY:
            state = _steady(system, turn, velocity, rate, unknown, target)
            linear = analyze(system, state, at="motion" if fixed_axes else None, **ports)
        elif at is At.TIME:
            state, until = _state_at(system, time)
            linear = analyze(system, state, until, at="motion", **ports)
        else:
            from sekant.analyses.statics.equilibrium import equilibrium

            state = equilibrium(system)
            linear = analyze(system, state, **ports)
    modes = linear.modes()
    _draw(modes, mode, plot)
    if bode is not None:
        from sekant.views.bode import bode_picture
        from sekant.views.pictures import save_picture

        save_picture(lambda: bode_picture(linear), bode)
    about = state if at is not At.TIME else f"at t = {until:.6g} s of the motion"
    facts = {"file": str(file), "at": at.value}
    tell(as_json, lambda: f"{about}\n\n{modes.table()}", lambda: facts | _digest(modes, state), (plot, bode))


def _parameters(unknown: list[str], rate: list[str] | None) -> list[str]:
    """Unknowns that are neither rates nor of the group motion must be run-time parameters."""
    rates = {text.partition("=")[0].strip() for text in rate or ()}
    return [name for name in unknown if name not in rates and name not in ("turn", "velocity")]


def _number(text: str, option: str, *units: str | None) -> float:
    """A number in SI from a text with one of the units (None: any), or without."""
    from sekant.errors import SekantError
    from sekant.model.quantities import read_value

    for unit in units:
        try:
            return float(read_value(number_or_text(text), unit))  # type: ignore[arg-type]
        except (SekantError, TypeError):
            continue
    wanted = " or ".join(unit for unit in units if unit)
    raise typer.BadParameter(
        f"'{text}' is no number in {wanted}"
        if wanted
        else f"'{text}' is no number (with a unit, if need be)",
        param_hint=option,
    )


def _unit_of(system: System, name: str) -> str | None:
    """The unit of a target, None if it is not known as one."""
    from sekant.engine.functions.outputs import all_outputs

    made = {"speed": "m/s", "radius": "m", "lateral_acceleration": "m/s^2"}
    units = {output.name: output.unit for output in all_outputs(system)}
    found = units.get(name, made.get(name.rpartition(".")[2]))
    return found if isinstance(found, str) and found else None


def _pairs(texts: list[str] | None, option: str, *units: str | None) -> dict[str, float]:
    given = parse_assignments(texts, option)
    return {name: _number(value, option, *units) for name, value in given.items()}


def _targets(system: System, texts: list[str] | None) -> dict[str, float]:
    given = parse_assignments(texts, "--target")
    return {name: _number(value, "--target", _unit_of(system, name)) for name, value in given.items()}


def _steady(system: System, turn, velocity, rate, unknown, target) -> State:
    from sekant.analyses.steady.motion import steady_motion

    if turn is None and velocity is None and not rate:
        raise typer.BadParameter("--at steady needs --turn, --velocity or --rate", param_hint="--at")
    components = None
    if velocity is not None:
        components = [_number(part, "--velocity", "m/s") for part in velocity.split(",")]
        if len(components) != 3:
            raise typer.BadParameter(f"'{velocity}' has not three components", param_hint="--velocity")
    return steady_motion(
        system,
        turn=None if turn is None else _number(turn, "--turn", "rad/s"),
        velocity=components,
        rates=_pairs(rate, "--rate", "rad/s", "m/s"),
        unknown=unknown or (),
        targets=_targets(system, target),
    )


def _state_at(system: System, text: str) -> tuple[State, float]:
    from sekant.analyses.assembly.assemble import assemble
    from sekant.analyses.simulation.simulate import simulate
    from sekant.errors import SolverError

    until = _number(text, "--time", "s")
    if until == 0.0:
        return (assemble(system) if system.facts.constrained else system.initial_state()), 0.0
    result = simulate(system, until=until)
    if not result.ok:
        raise SolverError(f"the motion ends before t = {until:.6g} s: {result.message}")
    return result.final_state, until  # type: ignore[return-value]


def _draw(modes: Modes, mode: list[int] | None, plot: Path | None) -> None:
    if plot is None:
        return
    from sekant.views.mode_charts import mode_charts_picture
    from sekant.views.pictures import save_picture

    count = modes.eigenvalues.size
    for number in mode or ():
        if not 1 <= number <= count:
            raise typer.BadParameter(f"there is no mode {number}; they are 1 to {count}", param_hint="--mode")
    chosen = None if not mode else [number - 1 for number in mode]
    save_picture(lambda: mode_charts_picture(modes, chosen), plot)


def _digest(modes: Modes, state: State) -> dict[str, Any]:
    import numpy as np

    linear = modes.model
    rows = []
    for k, value in enumerate(modes.eigenvalues):
        ratio = modes.damping_ratio[k]
        rows.append(
            {
                "real": float(value.real),
                "imaginary": float(value.imag),
                "damped_frequency": float(modes.damped_frequency[k]),
                "undamped_frequency": float(modes.undamped_frequency[k]),
                "damping_ratio": float(ratio) if np.isfinite(ratio) else None,
                "dominant": modes.dominant(k),
                "shape": {name: list(pair) for name, pair in modes.shape(k).items()},
            }
        )
    found: dict[str, Any] = {"stability": modes.stability, "zeros": modes.zeros, "modes": rows}
    found["warnings"] = [warning.as_dict() for warning in modes.warnings]
    found |= {"states": list(linear.state_names), "A": linear.A.tolist()}
    found |= {"q": state.q.tolist(), "v": state.v.tolist()}
    if hasattr(state, "unknowns"):
        found["unknowns"] = state.unknowns  # type: ignore[attr-defined]
    return found
