"""Reduced against geometric quarter cars (Hall, tables 4.3, 4.6, 4.7): fixed-step Euler of 1e-4 s, one run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from timing import best_of, figure, target

import sekant as sk
from sekant.model.expressions.expression import Expression
from sekant.model.forces import PointForce
from sekant.model.joints.compliance import PathCompliance, Spring

EXAMPLES = Path(__file__).parents[1] / "examples" / "suspensions"
STEP = 1e-4
HUB = "upright.wheel_center"
TRAVEL = (f"{HUB}.z", (-0.15, 0.15))
STEERING = ("steering_column.angle", ("-400 deg", "400 deg"))
LOAD = Expression("4500 + 1500*sin(10*pi*t)")  # N, Hall (4.3)
LAG = 1e-3  # s, damping over stiffness: at 1 % explicit steps of 1e-4 s are not stable in either model
STIFFNESS = {"normal": 5.33e6, "binormal": 6.4e5, "roll": 1.44e6, "pitch": 2.6e5, "yaw": 3.9e5}
"""N/m and N m/rad, as `identify_compliance` finds them for the bushings of the geometric model."""
PUBLISHED = {"rigid": 6.0, "compliant": 2.7, "steered": 4.6}


def geometric(name: str, **values: Any) -> sk.Model:
    model = sk.load(EXAMPLES / f"quarter_car_{name}.yaml", set=values)
    return model.changed(forces={**model.forces, "road": PointForce(frame=HUB, force=(0.0, 0.0, LOAD))})


def pairs() -> dict[str, tuple[sk.Model, sk.Model]]:
    """Geometric and reduced models by name."""
    rigid, compliant = geometric("geometric"), geometric("compliant", lag=LAG)
    steered = geometric("steered", angle=0.0)
    path = sk.reduce(rigid, HUB, *TRAVEL, inertia="ignore", nodes=41)
    springs = {name: Spring(stiffness=k, damping=LAG * k) for name, k in STIFFNESS.items()}
    rail = path.model.joints[path.joint].model_copy(update={"compliance": PathCompliance(**springs)})
    both = ([TRAVEL[0], STEERING[0]], [TRAVEL[1], STEERING[1]])
    surface = sk.reduce(steered, HUB, *both, inertia="ignore", nodes=(21, 17))
    exact = sk.reduce(rigid, HUB, *TRAVEL, inertia="exact", nodes=41)
    return {
        "rigid": (rigid, path.model),
        "compliant": (compliant, path.model.changed(joints={path.joint: rail})),
        "steered": (steered, surface.model),
        "rigid, links that follow": (rigid, exact.model),
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
        notes = (f"{system.nv} coordinates" for system in (full, reduced))
        figures += [
            figure(key, t, "ns", f"a step, {note}")
            for (key, t), note in zip(times.items(), notes, strict=True)
        ]
        limit = PUBLISHED.get(name)
        targets.append(
            target(f"{name}: reduced is faster by", slow.seconds / fast.seconds, limit, at_least=True)
        )
    return {"figures": figures, "targets": targets}
