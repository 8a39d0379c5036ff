"""Static equilibrium against closed solutions and identities: trees, loops, contacts, poor starts, faults."""

import numpy as np
import pytest

import sekant as sk
from loops import four_bar, slider_crank, stewart
from mechanisms import random_model
from sekant.engine.functions.outputs import output_function
from states import carried_over

G = 9.81
FORCES = ("bushing", "bushing", "actuator", "rotational_spring_damper", "joint_limit", "point_force")
ARM = sk.Body(mass=2.0, com=(0, 0, -0.5), inertia=(0.17, 0.17, 0.01))


def pendulum(q0="100 deg", **options):
    hinge = sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=q0)
    return sk.Model(name="pendulum", bodies={"arm": ARM}, joints={"hinge": hinge}, **options)


def block(**options):
    joint = sk.joints.Prismatic(child="block", axis=(0, 0, 1), q0=3.0)
    bodies = {"block": sk.Body(mass=1.5, inertia=(1, 2, 3))}
    return sk.Model(name="block", bodies=bodies, joints={"rail": joint}, **options)


@pytest.mark.parametrize("method", ["descent", "load stepping", "relaxation"])
def test_every_method_finds_the_hanging_pendulum_from_afar(method):
    found = sk.equilibrium(sk.compile(pendulum("80 deg")), method=method)
    assert abs(found.q[0]) < 1e-12
    assert found.method == method
    assert found.stability == "stable"
    assert found.curvatures[0] == pytest.approx(2.0 * G * 0.5 / (0.17 + 2 * 0.25), rel=1e-9)
    assert found.reactions["hinge"] == pytest.approx([0, 0, 2 * G, 0, 0, 0], abs=1e-11)


def test_a_pendulum_near_the_top_stays_there_unless_a_stable_position_is_asked_for():
    system = sk.compile(pendulum("172 deg"))
    top, bottom = sk.equilibrium(system), sk.equilibrium(system, stable=True)
    assert top.q[0] == pytest.approx(np.pi, abs=1e-12)
    assert top.stability == "unstable"
    assert np.cos(bottom.q[0]) == pytest.approx(1.0, abs=1e-15)
    assert bottom.stability == "stable"
    exactly = sk.equilibrium(sk.compile(pendulum("180 deg")), stable=True)
    assert np.cos(exactly.q[0]) == pytest.approx(1.0, abs=1e-15)


def test_a_tree_with_every_force_balances():
    system = sk.compile(random_model(11, ("revolute", "spherical", "path", "prismatic"), FORCES))
    found = sk.equilibrium(system, t=0.4)
    forces = system.inverse_dynamics(found.q, found.v, np.zeros(system.nv), t=0.4)
    assert np.abs(forces).max() < 1e-9
    assert np.abs(system.forward_dynamics(found.q, found.v, t=0.4)).max() < 1e-8


@pytest.mark.parametrize("make", [four_bar, slider_crank])
def test_loops_with_redundant_constraints_rest_at_the_same_place_in_both_formulations(make):
    joints, floating = sk.compile(make()), sk.compile(make(), formulation="cartesian")
    first = sk.equilibrium(joints)
    start = sk.assemble(joints)
    start = sk.State(
        start.q + 0.9 * (first.q - start.q), start.v * 0
    )  # the others have two positions of rest
    second = sk.equilibrium(floating, carried_over(joints, floating, start))
    for system, found in ((joints, first), (floating, second)):
        assert np.abs(system.forward_dynamics(found.q, found.v)).max() < 1e-8
        assert found.stability == "stable"
    assert first.curvatures == pytest.approx(second.curvatures, rel=1e-8)
    energies = [s.energy(f.q, f.v)[1] for s, f in ((joints, first), (floating, second))]
    assert energies[0] == pytest.approx(energies[1], abs=1e-10)


def test_stable_equilibrium_of_a_loop_is_a_minimum_of_the_energy_along_it():
    """Over the whole turn of the crank, by assembly at each angle."""
    system = sk.compile(four_bar())
    found = sk.equilibrium(system, stable=True)
    i = system.state_names.index("A.angle")
    here = system.energy(found.q, found.v)[1]
    for step in (-0.05, 0.05):
        guess = found.q.copy()
        guess[i] += step
        beside = sk.assemble(system, sk.State(guess, found.v), hold=["A.angle"])
        rise = system.energy(beside.q, found.v)[1] - here
        assert rise > 0


