"""Random roads of the classes of ISO 8608, reproducible by their seed, with realistic coherence of left and right.

The spectral density of heights is G(n) = G(n0) (n / n0)^-2 at the spatial frequency n (cycles/m), with n0 = 0.1/m.
For class A, G(n0) = 16e-6 m^3 (the geometric mean of the class), and every further class has four times the density
of the class before it. The profile of each track is a sum of waves of these densities over one period `length`.
Heights between and beyond the tracks are on the straight line through both. Left and right have the normalized cross
spectrum of an isotropic surface (Dodds and Robson, The description of road surface roughness, J. Sound and Vibration
31, 1973). For this density and the distance b it is

    g(n) = u K_1(u) ,   u = 2 pi n b ,   K_1: modified Bessel function ;

which is 1 for long waves and 0 for short waves.
"""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from sekant.geometry.spatial import SX
from sekant.model.quantities import Positive
from sekant.tables.table import Table
from sekant.vehicle.quantities import Meters
from sekant.vehicle.roads.base import Road, RoadSurroundings, blend, register

REFERENCE = 0.1  # n0, cycles/m
CLASSES = {letter: 16e-6 * 4**k for k, letter in enumerate("ABCDEFGH")}  # G(n0), m^3
POINTS = 12  # points of the table per shortest wave


def density(letter: str, n: NDArray[np.float64]) -> NDArray[np.float64]:
    """One-sided displacement density G(n) (m^3) of a class at spatial frequencies n (cycles/m)."""
    return CLASSES[letter] * (n / REFERENCE) ** -2


@register
class RandomRoad(Road):
    """A random road of an ISO 8608 class, from A (very good) to H. It begins at `start` and repeats after
    `length`."""

    type: ClassVar[str] = "random"
    summary: ClassVar[str] = "random road of a class of ISO 8608"
    shown: ClassVar[str] = "{type: random, roughness: C}"

    roughness: Literal["A", "B", "C", "D", "E", "F", "G", "H"] = "B"
    """class of ISO 8608: A very good, C average, E very poor"""
    seed: int = 1
    """seed of the random road; the same number gives the same road"""
    track: Positive[Meters] = 1.5
    """distance between the left and right wheels, which determines the coherence of their heights"""
    length: Meters = 200.0
    """period of the road, which is its longest wavelength"""
    shortest: Positive[Meters] = 0.3
    """shortest wavelength; a tire envelops shorter waves"""
    start: Meters = 5.0
    """x at which the road begins; the road is flat before this position and reaches its full
    roughness 5 m after it"""

    @model_validator(mode="after")
    def _sizes(self):
        if self.length < 10 * self.shortest:
            raise ValueError(
                f"'length' must be at least ten times 'shortest' (got length: {self.length:g} m, shortest: "
                f"{self.shortest:g} m)"
            )
        if self.length / self.shortest > 1e5:
            raise ValueError(
                f"length divided by shortest must be at most 1e5 (got {self.length / self.shortest:g})"
            )
        return self

    @cached_property
    def tracks(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Distances (m,) m over one period and heights (m, 2) m of the left and the right track."""
        from scipy.special import k1

        count = int(self.length / self.shortest)
        n = np.arange(1, count + 1) / self.length
        amplitude = np.sqrt(2 * density(self.roughness, n) / self.length)
        rng = np.random.default_rng(self.seed)
        one, other = np.exp(2j * np.pi * rng.random((2, count)))
        u = 2 * np.pi * n * self.track
        g = np.where(u < 500, u * k1(np.minimum(u, 500)), 0.0)
        left, right = amplitude * one, amplitude * (g * one + np.sqrt(1 - g**2) * other)
        points = POINTS * count
        x = np.arange(points + 1) * self.length / points
        found = []
        for wave in (left, right):
            spectrum = np.zeros(points // 2 + 1, complex)
            spectrum[1 : count + 1] = wave * points / 2
            z = np.fft.irfft(spectrum, points)
            found.append(np.append(z, z[0]))
        return x, np.array(found).T

    @cached_property
    def _table(self) -> Table:
        """Mean of both tracks and half of their difference, periodic and with continuous curvature."""
        x, z = self.tracks
        parts = np.column_stack([z.mean(axis=1), (z[:, 0] - z[:, 1]) / 2])
        return Table.cubic(x, parts, ends="periodic", extrapolation="periodic", name="random road")

    def elevation(self, around: RoadSurroundings, x: SX, y: SX) -> SX:
        s = x - self.start
        z = around.lookups(self._table, s)
        return (z[0] + z[1] * y * (2 / self.track)) * blend(s / 5.0)
