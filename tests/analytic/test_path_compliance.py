"""Path and surface joints on springs: statics, the limit of stiff springs, energy, and frames that turn."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import root

import sekant as sk
from paths import GRAVITY, OTHER, PLACE, SKEW, alone, on_path, outputs, springs, surface_springs, twisted
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.body import Body
from sekant.model.forces import PointForce, Torque
from sekant.model.joints import Path, Surface
from sekant.model.joints.compliance import PathCompliance, Spring, SurfaceCompliance
from sekant.model.prescribed_motion import Motion
from sekant.model.quantities import Expression

STIFFNESSES = (1.1e4, 2.3e4, 310.0, 470.0, 590.0)


def line() -> PoseCurve:
    """A straight path along (1, 2, 2)/3, M's x axis along it."""
    from sekant.geometry.curves.track_segments import Straight

    return PoseCurve.track([Straight(4.0)], start=((0.1, -0.2, 0.3), (1.0, 2.0, 2.0)), frame="upright")


def loaded(joint, load: np.ndarray, hold: dict[str, Motion], R_WC: np.ndarray) -> sk.System:
    """A body that is held along the path and loaded by a wrench (force, moment), given in C, at M's origin."""
    force, moment = R_WC @ load[:3], R_WC @ load[3:]
    return sk.compile(
        sk.Model(
            gravity=(0, 0, 0),
            bodies={"body": Body(mass=1.3, com=(0, 0, 0), inertia=(0.2, 0.3, 0.4, 0, 0, 0))},
            joints={"joint": joint},
            forces={
                "push": PointForce(frame="body", force=tuple(force)),
                "twist": Torque(frame="body", torque=tuple(moment)),
            },
            motions=hold,
        )
    )


def rest(system: sk.System) -> np.ndarray:
    """Coordinates (n,) in equilibrium."""
    zero = np.zeros(system.nv)
    found = root(lambda q: system.forward_dynamics(q, zero), zero, tol=1e-13)
    assert system.forward_dynamics(found.x, zero) == pytest.approx(zero, abs=1e-8)
    return found.x


@pytest.mark.parametrize("direction", range(5))
def test_a_unit_load_deflects_by_one_over_k(direction):
    """Normal and binormal force, moments about x, y and z: each moves its own spring by 1/k, and no other."""
    names = PathCompliance.directions
    compliance = PathCompliance(**{n: Spring(stiffness=k) for n, k in zip(names, STIFFNESSES, strict=True)})
    curve = line()
    joint = Path(child="body", curve=curve, compliance=compliance, parent_pose=PLACE)
    R_WC = np.array(ca.evalf(PLACE.pose().R)) @ curve.pose(1.7)[0]
    load = np.zeros(6)
    load[1 + direction] = 1.0  # fy, fz, then the three moments
    system = loaded(joint, load, {"hold": Motion(joint="joint", coordinate=0, value=1.7)}, R_WC)
    expected = np.zeros(5)
    expected[direction] = 1.0 / STIFFNESSES[direction]
    assert rest(system) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("direction", range(4))
def test_a_unit_load_deflects_a_surface_by_one_over_k(direction):
    """A plane that is spanned obliquely by its coordinates: the normal force and three moments."""
    names, values = SurfaceCompliance.directions, STIFFNESSES[1:]
    compliance = SurfaceCompliance(**{n: Spring(stiffness=k) for n, k in zip(names, values, strict=True)})
    plane = PoseSurface.from_function(
        lambda a, b: ca.vertcat(2 * a + 0.5 * b, 0.7 * b, 0.3 * a - 0.2 * b), ((-1, 1), (-1, 1))
    )
    joint = Surface(child="body", surface=plane, compliance=compliance, parent_pose=PLACE)
    normal = np.cross([2, 0, 0.3], [0.5, 0.7, -0.2])
    load = np.zeros(6)
    if direction == 0:
        load[:3] = normal / np.linalg.norm(normal)
    else:
        load[2 + direction] = 1.0
    hold = {f"hold{i}": Motion(joint="joint", coordinate=i, value=0.1 * i) for i in range(2)}
    system = loaded(joint, load, hold, np.array(ca.evalf(PLACE.pose().R)))
    expected = np.zeros(4)
    expected[direction] = 1.0 / values[direction]
    assert rest(system) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("yaw", [0.0, np.pi / 3, -0.4])
