"""Cost of the energy balance: runs of the examples with every method, with and without the balance.

Processor time of a whole call at the model's own tolerances, in the same process, best of a few alternating runs.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any

from timing import Timed, best_of, figure, target

import sekant as sk
from sekant.analyses.simulation.runs import is_adaptive
from sekant.errors import SekantError

EXAMPLES = Path(__file__).parents[1] / "examples"
METHODS = ("taylor", "dop853", "radau5", "rk4", "generalized_alpha")
STEPS = 2000
"""for methods with fixed steps"""
MEDIAN, WORST = 1.15, 1.5
ENOUGH = 0.5
"""Time (s) that the runs of one pair may take in total, beyond the minimum number of runs."""


def files(quick: bool) -> list[Path]:
    if quick:
        return [EXAMPLES / "natural" / "mcpherson_strut.yaml", EXAMPLES / "quarter_car.yaml"]
    return sorted([*EXAMPLES.glob("*.yaml"), *(EXAMPLES / "natural").glob("*.yaml")])


def cost(system: sk.System, method: str, runs: int) -> tuple[Timed, Timed] | None:
    """Times with and without the balance; None if the method does not take the system to its end."""
    step = None if is_adaptive(method) else float(system.settings.until) / STEPS
    try:
        first = sk.simulate(system, method=method, step=step)
    except SekantError:
        return None
    if not first.ok:
        return None
    count = max(runs, min(20, int(ENOUGH / max(first.stats["wall_time"], 1e-4))))
    found = best_of(
        {
            "with": (lambda: sk.simulate(system, method=method, step=step), 1),
            "without": (lambda: sk.simulate(system, method=method, step=step, balance=False), 1),
        },
        count,
        warm_up=1,
    )
    return found["with"], found["without"]


def run(quick: bool) -> dict[str, Any]:
    figures, ratios = [], {}
    for path in files(quick):
        system = sk.compile(sk.load(path))
        if not system.work_names:
            continue
        name = path.relative_to(EXAMPLES).with_suffix("").as_posix()
        for method in METHODS:
            found = cost(system, method, 1 if quick else 3)
            if found is None:
                continue
            ratios[name, method] = found[0].seconds / found[1].seconds
            note = f"{ratios[name, method]:.2f} times the time without the balance"
            figures.append(figure(f"{name}, {method}", found[0], "ms", note))
    worst = max(ratios, key=ratios.__getitem__)
    targets = [
        target("time with / without the energy balance, median", median(ratios.values()), MEDIAN),
        target(f"time with / without the energy balance, largest ({', '.join(worst)})", ratios[worst], WORST),
    ]
    return {"figures": figures, "targets": targets}
