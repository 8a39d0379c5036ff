"""Steady motions with known solutions: pendulums, top, governor, a circling body; and their small oscillations."""

import numpy as np
import pytest
import scipy.linalg

import sekant as sk
from linear_models import EXAMPLES

G, L, OMEGA = 9.81, 0.5, 6.0
THETA = float(np.arccos(G / (L * OMEGA**2)))


def rotating_pendulum(free: bool = False, torque: bool = False) -> sk.Model:
    """A point of 10 kg on 0.5 m below a hub that turns freely about z."""
    bodies = {
        "hub": sk.Body(mass=1.0, inertia=(0.1, 0.1, 0.1) if free else (0, 0, 0)),
        "bob": sk.Body(
            mass=10.0, com=(0, 0, -L), inertia=(0, 0, 0), frames={"end": sk.Frame(position=(0, 0, -L))}
        ),
    }
    joints = {
        "shaft": sk.joints.Revolute(child="hub", axis=(0, 0, 1)),
        "hinge": sk.joints.Revolute(parent="hub", child="bob", axis=(0, 1, 0), q0=0.8),
    }
    forces = {"drive": sk.forces.Actuator(joint="shaft", force="T - 0.3*v")} if torque else {}
    return sk.Model(bodies=bodies, joints=joints, forces=forces, parameters={"T": 0.0} if torque else {})


def test_rotating_pendulum_of_trom():
    """Table 5.1: 0, 0, +-8.58076i at 30 degrees and 4.75975 rad/s; the rate is found for the angle."""
    system = sk.compile(rotating_pendulum())
    steady = sk.analyses.steady_motion(
        system, rates={"shaft.angle": 3.0}, unknown=["shaft.angle"], targets={"hinge.q": np.pi / 6}
    )
    assert steady.unknowns["shaft.angle"] == pytest.approx(4.75975, abs=5e-6)
    assert steady.free == ("shaft.angle",)
    modes = sk.linearize(system, steady).modes()
    assert modes.zeros == 2
    assert modes.eigenvalues[2:] == pytest.approx([8.58076j, -8.58076j], abs=5e-6)


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
def test_conical_pendulum_turns_as_a_whole(formulation):
    """cos(theta) = g / (l Omega^2), and its small oscillations in the turning axes."""
    system = sk.compile(rotating_pendulum(free=formulation != "joint"), formulation=formulation)
    steady = sk.analyses.steady_motion(system, turn=OMEGA)
    assert f"turns about z at {OMEGA:g} rad/s\n" in str(steady)  # and not with a velocity of zero
    linear = sk.linearize(system, steady, outputs=["bob.orientation.y"])
    half = float(linear.reporters.at(linear.operating_point.point)[0][0])
    assert 2 * np.arcsin(abs(half)) == pytest.approx(THETA, abs=1e-9)
    modes = linear.modes()
    found = modes.eigenvalues[modes.oscillations]
    hub = 0.0 if formulation == "joint" else 0.1
    J, s, c = 10 * L**2, np.sin(THETA), np.cos(THETA)
    squared = OMEGA**2 * (s**2 + 4 * J * s**2 * c**2 / (J * s**2 + hub))
    assert found == pytest.approx([1j * np.sqrt(squared)], rel=1e-8)
    assert modes.zeros == 2


def test_drive_torque_against_friction_is_found():
    """0.3 N m s/rad at 6 rad/s; damping makes one of the two zeros decay."""
    system = sk.compile(rotating_pendulum(torque=True), parameters=["T"])
    steady = sk.analyses.steady_motion(system, rates={"shaft.angle": OMEGA}, unknown=["T"])
    assert steady.unknowns["T"] == pytest.approx(0.3 * OMEGA, abs=1e-9)
    assert sk.linearize(system, steady).modes().zeros == 1


