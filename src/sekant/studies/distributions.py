"""Distributions of varied numbers, defined by their quantiles, so that every design can sample them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sekant.errors import SekantError, suggest

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Distribution:
    """Base of all distributions: numbers in SI, validated on creation."""

    kind: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, (int, float)) or not isfinite(value):
                raise SekantError(f"{self.kind}: {field.name} must be a finite number (got {value!r})")
        self.check()

    def check(self) -> None:
        """Raise an error if the parameters do not define a distribution."""

    def quantiles(self, u: Floats) -> Floats:
        """Quantiles (n,) at the probabilities u (n,), 0 < u < 1."""
        raise NotImplementedError


@dataclass(frozen=True)
class Uniform(Distribution):
    """Distribution in which all values between `low` and `high` are equally likely."""

    low: float
    high: float
    kind: ClassVar[str] = "uniform"

    def check(self) -> None:
        if not self.low < self.high:
            raise SekantError(f"uniform: low must be less than high (got {self.low:g} and {self.high:g})")

    def quantiles(self, u: Floats) -> Floats:
        return self.low + (self.high - self.low) * u


@dataclass(frozen=True)
class Normal(Distribution):
    """Gaussian distribution with the given `mean` and standard deviation `sd`."""

    mean: float
    sd: float
    kind: ClassVar[str] = "normal"

    def check(self) -> None:
        if not self.sd > 0:
            raise SekantError(f"normal: sd must be positive (got {self.sd:g})")

    def quantiles(self, u: Floats) -> Floats:
        from scipy.special import ndtri

        return self.mean + self.sd * ndtri(u)


@dataclass(frozen=True)
class TruncatedNormal(Distribution):
    """Gaussian distribution with the given `mean` and standard deviation `sd`, restricted to values between `low` and
    `high`."""

    mean: float
    sd: float
    low: float
    high: float
    kind: ClassVar[str] = "truncated_normal"

    def check(self) -> None:
        if not self.sd > 0 or not self.low < self.high:
            raise SekantError(
                "truncated_normal: sd must be positive, and low must be less than high"
                f" (got sd = {self.sd:g}, low = {self.low:g}, high = {self.high:g})"
            )

    def quantiles(self, u: Floats) -> Floats:
        from scipy.stats import truncnorm

        ends = ((bound - self.mean) / self.sd for bound in (self.low, self.high))
        return truncnorm.ppf(u, *ends, loc=self.mean, scale=self.sd)


@dataclass(frozen=True)
class LogNormal(Distribution):
    """Distribution with the given `median`, whose logarithm is Gaussian with the standard deviation `spread`."""

    median: float
    spread: float
    kind: ClassVar[str] = "lognormal"

    def check(self) -> None:
        if not (self.median > 0 and self.spread > 0):
            raise SekantError(
                f"lognormal: median and spread must be positive (got median = {self.median:g}, "
                f"spread = {self.spread:g})"
            )

    def quantiles(self, u: Floats) -> Floats:
        from scipy.special import ndtri

        return self.median * np.exp(self.spread * ndtri(u))


@dataclass(frozen=True)
class Triangular(Distribution):
    """Probability density that increases from `low` to `mode` and decreases from there to `high`."""

    low: float
    mode: float
    high: float
    kind: ClassVar[str] = "triangular"

    def check(self) -> None:
        if not (self.low <= self.mode <= self.high and self.low < self.high):
            raise SekantError(
                f"triangular: low <= mode <= high and low < high are required (got low = {self.low:g}, "
                f"mode = {self.mode:g}, high = {self.high:g})"
            )

    def quantiles(self, u: Floats) -> Floats:
        width, peak = self.high - self.low, (self.mode - self.low) / (self.high - self.low)
        rising = self.low + width * np.sqrt(u * peak)
        falling = self.high - width * np.sqrt((1 - u) * (1 - peak))
        return np.where(u <= peak, rising, falling)


KINDS: Mapping[str, type[Distribution]] = {
    kind.kind: kind for kind in (Uniform, Normal, TruncatedNormal, LogNormal, Triangular)
}


def distribution(kind: str, numbers: Mapping[str, Any]) -> Distribution:
    """The distribution of a given kind, by its name in study files."""
    if kind not in KINDS:
        raise SekantError(f"unknown distribution '{kind}'; {suggest(kind, list(KINDS), 'distributions')}")
    wanted = [field.name for field in fields(KINDS[kind])]
    for name in numbers:
        if name not in wanted:
            raise SekantError(f"{kind}: unknown parameter '{name}'; {suggest(name, wanted, 'parameters')}")
    missing = [name for name in wanted if name not in numbers]
    if missing:
        raise SekantError(f"{kind}: give {', '.join(wanted)} (missing: {', '.join(missing)})")
    return KINDS[kind](**numbers)


def as_distribution(given: Any, name: str) -> Distribution:
    """A distribution; a pair (low, high) is uniform."""
    if isinstance(given, Distribution):
        return given
    if isinstance(given, (tuple, list)) and len(given) == 2:
        try:
            return Uniform(float(given[0]), float(given[1]))
        except (SekantError, TypeError, ValueError) as error:
            raise SekantError(f"'{name}': {error}") from None
    raise SekantError(f"'{name}': give a distribution or a pair (low, high) (got {given!r})")
