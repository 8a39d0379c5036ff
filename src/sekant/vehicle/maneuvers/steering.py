"""Open-loop steering at constant speed: step, slow ramp (steady circle), sine with dwell, swept sine."""

from __future__ import annotations

from math import degrees
from typing import ClassVar

import numpy as np

from sekant.vehicle.car.commands import Commands
from sekant.vehicle.drivers import hold_speed
from sekant.vehicle.drivers.open_loop import (
    ramp_of_steering,
    sine_with_dwell,
    step_of_steering,
    swept_sine,
)
from sekant.vehicle.maneuvers.base import (
    Diagram,
    DrivenManeuver,
    Floats,
    Maneuver,
    ManeuverContext,
    ManeuverMeasure,
    first_time,
    register,
)
from sekant.vehicle.maneuvers.straight_part import StraightPart, straight_part
from sekant.vehicle.quantities import Plain, Radians, Seconds

SETTLED = 2.0  # s, time after which a slow ramp is a quasi-steady motion
FIT = (0.5, 4.0)  # m/s^2, range in which the straight part of a handling diagram is searched
WIDTH = 0.8  # m/s^2, least width of the straight part
STRAIGHT = (
    1e-3  # largest deviation of the straight part from its line, divided by the range of the steer angle
)


def _for_acceleration(at: ManeuverContext, speed: float, acceleration: float) -> float:
    """Steering wheel angle (rad) at which the linear car has this lateral acceleration (m/s^2)."""
    return acceleration / (speed * at.linear.yaw_gain(speed))


@register
class StepSteer(Maneuver):
    """Step of the steering wheel (ISO 7401) to `angle`, or to the angle at which the linear car has the lateral
    acceleration `acceleration`."""

    type: ClassVar[str] = "step-steer"
    summary: ClassVar[str] = "step of the steering wheel"
    source: ClassVar[str] = "ISO 7401, definitions of times and overshoot as given in open literature"
    cites: ClassVar[tuple[str, ...]] = ("ISO 7401", "ISO 8855", "Milliken")

    acceleration: Plain = 4.0
    """lateral acceleration of the linear car after the step, m/s^2"""
    angle: Radians | None = None
    """angle of the steering wheel, positive to the left, instead of an acceleration"""
    at: Seconds = 1.0
    """time at which the step begins"""
    rise: Seconds = 0.15
    """rise time of the steering wheel angle"""
    duration: Seconds = 7.0
    """duration of the run"""

    @property
    def until(self) -> float:
        return self.duration

    def _angle(self, at: ManeuverContext) -> float:
        return self.angle if self.angle is not None else _for_acceleration(at, self.speed, self.acceleration)

    def commands(self, at: ManeuverContext) -> Commands:
        steered = step_of_steering(self._angle(at), self.at, self.at + self.rise)
        return hold_speed(steered, at.car, repr(self.speed), at.linear.mass)

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        t, steer = run.time, run["steering_wheel"]
        late = t > t[-1] - 1.0
        end = float(steer[late].mean())
        sign = np.sign(end) or 1.0
        half = first_time(t, sign * steer, abs(end) / 2)
        found = []
        for name, y in (("yaw rate", run["yaw_rate"]), ("lateral acceleration", run.lateral_acceleration)):
            steady = float(y[late].mean())
            up = sign * y
            gain = steady / end
            unit = "1/s" if name == "yaw rate" else "m/s^2/deg"
            found += [
                ManeuverMeasure(
                    f"{name} gain",
                    gain if unit == "1/s" else gain / degrees(1),
                    unit,
                    "steady value divided by the steering wheel angle",
                ),
                ManeuverMeasure(
                    f"time to 90 % of {name}",
                    first_time(t, up, 0.9 * abs(steady)) - half,
                    "s",
                    "from the time of half the steering wheel angle",
                ),
                ManeuverMeasure(
                    f"peak time of {name}",
                    float(t[int(np.argmax(up))]) - half,
                    "s",
                    "from the time of half the steering wheel angle",
                ),
                ManeuverMeasure(
                    f"overshoot of {name}",
                    100 * (float(up.max()) / abs(steady) - 1),
                    "%",
                    "amount by which the largest value exceeds the steady value",
                ),
            ]
        beta = float(run["sideslip"][late].mean())
        roll = float(run["angles"][late, 2].mean())
        ay = float(run.lateral_acceleration[late].mean())
        found.append(ManeuverMeasure("steady sideslip", degrees(beta), "deg", "of the center of mass"))
        found.append(
            ManeuverMeasure(
                "roll gradient",
                degrees(roll) / ay,
                "deg s^2/m",
                "steady roll angle divided by lateral acceleration",
            )
        )
        return found