def heavy_top() -> tuple[sk.Model, tuple[float, ...]]:
    """A symmetric top on a ball joint: A, C about the point of support, weight times lever."""
    m, d, A, C = 1.5, 0.2, 0.08, 0.03
    body = sk.Body(mass=m, com=(0, 0, d), inertia=(A - m * d**2, A - m * d**2, C))
    joints = {
        "precession": sk.joints.Revolute(child="gimbal1", axis=(0, 0, 1)),
        "nutation": sk.joints.Revolute(parent="gimbal1", child="gimbal2", axis=(1, 0, 0), q0=0.5),
        "spin": sk.joints.Revolute(parent="gimbal2", child="top", axis=(0, 0, 1)),
    }
    none = sk.Body(mass=0.0, inertia=(0, 0, 0))
    return sk.Model(bodies={"gimbal1": none, "gimbal2": none, "top": body}, joints=joints), (A, C, m * G * d)


def test_heavy_top():
    """Regular precession A W^2 cos - C n W + m g d = 0 (n: spin about its axis), and the nutation about it."""
    model, (A, C, weight) = heavy_top()
    system = sk.compile(model)
    theta, W = 0.5, 1.2
    steady = sk.analyses.steady_motion(
        system,
        rates={"precession.angle": W, "spin.angle": 30.0},
        unknown=["spin.angle"],
        targets={"nutation.q": theta},
    )
    n = (weight + A * W**2 * np.cos(theta)) / (C * W)
    assert steady.unknowns["spin.angle"] == pytest.approx(n - W * np.cos(theta), rel=1e-10)
    modes = sk.linearize(system, steady).modes()
    # momenta p_psi = C n and p_phi = A W sin^2 + C n cos are kept; theta'' follows from the effective potential
    s, c = np.sin(theta), np.cos(theta)
    p_psi, p_phi = C * n, A * W * s**2 + C * n * c

    def slope(x: float) -> float:
        return (
            (p_phi - p_psi * np.cos(x)) * p_psi / (A * np.sin(x))
            - (p_phi - p_psi * np.cos(x)) ** 2 * np.cos(x) / (A * np.sin(x) ** 3)
            - weight * np.sin(x)
        )

    h = 1e-5
    frequency = np.sqrt((slope(theta + h) - slope(theta - h)) / (2 * h) / A)
    assert np.abs(slope(theta)) < 1e-9
    assert modes.eigenvalues[modes.oscillations] == pytest.approx([1j * frequency], rel=1e-8)
    assert modes.zeros == 4
    assert s > 0


def governor(formulation: str) -> sk.System:
    """Watt's governor: two arms with balls and two links to a collar: a closed loop (cut), redundant in 3D."""
    arm = sk.Body(
        mass=2.0, com=(0.3, 0, 0), inertia=(0, 0, 0), frames={"knee": sk.Frame(position=(0.15, 0, 0))}
    )
    end = {"end": sk.Frame(position=(0.15, 0, 0))}
    link = sk.Body(mass=1e-9, com=(0.075, 0, 0), inertia=(1e-12, 1e-12, 1e-12), frames=end)
    other = {"axis": (0, 0, 1), "angle": np.pi}
    top = sk.Frame(position=(0, 0, 0.5))
    bodies = {
        "shaft": sk.Body(
            mass=1.0,
            inertia=(0.01, 0.01, 0.01),
            frames={"top1": top, "top2": sk.Frame(position=(0, 0, 0.5), orientation=other)},
        ),
        "arm1": arm,
        "arm2": arm,
        "link1": link,
        "link2": link,
        "collar": sk.Body(
            mass=3.0, inertia=(0.001, 0.001, 0.001), frames={"back": sk.Frame(orientation=other)}
        ),
    }
    y = (0, 1, 0)
    joints = {
        "axle": sk.joints.Revolute(child="shaft", axis=(0, 0, 1)),
        "A1": sk.joints.Revolute(parent="shaft.top1", child="arm1", axis=y, q0=0.9),
        "A2": sk.joints.Revolute(parent="shaft.top2", child="arm2", axis=y, q0=0.9),
        "B1": sk.joints.Revolute(parent="arm1.knee", child="link1", axis=y, q0=np.pi - 1.8),
        "B2": sk.joints.Revolute(parent="arm2.knee", child="link2", axis=y, q0=np.pi - 1.8),
        "slide": sk.joints.Prismatic(parent="shaft", child="collar", axis=(0, 0, 1), q0=0.26),
        "C1": sk.joints.Revolute(parent="link1.end", child="collar", axis=y),
        "C2": sk.joints.Revolute(parent="link2.end", child="collar.back", axis=y),
    }
    return sk.compile(sk.Model(bodies=bodies, joints=joints), formulation=formulation)


