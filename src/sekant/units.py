"""Units at the edge: "12 mm", "3 deg", "20 N/mm" become SI numbers with a checked dimension.

A unit consists of a factor to SI and a dimension, the exponents of (m, kg, s, rad). Angles have a dimension of their
own, so a length is not accepted as an angle. Products are written with a space, ``*``, ``.`` or ``·``, quotients with
``/``, powers as ``^2``, ``**2`` or ``²``; parentheses are allowed. Inside the package, all values are in SI units and
radians.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.errors import ModelError

Dimension = tuple[int, int, int, int]
"""Exponents of m, kg, s and rad."""

NONE: Dimension = (0, 0, 0, 0)
_LENGTH: Dimension = (1, 0, 0, 0)
_MASS: Dimension = (0, 1, 0, 0)
_TIME: Dimension = (0, 0, 1, 0)
_ANGLE: Dimension = (0, 0, 0, 1)
_SPEED: Dimension = (1, 0, -1, 0)
_FORCE: Dimension = (1, 1, -2, 0)
_ENERGY: Dimension = (2, 1, -2, 0)
_POWER: Dimension = (2, 1, -3, 0)
_PRESSURE: Dimension = (-1, 1, -2, 0)
_RATE: Dimension = (0, 0, -1, 0)
_SPIN: Dimension = (0, 0, -1, 1)

_LB = 0.45359237  # kg, international pound (exact)
_LBF = _LB * 9.80665  # N
_FT = 0.3048  # m (exact)
_MILE = 1609.344  # m (exact)

_UNITS: dict[str, tuple[float, Dimension]] = {
    "m": (1.0, _LENGTH),
    "mm": (1e-3, _LENGTH),
    "cm": (1e-2, _LENGTH),
    "dm": (1e-1, _LENGTH),
    "km": (1e3, _LENGTH),
    "um": (1e-6, _LENGTH),
    "µm": (1e-6, _LENGTH),
    "nm": (1e-9, _LENGTH),
    "in": (_FT / 12, _LENGTH),
    "ft": (_FT, _LENGTH),
    "mi": (_MILE, _LENGTH),
    "kg": (1.0, _MASS),
    "g": (1e-3, _MASS),
    "mg": (1e-6, _MASS),
    "t": (1e3, _MASS),
    "lb": (_LB, _MASS),
    "s": (1.0, _TIME),
    "ms": (1e-3, _TIME),
    "us": (1e-6, _TIME),
    "µs": (1e-6, _TIME),
    "ns": (1e-9, _TIME),
    "min": (60.0, _TIME),
    "h": (3600.0, _TIME),
    "rad": (1.0, _ANGLE),
    "mrad": (1e-3, _ANGLE),
    "deg": (math.pi / 180, _ANGLE),
    "°": (math.pi / 180, _ANGLE),
    "rev": (2 * math.pi, _ANGLE),
    "N": (1.0, _FORCE),
    "mN": (1e-3, _FORCE),
    "kN": (1e3, _FORCE),
    "MN": (1e6, _FORCE),
    "lbf": (_LBF, _FORCE),
    "Pa": (1.0, _PRESSURE),
    "kPa": (1e3, _PRESSURE),
    "MPa": (1e6, _PRESSURE),
    "GPa": (1e9, _PRESSURE),
    "bar": (1e5, _PRESSURE),
    "J": (1.0, _ENERGY),
    "kJ": (1e3, _ENERGY),
    "MJ": (1e6, _ENERGY),
    "Nm": (1.0, _ENERGY),
    "Nmm": (1e-3, _ENERGY),
    "kNm": (1e3, _ENERGY),
    "W": (1.0, _POWER),
    "kW": (1e3, _POWER),
    "MW": (1e6, _POWER),
    "Hz": (1.0, _RATE),
    "kHz": (1e3, _RATE),
    "rpm": (2 * math.pi / 60, _SPIN),
    "mph": (_MILE / 3600, _SPEED),
    "kph": (1 / 3.6, _SPEED),
    "%": (1e-2, NONE),
}
_TURNING = {"mrad", "deg", "°", "rev", "rpm"}

# names of dimensions, and the notations that messages offer (SI first)
_KINDS: dict[Dimension, tuple[str, tuple[str, ...]]] = {
    NONE: ("a plain number", ("%",)),
    _LENGTH: ("a length", ("m", "mm", "cm", "km", "um", "in", "ft")),
    (2, 0, 0, 0): ("an area", ("m^2", "mm^2", "cm^2")),
    (3, 0, 0, 0): ("a volume", ("m^3", "mm^3", "cm^3")),
    _MASS: ("a mass", ("kg", "g", "t", "lb")),
    _TIME: ("a time", ("s", "ms", "us", "min", "h")),
    _ANGLE: ("an angle", ("rad", "deg", "rev", "mrad")),
    _SPEED: ("a velocity", ("m/s", "mm/s", "km/h", "mph", "kph")),
    (1, 0, -2, 0): ("an acceleration", ("m/s^2", "mm/s^2")),
    _SPIN: ("an angular velocity", ("rad/s", "deg/s", "rpm", "rev/s")),
    (0, 0, -2, 1): ("an angular acceleration", ("rad/s^2", "deg/s^2")),
    _RATE: ("a rate", ("1/s", "Hz", "kHz")),
    _FORCE: ("a force", ("N", "kN", "mN", "lbf")),
    _ENERGY: ("a torque or energy", ("N*m", "N*mm", "kN*m", "J", "kJ")),
    _POWER: ("a power", ("W", "kW")),
    _PRESSURE: ("a pressure", ("Pa", "kPa", "MPa", "bar")),
    (0, 1, -2, 0): ("a stiffness", ("N/m", "N/mm", "kN/m", "kN/mm")),
    (0, 1, -1, 0): ("a damping coefficient", ("N*s/m", "N*s/mm", "kN*s/m")),
    (2, 1, -2, -1): ("a rotational stiffness", ("N*m/rad", "N*m/deg", "kN*m/rad")),
    (2, 1, -1, -1): ("a rotational damping coefficient", ("N*m*s/rad", "N*m*s/deg")),
    (2, 1, 0, 0): ("a moment of inertia", ("kg*m^2", "kg*mm^2", "g*mm^2", "t*m^2")),
    (1, 0, 0, -1): ("a pitch", ("m/rad", "mm/rev", "mm/rad")),
    (-1, 0, 0, 0): ("a curvature", ("1/m", "1/mm", "1/km")),
}

_ELECTRIC = (
    "V",
    "mV",
    "kV",
    "A",
    "mA",
    "kA",
    "Ohm",
    "kOhm",
    "C",
    "F",
    "uF",
    "H",
    "mH",
    "T",
    "Wb",
    "VA",
    "Ah",
)
_OTHER = frozenset([*_ELECTRIC, "K", "degC", "°C", "dB", "mol", "cd", "lm", "lx", "bit", "Wh", "kWh"])
"""Units of quantities outside mechanics, for display only: no value can be given in them."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<power>(?:\^|\*\*)\s*[+-]?[0-9]+|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)"
    r"|(?P<name>[A-Za-zµμ°%]+[0-9]*)|(?P<one>1(?![0-9.]))|(?P<sign>[*/.·⋅()])"
)
_LONGEST = 80
_HIGHEST = 12