def test_the_normal_is_the_frames_or_frenets_by_name(yaw):
    """The parabola z = x^2 with a frame yawed about z: a force of 1 kN along the principal normal gives 10 mm at
    1e5 N/m in Frenet's axes whatever the yaw; in the frame's axes what the two springs give along turned axes."""
    x = 0.4
    curve = PoseCurve.from_function(
        lambda u: (ca.vertcat(u, 0, u**2), ca.vertcat(yaw)), (-1, 1), orientation="euler:z"
    )
    stiff = dict(zip(PathCompliance.directions, (1e5, 3e5, 1e6, 1e6, 1e6), strict=True))
    compliance = PathCompliance(**{name: Spring(stiffness=k) for name, k in stiff.items()})
    tangent = np.array([1, 0, 2 * x]) / np.hypot(1, 2 * x)
    normal = np.array([-2 * x, 0, 1]) / np.hypot(1, 2 * x)
    R_WC = curve.pose(x)[0]
    load = np.concatenate([R_WC.T @ (1000.0 * normal), np.zeros(3)])
    hold = {"hold": Motion(joint="joint", coordinate=0, value=x)}
    found = {}
    for kind in ("frenet", "frame", None):
        joint = Path(child="body", curve=curve, compliance=compliance, normal_direction=kind)
        found[kind] = rest(loaded(joint, load, hold, R_WC))[:2]
    assert found["frenet"] == pytest.approx([0.01, 0.0], abs=1e-9)
    y = R_WC[:, 1] - tangent * (R_WC[:, 1] @ tangent)
    y /= np.linalg.norm(y)
    z = np.cross(tangent, y)
    assert found["frame"] == pytest.approx([1000 * normal @ y / 1e5, 1000 * normal @ z / 3e5], abs=1e-9)
    assert found[None] == pytest.approx(found["frame"], abs=1e-15)


def test_a_straight_path_has_no_frenet_normal():
    with pytest.raises(sk.SekantError, match="a straight path has no Frenet normal"):
        sk.compile(on_path(line(), compliance=springs(1e3), normal_direction="frenet"))


def runs(rigid: sk.Model, soft, until: float = 0.25) -> list[float]:
    """Largest differences of position between the rigid model and compliant ones of rising stiffness."""
    times = np.linspace(0, until, 26)
    exact = sk.simulate(rigid, output_times=times, rtol=1e-10, atol=1e-11)
    assert exact.status == "finished"
    assert np.ptp(exact["body.position"], axis=0).max() > 0.05
    found = []
    for k in (1e4, 1e5, 1e6):
        result = sk.simulate(soft(k, 2.0 * np.sqrt(k)), output_times=times, rtol=1e-9, atol=1e-11)
        assert result.status == "finished"
        found.append(float(np.abs(result["body.position"] - exact["body.position"]).max()))
    return found


def test_stiff_springs_tend_to_the_rigid_path():
    """The difference falls as 1/k."""
    curve = twisted()
    errors = runs(
        on_path(curve, q0=-0.5, v0=0.9),
        lambda k, c: on_path(
            curve, q0=-0.5, v0=0.9, compliance=springs(k, c), normal_direction=(0.1, 0.9, 0.3)
        ),
    )
    assert errors[0] < 0.02
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.2 * errors[1]


def dome() -> PoseSurface:
    return PoseSurface.from_function(
        lambda a, b: (
            ca.vertcat(a, 1.3 * b, 0.4 * a**2 - 0.3 * a * b + 0.2 * b**2 + 0.1 * a**3),
            ca.vertcat(0.3 * a, 0.2 * b - 0.1 * a, 0.5 * a * b),
        ),
        ((-2, 2), (-2, 2)),
        orientation="euler:zyx",
        tolerance=1e-11,
    )