@pytest.mark.parametrize(
    "formulation", ["joint", pytest.param("cartesian", marks=pytest.mark.long), "natural"]
)
def test_centrifugal_governor(formulation):
    """Arms of a with balls at b: Omega^2 = g (m b + M a) / (m b^2 sin(beta)), beta below the horizontal."""
    system = governor(formulation)
    m, M, a, b, rate = 2.0, 3.0, 0.15, 0.3, 12.0
    options = {"rates": {"axle.angle": rate}} if formulation == "joint" else {"turn": rate}
    start = sk.assemble(system)
    steady = sk.analyses.steady_motion(system, start, **options)
    linear = sk.linearize(system, steady, outputs=["collar.position.z"])
    z = float(linear.reporters.at(linear.operating_point.point)[0][0])
    sine = (0.5 - z) / (2 * a)
    assert sine == pytest.approx(G * (m * b + M * a) / (m * b**2 * rate**2), abs=1e-7)
    modes = linear.modes()
    assert modes.zeros == 2
    # T = 1/2 beta'^2 (J + 4 M a^2 cos^2) + 1/2 W^2 (I + J cos^2), J = 2 m b^2, W free: momentum kept
    J, cosine = 2 * m * b**2, np.sqrt(1 - sine**2)
    inertia = J + 4 * M * a**2 * cosine**2
    total = 0.01 + 0.001 + J * cosine**2
    stiffness = rate**2 * J * (cosine**2 - sine**2) + 2 * G * (m * b + M * a) * sine
    gyroscopic = (2 * J * cosine * sine * rate) ** 2 / total
    expected = np.sqrt((stiffness + gyroscopic) / inertia)
    assert modes.eigenvalues[modes.oscillations] == pytest.approx([1j * expected], rel=1e-6)


def test_circling_body_sees_itself_at_rest():
    """A free body on a spring to the axis: k (r - l0) = m W^2 r; in plane (3 W^2 + k/m) about it."""
    m, k, rest, W = 2.0, 50.0, 0.8, 3.0
    body = sk.Body(mass=m, inertia=(0.1, 0.1, 0.1))
    model = sk.Model(
        bodies={"ball": body},
        joints={"free": sk.joints.Free(child="ball", position=(1.0, 0.1, 0.0))},
        forces={
            "spring": sk.forces.SpringDamper(parent="ground", child="ball", stiffness=k, free_length=rest)
        },
        gravity=(0, 0, 0),
    )
    system = sk.compile(model)
    steady = sk.analyses.steady_motion(system, turn=W, targets={"ball.radius": k * rest / (k - m * W**2)})
    assert np.linalg.norm(steady.q[:3]) == pytest.approx(k * rest / (k - m * W**2), abs=1e-9)
    values = sk.linearize(system, steady).modes().eigenvalues
    # in plane: r'' = W^2 r - k (r - l0)/m with r^2 W kept; out of plane: tension over radius
    radial = np.sqrt(3 * W**2 + k / m)
    assert np.min(np.abs(values - 1j * radial)) < 1e-9
    # a spinning sphere in turning axes: the turn of the body about a fixed direction appears at W
    assert np.min(np.abs(values - 1j * W)) < 1e-6
    faster = sk.analyses.steady_motion(system, turn=2.0, unknown=["turn"], targets={"ball.speed": 4.0})
    r = faster.unknowns["turn"]
    assert k * (4.0 / r - rest) == pytest.approx(m * r * 4.0, rel=1e-9)
    assert "turn" not in faster.free
    assert (
        "turn" in sk.analyses.steady_motion(system, turn=2.0, unknown=["turn"]).free
    )  # no target: any turn will do
    for speed in (2.5, 4.0, 6.5):  # six zeros, two of them defective: neither stable nor unstable
        found = sk.analyses.steady_motion(system, turn=2.0, unknown=["turn"], targets={"ball.speed": speed})
        modes = sk.linearize(system, found).modes()
        assert (modes.stability, int(np.sum(np.abs(modes.eigenvalues) < 1e-6))) == ("marginal", 6)


