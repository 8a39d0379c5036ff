"""Kinematic sweep of a double wishbone: 1,000 positions with exact first and second derivatives.

The alternative is a script with SciPy's `fsolve` on the compiled equations, in which each position starts
from the previous one, without derivatives with respect to the drive.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from timing import best_of, figure, target

import sekant as sk

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

LIMIT = 50.0
"""ms for 1,000 positions, warm."""


def run(quick: bool) -> dict[str, Any]:
    from scipy.optimize import fsolve

    from loops import wishbones

    count, runs = (100, 2) if quick else (1000, 7)
    model = wishbones()
    joint = sk.compile(model)
    cartesian = sk.compile(model, formulation="cartesian")
    span = (0.10, 0.20, count)
    first = sk.kinematics(joint, "upright.z", range=span)
    terms = first.equations.terms

    def by_hand() -> None:
        q = first.q[0]
        for z in first.drive[:: max(1, count // 100)]:
            goal = np.append(np.zeros(first.equations.rows - 1), z)
            ends = fsolve(
                lambda x, q=q, goal=goal: terms(first.equations.move(q, x))[0] - goal,
                np.zeros(joint.nv),
                xtol=1e-10,
            )
            q = first.equations.move(q, ends)

    found = best_of(
        {
            "joint": (lambda: sk.kinematics(joint, "upright.z", range=span), 1),
            "cartesian": (lambda: sk.kinematics(cartesian, "upright.z", range=span), 1),
            "by hand": (by_hand, len(first.drive[:: max(1, count // 100)])),
        },
        runs,
    )
    scale = 1000 / count
    whole = found["joint"].seconds * 1e3 * scale
    return {
        "figures": [
            figure(f"{count} positions, joint coordinates", found["joint"], "ms", f"{joint.nv} coordinates"),
            figure(f"{count} positions, Cartesian", found["cartesian"], "ms", f"{cartesian.nv} coordinates"),
            figure("one position by fsolve", found["by hand"], "us", "no derivatives"),
        ],
        "targets": [
            target("1,000 positions with q', q''", whole, LIMIT, unit="ms"),
            target(
                "fsolve / Sekant, per position", found["by hand"].seconds / (found["joint"].seconds / count)
            ),
        ],
    }
