"""HALL's comparisons of run times, measured by the examples while the pages are built."""

from __future__ import annotations

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path[:0] = [str(EXAMPLES), str(EXAMPLES / "suspensions")]


def forms() -> str:
    """One joint as DAE and as ODE (table 3.6)."""
    import dae_against_ode

    return dae_against_ode.text(dae_against_ode.compare(1.0))


def tie_rod() -> str:
    """Steering by a tie rod and by a coordinate (table 4.7)."""
    import tie_rod

    return tie_rod.text(tie_rod.compare(1.0))


def variable_steps() -> str:
    """Seconds of an evaluation (tables 4.2, 4.5)."""
    import variable_steps

    return variable_steps.text({pair: variable_steps.compare(pair, 5.0) for pair in variable_steps.PAIRS})


def bushings() -> str:
    """Reduced quarter cars against mechanisms on bushings (table 4.6): operations, Euler steps (least of five)."""
    from quarter_cars import on_bushings, timed

    import sekant as sk
    from sekant.engine.functions.motion import right_hand_side

    lines = [
        "| reduced to | coordinates | operations, reduced | operations, mechanism | µs per step | speedup |",
        "|---|---|---|---|---|---|",
    ]
    names = ("five springs (Hall)", "elastic modes over travel", "elastic modes over travel and steering")
    for name, pair in zip(names, on_bushings().values(), strict=True):
        full, small = systems = [sk.compile(model) for model in pair]
        seconds: list[list[float]] = [[], []]
        for _ in range(5):
            for system, found in zip(systems, seconds, strict=True):
                options = {"method": "euler", "step": 1e-6, "outputs": ["upright.position"]}
                found.append(timed(system, 0.05, 1, **options)[1])
        counts = [right_hand_side(system, False).stats.operations for system in systems]
        slow, fast = (min(found) for found in seconds)
        cells = (
            name,
            f"{small.nv} instead of {full.nv}",
            counts[1],
            counts[0],
            f"{fast * 20:.2f}",
            f"{slow / fast:.1f}",
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)