@register
class SteadyCircle(Maneuver):
    """Steady-state circular driving at constant speed (ISO 4138), with a steering wheel that turns slowly.

    The motion is quasi-steady. `sk.vehicle.steady_turns` finds exact steady turns.
    """

    type: ClassVar[str] = "steady-circle"
    summary: ClassVar[str] = "slowly increasing steer at constant speed"
    source: ClassVar[str] = "ISO 4138, method of constant speed, as given in open literature"
    cites: ClassVar[tuple[str, ...]] = ("ISO 4138", "ISO 8855", "Gillespie", "Milliken")

    acceleration: Plain = 6.0
    """lateral acceleration of the linear car at the end, m/s^2"""
    duration: Seconds = 20.0
    """duration of the run; after one second the steering wheel turns at a constant rate"""

    @property
    def until(self) -> float:
        return self.duration

    def commands(self, at: ManeuverContext) -> Commands:
        most = _for_acceleration(at, self.speed, self.acceleration)
        steered = ramp_of_steering(most / (self.duration - 1.0))
        return hold_speed(steered, at.car, repr(self.speed), at.linear.mass)

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        part = self._straight(run)
        if part is None:
            return []
        ay = run.lateral_acceleration
        chosen = (ay >= part.low) & (ay <= part.high) & (run.time > SETTLED)
        beta = float(np.polyfit(ay[chosen], run["sideslip"][chosen], 1)[0])
        roll = float(np.polyfit(ay[chosen], run["angles"][chosen, 2], 1)[0])
        return [
            ManeuverMeasure(
                "understeer gradient",
                degrees(part.slope),
                "deg s^2/m",
                "d(steer angle - L / R) / d(lateral acceleration), over the straight part of the handling diagram",
            ),
            ManeuverMeasure(
                "straight from", part.low, "m/s^2", "lateral acceleration at which the fit begins"
            ),
            ManeuverMeasure("straight to", part.high, "m/s^2", "lateral acceleration at which the fit ends"),
            ManeuverMeasure(
                "residual of the fit",
                degrees(part.residual),
                "deg",
                "root mean square deviation of steer angle - L / R from the line",
            ),
            ManeuverMeasure(
                "sideslip gradient",
                degrees(beta),
                "deg s^2/m",
                "d(sideslip) / d(lateral acceleration) over the same range",
            ),
            ManeuverMeasure(
                "roll gradient",
                degrees(roll),
                "deg s^2/m",
                "d(roll angle) / d(lateral acceleration) over the same range",
            ),
        ]

    def _handling(self, run: DrivenManeuver) -> tuple[Floats, Floats, Floats]:
        """Lateral acceleration (n,) m/s^2, steer angle of the wheels (n,) rad, and this angle minus L / R (n,) rad,
        from the time `SETTLED`."""
        settled = run.time > SETTLED
        delta = run["steering_wheel"][settled] / run.linear.ratio
        curvature = run["yaw_rate"][settled] / run["speed"][settled]
        return run.lateral_acceleration[settled], delta, delta - run.linear.wheelbase * curvature

    def _straight(self, run: DrivenManeuver) -> StraightPart | None:
        """The straight part of steer angle - L / R versus lateral acceleration; a differential with a preload causes
        a kink."""
        ay, delta, handling = self._handling(run)
        chosen = (ay > FIT[0]) & (ay < min(FIT[1], 0.7 * ay.max(initial=0.0)))
        if not chosen.any():
            return None
        return straight_part(ay[chosen], handling[chosen], STRAIGHT * float(np.ptp(delta[chosen])), WIDTH)

    def diagram(self, run: DrivenManeuver) -> Diagram | None:
        ay, delta, handling = self._handling(run)
        part = self._straight(run)
        line = None
        if part is not None:
            x = np.array([part.low, part.high])
            line = (x, np.degrees(part.at_low + part.slope * (x - part.low)))
        curves = {"steer angle": np.degrees(delta), "steer angle - L/R": np.degrees(handling)}
        return Diagram("lateral acceleration [m/s²]", "angle [deg]", ay, curves, line)


