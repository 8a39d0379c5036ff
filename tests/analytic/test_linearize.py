"""Linear models against minimal equations, nonlinear motion, other routes and each other."""

import numpy as np
import pytest

import sekant as sk
from linear_models import (
    DAMPING,
    G,
    loaded_slider_crank,
    minimal_slider_crank,
    slider_pendulum,
)
from sekant.analyses.linear.independent_coordinates import ReducedEquations, restricted
from sekant.engine.functions.linear import MotionPoint, linear_functions
from sekant.model.table import TableData


@pytest.mark.parametrize("formulation", ["joint", "cartesian", "natural"])
def test_a_loaded_loop_agrees_with_its_minimal_equation_and_needs_the_multipliers(formulation):
    """TROM (4.12) says that d(Phi_q^T lam)/dq vanishes. Here it makes up a good part of the stiffness."""
    system = sk.compile(loaded_slider_crank(), formulation=formulation)
    rest = sk.equilibrium(system)
    linear = sk.linearize(system, rest)
    crank = sk.equilibrium(sk.compile(loaded_slider_crank())).q[0]
    theta, expected = minimal_slider_crank(crank)
    assert np.cos(crank - theta) == pytest.approx(1.0, abs=1e-14)
    found = linear.modes().eigenvalues[0]
    assert abs(found - expected) < 1e-9 * abs(expected)

    where = linear.operating_point
    p = where.point
    dropped = linear_functions(system).tangent(MotionPoint(p.t, p.q, p.v, p.a, 0 * p.lam, p.p))
    wrong = ReducedEquations(restricted(dropped, where.rows), linear.reduction.basis)
    error = abs(wrong.K_z[0, 0] - linear.K[0, 0]) / abs(linear.K[0, 0])
    print(f"{formulation}: stiffness without the multipliers is off by {100 * error:.1f} %")
    assert error > 0.05


def rod_of_one_meter():
    rod = sk.Body(mass=3.0, com=(0, 0, -0.5), inertia=(0.25, 0.25, 0.0))
    return sk.Model(bodies={"rod": rod}, joints={"hinge": sk.joints.Revolute(child="rod", axis=(0, 1, 0))})


