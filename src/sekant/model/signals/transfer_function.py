"""Transfer functions by their coefficients."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity
from sekant.model.signals.base import Signal, register


@register
class TransferFunction(Signal):
    """y = numerator(s) / denominator(s) input, where the first coefficients are those of the highest powers of s.
    All states are zero at the start.

    The states x are those of the controllable canonical form: x' = w (x2, ..., xn, u - a1 xn - ... - an x1),
    and y = sum of (b - b0 a) x + b0 u. Here u is the input, and b and a are the coefficients of numerator and
    denominator as polynomials in s/w, and the frequency w is chosen such that every abs(a) is at most 1.
    """

    type: ClassVar[str] = "transfer_function"
    summary: ClassVar[str] = "linear system with given coefficients of its transfer function"

    input: AnyQuantity
    """expression of the input"""
    numerator: tuple[AnyQuantity, ...]
    """coefficients of the numerator, highest power of s first"""
    denominator: tuple[AnyQuantity, ...]
    """coefficients of the denominator, highest power of s first"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(input=stage.signal(), numerator=(0.3, 1.1), denominator=(0.7, 0.2, 1.3))

    @model_validator(mode="after")
    def _proper(self):
        if len(self.denominator) < 2:
            raise ValueError(
                "the denominator needs at least two coefficients; for a constant factor, use an expression"
            )
        if self.denominator[0] == 0.0:
            raise ValueError("the first coefficient of the denominator is zero; leave it out")
        if not self.numerator:
            raise ValueError("the numerator needs at least one coefficient")
        if len(self.numerator) > len(self.denominator):
            raise ValueError(
                f"the degree of the numerator ({len(self.numerator) - 1}) exceeds the degree of the "
                f"denominator ({len(self.denominator) - 1}), so the signal would differentiate its input; "
                "add poles"
            )
        return self

    def _coefficients(self, motion: ElementKinematics) -> tuple[list[SX], list[SX], SX]:
        """b and a of s/w, of the same length, a[0] = 1; and w, 1/s."""
        lead, *others = (motion.value(x) for x in self.denominator)
        rates = [ca.fabs(x / lead) ** (1 / k) for k, x in enumerate(others, start=1)]
        most = ca.mmax(ca.vertcat(*rates))
        w = ca.if_else(most > 0.0, most, 1.0)
        a = [x / lead / w**k for k, x in enumerate((lead, *others))]
        missing = len(a) - len(self.numerator)
        b = [motion.value(x) / lead / w ** (missing + k) for k, x in enumerate(self.numerator)]
        return [SX(0)] * missing + b, a, w

    def _x(self, name: str, motion: ElementKinematics) -> list[SX]:
        return [motion.state(name, f"x{i}", SX(0), "1") for i in range(len(self.denominator) - 1)]

    def output(self, name: str, motion: ElementKinematics) -> SX:
        (b, a, _), x, n = self._coefficients(motion), self._x(name, motion), len(self.denominator) - 1
        y = sum(((b[n - i] - b[0] * a[n - i]) * x[i] for i in range(n)), SX(0))
        through = len(self.numerator) == len(self.denominator)
        return y + b[0] * motion.value(self.input) if through else y

    def rates(self, name: str, motion: ElementKinematics) -> dict[str, SX]:
        (_, a, w), x, n = self._coefficients(motion), self._x(name, motion), len(self.denominator) - 1
        last = motion.value(self.input) - ca.sum1(ca.vertcat(*[a[n - i] * x[i] for i in range(n)]))
        return {f"x{i}": w * (x[i + 1] if i + 1 < n else last) for i in range(n)}