@dataclass(frozen=True)
class Unit:
    """A unit: `factor` to SI, `dimension` (m, kg, s, rad), and the original text."""

    factor: float
    dimension: Dimension
    text: str = ""
    turning: bool = False
    """Whether an angle other than the radian occurs in it (deg, rev, rpm)."""

    @property
    def kind(self) -> str:
        """The quantity that it measures, with an article: "a length"; the SI unit if the quantity has no name."""
        return _KINDS[self.dimension][0] if self.dimension in _KINDS else f"a quantity in {self.si}"

    @property
    def si(self) -> str:
        """The SI unit of this dimension, e.g. "N/m"; empty for a plain number."""
        if self.dimension == NONE:
            return ""
        if self.dimension in _KINDS:
            return _KINDS[self.dimension][1][0]
        parts = zip(("kg", "m", "s", "rad"), (self.dimension[i] for i in (1, 0, 2, 3)), strict=True)
        return "*".join(name if power == 1 else f"{name}^{power}" for name, power in parts if power)

    @property
    def examples(self) -> tuple[str, ...]:
        """Units of the same dimension, the SI unit first."""
        return _KINDS[self.dimension][1] if self.dimension in _KINDS else (self.si,)

    def __mul__(self, other: Unit) -> Unit:
        return self._combine(other, 1)

    def __truediv__(self, other: Unit) -> Unit:
        return self._combine(other, -1)

    def _combine(self, other: Unit, sign: int) -> Unit:
        dimension = tuple(a + sign * b for a, b in zip(self.dimension, other.dimension, strict=True))
        return Unit(
            self.factor * other.factor**sign,
            dimension,  # pyright: ignore[reportArgumentType]
            turning=self.turning or other.turning,
        )

    def power(self, exponent: int) -> Unit:
        dimension = tuple(a * exponent for a in self.dimension)
        return Unit(self.factor**exponent, dimension, turning=self.turning)  # pyright: ignore[reportArgumentType]