@pytest.mark.long
def test_stiff_springs_tend_to_the_rigid_surface():
    surface = dome()

    def model(**options) -> sk.Model:
        joint = Surface(
            child="body", surface=surface, q0=(0.3, -0.2), v0=(0.5, 0.8), parent_pose=PLACE, **options
        )
        return alone({"joint": joint})

    errors = runs(model(), lambda k, c: model(compliance=surface_springs(k, c)))
    assert errors[0] < 0.02
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.2 * errors[1]


def undamped(joint) -> sk.Model:
    return sk.Model(gravity=GRAVITY, bodies={"body": SKEW}, joints={"joint": joint})


STIFFNESS_ALONG = Expression("600 + 350*sin(2*u) + 40*u^2")


def test_stiffness_that_varies_along_the_path_keeps_the_energy():
    """V = k(u) x^2 / 2 also pushes along the path: without -k'(u) x^2 / 2 the balance would be off by joules."""
    joint = Path(
        child="body", curve=twisted(), compliance=springs(STIFFNESS_ALONG), parent_pose=PLACE, q0=-1.0, v0=2.0
    )
    result = sk.simulate(undamped(joint), 0.7, rtol=1e-11, atol=1e-12)
    assert result.status == "finished"
    assert np.ptp(result["joint.q"][:, 0]) > 0.7
    assert np.abs(result["joint.q"][:, 1:]).max() > 0.02
    assert np.abs(result["energy.balance"]).max() < 1e-8 * result["energy.kinetic"].max()


def test_stiffness_that_varies_over_the_surface_keeps_the_energy():
    stiff = Expression("600 + 350*sin(2*u1) + 140*u2^2")
    joint = Surface(
        child="body", surface=dome(), compliance=surface_springs(stiff), q0=(0.2, -0.4), v0=(1.5, 1.1)
    )
    result = sk.simulate(undamped(joint), 0.7, rtol=1e-11, atol=1e-12)
    assert result.status == "finished"
    assert np.abs(result["joint.q"][:, 2:]).max() > 0.02
    assert np.abs(result["energy.balance"]).max() < 1e-8 * result["energy.kinetic"].max()


def test_a_motion_pays_for_stiffness_that_varies_along_its_way():
    """The place on the path is driven: the work of the prescribed motion accounts for k'(u) x^2 / 2 u' too."""
    joint = Path(child="body", curve=twisted(), compliance=springs(STIFFNESS_ALONG), parent_pose=PLACE)
    drive = Motion(joint="joint", coordinate=0, value=Expression("-0.5 + 1.2*sin(1.3*t)"))
    model = sk.Model(
        gravity=GRAVITY, bodies={"body": SKEW}, joints={"joint": joint}, motions={"drive": drive}
    )
    result = sk.simulate(model, 1.5, rtol=1e-11, atol=1e-12)
    assert np.abs(result["joint.q"][:, 1:]).max() > 0.02
    assert np.ptp(result["drive.work"]) > 1.0
    assert np.abs(result["energy.balance"]).max() < 1e-8 * np.ptp(result["drive.work"])


def test_dampers_take_what_is_missing():
    joint = Path(
        child="body",
        curve=twisted(),
        compliance=springs(STIFFNESS_ALONG, Expression("9 + 3*u")),
        q0=-1.0,
        v0=2.0,
    )
    result = sk.simulate(undamped(joint), 0.7, rtol=1e-11, atol=1e-12)
    assert result["energy"][-1] < result["energy"][0] - 0.1
    assert np.abs(result["energy.balance"]).max() < 1e-8 * result["energy.kinetic"].max()


def test_forces_that_depend_on_the_deflection_are_accounted_for():
    """A progressive spring: stiffness that grows with the deflection itself."""
    joint = Path(
        child="body", curve=twisted(), compliance=springs(Expression("500 + 9000*x^2")), q0=-1.0, v0=2.0
    )
    result = sk.simulate(undamped(joint), 0.5, rtol=1e-11, atol=1e-12)
    assert np.abs(result["joint.q"][:, 1:]).max() > 0.05
    assert np.abs(result["energy.balance"]).max() < 1e-8 * result["energy.kinetic"].max()


