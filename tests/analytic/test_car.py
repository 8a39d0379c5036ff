"""Cars against closed solutions: single-track model, ride frequencies, statics of turns, braking, mirror images."""

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sedans import BRUSH, LINEAR, sedan
from sekant.engine.alike import Variant
from sekant.vehicle.car import Commands, car_description, car_model, single_track, standing_loads
from sekant.vehicle.car.grip import slip_of_most_force
from sekant.vehicle.drivers.path import preview_gains
from sekant.vehicle.driving import drive, lateral_model, speed_locus, steady_turns, straight_running
from sekant.vehicle.driving.driver_model import FELT
from sekant.vehicle.driving.standing_car import settled
from sekant.vehicle.driving.straight_ahead import small_steering

FRONT = [f"front.{side}.tire.cornering_stiffness" for side in ("left", "right")]
WHEELS = [f"{axle}.{side}" for axle in ("front", "rear") for side in ("left", "right")]


def total_mass(car):
    return single_track(car, standing_loads(car), 20.0).mass


@pytest.fixture(scope="module")
def flat():
    """The car with roll, pitch and heave locked, on linear tires without longitudinal forces."""
    car = car_description(sedan(LINEAR, drive=None))
    model = car_model(car, Commands(steer="delta", parameters={"delta": 0.0}), speed=20.0)
    joints = dict(model.joints)
    joints["travel"] = sk.joints.Planar(child="chassis", v0=(20.0, 0.0, 0.0))
    for wheel in WHEELS:
        joints[f"{wheel}.hub"] = joints[f"{wheel}.hub"].model_copy(update={"v0": (0.0,)})
    motions = dict(model.motions)
    for wheel in WHEELS:
        motions[f"{wheel}.lock"] = sk.Motion(joint=f"{wheel}.travel", value=0.0)
    return car, sk.compile(model.changed(joints=joints, motions=motions), parameters=["delta", *FRONT])


@pytest.mark.parametrize("speed", [8.0, 20.0, 45.0])
def test_eigenvalues_are_those_of_the_single_track_model(flat, speed):
    car, system = flat
    linear = single_track(car, standing_loads(car), speed)
    rolling = sk.analyses.steady_motion(system, velocity=(speed, 0.0, 0.0))
    found = sk.linearize(system, rolling).modes().eigenvalues
    wanted = linear.eigenvalues(speed)
    for value in wanted:
        assert np.abs(found - value).min() < 1e-6 * abs(value)


def test_root_locus_over_speed_of_a_car_that_oversteers(flat):
    """Stiffer front tires: both lateral eigenvalues at every speed, and stable up to sqrt(-L/K) and no farther."""
    stiff = 95e3
    given = sedan(
        {**LINEAR, "cornering_stiffness": stiff}, {**LINEAR, "cornering_stiffness": 61e3}, drive=None
    )
    car = car_description(given)
    linear = single_track(car, standing_loads(car), 20.0)
    (a, b), (C1, C2), m = np.abs(linear.places), linear.stiffnesses, linear.mass
    critical = np.sqrt((a + b) ** 2 * C1 * C2 / (m * (a * C1 - b * C2)))  # Riekert and Schunck
    assert linear.critical_speed == pytest.approx(critical, rel=1e-12)
    system = flat[1]

    def at(speed):
        values = dict.fromkeys(FRONT, stiff)
        return sk.linearize(
            system, sk.analyses.steady_motion(system, velocity=(speed, 0.0, 0.0), parameters=values)
        )

    speeds = np.array([12.0, 0.7 * critical, 0.999 * critical, 1.001 * critical, 1.3 * critical])
    locus = sk.analyses.root_locus(at, "speed", speeds)
    for speed, found in zip(speeds, locus.eigenvalues, strict=True):
        for value in linear.eigenvalues(speed):
            assert np.abs(found - value).min() < 1e-6 * max(abs(value), 1.0)
    stable = locus.eigenvalues.real.max(axis=1) < 1e-4
    assert stable.tolist() == [True, True, True, False, False]
    assert any(0.999 * critical < speed < 1.001 * critical for speed, _ in locus.crossings())


