"""The law shared by spring-damper-actuators: force versus deflection and rate, with its stored energy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from sekant.geometry.spatial import SX
from sekant.model.expressions.expression import Expression
from sekant.model.motion import Kinematics
from sekant.model.quantities import is_known


class SpringAndDamper(Protocol):
    """Fields of a law: constants or signals, and names of tables of deflection and rate."""

    @property
    def stiffness(self) -> Any: ...
    @property
    def damping(self) -> Any: ...
    @property
    def spring(self) -> str | None: ...
    @property
    def damper(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Law:
    """Restoring force k x + c xdot + spring(x) + damper(xdot) + force(t, x, xdot, ...)."""

    total: SX
    potential: SX | float
    dissipative: SX | None  # the part of `total` that no potential accounts for


def evaluate(
    motion: Kinematics, given: SpringAndDamper, x: SX, rate: SX, force: Any, local: dict[str, SX]
) -> Law:
    """Evaluate the law at deflection `x` and its `rate`; `force`: what the actuator adds.

    A constant stiffness and a spring table store energy (k x^2 / 2, the table's integral); everything else is
    non-conservative. A stiffness that is itself a signal stores no energy that could be separated from work.
    """
    conservative, potential = SX(0), SX(0)
    rest: list[SX] = []
    if isinstance(given.stiffness, Expression):
        rest.append(motion.value(given.stiffness, local) * x)
    else:
        k = SX(given.stiffness)
        conservative += k * x
        potential += 0.5 * k * x * x
    if given.spring is not None:
        conservative += motion.table(given.spring, x)
        potential += motion.table(given.spring, x, order=-1)
    if not is_known(given.damping, 0.0):
        rest.append(motion.value(given.damping, local) * rate)
    if given.damper is not None:
        rest.append(motion.table(given.damper, rate))
    if not is_known(force, 0.0):
        rest.append(motion.value(force, local))
    dissipative = sum(rest[1:], rest[0]) if rest else None
    total = conservative if dissipative is None else conservative + dissipative
    return Law(total, potential, dissipative)
