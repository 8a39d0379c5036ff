"""Reduced against geometric quarter cars (Hall, tables 4.3, 4.6, 4.7): fixed-step Euler of 1e-4 s, one run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from timing import best_of, figure, target

import sekant as sk

sys.path.insert(0, str(Path(__file__).parents[1] / "examples" / "suspensions"))
from quarter_cars import HUB, TRAVEL, compliant, geometric, rigid, steered

STEP = 1e-4
PUBLISHED = {"rigid": 6.0, "compliant": 2.7, "steered": 4.6, "bushings, elastic modes": 2.7}


def pairs() -> dict[str, tuple[sk.Model, sk.Model]]:
    """Geometric and reduced models by name."""
    full = geometric("geometric")
    exact = sk.reduce(full, HUB, *TRAVEL, inertia="exact", nodes=41)
    soft = compliant()[0]
    elastic = sk.reduce(soft, HUB, *TRAVEL, elastic=True)
    return {
        "rigid": rigid(),
        "compliant": compliant(),
        "steered": steered(),
        "rigid, links that follow": (full, exact.model),
        "bushings, elastic modes": (soft, elastic.model),
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