@register
class SineWithDwell(Maneuver):
    """One period of sine steering, with a dwell at its second peak."""

    type: ClassVar[str] = "sine-with-dwell"
    summary: ClassVar[str] = "one sine of 0.7 Hz with a dwell at its second peak"
    source: ClassVar[str] = (
        "FMVSS 126 / UN R140: 0.7 Hz, dwell 0.5 s, yaw rate at 1.0 and 1.75 s after the end"
    )
    cites: ClassVar[tuple[str, ...]] = ("FMVSS 126",)

    acceleration: Plain = 5.0
    """steady lateral acceleration of the linear car at the amplitude of the steering wheel angle, m/s^2"""
    angle: Radians | None = None
    """amplitude of the steering wheel angle, instead of an acceleration"""
    frequency: Plain = 0.7
    """frequency of the sine, Hz"""
    dwell: Seconds = 0.5
    """duration of the dwell at the second peak"""
    at: Seconds = 1.0
    """time at which the sine begins"""
    blend: Seconds = 0.05
    """duration of fade-in and fade-out of the sine, which keep the steering torque finite"""

    @property
    def until(self) -> float:
        return self.at + 1 / self.frequency + self.dwell + 4.0

    def commands(self, at: ManeuverContext) -> Commands:
        A = self.angle if self.angle is not None else _for_acceleration(at, self.speed, self.acceleration)
        steered = sine_with_dwell(A, self.frequency, self.at, self.dwell, self.blend)
        return hold_speed(steered, at.car, repr(self.speed), at.linear.mass)

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        t, r, T = run.time, run["yaw_rate"], 1 / self.frequency
        end = self.at + T + self.dwell
        second = (t > self.at + T / 2) & (t < end)
        peak = float(r[second][np.argmax(np.abs(r[second]))])
        found = []
        for later in (1.0, 1.75):
            left = 100 * float(np.interp(end + later, t, r)) / peak
            found.append(
                ManeuverMeasure(
                    f"yaw rate {later:g} s after the end",
                    left,
                    "%",
                    "as a percentage of the second peak of the yaw rate; limits: 35 % after 1 s, 20 % after 1.75 s",
                )
            )
        y = float(np.interp(self.at + 1.07, t, run["position"][:, 1])) - float(
            np.interp(self.at, t, run["position"][:, 1])
        )
        found.append(
            ManeuverMeasure(
                "lateral displacement at 1.07 s",
                abs(y),
                "m",
                "after the start of steering; at least 1.83 m is required",
            )
        )
        return found


@register
class SweptSine(Maneuver):
    """Steering sine of increasing frequency, from which the transfer functions of the car follow."""

    type: ClassVar[str] = "swept-sine"
    summary: ClassVar[str] = "steering sine from 0.1 to 3 Hz"
    source: ClassVar[str] = "ISO 7401, continuous sinusoidal input"
    cites: ClassVar[tuple[str, ...]] = ("ISO 7401", "ISO 8855", "Milliken")

    acceleration: Plain = 1.5
    """steady lateral acceleration of the linear car at the amplitude of the steering wheel angle, m/s^2"""
    first: Plain = 0.1
    """first frequency, Hz"""
    last: Plain = 3.0
    """last frequency, Hz"""
    duration: Seconds = 40.0
    """duration of the sweep from the first to the last frequency"""

    @property
    def until(self) -> float:
        return self.duration

    def commands(self, at: ManeuverContext) -> Commands:
        A = _for_acceleration(at, self.speed, self.acceleration)
        steered = swept_sine(A, self.first, self.last, self.duration)
        return hold_speed(steered, at.car, repr(self.speed), at.linear.mass)

    def measures(self, run: DrivenManeuver) -> list[ManeuverMeasure]:
        f, H = frequency_response(run.time, run["steering_wheel"], run["yaw_rate"], 0.3, 0.9 * self.last)
        gain, phase = np.abs(H), np.degrees(np.unwrap(np.angle(H)))
        low = float(gain[:3].mean())
        peak = int(np.argmax(gain))
        below = np.flatnonzero(gain[peak:] < low / np.sqrt(2))
        return [
            ManeuverMeasure(
                "yaw rate gain at 0.3 Hz", low, "1/s", "yaw rate divided by the steering wheel angle"
            ),
            ManeuverMeasure(
                "resonance of the yaw rate", float(f[peak]), "Hz", "frequency of the greatest gain"
            ),
            ManeuverMeasure(
                "peak over gain at 0.3 Hz",
                float(gain[peak]) / low,
                "1",
                "largest gain divided by the gain at 0.3 Hz",
            ),
            ManeuverMeasure(
                "phase of the yaw rate at 1 Hz",
                float(np.interp(1.0, f, phase)),
                "deg",
                "relative to the steering wheel angle",
            ),
            ManeuverMeasure(
                "bandwidth of the yaw rate",
                float(f[peak + below[0]]) if below.size else float("nan"),
                "Hz",
                "frequency at which the gain is 3 dB below the gain at 0.3 Hz",
            ),
        ]


def frequency_response(t, x, y, low: float, high: float):
    """Frequencies (Hz) from `low` to `high`, and the transfer function y / x of one sweep at these frequencies."""
    t = np.asarray(t)
    even = np.linspace(t[0], t[-1], t.size)
    X, Y = (np.fft.rfft(np.interp(even, t, z), 2 * t.size) for z in (x, y))
    f = np.fft.rfftfreq(2 * t.size, float(even[1] - even[0]))
    width = max(1, round(0.05 / float(f[1])))
    window = np.hanning(2 * width + 1)
    window /= window.sum()
    cross, own = np.convolve(Y * X.conj(), window, "same"), np.convolve(np.abs(X) ** 2, window, "same")
    inside = (f >= low) & (f <= high)
    return f[inside], cross[inside] / own[inside]
