"""Commands of a driver: steering wheel angle, drive torque, brake torque, as expressions and signals.

Expressions may use time, the tables, signals and inputs given here, and what every car measures (`build`):
`speed`, `sideslip`, `yaw_rate`, `position.x`, `angles.yaw` and so on. A steering that depends on time alone
moves the rack exactly; one that depends on measured signals acts through the stiffness of the steering.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sekant.model.expressions.expression import Expression
from sekant.model.input import Input
from sekant.model.quantities import Value
from sekant.model.signals.base import Signal
from sekant.model.table import TableData


@dataclass(frozen=True)
class Commands:
    """`steer` (rad, positive to the left), `torque` (N m at the driven axle), `brake` (0 to 1), as expressions."""

    steer: str = "0"
    torque: str = "0"
    brake: str = "0"
    tables: Mapping[str, TableData] = field(default_factory=dict)
    signals: Mapping[str, Signal] = field(default_factory=dict)
    parameters: Mapping[str, Value] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)

    @property
    def steers_by_time(self) -> bool:
        """Whether the steering depends only on time and parameters."""
        return Expression(self.steer).names <= {"t", *self.parameters}
