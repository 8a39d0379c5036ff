"""Force laws that chatter: the elements that messages name, and warnings about runs with fixed steps.

If a law jumps (sign, step, comparison) and pushes the motion back to the jump from both sides, the motion cannot
leave the jump: fixed steps alternate across it, with an amplitude proportional to the step. This happens at a state
whose guard g is within a step of zero, if

    dg/dt on the upper side < 0 < dg/dt on the lower side .

Adaptive methods end there with status "chattering"; fixed steps continue, so their result has a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.engine.system import System
from sekant.errors import AnalysisWarning
from sekant.formulations.natural.time_stops import switching_arguments
from sekant.formulations.sign_laws import forces_of
from sekant.solvers.common.sites import NUMBERS, SIGN

Floats = NDArray[np.float64]
ON_SWITCH = 1e-6
"""Largest absolute value of the argument of a sign, abs or comparison at which the state counts as on the switch."""
MOST_LOOKED_AT = 100
"""Largest number of rows at which each switch is checked."""
PART = 1e-3
"""Fraction of a step over which the rate of a guard is computed by differences."""


def switching_elements(
    system: System,
    t: float,
    x: NDArray[np.float64],
    parameters: Mapping[str, ArrayLike] | None = None,
    near: float = ON_SWITCH,
) -> list[str]:
    """Names of the force elements that have a switch at its threshold at the state x = [q; v; ...], closest first.

    `near`: largest absolute value of a switch's argument that counts as at the threshold.
    """
    eq = system.equations
    found: list[tuple[float, str]] = []
    for name, action in eq.elements.actions.items():
        arguments = switching_arguments(forces_of(action))
        if not arguments:
            continue
        function = system.function(
            f"{name}.switches", [eq.t, eq.q, eq.v, eq.z, eq.p], [ca.vertcat(*arguments)]
        )
        nq, nv = system.nq, system.nv
        q, v, z = x[:nq], x[nq : nq + nv], x[nq + nv : nq + nv + system.nz]
        values = np.abs(function([t], q, v, z, system.parameter_vector(parameters))[0])
        if values.min() <= near:
            found.append((float(values.min()), name))
    return [name for _, name in sorted(found)]


def chattering(
    rhs: Any, system: System, p: Floats, t: Floats, x: Floats, step: float, parameters: Any
) -> tuple[AnalysisWarning, ...]:
    """Warnings about laws that keep the motion at a jump.

    `rhs`: the rates of the states x (k, n) at the times t (k,).
    """
    switches = [s for s, site in enumerate(rhs.sites) if site.kind == SIGN]
    if t.size < 2 or not switches:
        return ()
    p = p[: system.parameter_vector().size]
    chosen = np.unique(np.linspace(0, t.size - 1, min(t.size, MOST_LOOKED_AT)).astype(int))
    at, there = t[chosen], x[chosen]
    guards = rhs.guards.map(at[:, None], there, p[None, :])[0]
    rates = _rates(rhs, p, at, there, step, guards)
    found: dict[str, AnalysisWarning] = {}
    for s in switches:
        k = _first_sliding(rhs, p, at, there, step, s, guards, rates)
        if k is not None:
            near = max(ON_SWITCH, 2.0 * abs(float(guards[k, s])))
            names = switching_elements(system, float(at[k]), there[k], parameters, near)
            item = " or ".join(repr(name) for name in names) or "a switch"
            found.setdefault(item, _warning(item, float(at[k]), step))
    return tuple(found.values())


def _rates(
    rhs: Any, p: Floats, t: Floats, x: Floats, step: float, guards: Floats, modes: Floats | None = None
) -> Floats:
    """Rates of the guards (k, sites), by differences over a fraction of a step."""
    h = PART * step
    ahead = x + h * rhs.map(t[:, None], x, p[None, :], modes=modes)[0]
    return (rhs.guards.map(t[:, None] + h, ahead, p[None, :])[0] - guards) / h


def _first_sliding(
    rhs: Any, p: Floats, t: Floats, x: Floats, step: float, site: int, guards: Floats, rates: Floats
) -> int | None:
    """Index of the first row within a step of a switch at which both sides lead back to it; None without one."""
    g, own = guards[:, site], rates[:, site]
    slides = np.zeros(t.size, bool)
    for side in (1.0, -1.0):
        rows = np.flatnonzero((side * g > 0.0) & (side * own < 0.0))
        if not rows.size:
            continue
        modes = np.zeros(NUMBERS * len(rhs.sites))
        modes.view(np.int64)[NUMBERS * site], modes[NUMBERS * site + 1] = 1, -side
        other = _rates(rhs, p, t[rows], x[rows], step, guards[rows], modes)[:, site]
        near = np.abs(g[rows]) <= step * np.maximum(np.abs(own[rows]), np.abs(other))
        slides[rows] = (side * other > 0.0) & near
    return int(np.argmax(slides)) if slides.any() else None


def _warning(item: str, t: float, step: float) -> AnalysisWarning:
    return AnalysisWarning(
        "chattering",
        item,
        f"from t = {t:.6g} s on",
        f"a force law jumps and pushes the motion back to the jump from both sides, so that steps of {step:g} s "
        "alternate across it",
        "smooth the law, e.g. tanh(v / small) for sign(v), or use an element that sticks",
    )