def test_linear_model_in_moving_axes_follows_the_nonlinear_motion():
    """The radius of a disturbed circling body oscillates as the linear model says, to second order."""
    model = sk.Model(
        bodies={"ball": sk.Body(mass=2.0, inertia=(0.1, 0.1, 0.1))},
        joints={"free": sk.joints.Free(child="ball", position=(1.25, 0.0, 0.0))},
        forces={
            "spring": sk.forces.SpringDamper(parent="ground", child="ball", stiffness=50.0, free_length=0.8)
        },
        gravity=(0, 0, 0),
    )
    system = sk.compile(model)
    steady = sk.analyses.steady_motion(system, turn=3.0)
    linear = sk.linearize(system, steady, outputs=["spring.length"])
    push = np.zeros(12)
    push[9] = 1.0  # velocity along the body's x axis
    errors = []
    for size in (1e-2, 1e-3):
        v = steady.v + size * push[6:]
        run = sk.simulate(
            system, until=1.5, output_step=0.5, initial=sk.State(steady.q, v), rtol=1e-11, atol=1e-12
        )
        x = scipy.linalg.expm(linear.A * 1.5) @ (size * push)
        C = linear.state_space().C
        length = float(np.asarray(run["spring.length"])[-1])
        start = float(np.asarray(run["spring.length"])[0])
        errors.append(abs(length - start - float((C @ x)[0])))
    assert errors[1] < 0.015 * errors[0] < 1e-4


@pytest.mark.parametrize("unknown", [["T"], ["T", "shaft.angle"]])
def test_sensitivities_follow_the_steady_motion(unknown):
    """Eigenvalues by the length of a spring and by a mass, torque and rate being found anew, against differences."""
    model = rotating_pendulum(torque=True)
    spring = sk.forces.SpringDamper(
        parent="hub.top", child="bob.end", stiffness=90.0, damping=3.0, free_length=0.7
    )
    hub = sk.Body(mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"top": sk.Frame(position=(0.1, 0, 0.3))})
    model = model.model_copy(
        update={"forces": {**model.forces, "spring": spring}, "bodies": {**model.bodies, "hub": hub}}
    )
    names = ["spring.free_length", "bob.mass"]
    system = sk.compile(model, parameters=["T", *names])

    def at(**values):
        options = {"targets": {"hinge.q": 0.9}} if len(unknown) == 2 else {}
        parameters = {"spring.free_length": 0.7, "bob.mass": 10.0} | values
        steady = sk.analyses.steady_motion(
            system,
            rates={"shaft.angle": 5.0},
            unknown=unknown,
            parameters=parameters,
            tolerance=1e-12,
            **options,
        )
        return sk.linearize(system, steady)

    found = at().sensitivity(names).eigenvalues
    for k, (name, value) in enumerate((("spring.free_length", 0.7), ("bob.mass", 10.0))):
        h = 1e-5 * value
        ahead, behind = (at(**{name: value + s * h}).modes().eigenvalues for s in (1, -1))
        slope = (ahead - behind) / (2 * h)
        assert found[1:, k] == pytest.approx(slope[1:], abs=2e-6 * np.max(np.abs(slope)))


