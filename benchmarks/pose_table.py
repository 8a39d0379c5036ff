"""Poses of a suspension, interpolated in a table, compared with exact kinematics: time per point.

Both run in compiled loops and give pose, twist and the twist's derivative of the upright. Exact kinematics is
Newton's method with prediction, in Cartesian coordinates (as in PILS) and in joint coordinates. PILS reports
1000 s against 3 s for its own programs, a ratio of 333.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from timing import best_of, figure, target

import sekant as sk
from sekant.engine.codegen.build import build
from sekant.geometry.pose_symbolic import motion_from_components
from sekant.tables.lookups import Lookups

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

RATIO = 333.0


def run(quick: bool) -> dict[str, Any]:
    from loops import wishbones

    count, runs = (50, 2) if quick else (500, 7)
    span = (0.10, 0.20, count)
    systems = {kind: sk.compile(wishbones(), formulation=kind) for kind in ("joint", "cartesian")}
    table = sk.kinematics(systems["joint"], "upright.z", range=(0.10, 0.20, 11)).pose_table(["upright"])
    function = _native(table.curve("upright"))
    u = np.linspace(0.10, 0.20, 200 * count)

    def exact(kind: str) -> None:
        sk.kinematics(systems[kind], "upright.z", range=span).body("upright")

    found = best_of(
        {
            "table": (lambda: function.map(u), u.size),
            "joint": (lambda: exact("joint"), count),
            "cartesian": (lambda: exact("cartesian"), count),
        },
        runs,
    )
    return {
        "figures": [
            figure("interpolated, quintic, 11 nodes", found["table"], "ns", "pose, twist and its derivative"),
            figure("exact, Cartesian coordinates", found["cartesian"], "us", "start assembled each time"),
            figure("exact, joint coordinates", found["joint"], "us", "start assembled each time"),
        ],
        "targets": [
            target(
                "exact (Cartesian) / interpolated",
                found["cartesian"].seconds / found["table"].seconds,
                RATIO,
                at_least=True,
            ),
            target("exact (joint) / interpolated", found["joint"].seconds / found["table"].seconds),
        ],
    }


def _native(curve: sk.PoseCurve) -> Any:
    """u -> position, rotation, twist and its derivative of a curve."""
    lookups, u = Lookups(), ca.SX.sym("u")  # type: ignore[call-arg]
    position, rate, acceleration = (lookups(curve.table, u, order=order) for order in range(3))
    motion = motion_from_components(position, rate, acceleration, curve.orientation, curve.R_constant)
    return build("curve", [u], [motion.p_FM, motion.R_FM, motion.S, motion.dS], lookups)
