"""Steering as a function of time, with one expression for all maneuvers, in which only parameters differ.

With the same expression for steps, ramps and sines, a car has the same structure in all these maneuvers, so a second
maneuver uses the equations and the code of the first. The angle u of the steering wheel (rad, positive to the left)
is

    u(t) = step S(t; a, b) + rate r(t - c) + sine sin(2 pi (f p + g p^2)) S(t; d, e) (1 - S(t; h, i)) ,

where S rises from 0 to 1 as a polynomial of degree 5, r is a ramp whose rate rises during its first second, and p is
the time since d, which stops during the dwell. Terms that a maneuver does not use have the factor 0.
"""

from __future__ import annotations

from math import pi

from sekant.vehicle.car.commands import Commands

NEVER, LATER = 1e6, 2e6
"""Start and end (s) of unused terms."""
_NUMBERS = {
    "steer_step": 0.0,
    "steer_step_begin": NEVER,
    "steer_step_end": LATER,
    "steer_ramp_rate": 0.0,
    "steer_ramp_begin": 0.0,
    "steer_sine": 0.0,
    "steer_frequency": 0.0,
    "steer_sweep": 0.0,
    "steer_sine_begin": 0.0,
    "steer_sine_full": 1.0,
    "steer_dwell_begin": NEVER,
    "steer_dwell_end": LATER,
    "steer_fade_begin": NEVER,
    "steer_fade_end": LATER,
}
_SINCE = "(t - steer_sine_begin)"
_PHASE = f"(min({_SINCE}, steer_dwell_begin) + max({_SINCE} - steer_dwell_end, 0))"
_STEP = "steer_step*step5(t, steer_step_begin, 0, steer_step_end, 1)"
_WINDOW = "step5(t, steer_sine_begin, 0, steer_sine_full, 1)*step5(t, steer_fade_begin, 1, steer_fade_end, 0)"
_SINE = f"steer_sine*sin({2 * pi!r}*(steer_frequency*{_PHASE} + steer_sweep*{_PHASE}^2))*{_WINDOW}"
_RUN = "(t - steer_ramp_begin)"
_RAMP = f"steer_ramp_rate*if_else({_RUN} < 1, max({_RUN}, 0)^3*(1 - {_RUN}/2), {_RUN} - 0.5)"
STEERING = f"{_STEP} + {_RAMP} + {_SINE}"


def _steered(**numbers: float) -> Commands:
    given = {f"steer_{name}": float(value) for name, value in numbers.items()}
    return Commands(steer=STEERING, parameters={**_NUMBERS, **given})


def straight_on() -> Commands:
    """The steering wheel stays at 0."""
    return _steered()


def step_of_steering(angle: float, begin: float, end: float) -> Commands:
    """A step to `angle` (rad) between `begin` and `end` (s)."""
    return _steered(step=angle, step_begin=begin, step_end=end)


def ramp_of_steering(rate: float) -> Commands:
    """A ramp whose rate rises to `rate` (rad/s) within the first second and is constant afterwards."""
    return _steered(ramp_rate=rate)


def sine_with_dwell(amplitude: float, frequency: float, begin: float, dwell: float, blend: float) -> Commands:
    """One period of a sine (rad, Hz) that starts at `begin` (s) and is held for `dwell` (s) at its second peak; it
    fades in and out over `blend` (s)."""
    period = 1 / frequency
    end = begin + period + dwell
    return _steered(
        sine=amplitude,
        frequency=frequency,
        sine_begin=begin,
        sine_full=begin + blend,
        dwell_begin=0.75 * period,
        dwell_end=0.75 * period + dwell,
        fade_begin=end - blend,
        fade_end=end,
    )


def swept_sine(amplitude: float, first: float, last: float, duration: float) -> Commands:
    """A sine with an `amplitude` (rad), whose frequency increases from `first` to `last` (Hz) within `duration`
    (s)."""
    slope = (last - first) / (2 * duration)
    return _steered(sine=amplitude, frequency=first, sweep=slope)
