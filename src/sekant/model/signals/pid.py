"""PID controller with filtered derivative, limits and anti-windup."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Positive, Time, is_known
from sekant.model.signals.base import Signal, register


@register
class Pid(Signal):
    """y = kp e + i + kd (e - x) / T, limited to the range from `low` to `high`; T x' = e - x; i' = ki e + (y
    - y_free) / T_w.

    Here e is the `error`, x the filtered error, i the integral part, and y_free the output without limits.
    The last term of i' (back-calculation) drives y_free back toward the limit while the output is limited.
    """

    type: ClassVar[str] = "pid"
    summary: ClassVar[str] = "PID controller with filtered derivative, limits and anti-windup"
    settable: ClassVar = "integral"
    signals: ClassVar = ("error", "kp", "ki", "kd", "low", "high")

    error: AnyQuantity
    """setpoint minus actual value"""
    kp: AnyQuantity = 0.0
    """proportional gain"""
    ki: AnyQuantity = 0.0
    """integral gain, 1/s"""
    kd: AnyQuantity = 0.0
    """derivative gain, s"""
    derivative_filter: Positive[Time] = 0.01
    """time constant T of the filter that computes the derivative"""
    low: AnyQuantity | None = None
    """lower limit of the output"""
    high: AnyQuantity | None = None
    """upper limit of the output"""
    windup_time: Positive[Time] = 0.1
    """time constant T_w with which back-calculation unwinds the integral part while the output is at a limit"""
    start: AnyQuantity = 0.0
    """value of the integral part at the start"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(error=stage.signal(), kp=2.3, ki=0.7, kd=0.11, low=-1.9, high=1.3)

    @model_validator(mode="after")
    def _sensible(self):
        if isinstance(self.low, float) and isinstance(self.high, float) and self.low >= self.high:
            raise ValueError(f"low must be below high (got {self.low:g} and {self.high:g})")
        if self.kp == self.ki == self.kd == 0.0:
            raise ValueError("give at least one of kp, ki and kd; without them, the output is always zero")
        return self

    @property
    def _integrates(self) -> bool:
        return not is_known(self.ki, 0.0)

    @property
    def _differentiates(self) -> bool:
        return not is_known(self.kd, 0.0)

    def _free(self, name: str, motion: ElementKinematics) -> SX:
        e = motion.value(self.error)
        y = motion.value(self.kp) * e
        if self._integrates:
            y = y + motion.state(name, "integral", motion.value(self.start), self.unit)
        if self._differentiates:
            x = motion.state(name, "filtered", SX(0), "1")
            y = y + motion.value(self.kd) * (e - x) / motion.value(self.derivative_filter)
        return y

    def output(self, name: str, motion: ElementKinematics) -> SX:
        y = self._free(name, motion)
        y = y if self.high is None else ca.fmin(y, motion.value(self.high))
        return y if self.low is None else ca.fmax(y, motion.value(self.low))

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        e, found = motion.value(self.error), {}
        if self._integrates:
            back = (motion.signal(name) - self._free(name, motion)) / motion.value(self.windup_time)
            limited = self.low is not None or self.high is not None
            found["integral"] = motion.value(self.ki) * e + (back if limited else 0)
        if self._differentiates:
            found["filtered"] = (e - motion.state(name, "filtered")) / motion.value(self.derivative_filter)
        return found