def sprung_pendulum() -> sk.Model:
    """The rotating pendulum with a spring and damper to the hub, all moments different."""
    model = rotating_pendulum(free=True)
    spring = sk.forces.SpringDamper(
        parent="hub.top", child="bob.end", stiffness=90.0, damping=3.0, free_length=0.7
    )
    hub = sk.Body(mass=1.0, inertia=(0.1, 0.2, 0.3), frames={"top": sk.Frame(position=(0.1, 0, 0.3))})
    return model.model_copy(update={"forces": {"spring": spring}, "bodies": {**model.bodies, "hub": hub}})


@pytest.fixture(scope="module")
def sprung():
    names = ["spring.free_length", "bob.mass"]
    return {f: sk.compile(sprung_pendulum(), formulation=f, parameters=names) for f in ("joint", "natural")}


@pytest.mark.parametrize(
    ("formulation", "at"), [("joint", None), ("joint", "motion"), ("natural", None), ("natural", "motion")]
)
def test_sensitivities_in_moving_and_in_fixed_axes_are_total_derivatives(sprung, formulation, at):
    """The whole turns as one body; position and velocities change with the parameter. Against differences."""
    system = sprung[formulation]
    base = {"spring.free_length": 0.7, "bob.mass": 10.0}

    def linear(**values):
        return sk.linearize(
            system,
            sk.analyses.steady_motion(system, turn=OMEGA, parameters=base | values, tolerance=1e-12),
            at=at,
        )

    found = linear().sensitivity(list(base)).eigenvalues
    for k, (name, value) in enumerate(base.items()):
        h = 1e-4 * value
        ahead, behind = (linear(**{name: value + s * h}).modes().eigenvalues for s in (1, -1))
        slope = (ahead - behind) / (2 * h)
        first = 0 if (formulation, at) == ("natural", "motion") else 2  # behind two zeros
        assert np.max(np.abs(slope[first:])) > 0.03
        assert found[first:, k] == pytest.approx(slope[first:], abs=1e-7 * np.max(np.abs(slope)))


def test_frozen_eigenvalues_depend_on_the_formulation_and_say_so(sprung):
    """In natural coordinates the points turn, and a frozen matrix has other eigenvalues; moving axes agree."""
    moving, fixed = {}, {}
    for formulation, system in sprung.items():
        steady = sk.analyses.steady_motion(system, turn=OMEGA)
        moving[formulation], fixed[formulation] = (
            sk.linearize(system, steady, at=at) for at in (None, "motion")
        )
        assert moving[formulation].warnings == ()
    oscillation = {f: linear.modes().eigenvalues[2] for f, linear in moving.items()}
    assert oscillation["joint"] == pytest.approx(oscillation["natural"], rel=1e-9)
    assert fixed["joint"].warnings == ()  # the shaft's angle is ignorable: nothing moves in its coordinates
    assert fixed["joint"].modes().eigenvalues[2] == pytest.approx(oscillation["joint"], rel=1e-9)
    [warning] = fixed["natural"].warnings
    assert warning.code == "frozen_motion"
    assert "leave out at='motion'" in warning.remedy
    assert "warning: eigenvalues" in fixed["natural"].modes().table()
    assert abs(fixed["natural"].modes().eigenvalues[2] - oscillation["joint"]) > 1.0


def test_a_frozen_instant_of_any_motion_warns():
    system = sk.compile(rotating_pendulum(free=True), engine="casadi")
    assert sk.linearize(system, sk.State(np.array([0.1, 0.4]), np.zeros(2)), at="motion").warnings != ()
    [warning] = sk.linearize(
        system, sk.State(np.array([0.1, 0.4]), np.array([1.0, 0.3])), at="motion"
    ).warnings
    assert (warning.code, warning.place) == ("frozen_motion", "t = 0 s")
    assert "sk.analyses.steady_motion" in warning.remedy
    hanging = sk.linearize(system, sk.State(np.zeros(2), np.zeros(2)), at="motion")
    assert hanging.warnings == ()


