"""Default settings for simulations of a model."""

from __future__ import annotations

from typing import ClassVar

from sekant.model.quantities import Description, Dimensionless, Positive, Time


class SimulationSettings(Description):
    """Defaults of a simulation; all in seconds."""

    shown: ClassVar = "{until: 5 s, method: radau5, rtol: 1e-9}"

    until: Positive[Time] = 10.0
    """end of the run"""
    method: str = "auto"
    """integrator; auto chooses one, see simulate"""
    step: Positive[Time] | None = None
    """step of fixed-step methods"""
    output_step: Positive[Time] | None = None
    """time between rows of the result"""
    rtol: Positive[Dimensionless] = 1e-8
    """relative tolerance of adaptive methods"""
    atol: Positive[Dimensionless] = 1e-10
    """absolute tolerance, in SI units"""