def test_holding_a_coordinate_takes_the_force_that_virtual_work_demands():
    """dV/d(angle) of the crank along the closed loop, by central differences of assembled positions."""
    system = sk.compile(four_bar())
    found = sk.equilibrium(system, hold=["A.angle"])
    i = system.state_names.index("A.angle")
    h, energy = 1e-5, []
    for sign in (1, -1):
        guess = found.q.copy()
        guess[i] += sign * h
        beside = sk.assemble(system, sk.State(guess, found.v), hold=["A.angle"])
        energy.append(system.energy(beside.q, found.v)[1])
    assert found.holding["A.angle"] == pytest.approx((energy[0] - energy[1]) / (2 * h), rel=1e-7)


def test_contacts_press_where_they_must_and_open_where_they_can():
    stop = sk.contacts.JointStop(joint="hinge", limit=0.3, side="lower")
    pressed = sk.equilibrium(sk.compile(pendulum(contacts={"stop": stop})))
    assert pressed.q[0] == pytest.approx(0.3, abs=1e-12)
    assert pressed.contacts["stop"] == pytest.approx(2 * G * 0.5 * np.sin(0.3), rel=1e-12)
    assert pressed.reactions["hinge"][4] == pytest.approx(pressed.contacts["stop"], rel=1e-9)
    beyond = sk.contacts.JointStop(joint="hinge", limit=-0.3, side="lower")
    free = sk.equilibrium(sk.compile(pendulum(contacts={"stop": beyond})))
    assert free.contacts == {}
    assert abs(free.q[0]) < 1e-12


def test_a_falling_block_comes_to_rest_on_the_floor():
    floor = sk.contacts.JointStop(joint="rail", limit=0.25, side="lower")
    found = sk.equilibrium(sk.compile(block(contacts={"floor": floor})))
    assert found.q[0] == pytest.approx(0.25, abs=1e-12)
    assert found.contacts["floor"] == pytest.approx(1.5 * G, rel=1e-12)


def test_a_compliant_stop_carries_the_weight():
    stop = sk.forces.JointLimit(joint="rail", lower=0.2, upper=9.0, stiffness=800.0, ramp=0.01)
    system = sk.compile(block(forces={"stop": stop}))
    found = sk.equilibrium(system)
    assert found.q[0] < 0.2
    assert np.abs(system.forward_dynamics(found.q, found.v)).max() < 1e-9


def test_mechanisms_in_points_hang_straight():
    m = sk.natural.Mechanism(dim=2, gravity=(0, -G))
    O, A, B = m.ground("O", (0, 0)), m.point("A", (0.6, -0.8)), m.point("B", (1.5, -0.8))
    m.rod(O, A, mass=1.3)
    m.rod(A, B, mass=0.7)
    found = sk.equilibrium(m.compile())
    assert found.q == pytest.approx([0.0, -1.0, 0.0, -1.9], abs=1e-12)
    assert found.stability == "stable"


def test_a_platform_on_legs_rests_against_their_springs():
    system = sk.compile(stewart())
    held = [name for name in system.state_names if name.endswith("displacement")]
    found = sk.equilibrium(system, hold=held)
    assert found.residual < 1e-8
    assert len(found.holding) == len(held)


def test_nothing_that_holds_is_named():
    with pytest.raises(
        sk.SekantError, match=r"14\.7.* unbalanced along 'rail.displacement'.*nothing resists"
    ):
        sk.equilibrium(sk.compile(block()))


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
def test_a_prescribed_motion_that_moves_is_refused_and_the_steady_motion_is_found(formulation):
    """A hub driven at constant rate: an arm on it does not rest, it turns with the hub at a fixed angle."""
    joints = {
        "shaft": sk.joints.Revolute(child="hub", axis=(0, 0, 1)),
        "hinge": sk.joints.Revolute(parent="hub", child="arm", axis=(0, 1, 0), q0=0.8),
    }
    bodies = {"hub": sk.Body(mass=1.0, inertia=(1, 1, 1)), "arm": ARM}
    drive = {"turn": sk.Motion(joint="shaft", value="5*t")}
    model = sk.Model(bodies=bodies, joints=joints, motions=drive)
    spinning = sk.compile(model, formulation=formulation, engine="casadi")
    with pytest.raises(
        sk.SekantError,
        match=r"'turn' moves at t = 0 s \(velocity or acceleration 5 in SI units\).*sk.analyses.steady_motion",
    ):
        sk.equilibrium(spinning)
    found = sk.linearize(spinning, sk.analyses.steady_motion(spinning, turn=5.0), outputs=["hinge.q"])
    angle = found.reporters.at(found.operating_point.point)[0][0]
    # (J_x - J_z + m l^2) w^2 sin cos = m g l sin
    cosine = 2 * G * 0.5 / ((0.17 - 0.01 + 2 * 0.25) * 25)
    assert np.cos(angle) == pytest.approx(cosine, rel=1e-10)
    # (J_y + m l^2) s'' + (J_x - J_z + m l^2) w^2 sin^2 s = 0
    squared = (0.17 - 0.01 + 0.5) * 25 * (1 - cosine**2) / (0.17 + 0.5)
    assert found.modes().eigenvalues == pytest.approx(
        [1j * np.sqrt(squared), -1j * np.sqrt(squared)], abs=1e-7
    )


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
@pytest.mark.parametrize("make", [four_bar, slider_crank])
def test_an_equilibrium_stays_on_the_branch_of_the_start(make, formulation):
    """Which way the second and third link lean on each other does not change on the way to rest."""
    base = make()
    for start in (-3.1, -2.0, 0.5, 2.6):
        crank = base.joints["A"].model_copy(update={"q0": (start,), "v0": (0.0,)})
        system = sk.compile(
            base.model_copy(update={"joints": {**base.joints, "A": crank}}),
            formulation=formulation,
            engine="casadi",
        )
        before, rest = sk.assemble(system), sk.equilibrium(system)
        assert _lean(system, before) * _lean(system, rest) > 0


