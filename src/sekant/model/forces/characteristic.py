"""The law shared by spring-damper-actuators: force over deflection and rate, with its stored energy."""

from __future__ import annotations

from dataclasses import dataclass

from sekant.geometry.spatial import SX
from sekant.model.motion import Kinematics
from sekant.model.quantities import Expression


@dataclass(frozen=True, slots=True)
class Law:
    """Restoring force k x + c xdot + spring(x) + damper(xdot) + force(t, x, xdot, ...)."""

    total: SX
    potential: SX | float
    dissipative: SX | None  # the part of `total` that no potential accounts for


def evaluate(
    motion: Kinematics,
    x: SX,
    rate: SX,
    *,
    stiffness,
    damping,
    spring: str | None,
    damper: str | None,
    force,
    local: dict[str, SX],
) -> Law:
    """Evaluate the law at deflection `x` and its `rate`.

    A constant stiffness and a spring table store energy (k x^2 / 2, the table's integral); everything else
    is non-conservative. A stiffness that is itself a signal stores none that could be told apart from work.
    """
    conservative, potential = SX(0), SX(0)
    rest: list[SX] = []
    if isinstance(stiffness, Expression):
        rest.append(motion.value(stiffness, local) * x)
    else:
        k = SX(stiffness)
        conservative += k * x
        potential += 0.5 * k * x * x
    if spring is not None:
        conservative += motion.table(spring, x)
        potential += motion.table(spring, x, order=-1)
    if _present(damping):
        rest.append(motion.value(damping, local) * rate)
    if damper is not None:
        rest.append(motion.table(damper, rate))
    if _present(force):
        rest.append(motion.value(force, local))
    dissipative = sum(rest[1:], rest[0]) if rest else None
    total = conservative if dissipative is None else conservative + dissipative
    return Law(total, potential, dissipative)


def _present(number) -> bool:
    return not (isinstance(number, float) and number == 0.0)