_ONE = Unit(1.0, NONE)


def is_unit(name: str) -> bool:
    """Whether `name` is the name of a single unit, e.g. "mm", but not "N/mm"."""
    return name.replace("μ", "µ") in _UNITS


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """The unit written as `text`; raises `ModelError` with the most similar unit if it is unknown."""
    if len(text) > _LONGEST:
        raise ModelError(f"a unit of {len(text)} characters is too long (limit {_LONGEST})")
    tokens = _tokenize(text)
    try:
        unit, end = _product(text, tokens, 0, 0)
    except (OverflowError, ZeroDivisionError):
        raise ModelError(f"the powers in the unit '{text}' are too high") from None
    if end < len(tokens):
        raise ModelError(f"unexpected '{tokens[end][1]}' in the unit '{text}'")
    if max(abs(power) for power in unit.dimension) > _HIGHEST or not 1e-60 < unit.factor < 1e60:
        raise ModelError(f"the powers in the unit '{text}' are too high")
    return Unit(unit.factor, unit.dimension, text.strip(), unit.turning)


def check_name(text: str) -> str:
    """`text` if it can be displayed as a unit, including units outside mechanics ("V/m"); otherwise raises
    `ModelError`."""
    names = [value for kind, value in _tokenize(text) if kind == "name"]
    if text and not _OTHER.intersection(names):
        parse_unit(text)
    for name in names:
        if name not in _OTHER:
            _named(name, text)
    return text


