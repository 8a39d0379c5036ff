"""Laws that chatter under fixed steps: found in the rows of a run, and named.

Where a law jumps (sign, step, comparison) and pushes the motion back to the jump on both sides of it, no motion
goes on: a fixed step jumps to and fro across it with an amplitude of its own length. That is so at a state whose
guard g is within a step of zero, if

    dg/dt on the upper side < 0 < dg/dt on the lower side .

Adaptive methods end there with status "chattering"; fixed steps go on, so their result carries a warning.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.chattering import ON_SWITCH, switching_elements
from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.solvers.common.sites import NUMBERS, SIGN

Floats = NDArray[np.float64]
MOST_LOOKED_AT = 100
"""Rows at which each switch is looked at."""
PART = 1e-3
"""Of a step, over which the rate of a guard is taken."""


def chattering(
    rhs: Any, system: System, p: Floats, t: Floats, x: Floats, step: float, parameters: Any
) -> tuple[AnalysisWarning, ...]:
    """Warnings about laws that hold the motion on a jump. `rhs`: of the states x (k, n) at the times t (k,)."""
    switches = [s for s, site in enumerate(rhs.sites) if site.kind == SIGN]
    if t.size < 2 or not switches:
        return ()
    p = p[: system.parameter_vector().size]
    chosen = np.unique(np.linspace(0, t.size - 1, min(t.size, MOST_LOOKED_AT)).astype(int))
    guards = rhs.guards.map(t[chosen, None], x[chosen], p[None, :])[0]
    found: dict[str, AnalysisWarning] = {}
    for s in switches:
        for k, i in enumerate(chosen.tolist()):
            g, moment = float(guards[k, s]), float(t[i])
            if g != 0.0 and _slides(rhs, p, moment, x[i], step, s, g):
                near = max(ON_SWITCH, 2.0 * abs(g))
                names = switching_elements(system, moment, x[i], parameters, near)
                item = " or ".join(repr(name) for name in names) or "a switch"
                found.setdefault(item, _warning(item, moment, step))
                break
    return tuple(found.values())


def _slides(rhs: Any, p: Floats, t: float, x: Floats, step: float, site: int, g: float) -> bool:
    """Whether both sides of a switch lead back to it, and it is reached within a step."""
    rates = []
    for side in (1.0, -1.0):
        modes = np.zeros(NUMBERS * len(rhs.sites))
        modes.view(np.int64)[NUMBERS * site], modes[NUMBERS * site + 1] = 1, side
        ahead = x + PART * step * rhs([t], x, p, modes=modes)[0]
        rates.append((float(rhs.guards([t + PART * step], ahead, p)[0][site]) - g) / (PART * step))
    above, below = rates
    return above < 0.0 < below and abs(g) <= step * max(-above, below)


def _warning(item: str, t: float, step: float) -> AnalysisWarning:
    return AnalysisWarning(
        "chattering",
        item,
        f"from t = {t:.6g} s on",
        f"a law jumps there and pushes the motion back from both sides, so that steps of {step:g} s go to and fro "
        "across the jump",
        "smooth the law, e.g. tanh(v / small) for sign(v), or use an element that sticks",
    )