def test_the_yaw_gain_is_greatest_at_the_characteristic_speed(flat):
    """There the gain over the steer angle is half that of a car that rolls without slip, V / L."""
    car, _ = flat
    linear = single_track(car, standing_loads(car), 20.0)
    V = linear.characteristic_speed
    gain = [linear.yaw_gain(V * share) * linear.ratio for share in (0.99, 1.0, 1.01)]
    assert gain[1] == pytest.approx(V / (2 * linear.wheelbase), rel=1e-9)
    assert gain[1] > max(gain[0], gain[2])
    assert linear.critical_speed == np.inf


def test_gains_are_those_of_the_single_track_model(flat):
    """Steady sideslip velocity and yaw rate over the steering wheel angle, from the linear model of the car."""
    car, system = flat
    linear = single_track(car, standing_loads(car), 20.0)
    rolling = sk.analyses.steady_motion(system, velocity=(20.0, 0.0, 0.0))
    found = sk.linearize(system, rolling)
    rows = [list(found.state_names).index(name) for name in ("travel.vy", "travel.rate")]
    h = 1e-4 * linear.ratio  # a steer angle of 1e-4 rad leaves a share of 1e-8
    ends = [system.outputs(rolling, parameters={"delta": sign * h})["travel.a"] for sign in (1, -1)]
    B = (ends[0] - ends[1])[1:3] / (2 * h)
    A = found.A[np.ix_(rows, rows)] - [[0.0, 20.0], [0.0, 0.0]]  # axes that turn with the car see V r less
    v, r = -np.linalg.solve(A, B)
    wanted = linear.steady(20.0) / linear.ratio
    # the velocity is that of the chassis' origin, ahead of the center of mass of the whole
    center = car.axles["front"].at[0] - linear.places[0]
    assert r == pytest.approx(wanted[1], rel=1e-6)
    assert v + center * r == pytest.approx(wanted[0], rel=1e-6)
    K = (1 / (linear.ratio * r) - linear.wheelbase / 20.0) / 20.0
    assert pytest.approx(linear.understeer_gradient, rel=1e-5) == K


def test_understeer_gradient_by_its_formula(flat):
    car, _ = flat
    loads = standing_loads(car)
    # K = m (b C_2 - a C_1) / (L C_1 C_2)
    linear = single_track(car, loads, 20.0)
    (a, b), (C1, C2) = np.abs(linear.places), linear.stiffnesses
    K = linear.mass * (b * C2 - a * C1) / ((a + b) * C1 * C2)
    assert linear.understeer_gradient == pytest.approx(K, rel=1e-12)
    assert linear.mass * 9.81 == pytest.approx(2 * sum(loads.values()), rel=1e-12)


def ride_frequencies(car, heights):
    """Undamped frequencies (rad/s) from energies written down here: small motions about standing."""
    q, v = ca.SX.sym("q", 14), ca.SX.sym("v", 14)  # x, y, z, roll, pitch, yaw, four travels, four spins
    cx, sx, cy, sy, cz, sz = (f(q[i]) for i in (3, 4, 5) for f in (ca.cos, ca.sin))
    Rx = ca.vertcat(ca.horzcat(1, 0, 0), ca.horzcat(0, cx, -sx), ca.horzcat(0, sx, cx))
    Ry = ca.vertcat(ca.horzcat(cy, 0, sy), ca.horzcat(0, 1, 0), ca.horzcat(-sy, 0, cy))
    Rz = ca.vertcat(ca.horzcat(cz, -sz, 0), ca.horzcat(sz, cz, 0), ca.horzcat(0, 0, 1))
    R = Rz @ Ry @ Rx
    w = ca.SX.zeros(3)  # in the chassis
    for i in (3, 4, 5):
        S = R.T @ ca.reshape(ca.jacobian(ca.vec(R), q[i]), 3, 3)
        w = w + v[i] * ca.vertcat(S[2, 1], S[0, 2], S[1, 0])
    T = V = ca.SX(0)

    def particle(mass, place):
        nonlocal T, V
        p = q[:3] + R @ place
        rate = ca.jtimes(p, q, v)
        T = T + mass / 2 * ca.dot(rate, rate)
        V = V + mass * 9.81 * p[2]
        return p

    chassis = car.chassis
    particle(chassis.mass, ca.DM(list(chassis.com)))
    T = T + ca.dot(w, ca.DM(list(chassis.inertia)) * w) / 2
    loads, k = standing_loads(car), 0
    for name, axle in car.axles.items():
        data, wheel = axle.suspension, axle.wheel
        if axle.steering is not None:
            particle(axle.steering.rack_mass, ca.DM([axle.at[0], 0, heights[name]]))
        first = 6 + k
        for sign in (1, -1):
            u = q[6 + k]
            place = ca.vertcat(axle.at[0], sign * data.track / 2, heights[name] + u)
            p = particle(data.mass + wheel.mass, place)
            spin = w + ca.vertcat(0, v[10 + k], 0)
            T = (
                T
                + (ca.dot(w, ca.DM(list(data.inertia)) * w) + ca.dot(spin, ca.DM(list(wheel.inertia)) * spin))
                / 2
            )
            preload = loads[name] - 9.81 * (data.mass + wheel.mass)
            V = V + preload * u + data.stiffness / 2 * u**2
            e_y = R[:, 1]
            upward = ca.sqrt(1 - e_y[2] ** 2)  # of the wheel's plane against the road's normal
            V = V + axle.tire.vertical_stiffness / 2 * (axle.tire.radius - p[2] / upward) ** 2
            k += 1
        V = V + axle.anti_roll_bar / 2 * (q[first] - q[first + 1]) ** 2
    M, K = ca.hessian(T, v)[0], ca.hessian(V, q)[0]
    at = ca.Function("at", [q, v], [M, K, ca.gradient(V, q)])
    M, K, slope = (np.array(x) for x in at(np.zeros(14), np.zeros(14)))
    assert np.abs(slope).max() < 1e-6
    from scipy.linalg import eigh

    return np.sqrt(np.maximum(eigh(K, M, eigvals_only=True), 0.0))


