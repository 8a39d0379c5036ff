"""Commands of a driver: steering wheel angle, drive torque, brake torque, as expressions and signals.

Expressions may use time, the tables, signals and inputs given here, and what every car measures (`build`):
`speed`, `sideslip`, `yaw_rate`, `position.x`, `angles.yaw` and so on. A steering that depends on time alone
moves the rack exactly; one that depends on measured signals acts through the stiffness of the steering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sekant.model.expressions.expression import Expression
from sekant.model.input import Input
from sekant.model.quantities import Value
from sekant.model.signals.base import Signal
from sekant.model.table import TableData


@dataclass(frozen=True)
class Commands:
    """The commands of the driver, as expressions: `steer` (rad, positive to the left), `torque` (N m at the driven
    axle) and `brake` (0 to 1)."""

    steer: str = "0"
    torque: str = "0"
    brake: str = "0"
    tables: Mapping[str, TableData] = field(default_factory=dict)
    signals: Mapping[str, Signal] = field(default_factory=dict)
    parameters: Mapping[str, Value] = field(default_factory=dict)
    inputs: Mapping[str, Input] = field(default_factory=dict)
    gains: Callable[[Any], Mapping[str, float]] | None = None
    """values of parameters that follow from the car's `LateralModel`, if there are any"""

    @property
    def steers_by_time(self) -> bool:
        """Whether the steering depends only on time and parameters."""
        return Expression(self.steer).names <= {"t", *self.parameters}

    def also_by_hand(self) -> Commands:
        """The commands with parameters `BY_HAND` that replace them by numbers, to find how the car responds."""
        driver, steer, torque = BY_HAND
        return replace(
            self,
            steer=f"{driver}*({self.steer}) + {steer}",
            torque=f"{driver}*({self.torque}) + {torque}",
            parameters={**self.parameters, **BY_HAND},
        )


BY_HAND = {"by_driver": 1.0, "steer_by_hand": 0.0, "torque_by_hand": 0.0}
"""Share of the driver's commands, and numbers that are added: steering (rad) and torque (N m)."""