def test_a_hinged_rod_swings_alike_in_joint_cartesian_and_natural_coordinates():
    """3 g / 2 l = 14.715 1/s^2; without the multipliers Cartesian coordinates would give zero stiffness."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, -G))
    m.rod(m.ground("O", (0, 0)), m.point("A", (0.28, -0.96)), mass=3.0)
    systems = [
        sk.compile(rod_of_one_meter()),
        sk.compile(rod_of_one_meter(), formulation="cartesian"),
        sk.compile(rod_of_one_meter(), formulation="natural"),
        m.compile(),
    ]
    for system in systems:
        linear = sk.linearize(system)
        assert linear.K[0, 0] / linear.M[0, 0] == pytest.approx(14.715, abs=1e-9)


def test_descriptor_form_has_the_same_finite_eigenvalues():
    import scipy.linalg

    linear = sk.linearize(sk.compile(loaded_slider_crank()))
    E, A = linear.descriptor()
    # the pencil is singular where constraints are redundant: take independent rows first
    n = linear.system.nv
    rows = linear.reduction.tangent.G
    keep = []
    for i in range(rows.shape[0]):
        if np.linalg.matrix_rank(rows[[*keep, i]], tol=1e-9) > len(keep):
            keep.append(i)
    pick = [*range(2 * n), *(2 * n + i for i in keep)]
    values = scipy.linalg.eig(A[np.ix_(pick, pick)], E[np.ix_(pick, pick)], right=False)
    finite = values[np.abs(values) < 1e3]
    expected = linear.modes().eigenvalues
    assert finite[np.argsort(finite.imag)] == pytest.approx(expected[np.argsort(expected.imag)], rel=1e-6)


def test_other_routes_give_the_same_matrices():
    """Forward dynamics to rounding; one-sided differences to their step."""
    system = sk.compile(loaded_slider_crank())
    rest = sk.equilibrium(system)
    exact = sk.linearize(system, rest, independent=["A.angle"])
    forward = sk.linearize(system, rest, independent=["A.angle"], method="forward")
    rough = sk.linearize(system, rest, independent=["A.angle"], method="finite_difference")
    assert pytest.approx(exact.A, rel=1e-9, abs=1e-9) == forward.A
    difference = np.abs(rough.A - exact.A).max() / np.abs(exact.A).max()
    assert 0 < difference < 1e-5
    assert exact.state_names == ("A.angle", "A.rate")
    assert exact.C[0, 0] / exact.M[0, 0] == pytest.approx(-exact.A[1, 1], rel=1e-12)
    slide = exact.Z[exact.coordinate_names.index("D.displacement"), 0]
    assert exact.C[0, 0] == pytest.approx(DAMPING * slide**2, rel=1e-10)


def motion_after(system, state, until):
    result = sk.simulate(system, until=until, initial=state, rtol=1e-12, atol=1e-13, outputs=["A.q", "A.v"])
    return np.array([result["A.q"][-1], result["A.v"][-1]])


def test_small_motions_follow_the_linear_model_to_second_order():
    import scipy.linalg

    system = sk.compile(loaded_slider_crank())
    rest = sk.equilibrium(system)
    linear = sk.linearize(system, rest, independent=["A.angle"])
    flow = scipy.linalg.expm(0.2 * linear.A)
    errors = []
    for size in (2e-3, 1e-3):
        start = sk.assemble(system, sk.State(rest.q + size * linear.Z[:, 0], rest.v), hold=["A.angle"])
        moved = motion_after(system, start, 0.2) - [rest.q[0], 0.0]
        errors.append(np.abs(moved - flow @ [size, 0.0]).max())
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_an_instant_of_a_motion_follows_its_own_linear_model():
    """d(x')/dx along the tumbling of a free body with a spring: A maps small changes to changes of their rates."""
    body = sk.Body(mass=1.3, com=(0.1, -0.2, 0.05), inertia=(0.3, 0.5, 0.7))
    model = sk.Model(
        bodies={"top": body},
        joints={"ball": sk.joints.Spherical(child="top")},
        forces={"friction": sk.forces.PointForce(frame="top", force=(0.3, 0.1, -0.2), resolved_in="frame")},
    )
    system = sk.compile(model)
    q = np.array([0.8, 0.2, -0.4, 0.4])
    q /= np.linalg.norm(q)
    v = np.array([1.1, -2.3, 0.7])
    linear = sk.linearize(system, sk.State(q, v), at="motion")
    forward = sk.linearize(system, sk.State(q, v), at="motion", method="forward")
    assert pytest.approx(forward.A, rel=1e-11, abs=1e-11) == linear.A
    with pytest.raises(sk.SekantError, match="not a steady motion"):
        sk.linearize(system, sk.State(q, v))


def test_a_motion_as_input_acts_with_its_rates():
    """A mass on a spring and damper whose other end is moved: H = (k + c s) / (m s^2 + c s + k)."""
    m, k, c = 1.7, 90.0, 2.3
    bodies = {"base": sk.Body(mass=1.0, inertia=(1, 1, 1)), "mass": sk.Body(mass=m, inertia=(1, 1, 1))}
    joints = {
        "shake": sk.joints.Prismatic(child="base", axis=(1, 0, 0)),
        "rail": sk.joints.Prismatic(parent="base", child="mass", axis=(1, 0, 0)),
    }
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies=bodies,
        joints=joints,
        forces={"strut": sk.forces.Actuator(joint="rail", force=f"-{k}*q - {c}*v")},
        motions={"road": sk.Motion(joint="shake", value=0.0)},
    )
    for formulation in ("joint", "cartesian"):
        system = sk.compile(model, formulation=formulation)
        linear = sk.linearize(system, inputs=["road"], outputs=["mass.position.x", "mass.acceleration.x"])
        for f in (0.3, 1.1, 4.0):
            s = 2j * np.pi * f
            H = (k + c * s) / (m * s**2 + c * s + k)
            found = linear.frequency_response(f)[0, :, 0]
            assert found == pytest.approx([H, s**2 * H], rel=1e-9)
    only = sk.linearize(sk.compile(model), inputs=["road"], outputs=["mass.position.x"])
    A, B, C, D = only.state_space()
    s = 2j * np.pi * 1.1
    assert (C @ np.linalg.solve(s * np.eye(2) - A, B) + D)[0, 0] == pytest.approx(
        only.transfer(s)[0, 0], rel=1e-12
    )
    assert only.to_scipy().A.shape == (2, 2)


def test_a_force_shows_at_once_in_accelerations_and_reactions():
    """Slider of 10 kg alone: a = F / m at high frequency; where it cannot be told it is refused."""
    model = slider_pendulum(20.0)
    single = model.model_copy(
        update={"bodies": {"slider": model.bodies["slider"]}, "joints": {"slide": model.joints["slide"]}}
    )
    linear = sk.linearize(
        sk.compile(single), inputs=["slide.displacement"], outputs=["slider.acceleration.y"]
    )
    s = 2j * np.pi * 3.0
    assert linear.transfer(s)[0, 0] == pytest.approx(s**2 / (10 * s**2 + 20 * s + 20), rel=1e-10)
    assert linear.state_space().D[0, 0] == pytest.approx(0.1, rel=1e-12)
    floating = sk.compile(single, formulation="cartesian")
    with pytest.raises(sk.SekantError, match=r"changes 'slider.acceleration.y' immediately"):
        sk.linearize(floating, inputs=["slider.vy"], outputs=["slider.acceleration.y"])


