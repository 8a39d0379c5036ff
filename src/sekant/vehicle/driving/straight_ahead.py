"""A car that runs straight ahead on a level road, and its response to small steering: computed only from its
right-hand side.

The road is the same everywhere and in every direction, so position, heading and the angles of the wheels do not
matter. The remaining variables are height z, tilt about the world's x and y (phi), travels s of the suspension, all
velocities v (of the chassis in its own axes) and states of the tires:

    xi = (z, phi_x, phi_y, s, v, tires) ,   xi' = F(xi, u, u', u'') ,   y = h(xi, u, u', u'')

with the steering wheel angle u, which moves the rack. At rest in these coordinates, F = 0 except for the spin
of the wheels; with the derivatives of F and h there, the response at s = 2 pi i f is

    G(s) = C (s - A)^-1 (B_0 + s B_1 + s^2 B_2) + D_0 + s D_1 + s^2 D_2 .

Derivatives are differences over h and 2 h, combined as 2 D(h) - D(2h), which is also valid where forces have only
one continuous derivative, such as those of brush tires at zero slip. A few hundred evaluations take less time than
building exact derivatives.

In the car as it is driven, a steering of finite stiffness moves the rack. Rates are linear in its force, so two
evaluations at the rack's prescribed place and speed give them for the force of its prescribed acceleration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.simulation.runs import compile_for_run
from sekant.engine.alike import Alike, Variant
from sekant.engine.functions.motion import single_rates
from sekant.engine.functions.outputs import output_function
from sekant.engine.state import State
from sekant.errors import SolverError
from sekant.model.signals.expression import ExpressionSignal
from sekant.vehicle.car.axle_data import rack_travel
from sekant.vehicle.car.build import car_model
from sekant.vehicle.car.commands import BY_HAND, Commands
from sekant.vehicle.car.description import Car
from sekant.vehicle.driving.standing_car import needs_settling, settled

Floats = NDArray[np.float64]
APART = 1e-3
"""Steering wheel angle (rad) between two evaluations with different forces on the rack."""
PLACE_STEP, SPEED_STEP, TIRE_STEP, STEERING_STEP, TORQUE_STEP = 2e-6, 1e-5, 2e-8, 1e-4, 1e-2
"""Steps of the differences, SI. Those of tires are small compared with the slips of straight running, over
which the slopes of their forces change."""
NOISE = 1e-10  # of the largest change in a row: smaller differences are round-off
TOLERANCE = 1e-8  # m/s^2 and rad/s^2, of accelerations in steady running
MOST_STEPS = 30


@dataclass(frozen=True, eq=False)
class SmallSteering:
    """A (n, n), B (3, n), C (m, n), D (3, m) of m outputs, by u, u' and u''."""

    A: Floats
    B: Floats
    C: Floats
    D: Floats

    def response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Responses (k, m) per radian of the steering wheel, at frequencies in Hz."""
        found = []
        for f in np.atleast_1d(np.asarray(frequencies, float)):
            s = 2j * pi * f
            powers = np.array([1.0, s, s * s])
            inner = np.linalg.solve(s * np.eye(len(self.A)) - self.A, powers @ self.B)
            found.append(self.C @ inner + powers @ self.D)
        return np.array(found, complex)


def small_steering(
    car: Car,
    speed: float,
    outputs: Sequence[str],
    alike: Alike | None = None,
    keep: bool = True,
    driven: tuple[Variant, State] | None = None,
) -> SmallSteering | None:
    """The response of outputs of the car's model to small steering at `speed` (m/s) straight ahead.

    `driven`: the car with commands that are `also_by_hand`, and its start. None if constraints couple its
    coordinates.
    """
    variant, start = driven or _by_hand(car, speed, alike or Alike(), keep)
    if variant.system.facts.constrained:
        return None
    running = _Running(variant, start, speed, car, outputs)
    return running.answer(*running.steady())


def _by_hand(car: Car, speed: float, alike: Alike, keep: bool) -> tuple[Variant, State]:
    """The car without a driver, and its start."""
    nobody = {"nobody": ExpressionSignal(value=0.0)}  # a signal: the steering is elastic, as with a driver
    commands = Commands(steer="nobody", signals=nobody).also_by_hand()
    model = car_model(car, commands, speed=speed)
    # evaluated a few hundred times: compiling would take longer than all evaluations
    variant = alike.variant(model, parameters=[*BY_HAND], engine="casadi")
    if variant.system.facts.constrained or not needs_settling(car, speed):
        return variant, variant.initial_state()
    return variant, settled(variant, car, speed, alike, keep)


class _Running:
    def __init__(self, variant: Variant, start: State, speed: float, car: Car, outputs: Sequence[str]):
        system = self.system = variant.system
        self.speed, self.drives = speed, car.drive is not None
        self.values = {**variant.values, **BY_HAND, "by_driver": 0.0}
        nq, nv = system.nq, system.nv
        names = list(system.state_names)
        q_names, v_names = names[:nq], names[nq : nq + nv]
        self.q, self.v = np.array(start.q, float), np.array(start.v, float)
        self.z = system.element_states(start, self.values)
        self.height = q_names.index("travel.z")
        self.quaternion = [q_names.index(f"travel.e{i}") for i in range(4)]
        self.ratio, rack = rack_travel(car.axles[car.steered]), f"{car.steered}.rack"  # type: ignore[index]
        self.rack, self.rack_rate = q_names.index(f"{rack}.displacement"), v_names.index(f"{rack}.rate")
        own = [*self.quaternion, *(q_names.index(f"travel.{axis}") for axis in "xyz"), self.rack]
        self.travels = [
            i for i, name in enumerate(q_names) if i not in own and not name.endswith(".hub.angle")
        ]
        self.moving = [i for i in range(nv) if i != self.rack_rate]
        signals, z_names = system.model.signals, names[nq + nv : nq + nv + self.z.size]
        self.tires = [i for i, name in enumerate(z_names) if name.rpartition(".")[0] not in signals]
        self.along = [v_names.index(f"travel.v{axis}") for axis in "xyz"]
        self.turning = [v_names.index(f"travel.w{axis}") for axis in "xyz"]
        self.hubs = [i for i, name in enumerate(v_names) if name.endswith(".hub.rate")]
        self.p = system.parameter_vector(self.values)
        self.steer, self.torque = (system.places[f"{name}_by_hand"].start for name in ("steer", "torque"))
        owners: list[str] | None = [*dict.fromkeys(name.partition(".")[0] for name in outputs)]
        if system.engine == "llvm":  # the run needs all outputs
            owners = None
            compile_for_run(system, "auto", None, True)
        self.rates = single_rates(system)
        self.outputs, reported = output_function(system, owners)
        columns = [f"{one.name}.{part}".rstrip(".") for one in reported for part in one.components or ("",)]
        self.asked = [columns.index(name) for name in outputs]
        self.nothing = np.zeros(len(system.work_names))  # work done so far

    @property
    def _rate_names(self) -> tuple[str, ...]:
        return (*self.system.facts.v_names, *self.system.facts.z_names)

    def steady(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The state q, v, z and the parameters p without acceleration.

        Newton's method in height, tilt, heading relative to the velocity, travels, spin of the wheels, states
        of tires, steering wheel and torque. A car with different sides runs straight with its steering wheel
        turned slightly. The deceleration of a car without drive is neglected.
        """
        nt, nh, nz = len(self.travels), len(self.hubs), len(self.tires)

        def at(y: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            q = self._moved(self.q, y[0], y[1:4], y[4 : 4 + nt])
            v, z, p = np.zeros_like(self.v), self.z.copy(), self.p.copy()
            v[self.along] = self._rotation(q).T @ [self.speed, 0.0, 0.0]
            v[self.hubs] = self.v[self.hubs] + y[4 + nt : 4 + nt + nh]
            z[self.tires] += y[4 + nt + nh : 4 + nt + nh + nz]
            p[self.steer], p[self.torque] = y[-2:]
            return q, v, z, p

        counts = np.zeros(self.v.size + self.z.size, bool)
        counts[self.moving] = True
        counts[self.v.size + np.array(self.tires, dtype=int)] = True
        counts[self.along[0]] = self.drives

        def accelerations(y: Floats) -> Floats:
            return np.where(counts, self._rates(*at(y))[self.q.size :], 0.0)

        y = np.zeros(4 + nt + nh + nz + 2)
        step = np.full(y.size, PLACE_STEP)
        step[4 + nt : 4 + nt + nh] = SPEED_STEP
        step[-2:] = STEERING_STEP, TORQUE_STEP
        left = accelerations(y)
        if not np.isfinite(left).all():
            name = self._rate_names[int(np.argmin(np.isfinite(left)))]
            raise SolverError(
                f"the rate of '{name}' is not finite when the car runs straight ahead at {self.speed:.4g} m/s; "
                "check for tables that are evaluated outside their range, and for expressions with the root or "
                "logarithm of a negative number"
            )
        for _ in range(MOST_STEPS):
            if np.abs(left).max() < TOLERANCE:
                return at(y)
            # in units of the steps: small singular values then belong to unknowns without effect
            J = np.array([(accelerations(y + e) - accelerations(y - e)) / 2 for e in np.diag(step)]).T
            move = step * np.linalg.lstsq(J, -left, rcond=1e-10)[0]
            share = 1.0
            while share > 1e-4:
                new = accelerations(y + share * move)
                if np.isfinite(new).all() and np.abs(new).max() < np.abs(left).max():
                    break
                share /= 2
            else:
                break
            y, left = y + share * move, new
        if np.abs(left).max() < 1e3 * TOLERANCE:  # as accurate as rounding allows
            return at(y)
        worst = int(np.argmax(np.abs(left)))
        name = self._rate_names[worst]
        raise SolverError(
            f"the car has no steady motion straight ahead at {self.speed:.4g} m/s: the search ended where '{name}' "
            f"changes at a rate of {left[worst]:.3g} (SI units); check the springs, tires and drive at this speed, "
            "or choose a maneuver that prescribes the steering over time"
        )

    def answer(self, q: Floats, v: Floats, z: Floats, p: Floats) -> SmallSteering:
        """The linear model at this state."""
        nt, nv, R = len(self.travels), len(self.moving), self._rotation(q)
        n = 3 + nt + nv + len(self.tires)

        def both(change: Floats) -> Floats:
            tilt = np.array([change[1], change[2], 0.0])
            moved = self._moved(q, change[0], tilt, change[3 : 3 + nt])
            new_v, new_z, new_p = v.copy(), z.copy(), p.copy()
            new_v[self.moving] += change[3 + nt : 3 + nt + nv]
            new_z[self.tires] += change[3 + nt + nv : n]
            new_p[self.steer] += change[n]
            rates = self._rates(moved, new_v, new_z, new_p, *change[n + 1 :])
            tilting = (R @ new_v[self.turning])[:2]
            _, accelerations, slips = np.split(rates, [q.size, q.size + v.size])
            own = [rates[[self.height]], tilting, rates[self.travels], accelerations[self.moving]]
            own = np.concatenate([*own, slips[self.tires]])
            x = np.concatenate([self._steered(moved, new_p), new_v, new_z, self.nothing])
            return np.concatenate([own, self.outputs(np.zeros(1), x, new_p)[0].ravel()[self.asked]])

        steps = np.full(n + 3, PLACE_STEP)
        steps[3 + nt : 3 + nt + nv], steps[3 + nt + nv : n], steps[n:] = SPEED_STEP, TIRE_STEP, STEERING_STEP
        columns = np.array([_slope(both, direction) for direction in np.diag(steps)]).T  # (n + m, n + 3)
        change = np.abs(columns * steps)
        columns = np.where(change < NOISE * change.max(axis=1, keepdims=True), 0.0, columns)
        return SmallSteering(columns[:n, :n], columns[:n, n:].T, columns[n:, :n], columns[n:, n:].T)

    def _steered(self, q: Floats, p: Floats) -> Floats:
        """The coordinates with the rack where the steering wheel moves it."""
        found = q.copy()
        found[self.rack] = self.ratio * p[self.steer]
        return found

    def _rates(
        self, q: Floats, v: Floats, z: Floats, p: Floats, rate: float = 0.0, bend: float = 0.0
    ) -> Floats:
        """q', v' and z' with a rack that moves with u, in p, u' = `rate` and u'' = `bend`."""
        v, more = v.copy(), p.copy()
        v[self.rack_rate] = self.ratio * rate
        x = np.concatenate([self._steered(q, p), v, z, self.nothing])
        more[self.steer] += APART
        one, other = (
            self.rates(np.zeros(1), x, each)[0].ravel()[: x.size - self.nothing.size] for each in (p, more)
        )
        at = q.size + self.rack_rate
        return one + (other - one) * ((self.ratio * bend - one[at]) / (other[at] - one[at]))

    def _rotation(self, q: Floats) -> Floats:
        w, *axis = q[self.quaternion]
        cross = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
        return np.eye(3) + 2 * w * cross + 2 * cross @ cross

    def _moved(self, q: Floats, rise: float, turn: Floats, travels: Floats) -> Floats:
        """The coordinates raised, turned by the vector `turn` about the world's axes, with other travels."""
        found = q.copy()
        found[self.height] += rise
        found[self.travels] += travels
        angle = float(np.linalg.norm(turn))
        a, b = np.cos(angle / 2), turn * (0.5 * np.sinc(angle / (2 * pi)))
        w, u = q[self.quaternion[0]], q[self.quaternion[1:]]
        found[self.quaternion] = [a * w - b @ u, *(a * u + w * b + np.cross(b, u))]
        return found


def _slope(f: Callable[[Floats], Floats], direction: Floats) -> Floats:
    """Derivative of f at zero along a direction of length h."""
    h = float(np.linalg.norm(direction))
    near, far = (f(k * direction) - f(-k * direction) for k in (1.0, 2.0))
    return near / h - far / (4 * h)
