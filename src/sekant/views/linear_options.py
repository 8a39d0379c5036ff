"""Shared code of `sekant linearize` and `sekant steady`: values of options, and the report of modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sekant.views.options import number_or_text, parse_assignments

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel
    from sekant.analyses.linear.modes import Modes
    from sekant.analyses.linear.root_locus import RootLocus
    from sekant.analyses.steady.motion import SteadyMotion
    from sekant.engine.state import State
    from sekant.engine.system import System
    from sekant.progress_bar import ProgressBar

VALUES = 41
"""Number of values of a locus, if its range specifies none."""
Turn = Annotated[str | None, typer.Option(help="Angular velocity of all bodies about z, e.g. 0.1 rad/s.")]
Velocity = Annotated[
    str | None, typer.Option(metavar="X,Y,Z", help="Velocity of all bodies, m/s, e.g. 20,0,0.")
]
Rates = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help="Constant rate of a coordinate, e.g. shaft.angle=5; repeatable."),
]
Unknowns = Annotated[
    list[str] | None,
    typer.Option(help="Unknown to solve for: a parameter, a rate, turn or velocity; repeatable."),
]
Targets = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE",
        help="Target value of an output, or of BODY.speed, BODY.radius or BODY.lateral_acceleration; repeatable.",
    ),
]
SensitivityNames = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="Show the sensitivity of every mode to these numbers of the model, e.g. k,c.",
    ),
]
LocusRange = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=RANGE",
        help="Follow the modes as a number varies over a range, e.g. 'c=200..9000 N*s/m'; --plot draws the locus.",
    ),
]
Formulation = Annotated[str, typer.Option(help="Coordinates: joint, cartesian or natural.")]
ModeNumbers = Annotated[
    list[int] | None, typer.Option(help="Mode to draw, by its number in the table; repeatable.")
]
ModesPicture = Annotated[
    Path | None,
    typer.Option(help="Draw charts of the modes, or the root locus of --locus (.svg, .pdf, .png)."),
]


def parameters_of(unknown: list[str], rate: list[str] | None) -> list[str]:
    """The unknowns that must be run-time parameters: those that are neither rates nor turn or velocity."""
    rates = {text.partition("=")[0].strip() for text in rate or ()}
    return [name for name in unknown if name not in rates and name not in ("turn", "velocity")]


def number_of(text: str, option: str, *units: str | None) -> float:
    """A number in SI from a string with one of the units (None: any), or without a unit."""
    from sekant.errors import SekantError
    from sekant.model.quantities import read_value

    for unit in units:
        try:
            return float(read_value(number_or_text(text), unit))  # type: ignore[arg-type]
        except (SekantError, TypeError):
            continue
    wanted = " or ".join(unit for unit in units if unit)
    raise typer.BadParameter(
        f"'{text}' is not a number in {wanted}"
        if wanted
        else f"'{text}' is not a number or a number with a unit",
        param_hint=option,
    )


def output_unit(system: System, name: str) -> str | None:
    """The unit of an output, or of a quantity that targets add to the outputs; None if it is unknown."""
    from sekant.engine.functions.outputs import all_outputs

    made = {"speed": "m/s", "radius": "m", "lateral_acceleration": "m/s^2"}
    units = {output.name: output.unit for output in all_outputs(system)}
    found = units.get(name, made.get(name.rpartition(".")[2]))
    return found if isinstance(found, str) and found else None


def steady_of(system: System, turn, velocity, rate, unknown, target) -> SteadyMotion:
    from sekant.analyses.steady.motion import steady_motion

    if turn is None and velocity is None and not rate:
        raise typer.BadParameter("a steady motion requires at least one of --turn, --velocity and --rate")
    rates, targets = parse_assignments(rate, "--rate"), parse_assignments(target, "--target")
    components = None
    if velocity is not None:
        components = [number_of(part, "--velocity", "m/s") for part in velocity.split(",")]
        if len(components) != 3:
            raise typer.BadParameter(
                f"'{velocity}' does not have three components; write, for example, 20,0,0",
                param_hint="--velocity",
            )
    return steady_motion(
        system,
        turn=None if turn is None else number_of(turn, "--turn", "rad/s"),
        velocity=components,
        rates={name: number_of(value, "--rate", "rad/s", "m/s") for name, value in rates.items()},
        unknown=unknown or (),
        targets={
            name: number_of(text, "--target", output_unit(system, name)) for name, text in targets.items()
        },
    )


@dataclass(frozen=True)
class ModesReport:
    """Modes of a linear model, with the requested derivatives and root locus."""

    modes: Modes
    slopes: Any
    locus: RootLocus | None

    def text(self, about: object) -> str:
        """The operating point `about`, its modes, and other requested parts."""
        parts, slopes = [str(about), self.modes.table()], self.slopes
        if slopes is not None:
            parts.append(slopes.table())
            moved = {name: values for name, values in slopes.unknowns.items() if values.size}
            for name, values in moved.items():
                terms = (
                    f"d {name} / d {p} = {x:.6g}" for p, x in zip(slopes.parameters, values, strict=True)
                )
                parts.append(f"derivatives of the unknown {name}: {', '.join(terms)}")
        if self.locus is not None:
            parts.append(locus_text(self.locus))
        return "\n\n".join(parts)

    def digest(self, state: State) -> dict[str, Any]:
        """Data for programs: modes, operating point, the state space if ports are named, other requested parts."""
        import numpy as np

        modes, linear, slopes, locus = self.modes, self.modes.model, self.slopes, self.locus
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
        if linear.inputs and linear.outputs:
            plant = linear.state_space()
            ports = {"B": plant.B.tolist(), "C": plant.C.tolist(), "D": plant.D.tolist()}
            found |= {"inputs": list(plant.inputs), "outputs": list(linear.outputs), **ports}
        if slopes is not None:
            found["sensitivity"] = slopes.rows()
            found["unknown_sensitivity"] = {
                name: dict(zip(slopes.parameters, map(float, values), strict=True))
                for name, values in slopes.unknowns.items()
            }
        if locus is not None:
            found["locus"] = {
                "name": locus.name,
                "values": locus.values.tolist(),
                "real": np.real(locus.eigenvalues).tolist(),
                "imaginary": np.imag(locus.eigenvalues).tolist(),
                "crossings": [{"value": value, "branch": k + 1} for value, k in locus.crossings()],
            }
        return found

    def draw(self, mode: list[int] | None, plot: Path | None) -> None:
        """Draw the locus, or charts of the modes with these numbers."""
        if plot is None:
            return
        if self.locus is not None:
            self.locus.plot(plot)
            return
        from sekant.views.linear_pictures import mode_charts_picture
        from sekant.views.pictures import save_picture

        count = self.modes.eigenvalues.size
        for number in mode or ():
            if not 1 <= number <= count:
                raise typer.BadParameter(
                    f"there is no mode {number}; give a number from 1 to {count}", param_hint="--mode"
                )
        chosen = None if not mode else [number - 1 for number in mode]
        save_picture(lambda: mode_charts_picture(self.modes, chosen), plot)


def modes_report(
    bar: ProgressBar, linear: LinearModel, names: list[str], follow: Callable[[], RootLocus] | None
) -> ModesReport:
    """The report of a linear model; `names`: of parameters to differentiate by; `follow`: computes the root locus."""
    modes, slopes = linear.modes(), linear.sensitivity(names) if names else None
    if follow is None:
        return ModesReport(modes, slopes, None)
    bar.stage("following the modes")
    return ModesReport(modes, slopes, follow())


def names_in(text: str | None, option: str) -> list[str]:
    """``"k, c"`` as two names."""
    names = [part.strip() for part in (text or "").split(",")] if text else []
    if not all(names):
        raise typer.BadParameter(
            f"'{text}' contains an empty name; separate names by commas, such as k,c", param_hint=option
        )
    return names


def locus_over(
    system: System,
    text: str,
    model_at: Callable[[str, float], Any] | None = None,
    units: Callable[[str], str | None] | None = None,
) -> RootLocus:
    """The root locus over ``NAME=RANGE``; `model_at`: (name, value) -> the linear model, of steady motions."""
    from sekant.analyses.linear.root_locus import root_locus
    from sekant.model.ranges import read_named_range, read_range
    from sekant.model.resolve import number_unit

    name, range_text = read_named_range(text, "--locus")
    unit = number_unit(system.model, name) if units is None else units(name)
    values = read_range(range_text, unit, "--locus").values(VALUES)
    if model_at is None:
        return root_locus(system, name, values)
    return root_locus(lambda value: model_at(name, value), name, values)


def locus_name(text: str | None) -> list[str]:
    """The number that a locus varies, as a list with at most one name."""
    if text is None:
        return []
    from sekant.model.ranges import read_named_range

    return [read_named_range(text, "--locus")[0]]


def locus_text(locus: RootLocus) -> str:
    """The report of the locus: its values, and the values at which stability is lost or gained."""
    lines = [
        f"root locus over {locus.name} from {locus.values[0]:.6g} to {locus.values[-1]:.6g} (SI units), "
        f"{locus.values.size} values"
    ]
    for value, k in locus.crossings():
        before = int((locus.values < value).sum()) - 1
        grows = locus.eigenvalues[before, k].real < 0
        way = "unstable" if grows else "stable"
        lines.append(f"  branch {k + 1} becomes {way} at {locus.name} = {value:.6g}")
    return "\n".join(lines if len(lines) > 1 else [*lines, "  no branch crosses the imaginary axis"])