def test_power_spectrum_of_white_noise_has_the_known_variance():
    """Force of density S (two-sided over frequency in Hz) on m, c, k: variance S / (2 c k)."""
    model = slider_pendulum(20.0)
    bodies = {"slider": model.bodies["slider"]}
    single = model.model_copy(update={"bodies": bodies, "joints": {"slide": model.joints["slide"]}})
    linear = sk.linearize(sk.compile(single), inputs=["slide.displacement"], outputs=["slide.q"])
    f = np.linspace(-40, 40, 80001)
    spectrum = linear.power_spectrum(f, [3.0])[:, 0]
    assert np.trapezoid(spectrum, f) == pytest.approx(3.0 / (2 * 20 * 20), rel=1e-4)


def test_rolling_leaves_more_positions_than_velocities():
    from loops import disc

    system = sk.compile(disc())
    state = sk.assemble(system)
    linear = sk.linearize(system, state, at="motion")
    forward = sk.linearize(system, state, at="motion", method="forward")
    assert linear.A.shape[0] > 2 * linear.reduction.basis.Z_v.shape[1]
    assert pytest.approx(forward.A, rel=1e-7, abs=1e-7) == linear.A
    with pytest.raises(sk.SekantError, match="velocity constraints"):
        _ = linear.K


def test_faults_are_named():
    system = sk.compile(slider_pendulum())
    off = sk.State(np.array([0.1, 0.0]), np.zeros(2))
    with pytest.raises(
        sk.SekantError, match=r"not an equilibrium: a force of 2 N .*along 'slide.rate'.*sk.equilibrium"
    ):
        sk.linearize(system, off)
    assert sk.linearize(system, off, at="motion").A.shape == (4, 4)
    with pytest.raises(sk.SekantError, match=r"no input 'slide.displacment': .*; did you mean"):
        sk.linearize(system, inputs=["slide.displacment"])
    with pytest.raises(sk.SekantError, match=r"there is no output 'rod.positon'"):
        sk.linearize(system, outputs=["rod.positon"])
    loop = sk.compile(loaded_slider_crank())
    with pytest.raises(sk.SekantError, match=r"independent must name 1 coordinate \(got 2\)"):
        sk.linearize(loop, independent=["A.angle", "B.angle"])
    with pytest.raises(sk.SekantError, match="unknown method 'exct'"):
        sk.linearize(system, method="exct")
    with pytest.raises(sk.SekantError, match=r"unknown parameter 'rod.mas'|no field 'mas'"):
        sk.linearize(system).sensitivity(["rod.mas"])
    massless = sk.Model(
        bodies={"a": sk.Body(mass=0.0, inertia=(0, 0, 0))},
        joints={"j": sk.joints.Prismatic(child="a")},
        forces={"s": sk.forces.Actuator(joint="j", force="-3*q")},
    )
    with pytest.raises(sk.SekantError, match="singular"):
        sk.linearize(sk.compile(massless))


KINKED = {"x": [-1, 0, 1, 2], "y": [-3, 0, 1, 2]}


def _slider(force, **table):
    tables = {"law": TableData(**(KINKED | table))}
    joints = {"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0))}
    return sk.Model(
        gravity=(0, 0, 0),
        tables=tables,
        bodies={"block": sk.Body(mass=2.0)},
        joints=joints,
        forces={"law_of_rail": sk.forces.Actuator(joint="rail", force=force)},
    )


@pytest.mark.parametrize(
    ("force", "name"),
    [
        ("-law(rail.q)", "rail.displacement"),
        ("-4*rail.q - law(rail.v)", "rail.rate"),
        ("-2*rail.q - abs(rail.q)", "rail.displacement"),
        ("-4*rail.q - if_else(rail.v > 0, 1, 3)*rail.v", "rail.rate"),
    ],
)
def test_a_kink_at_the_operating_point_is_named_with_both_slopes(force, name):
    (warning,) = sk.linearize(_slider(force)).warnings
    assert (warning.code, warning.item) == ("kink", name)
    slopes = {"3", "1"}
    assert slopes <= set(warning.cause.replace(";", " ").split())


@pytest.mark.parametrize(
    ("force", "table"),
    [
        ("-law(rail.q)", {"kind": "pchip"}),
        ("-4*rail.q - rail.v*abs(rail.v)", {}),
        ("-4*rail.q - max(0, rail.q - 0.001)", {}),
        ("-4*rail.q - law(rail.q + 0.5)+law(0.5)", {}),
    ],
)
def test_forces_without_a_kink_there_do_not_warn(force, table):
    assert sk.linearize(_slider(force, **table)).warnings == ()