def test_ride_frequencies():
    given = sedan({**LINEAR, "cornering_stiffness": 0.0}, {**LINEAR, "cornering_stiffness": 0.0}, drive=None)
    for axle in given["axles"].values():
        axle["suspension"]["damping"] = 0.0
    car = car_description(given)
    model = car_model(car)
    system = sk.compile(model)
    modes = sk.linearize(system, sk.assemble(system)).modes()
    heights = {name: model.joints[f"{name}.left.travel"].parent_pose.position[2] for name in car.axles}
    wanted = ride_frequencies(car, heights)[-7:]
    found = np.sort(modes.eigenvalues.imag[modes.eigenvalues.imag > 1.0])
    assert found.size == 7
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.fixture(scope="module")
def turning():
    """A long step steer."""
    return drive(sedan(), "step-steer", speed=20.0, acceleration=4.0, duration=40.0, rtol=1e-10)


def test_loads_and_roll_in_a_steady_turn_follow_from_statics(turning):
    """All forces of the road against weight and centripetal force, and their moments about the mass center."""
    end = {name: turning.result[name][-1] for name in turning.result.names}
    car = turning.car
    m = total_mass(car)
    force, places = np.zeros(3), []
    for wheel in WHEELS:
        force += end[f"{wheel}.tire.force"]
        places.append(end[f"{wheel}.tire.contact"])
    r = end["yaw_rate"]
    # the center of mass of all parts circles about the vertical axis: its acceleration is r^2 times its distance
    parts = {"chassis.cg": car.chassis.mass, "front.rack_bar": car.axles["front"].steering.rack_mass}
    center, velocity = np.zeros(3), np.zeros(3)
    bodies = {"chassis": (car.chassis.mass, end["position"], end["velocity"])}
    bodies["rack"] = (parts["front.rack_bar"], end["front.rack_bar.position"], end["front.rack_bar.velocity"])
    for wheel in WHEELS:
        axle = car.axles[wheel.split(".")[0]]
        for part, mass in (("upright", axle.suspension.mass), ("wheel", axle.wheel.mass)):
            bodies[f"{wheel}.{part}"] = (
                mass,
                end[f"{wheel}.{part}.position"],
                end[f"{wheel}.{part}.velocity"],
            )
    for mass, p, v in bodies.values():
        center, velocity = center + mass * p / m, velocity + mass * v / m
    inward = r * np.array([-velocity[1], velocity[0], 0.0])
    np.testing.assert_allclose(force, m * inward + [0, 0, m * 9.81], atol=1e-6 * m * 9.81)
    # roll moment about the center: loads times levers, side forces times height; spinning wheels add their turn
    e_x = velocity / np.linalg.norm(velocity)
    moment, momentum = np.zeros(3), np.zeros(3)
    for wheel, place in zip(WHEELS, places, strict=True):
        moment += np.cross(place - center, end[f"{wheel}.tire.force"])
        n = end[f"{wheel}.tire.Mx"] * e_x + end[f"{wheel}.tire.Mz"] * np.array([0, 0, 1.0])
        moment += n
    J = {"chassis": car.chassis.inertia, "rack": (0, 0, 0)}
    frames = {"chassis": "chassis", "rack": "front.rack_bar"}
    for wheel in WHEELS:
        axle = car.axles[wheel.split(".")[0]]
        J[f"{wheel}.upright"], J[f"{wheel}.wheel"] = axle.suspension.inertia, axle.wheel.inertia
        frames |= {f"{wheel}.upright": f"{wheel}.upright", f"{wheel}.wheel": f"{wheel}.wheel"}
    for name, (mass, p, v) in bodies.items():
        R = rotation(end[f"{frames[name]}.orientation"])
        w = end[f"{frames[name]}.angular_velocity"]
        momentum += R @ (np.array(J[name]) * (R.T @ w)) + mass * np.cross(p - center, v - velocity)
    change = np.cross([0, 0, r], momentum)
    lever = m * np.linalg.norm(inward) * center[2]
    assert np.abs((moment - change) @ e_x) < 1e-6 * lever


