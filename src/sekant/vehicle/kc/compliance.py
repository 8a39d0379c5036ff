"""Compliance of an axle (the C of K&C): deflections of its wheels under loads at their contacts and centers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sekant.errors import ModelError, check_known, suggest
from sekant.files import write_lines
from sekant.model.model import Model
from sekant.vehicle.curves import wheel
from sekant.vehicle.hardpoints.description import GivenPoints
from sekant.vehicle.kc.rig import Rig, carried_loads, loaded_rig
from sekant.vehicle.kc.roles import SIDES, AxleRoles, axle_of

CASES: dict[str, tuple[str, float, float]] = {
    "lateral_same": ("fy", 1.0, 1.0),
    "lateral_opposite": ("fy", 1.0, -1.0),
    "braking": ("fx", -1.0, -1.0),
    "braking_opposite": ("fx", -1.0, 1.0),
    "driving": ("dx", 1.0, 1.0),
    "aligning_same": ("mz", 1.0, 1.0),
    "aligning_opposite": ("mz", 1.0, -1.0),
    "vertical": ("fz", 1.0, 1.0),
    "vertical_opposite": ("fz", 1.0, -1.0),
}
"""Case -> the load, and its signs at the left and the right wheel."""
STEP = 50.0  # N or N m: rates are central differences over twice this; bushings of 1e6 N/m deflect by 50 um
TURNS = ("toe", "camber", "spin_axis_pitch")
MOVES = ("x", "y", "z")


@dataclass(frozen=True, eq=False)
class ComplianceTable:
    """Compliance rates of each wheel in each case, in rad/N and m/N, or rad/(N m) and 1/N for aligning moments."""

    name: str
    height: str
    cases: tuple[str, ...]
    rates: dict[tuple[str, str, str], float]
    """(case, side, quantity) -> rate; quantities are toe, camber, spin_axis_pitch, and x, y, z of the wheel's
    center"""
    carried: dict[str, float]
    """vertical force (N) at each contact with which the wheel is in equilibrium"""

    def rate(self, case: str, side: str, quantity: str) -> float:
        key = (case, side, quantity)
        if key not in self.rates:
            known = sorted({k[2] for k in self.rates})
            raise ModelError(
                f"there is no rate of '{quantity}' for case '{case}' and side '{side}'; "
                f"{suggest(quantity, known, 'quantities')}"
            )
        return self.rates[key]

    def shown(self, case: str, side: str, quantity: str) -> tuple[str, float]:
        """Display unit and rate: deg/kN and mm/kN, or deg/(kN*m) and mm/(kN*m) for moments."""
        per = "(kN*m)" if CASES[case][0] == "mz" else "kN"
        factor, unit = (1e3 * 180 / np.pi, "deg") if quantity in TURNS else (1e6, "mm")
        return f"{unit}/{per}", factor * self.rate(case, side, quantity) + 0.0

    def rows(self) -> list[tuple[str, str, str, float, str]]:
        """(case, side, quantity, rate, unit) in display units."""
        found = []
        for case in self.cases:
            for side in SIDES:
                for quantity in (*TURNS, *MOVES):
                    unit, value = self.shown(case, side, quantity)
                    found.append((case, side, quantity, value, unit))
        return found

    def to_csv(self, path: str | Path) -> Path:
        lines = ["case,side,quantity,rate,unit"]
        lines += [f"{case},{side},{q},{value:.9g},{unit}" for case, side, q, value, unit in self.rows()]
        return write_lines(path, lines)

    def summary(self) -> str:
        """A table of the left wheel as text."""
        lines = [f"{self.name}, compliance at {self.height} wheel height, left wheel"]
        names = (*TURNS, *MOVES)
        lines.append(" " * 22 + "".join(f"{name.replace('spin_axis_', ''):>10}" for name in names))
        for case in self.cases:
            values = [self.shown(case, "left", name)[1] for name in names]
            unit = "per kN m" if CASES[case][0] == "mz" else "per kN"
            lines.append(
                f"  {case:<20}" + "".join(f"{round(v, 4) + 0.0:10.4f}" for v in values) + f"  {unit}"
            )
        return "\n".join([*lines, "  toe, camber, pitch in deg; x, y, z of the wheel's center in mm"])


def axle_compliance(
    given: Model | GivenPoints,
    roles: AxleRoles | None = None,
    *,
    height: Literal["held", "free"] = "held",
    travel: float = 0.0,
    rack: float = 0.0,
    cases: tuple[str, ...] | None = None,
) -> ComplianceTable:
    """Rates of toe, camber and the wheel's center under unit loads, for the axle `given` with its bushings.

    The wheels are locked to the uprights, `travel` m above their position as drawn, with the rack at `rack` m. At
    "held" height they stay there. At "free" height the springs carry the loads, starting from the vertical forces
    with which the wheels are in equilibrium there. Rates are central differences over small loads.
    """
    if height not in ("held", "free"):
        raise ModelError(f"height must be 'held' or 'free' (got {height!r})")
    wanted = cases or tuple(c for c in CASES if height == "free" or CASES[c][0] != "fz")
    for case in wanted:
        check_known(case, CASES, f"unknown load case '{case}'", "cases")
    model, roles = axle_of(given, roles, compliant=True)
    held = loaded_rig(model, roles, "height")
    base = {f"{side}.z": held.start[f"rig.{side}.z"] + travel for side in SIDES}
    if roles.left.rack is not None:
        base["rack"] = rack
    held = Rig(held.system, roles, held.start | {f"rig.{k}": v for k, v in base.items()})
    rest = held.settle()
    carried = carried_loads(held, rest)
    if height == "held":
        rig, preset = held, {}
    else:
        rig, preset = loaded_rig(model, roles, "free"), {f"{s}.fz": f for s, f in carried.items()}
        if roles.left.rack is not None:
            preset["rack"] = rack
    at_rest = rig.settle(preset, rest)
    rates = {}
    for case in wanted:
        load, *signs = CASES[case]
        states = []
        for step in (STEP, -STEP):
            loads = {f"{side}.{load}": sign * step for side, sign in zip(SIDES, signs, strict=True)}
            values = preset | {name: preset.get(name, 0.0) + value for name, value in loads.items()}
            states.append(_angles(rig, rig.settle(values, at_rest)))
        for side in SIDES:
            for quantity, value in states[0][side].items():
                rates[case, side, quantity] = (value - states[1][side][quantity]) / (2 * STEP)
    return ComplianceTable(model.name, height, wanted, rates, carried)


def _angles(rig: Rig, rest: Any) -> dict[str, dict[str, float]]:
    """Toe, camber and pitch of the wheel's frame (rad), and the position of its center (m), by side."""
    found = {}
    for side, (R, p) in rig.wheels(rest).items():
        s, e = (1.0 if side == "left" else -1.0), R[:, 1]
        found[side] = {
            "toe": float(-s * wheel.steer_angle(e)),
            "camber": float(wheel.camber(e, s)),
            "spin_axis_pitch": float(np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0]))),
            **dict(zip(MOVES, (float(x) for x in p), strict=True)),
        }
    return found
