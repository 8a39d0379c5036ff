"""A signal that follows its input after a delay."""

from __future__ import annotations

from math import factorial
from typing import Any, ClassVar, Self

from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.motion import Delayed, ElementKinematics
from sekant.model.quantities import AnyQuantity, Positive, Time
from sekant.model.signals.base import Signal, register
from sekant.model.signals.sampled import fixed_time
from sekant.model.signals.transfer_function import TransferFunction

DEGREE = 7
"""Degree of the polynomials that store the input."""


@register
class Delay(Signal):
    """y(t) = input(t - time). Until the delayed input is available, y = `start`.

    The delay is divided into `pieces` equal intervals. In each interval, a polynomial of degree 7 is fitted to
    the input at Chebyshev points. In linear models, a Pade approximation of order `pade` replaces the delay.
    """

    type: ClassVar[str] = "delay"
    summary: ClassVar[str] = "the value of an input, delayed by a fixed time"

    input: AnyQuantity
    """expression that is delayed"""
    time: Positive[Time]
    """length of the delay"""
    start: AnyQuantity = 0.0
    """value until the delayed input is available"""
    pieces: int = 2
    """number of intervals of the delay, each with one polynomial of degree 7"""
    pade: int = 4
    """order of the Pade approximation in linear models"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), time=0.07, start=0.2)

    @model_validator(mode="after")
    def _sensible(self):
        if not 1 <= self.pieces <= 1000:
            raise ValueError(f"pieces must be between 1 and 1000 (got {self.pieces})")
        if not 1 <= self.pade <= 12:
            raise ValueError(
                f"pade must be between 1 and 12 (got {self.pade}), because higher orders are inaccurate"
            )
        return self

    def output(self, name: str, motion: ElementKinematics) -> SX:
        middle = motion.held(name, "middle", 0.0, "s")
        half = motion.held(name, "half", 1.0, "s")
        s, y = (motion.t - middle) / half, SX(0)
        starts = [motion.value(self.start), *[0.0] * DEGREE]
        parts = [motion.held(name, f"c{k}", start, self.unit) for k, start in enumerate(starts)]
        for part in reversed(parts):
            y = y * s + part
        return y

    def delays(self, name: str, motion: ElementKinematics) -> tuple[Delayed, ...]:
        time = fixed_time(name, "time", self.time)
        return (Delayed(name, motion.value(self.input), time, self.pieces, DEGREE),)

    def smooth(self) -> Signal:
        """The Pade approximation exp(-s T) = P(-s T) / P(s T), P_k = (2n-k)! n! / ((2n)! k! (n-k)!)."""
        n, T = self.pade, self.time
        c = [
            factorial(2 * n - k) * factorial(n) / (factorial(2 * n) * factorial(k) * factorial(n - k))
            for k in range(n + 1)
        ]

        def times_power(factor: float, k: int) -> Any:
            return factor * T**k if isinstance(T, float) else Expression(f"{factor!r}*({T})^{k}")

        powers = [times_power(c[k], k) for k in range(n, -1, -1)]
        signed = [times_power((-1) ** k * c[k], k) for k in range(n, -1, -1)]
        return TransferFunction(
            input=self.input, numerator=tuple(signed), denominator=tuple(powers), unit=self.unit
        )