def rotation(e):
    w, x, y, z = e
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_locked_wheels_brake_by_friction():
    """All wheels slide: the deceleration is friction times gravity, whatever springs do."""
    car = sedan(
        {**BRUSH, "vertical_damping": 2000.0}, drive=None, brakes={"torque": 40e3, "front_share": 0.55}
    )
    run = drive(car, "brake-straight", speed=25.0, pedal=1.0)
    found = {m.name: m.value for m in run.measures}
    assert found["mean deceleration"] == pytest.approx(0.85 * 9.81, rel=5e-3)  # the body still pitches
    least = 25.0**2 / (2 * 0.85 * 9.81)
    assert least < found["stopping distance"] < least + 25.0 * 0.2  # the pedal takes 0.2 s
    assert run.result.status == "stopped"  # where the speed falls through 0.1 m/s
    assert run["speed"][-1] == pytest.approx(0.1, abs=1e-9)
    assert all(run[f"{wheel}.brake.stuck"][-1] == 1 and run[f"{wheel}.hub.v"][-1] == 0 for wheel in WHEELS)


def test_energy_balance_of_a_maneuver_closes():
    run = drive(sedan(), "iso-3888-1", speed="75 km/h")
    assert run.complete
    drop = np.ptp(run["energy.kinetic"])
    lost = sum(np.trapezoid(run[f"{w}.tire.dissipation"], run.time) for w in WHEELS)
    assert lost > 1000.0
    assert np.abs(run["energy.balance"]).max() < 1e-7 * (lost + drop)


def test_left_is_the_mirror_image_of_right():
    left, right = (
        drive(sedan(), "step-steer", speed=20.0, acceleration=side * 5.0, duration=4.0, rtol=1e-11)
        for side in (1, -1)
    )
    for name, sign in (("yaw_rate", -1), ("speed", 1), ("sideslip", -1)):
        np.testing.assert_allclose(left[name], sign * right[name], atol=1e-9)
    np.testing.assert_allclose(left["front.left.tire.load"], right["front.right.tire.load"], rtol=1e-9)
    np.testing.assert_allclose(left["rear.right.tire.Fy"], -right["rear.left.tire.Fy"], atol=1e-5)


def test_a_car_on_simple_suspensions_stands_as_it_is_described():
    """Springs that carry the car in its description: settling it, as cars of drawings are, moves nothing."""
    sketch = car_description(sedan())
    model = car_model(sketch)
    car = Variant(sk.compile(model, engine="casadi"), model)
    described, found = car.initial_state(), settled(car, sketch, 0.0)
    np.testing.assert_allclose(found.q, described.q, atol=1e-9)
    np.testing.assert_allclose(found.v, described.v, atol=1e-9)


SENSITIVE = ["chassis.mass", "front.left.tire.tread_stiffness", "rear.right.tire.friction"]


@pytest.fixture(scope="module")
def steady(turning):
    """The turn in which the step steer ends."""
    end = {name: turning.result[name][-1] for name in turning.result.names}
    speed = float(np.linalg.norm(end["chassis.velocity"]))
    return steady_turns(turning.car, speed, [end["yaw_rate"] * speed], SENSITIVE)


