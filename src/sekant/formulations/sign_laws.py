"""Forces with sign(...) of a velocity: dry friction laws under which nothing could come to rest.

The criterion is a jump where the argument of the sign crosses zero; with prescribed motions this may happen away from
rest. Laws that use the sign only far from its zero, such as those of sliding tires, do not jump.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from sekant.errors import ModelError
from sekant.formulations.steep_laws import turning
from sekant.geometry.spatial import SX
from sekant.model.motion import Action
from sekant.solvers.newton import FullSteps, FunctionProblem, Rows, newton
from sekant.tables.operations import recomputed

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations

ROUND_OFF = 1e-12
"""Largest jump of a force, relative to its size, that is allowed."""
LEAST = 1e-9
"""Largest jump (N or N m) that is allowed for small forces, such as numbers that keep quotients finite."""
ROUNDS = 8
"""Newton steps to the velocity at which an argument is zero."""


def refuse_signs(actions: Mapping[str, Action], eq: Equations) -> None:
    """Raise an error for forces that jump where a velocity crosses zero: the motion could never come to rest."""
    for name, action in actions.items():
        forces = forces_of(action)
        jump = _jump(forces, eq)
        what = "contains sign(...) of a velocity and" if jump else ""
        if not jump and not action.rests and (found := turning(forces, eq)) is not None:
            what, jump = f"acts like sign(...) of a velocity, through {found[0]}, and", found[1]
        if jump:
            raise ModelError(
                f"its force {what} jumps by {jump:.3g} where the velocity is zero: a motion that it brings to rest "
                "would switch its sign endlessly; use a force of type joint_friction with the same level, which "
                "sticks, or a smooth law such as v/sqrt(v^2 + 1e-3^2)",
                path=("forces", name),
            )


def forces_of(action: Action) -> SX:
    """All forces and moments (n,) of an element."""
    parts = [part for wrench in action.wrenches for part in (wrench.f, wrench.n)]
    parts += [SX(force) for _, _, force in action.generalized]
    return ca.vertcat(SX.zeros(0, 1), *[ca.vec(SX(part)) for part in parts])


def _jump(forces: SX, eq: Equations) -> float:
    """Jump of the forces (n,) of an element where the argument of a sign crosses zero; 0 if there is none."""
    signs = _signs_of_velocities(forces, eq)
    if signs is None:
        return 0.0
    swapped, symbols, arguments = signs
    known = {x.element_hash() for x in ca.vertsplit(ca.vertcat(eq.v, symbols))}
    others = [x for x in ca.symvar(ca.vertcat(swapped, arguments)) if x.element_hash() not in known]
    inputs = [eq.v, symbols, ca.vertcat(SX.zeros(0, 1), *others)]
    force = ca.Function("force", inputs, [swapped])
    argument = ca.Function("argument", inputs, [arguments, ca.jacobian(arguments, eq.v)])
    largest = 0.0
    for shift in (0.0, 0.6):
        at = 0.37 + 0.21 * np.arange(len(others)) + shift
        for k in range(symbols.numel()):
            found = _where_zero(argument, k, eq.nv, symbols.numel(), at)
            if found is None:
                continue
            v, sides = found
            sides[k] = 1.0
            above = np.array(force(v, sides, at)).ravel()
            sides[k] = -1.0
            below = np.array(force(v, sides, at)).ravel()
            jump = float(np.max(np.abs(above - below)))
            if jump > max(LEAST, ROUND_OFF * float(np.max(np.abs([above, below])))):
                largest = max(largest, jump)
    return largest


def _where_zero(
    argument: ca.Function, k: int, nv: int, count: int, at: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Velocities (nv,) near rest at which argument k is zero, and all signs (count,) there; None: not near rest."""
    sides = np.zeros(count)

    def linear(v: np.ndarray) -> Rows:
        nonlocal sides
        for _ in range(count):  # arguments may contain signs that come before them
            sides = np.sign(np.array(argument(v, sides, at)[0]).ravel())
        values, slopes = (np.array(x) for x in argument(v, sides, at))
        size = (
            float(np.linalg.norm(slopes[k])) or np.nan
        )  # an argument that does not depend on velocities has no zero
        value = values.ravel()[[k]]
        return Rows(value / size if value.any() else value, slopes[[k]] / size)

    problem = FunctionProblem(linear, lambda v, step: v + step)
    found = newton(problem, np.zeros(nv), FullSteps(), 1e-12, most=ROUNDS)
    return (found.point, sides) if found.converged else None


def _signs_of_velocities(forces: SX, eq: Equations) -> tuple[SX, SX, SX] | None:
    """The forces with a symbol for every sign(...) of something that depends on velocities, these symbols,
    and their arguments; None if there are none."""
    symbols: list[SX] = []
    arguments: list[SX] = []

    def visit(_: int, operands: list[SX]) -> SX | None:
        if not eq.v.numel() or not ca.depends_on(operands[0], eq.v):
            return None
        symbols.append(SX.sym(f"sign{len(symbols)}"))
        arguments.append(operands[0])
        return symbols[-1]

    swapped = recomputed(forces, (ca.OP_SIGN,), visit)
    return (swapped, ca.vertcat(*symbols), ca.vertcat(*arguments)) if symbols else None
