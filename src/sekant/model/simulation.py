"""How a model is meant to be simulated, unless the caller says otherwise."""

from __future__ import annotations

from typing import ClassVar

from pydantic import model_validator

from sekant.model.quantities import Description, Dimensionless, Time


class SimulationSettings(Description):
    """Defaults of a simulation; all in seconds."""

    shown: ClassVar = "{until: 5 s, method: radau5, rtol: 1e-9}"

    until: Time = 10.0  # end of the run
    method: str = "auto"  # auto chooses one; see simulate
    step: Time | None = None  # of methods with fixed steps
    output_step: Time | None = None  # from row to row of the result
    rtol: Dimensionless = 1e-8  # relative tolerance of adaptive methods
    atol: Dimensionless = 1e-10  # absolute tolerance, in SI units

    @model_validator(mode="after")
    def _positive(self):
        for name in ("until", "step", "output_step", "rtol", "atol"):
            value = getattr(self, name)
            if isinstance(value, float) and value <= 0:
                raise ValueError(f"{name} must be positive (got {value:g})")
        return self
