"""The registry of methods. A method is a file with a compiled loop `advance`, and a call of `register`; those of
fixed steps that share `fixed_step` have a step kernel, and its line in `take_steps` there, instead."""

from __future__ import annotations

from sekant.solvers.common.methods import Method
from sekant.solvers.ode import dop853, euler, fixed_step, rk4, semi_implicit_euler


def _fixed(
    name: str, order: int, description: str, kernel: int, module, needs_positions: bool = False
) -> Method:
    evaluations = module.EVALUATIONS_PER_STEP
    alone, wide = fixed_step.advance_fixed, fixed_step.advance_wide
    return Method(name, order, False, description, alone, kernel, evaluations, needs_positions, wide)


METHODS: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Register a method by its name for `integrate`, simulations and the command line."""
    METHODS[method.name] = method
    return method


register(_fixed("euler", 1, "explicit Euler, fixed step", fixed_step.EULER, euler))
register(
    _fixed(
        "semi_implicit_euler",
        1,
        "semi-implicit (symplectic) Euler, fixed step: positions follow the new velocities",
        fixed_step.SEMI_IMPLICIT_EULER,
        semi_implicit_euler,
        needs_positions=True,
    )
)
register(_fixed("rk4", 4, "classical Runge-Kutta, fixed step", fixed_step.RK4, rk4))
register(
    Method("dop853", 8, True, "Dormand-Prince 8(5,3), adaptive step, dense output of order 7", dop853.advance)
)
