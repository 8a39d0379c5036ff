"""Random noise that repeats: a sum of waves whose phases follow from a seed."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import casadi as ca
import numpy as np
from pydantic import Field

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.motion import ElementKinematics
from sekant.model.quantities import AnyQuantity, Positive, Quantity
from sekant.model.signals.base import Signal, register

Hertz = Annotated[float, Quantity("Hz")]


@register
class Noise(Signal):
    """Band-limited Gaussian noise with the standard deviation `rms`: y = sqrt(2/n) rms sum cos(2 pi f_k t +
    phi_k) over n waves with random frequencies f_k and phases phi_k.

    The sum has n = `waves` terms. The frequencies f_k (one in each of n equal parts of the band) and the
    phases phi_k are random, but determined by `seed`. The signal is therefore a smooth function of time,
    which every integrator can use, and runs are repeatable.
    """

    type: ClassVar[str] = "noise"
    summary: ClassVar[str] = "random noise with a given band, standard deviation and seed"

    rms: AnyQuantity
    """standard deviation, in the unit of the signal"""
    lowest: Hertz = 0.0
    """lowest frequency of the band"""
    highest: Positive[Hertz] = 10.0
    """highest frequency of the band"""
    seed: int = 0
    """seed of the random frequencies and phases; another seed gives another signal"""
    waves: Annotated[int, Field(ge=1, le=1000)] = 50
    """number n of waves; their sum does not repeat within `waves / (highest - lowest)` seconds"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(rms=0.3, highest=4.0, seed=3, waves=5)

    def output(self, name: str, motion: ElementKinematics) -> SX:
        random = np.random.default_rng(self.seed)
        n = self.waves
        f = self.lowest + (np.arange(n) + random.random(n)) / n * (self.highest - self.lowest)
        phases = 2 * np.pi * random.random(n)
        waves = ca.sum1(ca.cos(2 * np.pi * ca.DM(f) * motion.t + ca.DM(phases)))
        return motion.value(self.rms) * np.sqrt(2.0 / n) * waves