def _tokenize(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ModelError(f"unexpected '{text[at]}' in the unit '{text}'")
        tokens.append((match.lastgroup or "", match.group()))
        at = match.end()
    # blanks matter only between two factors, where they multiply
    kept = []
    for i, (kind, value) in enumerate(tokens):
        if kind != "space":
            kept.append((kind, value.strip()))
        elif 0 < i < len(tokens) - 1:
            before, after = tokens[i - 1], tokens[i + 1]
            if (before[0] != "sign" or before[1] == ")") and (after[0] in ("name", "one") or after[1] == "("):
                kept.append(("sign", " "))
    return kept


def _product(text: str, tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Unit, int]:
    unit, at = _factor(text, tokens, at, depth)
    divided = False
    while at < len(tokens) and tokens[at][1] != ")":
        kind, sign = tokens[at]
        if kind != "sign":
            raise ModelError(f"unexpected '{sign}' in the unit '{text}'")
        if sign == " " and divided:
            raise ModelError(f"the unit '{text}' is ambiguous; put the units after the '/' in parentheses")
        factor, at = _factor(text, tokens, at + 1, depth)
        divided = divided or sign == "/"
        unit = unit / factor if sign == "/" else unit * factor
    return unit, at


def _factor(text: str, tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Unit, int]:
    kind, value = tokens[at] if at < len(tokens) else ("", "")
    if kind == "name":
        unit = _named(value, text)
    elif kind == "one":
        unit = _ONE
    elif value == "(" and depth < 8:
        unit, at = _product(text, tokens, at + 1, depth + 1)
        if at >= len(tokens):
            raise ModelError(f"a parenthesis is not closed in the unit '{text}'")
    else:
        raise ModelError(f"the unit '{text}' is incomplete" if text.strip() else "the unit is empty")
    at += 1
    if at < len(tokens) and tokens[at][0] == "power":
        exponent = int(tokens[at][1].lstrip("^*").translate(_SUPERSCRIPTS))
        if not 0 < abs(exponent) <= _HIGHEST:
            raise ModelError(
                f"the power '{tokens[at][1]}' in the unit '{text}' must be a nonzero whole number from "
                f"-{_HIGHEST} to {_HIGHEST}"
            )
        return unit.power(exponent), at + 1
    return unit, at


def _named(name: str, text: str) -> Unit:
    known = name.replace("μ", "µ")
    if known in _UNITS:
        factor, dimension = _UNITS[known]
        return Unit(factor, dimension, turning=known in _TURNING)
    letters = known.rstrip("0123456789")
    if letters in _UNITS and letters != known:
        raise ModelError(f"unknown unit '{name}'; a power is written '{letters}^{known[len(letters) :]}'")
    where = f" in '{text.strip()}'" if text.strip() != name else ""
    near = nearest_unit(known)
    hint = f"did you mean '{near}'?" if near else f"known: {', '.join(list(_UNITS)[:12])}, ..."
    raise ModelError(f"unknown unit '{name}'{where}; {hint}")


_MEANT = {
    "kmh": "km/h",
    "kmph": "km/h",
    "Ns": "N*s",
    "kNs": "kN*s",
    "Nms": "N*m*s",
    "kgm": "kg*m",
    "kgm2": "kg*m^2",
    "newton": "N",
}
"""Common notations without a sign between units, except those that are units themselves ('km', 'ns')."""


def nearest_unit(name: str) -> str:
    """The unit that an unknown name may mean; empty if there is none."""
    alike = [known for known in _UNITS if known.lower() == name.lower()]
    close = get_close_matches(name, list(_UNITS), n=1, cutoff=0.5)
    return _MEANT.get(name) or next(iter([*alike, *close]), "")


def convert(value: float, text: str, expected: str | Unit) -> float:
    """`value` in the unit `text`, as a number in the SI unit of `expected`.

    If the unit contains a mass, a radian may be missing or superfluous ("N m" for "N m/rad"), but not elsewhere: "3
    Hz" is not accepted as an angular velocity, because it would be ambiguous by a factor of 2 pi. Raises
    `ModelError` if the dimensions differ.
    """
    unit = parse_unit(text)
    wanted = parse_unit(expected) if isinstance(expected, str) and expected else expected or _ONE
    assert isinstance(wanted, Unit)
    if unit.dimension != wanted.dimension and not _differ_by_radian(unit, wanted):
        raise ModelError(
            f"'{value:g} {unit.text}' is {unit.kind}, but {wanted.kind} is expected; {_remedy(unit, wanted)}"
        )
    return value * unit.factor


def _differ_by_radian(unit: Unit, wanted: Unit) -> bool:
    return unit.dimension[:3] == wanted.dimension[:3] and wanted.dimension[1] != 0 and not unit.turning


def _remedy(unit: Unit, wanted: Unit) -> str:
    if wanted.dimension == NONE:
        return "leave the unit out"
    close = get_close_matches(unit.text.replace(" ", "*"), wanted.examples, n=1, cutoff=0.6)
    first = close[0] if close else wanted.si
    others = [name for name in wanted.examples if name != first][:3]
    return f"write it in {first}" + (f" (or {', '.join(others)})" if others else "")


def in_si(given: Any, what: str) -> NDArray[np.float64]:
    """The values of an argument in SI units; strings are refused, because the argument has no unit of its own."""
    try:
        return np.asarray(given, float)
    except (TypeError, ValueError):
        raise ModelError(f"{what}: write plain numbers in SI units, not {given!r}") from None
