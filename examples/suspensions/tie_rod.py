"""Steering a reduced suspension with a tie rod, or with its second coordinate (HALL 4.1.3, table 4.7).

    python examples/suspensions/tie_rod.py [seconds of motion]

On its surface joint, a steered corner has two degrees of freedom, travel and steering. HALL determines the
steering in two ways: a tie rod, a body on a universal joint and a ball joint, closes a loop; or the coordinate is
prescribed. Both models and the whole mechanism run straight ahead under the load (4.3) with Euler steps of 1e-4
s. HALL counts 4 coordinates and 3 constraints with the tie rod, and 2 coordinates, one of which is prescribed,
without it. He prints 6.755 s without the tie rod and 30.888 s for the mechanism (4.572 times as long). He says,
without giving a time, that the tie rod costs all of the gain.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sekant as sk

sys.path.insert(0, str(Path(__file__).parent))
from quarter_cars import geometric, size, steered, timed

STEP = 1e-4  # s
PUBLISHED = 4.572
INNER, OUTER = (0.025, 0.045, 0.27), (0.156, 0.537, 0.25)  # m, ends of the tie rod


@dataclass(frozen=True)
class Run:
    """Coordinates and constraints, position of the upright (n, 3) m, processor seconds."""

    coordinates: int
    constraints: int
    place: np.ndarray
    seconds: float


def with_tie_rod(reduced: sk.Model, mechanism: sk.Model) -> sk.Model:
    """The upright on its surface; the tie rod of the mechanism holds the steering."""
    across = mechanism.joints[
        "tie_rod_inner"
    ].child_pose.orientation  # axes of the cross, neither along the rod
    outer = sk.Frame(position=OUTER, orientation=across)
    return reduced.changed(
        bodies={**reduced.bodies, "tie_rod": mechanism.bodies["tie_rod"]},
        joints={
            **reduced.joints,
            "tie_rod_outer": sk.joints.Universal(
                parent="upright", child="tie_rod", parent_pose=outer, child_pose=outer
            ),
            "tie_rod_inner": sk.joints.Spherical(
                child="tie_rod", parent_pose=sk.Frame(position=INNER), child_pose=sk.Frame(position=INNER)
            ),
        },
        motions={},
    )


def models() -> dict[str, sk.Model]:
    mechanism = geometric("geometric")
    _, driven = steered()
    return {
        "surface, steering prescribed": driven,
        "surface and tie rod": with_tie_rod(driven, mechanism),
        "whole mechanism": mechanism,
    }


def compare(until: float = 10.0, step: float = STEP) -> dict[str, Run]:
    """All models over the same Euler steps. The second run is timed, because the first may compile."""
    found = {}
    for name, model in models().items():
        system = sk.compile(model)
        result, seconds = timed(system, until, 50, method="euler", step=step, outputs=["upright.position"])
        found[name] = Run(*size(system), result["upright.position"], seconds)
    return found


def text(found: dict[str, Run]) -> str:
    """A table in Markdown."""
    reduced, _, mechanism = found.values()
    lines = [
        "| model | coordinates | constraints | processor seconds | time relative to the first | error [m] |",
        "|---|---|---|---|---|---|",
    ]
    for name, run in found.items():
        apart = "" if run is mechanism else f"{np.linalg.norm(run.place - mechanism.place, axis=1).max():.0e}"
        lines.append(
            f"| {name} | {run.coordinates} | {run.constraints} | {run.seconds:.3f} | "
            f"{run.seconds / reduced.seconds:.1f} | {apart} |"
        )
    return "\n".join(
        [*lines, "", f"In HALL, the ratio of the mechanism to prescribed steering is {PUBLISHED}."]
    )


if __name__ == "__main__":
    print(text(compare(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)))