def test_unknowns_of_a_steady_motion_have_derivatives():
    """T = 0.3 Omega, and Omega^2 = g / (l cos) at a given angle; a longer arm turns more slowly."""
    system = sk.compile(rotating_pendulum(torque=True), parameters=["T", "bob.com"])
    steady = sk.analyses.steady_motion(
        system, rates={"shaft.angle": 5.0}, unknown=["T", "shaft.angle"], targets={"hinge.q": 0.9}
    )
    found = sk.linearize(system, steady).sensitivity(["bob.com"]).unknowns
    Omega = np.sqrt(G / (L * np.cos(0.9)))
    assert steady.unknowns["shaft.angle"] == pytest.approx(Omega, rel=1e-9)
    assert found["shaft.angle"][2] == pytest.approx(0.5 * Omega / L, rel=1e-7)  # com.z = -l
    assert found["T"][2] == pytest.approx(0.3 * 0.5 * Omega / L, rel=1e-7)


def test_impossible_steady_motions_say_why():
    system = sk.compile(rotating_pendulum(torque=True), parameters=["T"])
    with pytest.raises(sk.SekantError, match=r"impossible.*shaft"):
        sk.analyses.steady_motion(system, rates={"shaft.angle": 3.0})
    with pytest.raises(sk.SekantError, match=r"no coordinate 'shaft.angel'"):
        sk.analyses.steady_motion(system, rates={"shaft.angel": 3.0})
    with pytest.raises(sk.SekantError, match=r"unknown 'torque'"):
        sk.analyses.steady_motion(system, rates={"shaft.angle": 3.0}, unknown=["torque"])
    with pytest.raises(sk.SekantError, match=r"no body 'bop'"):
        sk.analyses.steady_motion(system, turn=1.0, targets={"bop.radius": 0.2})
    hinge = sk.Model(
        bodies={"rod": sk.Body(mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))},
        joints={"hinge": sk.joints.Revolute(child="rod", axis=(0, 1, 0), q0=np.pi / 2)},
    )
    with pytest.raises(sk.SekantError, match=r"the motion is not steady"):
        sk.analyses.steady_motion(sk.compile(hinge), rates={"hinge.angle": 2.0})
    with pytest.raises(sk.SekantError, match=r"rod.angular_velocity"):
        sk.analyses.steady_motion(sk.compile(hinge), turn=2.0)


def test_motion_as_input_about_a_steady_motion():
    """A slide moves the hinge of a turning pendulum outward: slow changes keep the angular momentum."""
    J, m_s, m, r = 0.1, 0.5, 10.0, 0.07
    model = rotating_pendulum(free=True)
    hinge = model.joints["hinge"].model_copy(update={"parent": "slide"})
    model = model.model_copy(
        update={
            "bodies": {**model.bodies, "slide": sk.Body(mass=m_s, inertia=(0, 0, 0))},
            "joints": {
                "shaft": model.joints["shaft"],
                "rail": sk.joints.Prismatic(parent="hub", child="slide", axis=(-1, 0, 0), q0=r),
                "hinge": hinge,
            },
            "motions": {"reach": sk.Motion(joint="rail", value="r")},
            "parameters": {"r": r},
        }
    )
    system = sk.compile(model, parameters=["r"])
    steady = sk.analyses.steady_motion(system, turn=OMEGA)
    linear = sk.linearize(system, steady, inputs=["reach"], outputs=["hinge.q"])
    theta = float(steady.outputs["hinge.q"])
    s, c = np.sin(theta), np.cos(theta)
    R = r + L * s
    assert R * OMEGA**2 * c == pytest.approx(G * s, rel=1e-9)
    inertia = J + m_s * r**2 + m * R**2
    # W' = -W (2 m_s r + 2 m R (1 + L c theta')) / inertia  and  d(R W^2 cos - g sin) = 0, for r' = 1
    outward = -OMEGA / inertia * np.array([2 * m_s * r + 2 * m * R, 2 * m * R * L * c])
    left = OMEGA**2 * c + 2 * OMEGA * R * c * outward[0]
    right = OMEGA**2 * R * s + G * c - OMEGA**2 * L * c**2 - 2 * OMEGA * R * c * outward[1]
    assert linear.transfer(1e-3j)[0, 0] == pytest.approx(left / right, rel=1e-5)
    rate = linear.sensitivity(["r"]).eigenvalues[linear.modes().oscillations, 0]
    h, found = 1e-5, []
    for shift in (-h, h):
        moved = sk.analyses.steady_motion(system, steady, turn=OMEGA, parameters={"r": r + shift})
        modes = sk.linearize(system, moved, inputs=["reach"]).modes()
        found.append(modes.eigenvalues[modes.oscillations])
    assert rate == pytest.approx((found[1] - found[0]) / (2 * h), rel=1e-5)