@pytest.mark.long
def test_sensitivities_of_a_steady_turn_are_those_of_differences(steady):
    """Steering wheel angle and slowest oscillation by masses and tires, lateral acceleration and speed kept."""
    motion, system, a = steady.motions[0], steady.system, steady.accelerations[0]
    found = steady.sensitivity(0, SENSITIVE)
    base = {name: float(system.parameters[name][0]) for name in SENSITIVE}
    own = {name: motion.unknowns[name] for name in ("steer", "torque")}

    def steer(**changed):
        return sk.analyses.steady_motion(
            system,
            sk.State(q=motion.q, v=motion.v),
            turn=motion.turn,
            center=motion.center,
            rates=motion.rates,
            unknown=["turn", "steer", "torque", *motion.rates],
            targets={"chassis.lateral_acceleration": a, "chassis.speed": steady.speed},
            parameters={**base, **own, **changed},
            tolerance=1e-12,
        ).unknowns["steer"]

    for k, name in enumerate(SENSITIVE):
        h = 1e-4 * base[name]
        slope = (steer(**{name: base[name] + h}) - steer(**{name: base[name] - h})) / (2 * h)
        assert found.unknowns["steer"][k] == pytest.approx(slope, rel=1e-4)  # h^2 and round-off over h
    by_mass, by_front, by_rear = (float(x) for x in found.unknowns["steer"])
    assert by_mass > 0 > by_front  # who understeers steers more when heavy, and less on stiffer front tires
    assert abs(by_rear) > 0


def test_a_steady_turn_is_the_end_of_a_long_simulation(turning, steady):
    end = {name: turning.result[name][-1] for name in turning.result.names}
    turns, a = steady, steady.accelerations[0]
    found = turns.motions[0]
    assert found.residual < 1e-8
    assert turns.steering[0] == pytest.approx(end["steering_wheel"], rel=1e-7)
    assert found.unknowns["torque"] == pytest.approx(
        end["drive.torque"], rel=1e-5
    )  # the PI driver still settles
    for name in ("sideslip", "front.left.tire.load", "rear.right.tire.Fy"):
        assert turns.output(name)[0] == pytest.approx(end[name], rel=1e-7)
    assert found.outputs["angles"][2] == pytest.approx(end["angles"][2], rel=1e-7)
    # who moves along sees a plane without a place: the shifted circle turns backwards at the rate of the turn
    values = turns.linear(0).modes().eigenvalues
    assert np.abs(values - 1j * end["yaw_rate"]).min() < 1e-7
    assert values.real.max() < 1e-7
    # and the slope of the handling diagram at small accelerations is the understeer gradient, but for roll
    assert 0 < turns.handling[0] / a < 5 * turning.linear.understeer_gradient


KERB = {"type": "cleat", "height": 0.12, "start": 25.0, "length": 0.5, "edge": 0.15, "left_edge": 0.0}

TALL = {"mass": 1300, "com": [-1.15, 0, 0.75], "inertia": [520, 1900, 2100]}


@pytest.mark.parametrize(
    ("car", "what", "options"),
    [
        (sedan(chassis=TALL), "iso-3888-2", {"speed": "80 km/h"}),  # beyond what the tires can do
        (sedan(road=KERB), "step-steer", {"speed": 15.0, "acceleration": 1.0, "duration": 4.0}),
    ],
    ids=["limit", "kerb"],
)
def test_wheels_lift_and_land_without_loss(car, what, options):
    run = drive(car, what, **options)
    assert run.complete, run.result.message
    loads = np.array([run[f"{wheel}.tire.load"] for wheel in WHEELS])
    assert loads.min() == 0.0
    assert np.all(np.isfinite(run.result.data))
    lost = sum(np.trapezoid(run[f"{w}.tire.dissipation"], run.time) for w in WHEELS)
    assert np.abs(run["energy.balance"]).max() < 1e-7 * (lost + np.ptp(run["energy.kinetic"]))
    off = [np.abs(run[f"{w}.tire.Fy"][run[f"{w}.tire.load"] == 0.0]) for w in WHEELS]
    assert max(x.max() for x in off if x.size) < 0.01  # N, see LEAST in the tire element
    if what == "iso-3888-2":
        assert any("cannot follow it" in line for line in run.warnings)
        # front tires slide and the driver knows: the car plows, its tail stays behind, and at the end it is on course
        assert any(line.startswith("limit of grip: ") for line in run.warnings)
        assert np.abs(run["sideslip"]).max() < np.radians(20.0)  # a spin has ninety and more
        assert np.abs(run["angles"][-1, 0]) < np.radians(3.0)
        assert np.abs(run["steering_beyond_grip"]).max() > 1.0


