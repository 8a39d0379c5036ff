"""From a bare Lagrangian to the energies, constraints and forces of its equations of motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from sekant.errors import ModelError, suggest
from sekant.formulations.natural.equations import NaturalEquations
from sekant.formulations.natural.lagrangian_parts import LagrangianParts
from sekant.formulations.natural.outputs import lagrangian_outputs
from sekant.formulations.outputs import Output
from sekant.geometry.spatial import SX
from sekant.model.model import Model
from sekant.model.points.geometric import FOLLOWS, ROUGH, EquationRows
from sekant.model.points.lagrangian import Lagrangian
from sekant.model.resolve import Parameter, ResolvedModel
from sekant.model.scene import Scene, SceneLink, Track
from sekant.tables.lookups import Lookups


def lagrangian_parts(model: Model, item: Lagrangian, names: Sequence[str] = ()) -> LagrangianParts:
    """The parts of the equations, with further quantities as separate coordinates.

    `names`: requested run-time parameters; all parameters of a Lagrangian are run-time parameters.
    """
    chosen = dict(item.parameters or {})
    for name in names:
        if name not in chosen:
            hint = suggest(name, list(chosen), "parameters")
            raise ModelError(f"'{name}' is not a parameter of the Lagrangian '{model.name}'; {hint}")
    q, v, start, rates = item.coordinates, item.velocities, item.start, item.start_rates
    n = q.numel()
    q_names, v_names = _names(q), _names(v)
    positions, velocities = [], []
    for key, expression in _by_name(item.constraints, "constraint").items():
        moving = ca.depends_on(SX(expression), v)
        rows = EquationRows(key, "constraint", ca.vec(SX(expression)), f"{key} = 0", 1.0, "1")
        (velocities if moving else positions).append(rows)
    tracked: dict[int, tuple[SX, SX | None]] = {}
    states: dict[str, tuple[SX, SX, float]] = {}
    firm = np.ones(n) if item.weights is None else np.asarray(item.weights, float).ravel()
    rate_firm = np.where(item.given_rates, 1.0, FOLLOWS)
    for entry in item.extra:
        symbol, rate = SX(entry[0]), SX(entry[1])
        begin = SX(entry[2]) if len(entry) > 2 else SX(0)
        if ca.depends_on(ca.jacobian(rate, v), v):
            if not begin.is_constant():
                name_ = symbol.name()
                raise ModelError(
                    f"lagrange: the rate of '{name_}' is not linear in v; give a number for its start"
                )
            states[symbol.name()] = (symbol, rate, float(begin))
            continue
        own = SX.sym(f"{symbol.name()}.rate")
        tracked[q.numel()] = (rate, None if begin.is_constant() else begin)
        q, v = ca.vertcat(q, symbol), ca.vertcat(v, own)
        q_names, v_names = (*q_names, symbol.name()), (*v_names, own.name())
        velocities.append(EquationRows(own.name(), "tracked", own - rate, f"{symbol.name()}' = rate"))
        start = np.append(start, float(begin) if begin.is_constant() else 0.0)
        rates, firm, rate_firm = np.append(rates, 0.0), np.append(firm, 1.0), np.append(rate_firm, FOLLOWS)
    resolved = ResolvedModel(
        model,
        tuple(Parameter(key, np.array([float(value)])) for key, (_, value) in chosen.items()),
        ca.vertcat(SX.zeros(0, 1), *[symbol for symbol, _ in chosen.values()]),
        {key: symbol for key, (symbol, _) in chosen.items()},
    )
    places = drawn_points(item.points or {})
    outputs = item.outputs or {}
    return LagrangianParts(
        resolved=resolved,
        t=SX.sym("t") if item.t is None else item.t,
        q=q,
        v=v,
        q_names=q_names,
        v_names=v_names,
        lagrangian=SX(item.L),
        start=start,
        start_rates=rates,
        weights=firm,
        rate_weights=rate_firm,
        slack=ROUGH * np.abs(start),
        rate_slack=ROUGH * np.abs(rates),
        rayleigh={k: SX(D) for k, D in _by_name(item.rayleigh, "rayleigh").items()},
        forces=_padded(_by_name(item.forces, "force"), q.numel(), len(tracked)),
        positions=positions,
        velocities=velocities,
        tracked=tracked,
        states=states,
        lookups=item.lookups if item.lookups is not None else Lookups(),
        report=lambda eq, work: _report(eq, work, outputs, places),
        scene=lagrangian_scene(places, item.lines),
    )


def _report(
    eq: NaturalEquations, work: SX, outputs: Mapping[str, Any], places: Mapping[str, SX]
) -> tuple[Output, ...]:
    own = []
    for key, value in outputs.items():
        column = SX(value)
        components = tuple(str(i) for i in range(column.numel())) if column.numel() > 1 else ()
        own.append(Output(key, "", components, key, column))
    return (*own, *point_outputs(places), *lagrangian_outputs(eq, work))


def _padded(forces: Mapping[str, Any], n: int, extra: int) -> dict[str, SX]:
    """Forces (n,) with zeros for further quantities."""
    found = {}
    for key, force in forces.items():
        column = ca.vec(SX(force))
        missing = n - column.numel()
        if missing not in (0, extra):
            raise ModelError(
                f"lagrange: force '{key}' must have size {n}, one entry for each coordinate (got {column.numel()})"
            )
        found[key] = ca.densify(ca.vertcat(column, SX.zeros(missing)))
    return found


def _names(column: SX) -> tuple[str, ...]:
    names = tuple(symbol.name() for symbol in ca.vertsplit(column))
    if len(set(names)) < len(names):
        raise ModelError(f"lagrange: two symbols have the same name among {', '.join(names)}")
    return names


def _by_name(given: Any, stem: str) -> dict[str, Any]:
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    if isinstance(given, ca.SX):
        return {stem: given}
    return {f"{stem}{i + 1}": value for i, value in enumerate(given)}


KINDS = ("rod", "spring", "damper")


def drawn_points(points: Mapping[str, Any]) -> dict[str, SX]:
    """Positions (2,) or (3,) m by name."""
    found = {}
    for name, place in points.items():
        column = (
            ca.vec(SX(place)) if isinstance(place, (ca.SX, ca.DM)) else ca.vertcat(*[SX(x) for x in place])
        )
        if column.numel() not in (2, 3):
            raise ModelError(f"lagrange: point '{name}' must have 2 or 3 components (got {column.numel()})")
        found[name] = ca.densify(SX(column))
    return found


def point_outputs(points: Mapping[str, SX]) -> Iterator[Output]:
    """``name.position`` m of every point."""
    for name, place in points.items():
        axes = ("x", "y", "z")[: place.numel()]
        yield Output(f"{name}.position", "m", axes, f"position of {name}", place)


def lagrangian_scene(points: Mapping[str, SX], lines: Sequence[Sequence[str]]) -> Scene:
    """The scene; each line has two points and optionally a kind. The y axis points up if all points are planar, else
    the z axis."""
    if not points:
        return {}
    links: list[SceneLink] = []
    for number, (first, second, *rest) in enumerate(lines):
        kind = rest[0] if rest else "rod"
        for name in (first, second):
            if name not in points:
                raise ModelError(
                    f"lagrange: a line refers to the unknown point '{name}'; {suggest(name, list(points), 'points')}"
                )
        if kind not in KINDS:
            raise ModelError(f"lagrange: '{kind}' is not a kind of line; {suggest(kind, KINDS, 'kinds')}")
        ends = [[name, [0.0, 0.0, 0.0]] for name in (first, second)]
        links.append({"name": f"{kind}{number + 1}", "kind": kind, "ends": ends})
    planar = all(place.numel() == 2 for place in points.values())
    tracks: dict[str, Track] = {}
    for name, place in points.items():
        fixed = place.is_constant()
        tracks[name] = {
            "kind": "point",
            "sum": [[f"{name}.position", 1.0]],
            "fixed": fixed,
            "mass": not fixed,
        }
    gravity = [0.0, -9.81, 0.0] if planar else [0.0, 0.0, -9.81]
    return {"gravity": gravity, "tracks": tracks, "bodies": {}, "links": links}