def coin(own_joint: bool) -> sk.Model:
    """A coin of radius 0.1 m on edge that rolls along x at 1 m/s, its spin in a free joint or in one of its own."""
    body = sk.Body(mass=0.5, inertia=(1.25e-3, 2.5e-3, 1.25e-3))
    roll = {"roll": sk.constraints.Rolling(frame="coin", radius=0.1)}
    place = {"position": (0, 0, 0.1), "velocity": (1.0, 0, 0)}
    if not own_joint:
        free = sk.joints.Free(child="coin", angular_velocity=(0, 10.0, 0), **place)
        return sk.Model(bodies={"coin": body}, joints={"free": free}, constraints=roll)
    joints = {
        "free": sk.joints.Free(child="hub", **place),
        "spin": sk.joints.Revolute(parent="hub", child="coin", axis=(0, 1, 0)),
    }
    hub = sk.Body(mass=1e-6, inertia=(1e-9, 1e-9, 1e-9))
    return sk.Model(bodies={"hub": hub, "coin": body}, joints=joints, constraints=roll)


def test_the_spin_of_a_rolling_coin_needs_a_joint_of_its_own():
    """The error says so, and what it advises works."""
    advised = r"rolls or spins, give its spin a separate joint: attach a light body to 'free'.*`rates`"
    with pytest.raises(sk.SekantError, match=advised):
        sk.analyses.steady_motion(coin(False), velocity=(1.0, 0, 0))
    steady = sk.analyses.steady_motion(coin(True), velocity=(1.0, 0, 0), rates={"spin.angle": 10.0})
    names = steady.system.state_names[steady.system.nq :]
    found = dict(zip(names, steady.v, strict=False))
    assert found["spin.rate"] == pytest.approx(10.0)
    assert found["free.vx"] == pytest.approx(1.0)


def test_a_target_without_a_derivative_is_named():
    """The speed of a coin on the axis of the turn is zero, where it has a corner."""
    with pytest.raises(sk.SekantError, match=r"coin\.speed' has no derivative at this point of the search"):
        sk.analyses.steady_motion(coin(False), turn=0.5, targets={"coin.speed": 1.0})


@pytest.mark.parametrize("formulation", ["joint", pytest.param("cartesian", marks=pytest.mark.long)])
def test_a_governor_on_stiff_springs_is_found_without_creeping(formulation):
    """Struts of 800 kN/m hold the slider: each step of the search went by the little they bend, a thousand times.

    Virtual work of one side: weight of ball, rod and half the slider against what the turn throws outward.
    """
    turn = 6.28
    system = sk.compile(sk.load(EXAMPLES / "flyball_governor.yaml"), formulation=formulation)
    steady = sk.analyses.steady_motion(system, turn=turn)
    assert steady.iterations < 400
    R, length, ball, rod, slider, g = 0.05, 1.0, 5.0, 0.3, 3.0, 9.81
    angle = np.arcsin((1.0 - system.outputs(steady, "slider.position")["slider.position"][2]) / length)
    arm, second = ball * length + rod * length / 2, ball * length**2 + rod * length**2 / 3
    thrown = turn**2 * np.sin(angle) * (R * arm + second * np.cos(angle))
    weight = g * (arm + slider * length / 2) * np.cos(angle)
    assert thrown == pytest.approx(weight, rel=1e-3)  # the struts give way by some hundredths of a millimeter