def test_the_slip_of_most_force_is_that_of_the_brush_tire():
    """s (3 - 3 s + s^2) = 0.98 with s = C tan(alpha) / (3 mu Fz): one less the cube root of 0.02."""
    tire = car_description(sedan()).axles["front"].tire
    found = slip_of_most_force(tire, 4000.0, 0.7)
    wanted = np.arctan((1 - 0.02 ** (1 / 3)) * 3 * 0.85 * 0.7 * 4000.0 / 60e3)
    assert found == pytest.approx(wanted, abs=1 / 2000)
    linear = car_description(sedan(LINEAR, drive=None)).axles["front"].tire
    assert slip_of_most_force(linear, 4000.0) > np.arctan(0.97)


@pytest.fixture(scope="module")
def straight():
    return straight_running(sedan(), 20.0), lateral_model(sedan(), 20.0)


def test_the_drivers_model_is_that_of_the_linear_car(straight):
    """Steady gains to round-off, and answers to steering within half a percent up to 1.5 Hz."""
    running, model = straight
    for f, share in ((1e-5, 1e-7), (0.2, 5e-3), (0.7, 5e-3), (1.5, 5e-3)):
        exact = running.response([f])[0]
        found = np.linalg.solve(2j * np.pi * f * np.eye(model.B.size) - model.A, model.B)
        assert np.abs(found - exact).max() < share * np.abs(exact).max()
    # the steady turn by statics of the linear car: more understeer than without roll and load transfer
    plain = single_track(car_description(sedan()), standing_loads(car_description(sedan())), 20.0)
    assert model.yaw_gain == pytest.approx(plain.yaw_gain(20.0), rel=0.05)


def test_a_law_without_a_value_is_an_error_in_words():
    car = car_description({**sedan(), "air": {"front_area": "log(h - 20)"}})
    with pytest.raises(
        sk.SekantError, match=r"has no equilibrium at 20 m/s.*downforce areas that depend on the ride height"
    ):
        small_steering(car, 20.0, tuple(FELT))


def test_answers_to_small_steering_are_those_of_the_exact_linear_car(straight):
    """By differences of the right-hand side: about 1e-9 of the largest answer."""
    frequencies = [1e-5, 0.3, 1.4]
    found = small_steering(car_description(sedan()), 20.0, tuple(FELT))
    assert found is not None
    exact = straight[0].response(frequencies)
    np.testing.assert_allclose(found.response(frequencies), exact, rtol=0.0, atol=2e-8 * np.abs(exact).max())


def test_a_car_with_unequal_sides_runs_straight_with_its_wheel_turned():
    """And answers to a little more steering as one with equal sides does, but for its loads."""
    car = car_description(sedan())
    aside = car.chassis.model_copy(update={"com": (car.chassis.com[0], 0.02, car.chassis.com[2])})
    found, equal = (
        small_steering(one, 20.0, tuple(FELT)).response([0.3])
        for one in (car.model_copy(update={"chassis": aside}), car)
    )
    assert np.abs(found - equal).max() < 0.02 * np.abs(equal).max()
    assert np.abs(found - equal).max() > 1e-6 * np.abs(equal).max()


def by_differences(running):
    """Eigenvalues of a car that runs straight ahead, by differences of its accelerations, in axes that move along.

    x = (place, small rotation, travels, angles of wheels; velocities): the rotation turns the velocity (body axes)
    into the world, p' = v + theta x v_0, and all other coordinates change with their own velocities.
    """
    system, at = running.linear.system, running.linear.operating_point
    q, v, n, h = np.asarray(at.point.q, float), np.asarray(at.point.v, float), system.nv, 1e-7

    def rate(x):
        e = np.r_[1.0, 0.5 * x[3:6]]
        moved = np.r_[q[:3] + x[:3], e / np.linalg.norm(e), q[7:] + x[6:n]]
        going = v + x[n:]
        w, x_, y_, z_ = moved[3:7]
        turn = np.array([[0, -z_, y_], [z_, 0, -x_], [-y_, x_, 0]])
        along = going[3:6] + 2 * w * turn @ going[3:6] + 2 * turn @ turn @ going[3:6]
        accelerations = system.forward_dynamics(moved, going, parameters=at.parameters)
        return np.r_[along, going[:3], going[6:], accelerations]

    columns = [(rate(h * e) - rate(-h * e)) / (2 * h) for e in np.eye(2 * n)]
    return np.linalg.eigvals(np.column_stack(columns))