RADIUS = 2.3


def ring(**options) -> sk.System:
    """A particle on a circle over its length; normal toward the center, binormal up."""
    curve = PoseCurve.from_function(
        lambda s: (
            ca.vertcat(RADIUS * ca.cos(s / RADIUS), RADIUS * ca.sin(s / RADIUS), 0),
            ca.vertcat(s / RADIUS + np.pi / 2),
        ),
        (-1.0, 5.0),
        orientation="euler:z",
        tolerance=1e-12,
        unit="m",
    )
    joint = Path(child="body", curve=curve, compliance=springs(1e3), **options)
    body = Body(mass=1.7, inertia=(0.2, 0.3, 0.4, 0, 0, 0))
    return sk.compile(sk.Model(gravity=(0, 0, 0), bodies={"body": body}, joints={"joint": joint}))


def test_the_normal_turns_with_the_path():
    """At n from the circle of radius R the speed is (R - n)/R s': HALL (3.84) drops n dn/dt and says s'."""
    system = ring()
    n, b, rate = 0.4, -0.7, 1.9
    q = [0.8, n, b, 0, 0, 0]
    v = [rate, 0, 0, 0, 0, 0]
    (velocity,) = outputs(system, q, v, "body.velocity")
    assert np.linalg.norm(velocity) == pytest.approx((RADIUS - n) / RADIUS * rate, rel=1e-9)
    kinetic, _ = system.energy(q, v)
    expected = 0.5 * 1.7 * ((RADIUS - n) / RADIUS * rate) ** 2 + 0.5 * 0.4 * (rate / RADIUS) ** 2
    assert kinetic == pytest.approx(expected, rel=1e-9)


def test_equilibrium_of_a_turning_body_on_its_spring():
    """Circling at s' the spring holds m (R - n) w^2 = -k n: n is negative, outward."""
    system = ring()
    w = 3.0
    n = 1.7 * RADIUS * w**2 / (1.7 * w**2 - 1e3)
    a = system.forward_dynamics([0.8, n, 0, 0, 0, 0], [w * RADIUS, 0, 0, 0, 0, 0])
    assert a == pytest.approx(np.zeros(6), abs=1e-8)


@pytest.mark.parametrize("kind", ["path", "surface"])
def test_velocity_is_the_derivative_of_position(kind):
    """All coordinates deflected and moving at once, against central differences of the pose."""
    if kind == "path":
        joint = Path(
            child="body", curve=twisted(), compliance=springs(900.0), parent_pose=PLACE, child_pose=OTHER,
            normal_direction=(0.3, -0.4, 0.8),
        )  # fmt: skip
    else:
        joint = Surface(
            child="body",
            surface=dome(),
            compliance=surface_springs(900.0),
            parent_pose=PLACE,
            child_pose=OTHER,
        )
    system = sk.compile(alone({"joint": joint}))
    rng = np.random.default_rng(3)
    q, v = rng.uniform(-0.5, 0.5, 6), rng.uniform(-1, 1, 6)
    h = 1e-6
    ahead, behind = (outputs(system, q + s * h * v, v, "body.position")[0] for s in (1, -1))
    (velocity,) = outputs(system, q, v, "body.velocity")
    assert velocity == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)
    (at,) = outputs(system, q, v, "body.acceleration")
    a = system.forward_dynamics(q, v)
    faster, slower = (outputs(system, q + s * h * v, v + s * h * a, "body.velocity")[0] for s in (1, -1))
    assert at == pytest.approx((faster - slower) / (2 * h), rel=1e-6, abs=1e-6)


def test_a_path_that_stands_still_cannot_be_compliant():
    hinge = PoseCurve.from_function(
        lambda u: (ca.vertcat(0 * u, 0, 0), ca.vertcat(u)), (-1.0, 1.0), orientation="euler:z"
    )
    with pytest.raises(Exception, match=r"has no tangent at u = .*needs a tangent everywhere"):
        sk.compile(on_path(hinge, compliance=springs(1e3))).forward_dynamics(np.zeros(6), np.zeros(6))
