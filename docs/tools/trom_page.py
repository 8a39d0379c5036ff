"""Numbers of TROM beside ours: eigenvalues, three ways to a frequency (tables 3.6, 4.2), a truck in a turn (5.2)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from math import pi
from typing import Any

import numpy as np
from validation_rows import EXAMPLES, Row, example, table

import sekant as sk


def eigenvalue_table() -> str:
    return table(trom())


def agreement_table() -> str:
    return table(trom_frequencies())


def turn_table() -> str:
    return table(trom_truck())


def trom() -> Iterator[Row]:
    """Eigenvalues of the four examples; the models are those of the tests."""
    sys.path.insert(0, str(EXAMPLES.parent / "tests"))
    from linear_models import rotating_pendulum, slider_pendulum, trom_four_bar

    linear = sk.linearize(sk.compile(slider_pendulum()))
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(linear.M, linear.K)).real)
    yield Row("slider-pendulum, lower ω² [1/s²]", "table 3.5", 0.63569205, squares[0], 1e-8)
    yield Row("slider-pendulum, higher ω² [1/s²]", "table 3.5", 9.49661564, squares[1], 1e-9)
    modes = sk.linearize(sk.compile(slider_pendulum(20.0))).modes()
    low, high = modes.eigenvalues[modes.oscillations]
    note = "printed without the minus sign"
    yield Row(
        "slider-pendulum with a damper, higher mode, real part [1/s]",
        "table 3.7",
        -0.226284,
        high.real,
        3e-6,
        note,
    )
    yield Row(
        "slider-pendulum with a damper, higher mode, imaginary part [rad/s]",
        "table 3.7",
        3.023550,
        high.imag,
        3e-7,
    )
    yield Row(
        "slider-pendulum with a damper, lower mode, real part [1/s]",
        "table 3.7",
        -0.312177,
        low.real,
        2e-6,
        note,
    )
    yield Row(
        "slider-pendulum with a damper, lower mode, imaginary part [rad/s]",
        "table 3.7",
        0.747815,
        low.imag,
        1e-6,
    )
    linear = sk.linearize(sk.compile(trom_four_bar()))
    yield Row("closed four-bar, ω² [1/s²]", "table 4.1", 7.848, linear.K[0, 0] / linear.M[0, 0], 1e-9)
    rate = np.sqrt(9.81 / (0.5 * np.cos(pi / 6)))
    system = sk.compile(rotating_pendulum())
    linear = sk.linearize(system, sk.State(np.array([0.0, pi / 6]), np.array([rate, 0.0])))
    yield Row("rotating pendulum, rate of the steady rotation [rad/s]", "table 5.1", 4.75975, rate, 1e-6)
    modes = linear.modes()
    yield Row(
        "rotating pendulum, imaginary part of its eigenvalues [rad/s]",
        "table 5.1",
        8.58076,
        modes.eigenvalues.imag.max(),
        1e-6,
    )
    yield Row("rotating pendulum, number of zero eigenvalues", "table 5.1", 2, modes.zeros, 0.0)


def trom_frequencies() -> Iterator[Row]:
    """Tables 3.6 and 4.2: how well spectrum and differences agree with the exact frequencies, for models of ours."""
    for name, found in _three_ways().items():
        case = example("three_ways").CASES[name]
        yield Row(
            f"{name}: spectral line, deviation from the exact frequency [Hz]",
            case.where,
            case.width,
            found.off_spectrum,
            0.0,
            "published value is an upper limit",
            limit=True,
        )
        yield Row(
            f"{name}: frequency from finite differences, relative deviation from the exact frequency",
            case.where,
            case.differences,
            found.off_differences,
            0.0,
            "published value is an upper limit",
            limit=True,
        )


def trom_truck() -> Iterator[Row]:
    """Table 5.2: a truck of ours in TROM's turn, frozen in fixed axes as there."""
    modes, turn = _truck()
    yield Row("five-axle truck, number of eigenvalues", "table 5.2", 38, modes.eigenvalues.size, 0.0)
    yield Row("five-axle truck, number of zero eigenvalues", "table 5.2", 2, modes.zeros, 0.0)
    slow = modes.eigenvalues[modes.oscillations].imag.min()
    yield Row(
        "five-axle truck, frequency of the slowest pair divided by the yaw rate of the turn",
        "table 5.2",
        0.121 / turn,
        slow / turn,
        0.12,
        "a different truck",
    )
    yield Row(
        "number of printed damping ratios that equal -Re λ/|λ|", "table 5.2", 16, _printed_ratios(), 0.0
    )


@cache
def _three_ways() -> dict[str, Any]:
    ways = example("three_ways")
    return {name: ways.compare(name) for name in ways.CASES}


@cache
def _truck() -> tuple[Any, float]:
    """Modes of the example in a turn of 0.25 g at 50 mph, and the rate of the turn in rad/s."""
    model = sk.load(EXAMPLES / "vehicles" / "tractor_semitrailer.yaml")
    system = sk.compile(model, parameters=["steer", "drive"])
    targets = {"tractor.speed": 50 * 0.44704, "tractor.lateral_acceleration": 0.25 * 9.80665}
    steady = sk.analyses.steady_motion(system, turn=0.11, unknown=["turn", "steer", "drive"], targets=targets)
    return sk.linearize(system, steady, at="motion").modes(), float(steady.turn)


TRUCK = (
    (-0.020, 0.121, 0.161),
    (-5.838, 3.949, 0.828),
    (-2.161, 4.689, 0.419),
    (-0.567, 15.881, 0.036),
    (-1.395, 20.294, 0.069),
    (-4.585, 29.126, 0.156),
    (-13.067, 57.888, 0.220),
    (-13.126, 58.143, 0.220),
    (-18.779, 65.115, 0.277),
    (-18.928, 71.090, 0.257),
    (-18.860, 71.501, 0.255),
    (-14.331, 92.384, 0.153),
    (-15.418, 97.420, 0.156),
    (-18.318, 116.175, 0.156),
    (-20.186, 119.821, 0.166),
    (-20.497, 122.560, 0.165),
)
"""Pairs of TROM's table 5.2: real and imaginary part in 1/s, damping ratio."""


def _printed_ratios() -> int:
    """Damping ratios of the table that -Re λ/|λ| gives within the last printed digit of all three numbers."""
    met = 0
    for real, imaginary, ratio in TRUCK:
        size = np.hypot(real, imaginary)
        rounding = 5e-4 * (1 + (imaginary / size + abs(real) / size) / size)
        met += abs(-real / size - ratio) <= rounding
    return met


def truck_table() -> str:
    """Pairs of eigenvalues in the order of their imaginary parts, TROM's truck and ours."""
    modes, _ = _truck()
    pairs = modes.eigenvalues[modes.oscillations]
    ours = [f"{z.real:.2f} ± {z.imag:.2f} i" for z in pairs[np.argsort(pairs.imag)]]
    theirs = [f"{real:.2f} ± {imaginary:.2f} i" for real, imaginary, _ in TRUCK]
    rows = ["| TROM [1/s] | ours |", "|---|---|"]
    for left, right in zip_longest(theirs, ours, fillvalue=""):
        rows.append(f"| {left} | {right} |")
    return "\n".join(rows)


def frequency_table() -> str:
    """Natural frequencies by three ways."""
    return example("three_ways").text(_three_ways())
