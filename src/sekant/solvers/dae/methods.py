"""The registry of methods: each is a file with an `advance` and its procedures, and one entry here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sekant.errors import SolverError, suggest
from sekant.solvers.common.loops import Procedure
from sekant.solvers.dae import generalized_alpha, radau


@dataclass(frozen=True)
class Method:
    """An integrator. `advance(memory, budget)` is its compiled loop, see `memory`.

    `order`: of the positions on smooth motions.
    """

    name: str
    order: int
    adaptive: bool
    description: str
    advance: Procedure


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "radau5",
            5,
            True,
            "Radau IIA of order 5 on index 3, adaptive step, for stiff systems",
            radau.advance,
        ),
        Method(
            "generalized_alpha",
            2,
            False,
            "generalized-alpha on index 3, fixed step, numerical damping by the spectral radius",
            generalized_alpha.advance,
        ),
    )
}


def choose(name: str, step: float | None) -> Method:
    """The method of this name; `step` must be given for a method of fixed steps, and only then."""
    if name not in METHODS:
        raise SolverError(f"unknown method '{name}'; {suggest(name, list(METHODS))}")
    method = METHODS[name]
    if method.adaptive and step is not None:
        raise SolverError(
            f"method '{name}' chooses its own steps: give rtol, atol or max_step instead of step"
        )
    if not method.adaptive and step is None:
        raise SolverError(f"method '{name}' needs a step, e.g. step=1e-3")
    if step is not None and not 0.0 < step < np.inf:
        raise SolverError(f"step must be positive and finite (got {step})")
    return method
