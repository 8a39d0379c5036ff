"""Reduced and geometric quarter cars compared (Hall, tables 4.3, 4.6, 4.7), with fixed Euler steps in one run.
A mechanism with a bushing in every loop has no constraints: it is a tree with forces, and there is little to
gain. For the double wishbone on four bushings the operations of both are reported: its 11 coordinates take
3,600; a body on a surface with four modes and the arm that carries its spring take 3,100, most of them for
inertia and its change along the motion.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from timing import best_of, figure, target

import sekant as sk

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "suspensions"))
from quarter_cars import HUB, TRAVEL, geometric, on_bushings, rigid, steered

from sekant.engine.functions.motion import right_hand_side
from sekant.vehicle.car.axle_parts import points_of
from sekant.vehicle.suspension.build import corner

STEP = 1e-6  # s: modes of 7,000 rad/s without damping grow slowly enough; a step takes as long as any other
AXLE = Path(__file__).parents[1] / "examples" / "axles" / "front_double_wishbone.yaml"
PUBLISHED = {
    "rigid": 6.0,
    "compliant": 2.7,
    "steered": 4.6,
    "bushings, elastic modes": 2.7,
    "steered on bushings, elastic modes": 2.7,
}


def pairs() -> dict[str, tuple[sk.Model, sk.Model]]:
    """Geometric and reduced models by name."""
    full = geometric("geometric")
    exact = sk.reduce(full, HUB, *TRAVEL, inertia="exact", nodes=41)
    wishbones = corner(points_of(str(AXLE)), side="left")
    spans = ([f"{HUB}.z", "rack.displacement"], [(-0.08, 0.08), (-0.03, 0.03)])
    four = sk.reduce(wishbones, HUB, *spans, elastic=True, inertia="split", nodes=(17, 9))
    return {
        "rigid": rigid(),
        "steered": steered(),
        "rigid, links that follow": (full, exact.model),
        **on_bushings(),
        "double wishbone on four bushings, elastic modes": (wishbones, four.model),
    }


def run(quick: bool) -> dict[str, Any]:
    steps = 2_000 if quick else 20_000
    until = steps * STEP
    systems = {name: [sk.compile(model) for model in pair] for name, pair in pairs().items()}

    def go(system: sk.System) -> sk.Result:
        result = sk.simulate(
            system,
            until,
            method="euler",
            step=STEP,
            output_step=until,
            outputs=["upright.position"],
            balance=False,
        )
        assert result.status == "finished", result.message
        return result

    figures, targets = [], []
    for name, (full, reduced) in systems.items():
        contenders = {
            f"{name}: geometric": (lambda full=full: go(full), steps),
            f"{name}: reduced": (lambda reduced=reduced: go(reduced), steps),
        }
        times = best_of(contenders, 2 if quick else 7)
        slow, fast = times.values()
        notes = (
            f"{system.nv} coordinates, {right_hand_side(system, False).stats.operations} operations"
            for system in (full, reduced)
        )
        figures += [
            figure(key, t, "ns", f"per step, {note}")
            for (key, t), note in zip(times.items(), notes, strict=True)
        ]
        limit = PUBLISHED.get(name)
        targets.append(
            target(f"{name}: speedup by the reduction", slow.seconds / fast.seconds, limit, at_least=True)
        )
    return {"figures": figures, "targets": targets}