def agree(found, wanted):
    """All eigenvalues but those of place, heading and angles of wheels, which are zero; differences of brush tires,
    whose forces have a kink in their second derivative, leave 2e-7."""
    moving = found[np.abs(found) > 0.1]
    assert moving.size == 20
    for value in moving:
        assert np.abs(wanted - value).min() < 1e-6 * abs(value)


def test_eigenvalues_of_a_whole_car_are_those_of_differences(straight):
    """Wheel hop, heave, pitch, roll, sideslip and yaw, slip of the wheels: with suspensions and all tires."""
    agree(straight[0].linear.modes().eigenvalues, by_differences(straight[0]))


@pytest.mark.long
def test_root_locus_over_speed_of_a_whole_car():
    speeds = [9.0, 34.0]
    locus = speed_locus(sedan(), speeds)
    for speed, found in zip(speeds, locus.eigenvalues, strict=True):
        agree(found, by_differences(straight_running(sedan(), speed)))


def test_preview_weights_reproduce_every_straight_path(straight):
    """A path that is known to lie aside, or to run off straight, is followed without error by the optimal driver."""
    K, times, weights = preview_gains(straight[1], 20.0)
    n = straight[1].B.size
    assert weights.sum() == pytest.approx(K[n], rel=1e-12)
    # heading along y = c x: the car is there, turned by c, and steers nothing
    assert weights @ times * 20.0 == pytest.approx(K[n + 1], rel=2e-2)  # 24 points stand for the integral


def test_preview_gains_are_found_once_for_a_car_and_a_speed(straight, tmp_path, monkeypatch):
    monkeypatch.setenv("SEKANT_CACHE_DIR", str(tmp_path))
    first = preview_gains(straight[1], 20.0)
    with monkeypatch.context() as patched:
        patched.setattr("scipy.linalg.solve_continuous_are", None)
        for one, other in zip(first, preview_gains(straight[1], 20.0), strict=True):
            np.testing.assert_array_equal(one, other)
    assert not np.array_equal(preview_gains(straight[1], 21.0)[0], first[0])


SLOPE = {"type": "grade", "slope": 0.08}
RELAXED = {**BRUSH, "longitudinal_relaxation": 0.2, "lateral_relaxation": 0.4, "patch_damping": 3000.0}


def test_a_braked_car_stays_on_a_grade():
    """Wheels stick to the last bit, and the car hangs on its tires: it comes to rest and stays there."""
    car = car_description(sedan(RELAXED, road=SLOPE, drive=None))
    result = sk.simulate(car_model(car, Commands(brake="1")), 8.0, output_step=0.5)
    assert result.ok
    assert all(np.all(result[f"{wheel}.hub.v"] == 0.0) for wheel in WHEELS)
    x, late = result["position"][:, 0], result.time > 6.0
    assert np.ptp(x[late]) < 1e-6
    pull = sum(result[f"{wheel}.tire.Fx"][-1] for wheel in WHEELS)
    weight = total_mass(car) * 9.81 * np.sin(np.arctan(0.08))
    assert pull == pytest.approx(weight, rel=1e-4)  # wheels are not quite upright on the grade


def test_a_run_that_ends_early_tells_no_measures_of_its_maneuver(tmp_path):
    rows = "\n".join(f"{x},0" for x in range(-10, 41, 10))
    (tmp_path / "road.csv").write_text(f"x,z\n{rows}\n")
    road = {"type": "track", "file": str(tmp_path / "road.csv")}
    run = drive(sedan(road=road), "step-steer", speed=20.0, duration=4.0)
    assert not run.complete
    assert "the run ended at" in run.warnings[0]
    assert "measures of the maneuver are left out" in run.warnings[0]
    assert not any("gain" in measure.name for measure in run.measures)
