"""A Python function of numbers, compiled as a C callback."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Dimensionless, Positive
from sekant.model.signals.base import Signal, register
from sekant.model.signals.numeric_code import compiled, parameters_of
from sekant.tables.numeric import INCREMENT, NumericFunction


@register
class Numeric(Signal):
    """The result of a Python function whose arguments are numbers. The function may use `if`, `while`, iterations
    and local arrays.

    Numba (the extra `numeric`) compiles the function to machine code, so no Python runs in the integration
    loop. Integrators can only evaluate the function, not differentiate it. The method dop853 and methods with
    fixed steps do not stop at jumps and kinks of the function; radau5 and linear models use finite
    differences; the method taylor does not support this signal. For a function that is composed of NumPy
    functions, `sk.signals.traced` gives exact derivatives. If there are several outputs, their names are
    ``name.y0``, ``name.y1`` and so on.
    """

    type: ClassVar[str] = "numeric"
    summary: ClassVar[str] = "a Python function whose arguments are numbers, compiled as a C callback"
    signals: ClassVar = ("inputs",)

    function: str | Callable[..., Any]
    """definition ``def law(x, v): ...`` as text (from a file: ``file: law.py``), or a function"""
    inputs: dict[str, AnyQuantity]
    """a quantity, an expression or a number for each parameter of the function, by name"""
    outputs: int = 1
    """number of values that the function returns"""
    increment: Positive[Dimensionless] = INCREMENT
    """step of finite differences with respect to an input x, relative to 1 + |x|"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        text = "def law(x, v):\n    return 0.7*np.tanh(v) if x > 9 else 0.4*x - 0.2*math.sin(v)\n"
        return cls(function=text, inputs={"x": stage.signal(), "v": f"0.3*{stage.signal()}"})

    @model_validator(mode="after")
    def _sensible(self):
        names = parameters_of(self.function)
        missing = [name for name in names if name not in self.inputs]
        unknown = [name for name in self.inputs if name not in names]
        if missing or unknown:
            what = f"'{missing[0]}' is missing" if missing else f"'{unknown[0]}' is not a parameter"
            raise ValueError(
                f"inputs must give a quantity for each parameter of the function ({', '.join(names) or 'none'}), but "
                f"{what}"
            )
        if not names:
            raise ValueError("the function needs at least one parameter, such as the time t")
        if self.outputs < 1:
            raise ValueError(f"outputs must be at least 1 (got {self.outputs})")
        return self

    @property
    def components(self) -> tuple[str, ...]:
        return tuple(f"y{k}" for k in range(self.outputs)) if self.outputs > 1 else ()

    def output(self, name: str, motion: ElementKinematics) -> SX:
        names = parameters_of(self.function)
        code = compiled(self.function, name, len(names), self.outputs)
        law = NumericFunction(name, len(names), self.outputs, code.address, float(self.increment))  # type: ignore[arg-type]
        return motion.lookups(law, *(motion.value(self.inputs[one]) for one in names))
