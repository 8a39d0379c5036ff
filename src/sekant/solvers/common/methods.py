"""Entries of the registries of integrators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sekant.errors import SolverError, suggest
from sekant.loops.declare.procedures import Procedure


@dataclass(frozen=True)
class Method:
    """An integrator. `advance(memory, budget, kernel)` is its compiled loop; methods that share none have no
    `kernel`.

    `lanes`: the loop for several systems at once. `order`: order of accuracy of positions on smooth motions.
    `evaluations_per_step` is given for fixed-step methods of ordinary equations; adaptive ones count for
    themselves.
    """

    name: str
    order: int
    adaptive: bool
    description: str
    advance: Procedure
    kernel: int = 0
    evaluations_per_step: int = 0
    needs_positions: bool = False
    lanes: Procedure | None = None


def choose(methods: Mapping[str, Method], name: str, step: float | None) -> Method:
    """The method of this name; a method of fixed steps needs a `step`, and no other method accepts one."""
    if name not in methods:
        raise SolverError(f"unknown method '{name}'; {suggest(name, list(methods))}")
    method = methods[name]
    if method.adaptive and step is not None:
        raise SolverError(
            f"method '{name}' chooses its own steps: give rtol, atol or max_step instead of step"
        )
    if not method.adaptive and step is None:
        raise SolverError(f"method '{name}' needs a step, e.g. step=1e-3")
    if step is not None and not 0.0 < step < np.inf:
        raise SolverError(f"step must be positive and finite (got {step})")
    return method