def _lean(system, state) -> float:
    """y component of coupler x (crank's end to the pivot or guide that the last link is on)."""
    names = ["coupler.position", "coupler.orientation", "D.q"]
    function, outputs = output_function(system, names, balance=False)
    x = np.concatenate([state.q, state.v, np.zeros(len(system.work_names))])
    y = function(np.array([0.0]), x, system.parameter_vector())[0].ravel()
    widths = [o.width for o in outputs]
    at = dict(zip([o.name for o in outputs], np.split(y, np.cumsum(widths)[:-1]), strict=True))
    w, i, j, k = at["coupler.orientation"]
    along = np.array([1 - 2 * (j * j + k * k), 2 * (i * k - w * j)])  # x and z of its x axis
    if system.model.name == "slider_crank":
        return float(along[0])
    line = np.array([0.8, 0.1]) - at["coupler.position"][[0, 2]]
    return float(along[1] * line[0] - along[0] * line[1])


def test_faults_are_named():
    system = sk.compile(pendulum())
    with pytest.raises(sk.SekantError, match=r"cannot hold 'hinge.angel'; did you mean 'hinge.angle'"):
        sk.equilibrium(system, hold=["hinge.angel"])
    with pytest.raises(sk.SekantError, match="unknown method 'newtn'; did you mean 'newton'"):
        sk.equilibrium(system, method="newtn")
    with pytest.raises(sk.SekantError, match="is not a parameter"):
        sk.equilibrium(system, parameters={"m": 1.0})


def test_holding_a_point_and_a_length():
    """A pendulum of length l, held at its tip by a vertical force, or by a spring's length: moments by hand."""
    m, l, q0 = 2.0, 0.8, 0.6
    body = sk.Body(
        mass=m, com=(0, 0, -l), inertia=(0.01, 0.02, 0.015), frames={"tip": sk.Frame(position=(0, 0, -l))}
    )
    spring = sk.forces.SpringDamper(parent="ground.hook", child="arm.tip", stiffness=0.0)
    model = sk.Model(
        ground={"frames": {"hook": {"position": (0.9, 0.0, -0.2)}}},
        bodies={"arm": body},
        joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=q0)},
        forces={"rope": spring},
    )
    system = sk.compile(model, engine="casadi")
    found = sk.equilibrium(system, hold=["arm.tip.z"])
    assert found.holding["arm.tip.z"] == pytest.approx(m * 9.81, rel=1e-9)
    assert found.q[0] == pytest.approx(q0, abs=1e-9)
    tip, hook = np.array([-l * np.sin(q0), 0.0, -l * np.cos(q0)]), np.array([0.9, 0.0, -0.2])
    along = (tip - hook) / np.linalg.norm(tip - hook)
    way = np.array([-l * np.cos(q0), 0.0, l * np.sin(q0)])  # of the tip by the angle
    push = m * 9.81 * way[2] / (along @ way)  # virtual work: push d(length) = weight d(height)
    for name in ("rope.length", "distance(ground.hook, arm.tip)"):
        held = sk.equilibrium(system, hold=[name])
        assert held.holding[name] == pytest.approx(push, rel=1e-9)
