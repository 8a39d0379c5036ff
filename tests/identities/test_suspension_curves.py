"""What must hold for the curves of every suspension: derivatives, mirror images, steering axes, virtual work."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.model.resolve import resolve
from suspensions import EXAMPLES, KINDS

TRAVEL = np.array([-0.02, -0.02 + 2e-4, 0.0, 0.013 - 1e-4, 0.013, 0.013 + 1e-4])
RACK = np.array([-0.012, 0.0, 0.007])
SAME = (
    "camber",
    "toe",
    "caster",
    "kingpin_inclination",
    "scrub_radius",
    "mechanical_trail",
    "track_change",
    "wheelbase_change",
    "roll_center_height",
    "motion_ratio",
    "camber_gradient",
    "toe_gradient",
    "braking_support_angle",
    "anti_dive",
)


def free_length(model):
    """m, of the spring, set-up changes included."""
    return resolve(model).model.forces["spring"].free_length


@pytest.fixture(scope="module", params=KINDS)
def corner(request):
    file = EXAMPLES / "hardpoints" / f"{request.param}.yaml"
    model, roles = sk.vehicle.load_suspension(file)
    return file, model, roles, sk.vehicle.suspension_curves(model, roles, travel=TRAVEL, steering=RACK)


def test_gradients_are_differences(corner):
    """Central differences with a step of 0.1 mm: their error is of the order of (1e-4)^2 f'''."""
    _, _, _, curves = corner
    for name, of, sign in (
        ("motion_ratio", "spring_length", -1),
        ("camber_gradient", "camber", 1),
        ("toe_gradient", "toe", 1),
    ):
        slope = sign * (curves[of][5] - curves[of][3]) / (curves.travel[5] - curves.travel[3])
        assert curves[name][4] == pytest.approx(slope, abs=2e-5)


def test_the_wheel_rate_is_the_slope_of_what_the_spring_carries(corner):
    """At the wheel the spring carries k (l0 - l) x motion ratio; compared by unit of k."""
    _, model, _, curves = corner
    spring = model.forces["spring"]
    carried = (free_length(model) - curves["spring_length"]) * curves["motion_ratio"]
    slope = (carried[5] - carried[3]) / (curves.travel[5] - curves.travel[3])
    assert curves["wheel_rate"][4] / spring.stiffness == pytest.approx(slope, abs=2e-5)


def test_the_other_side_is_the_mirror_image(corner):
    file, _, roles, curves = corner
    side = "right" if curves.side == "left" else "left"
    model, _ = sk.vehicle.load_suspension(file, side=side)
    other = sk.vehicle.suspension_curves(model, roles, travel=TRAVEL, steering=-RACK[::-1])
    assert other.side == side
    for name in SAME:
        assert other[name][:, ::-1] == pytest.approx(curves[name], abs=1e-8), name
    assert other["steer_angle"][:, ::-1] == pytest.approx(-curves["steer_angle"], abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "lower", "upper"),
    [
        ("double_wishbone", "upright.lower_ball", "upright.upper_ball"),
        ("formula_student", "upright.lower_ball", "upright.upper_ball"),
        ("mcpherson", "upright.lower_ball", "strut_rod.strut_top"),
    ],
)
def test_the_screw_axis_of_steering_runs_through_the_ball_joints(kind, lower, upper):
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / f"{kind}.yaml")
    by_screw = sk.vehicle.suspension_curves(model, roles, travel=TRAVEL, steering=RACK)
    named = roles.model_copy(update={"steer_axis": (lower, upper)})
    by_joints = sk.vehicle.suspension_curves(model, named, travel=TRAVEL, steering=RACK)
    for name in ("caster", "kingpin_inclination", "scrub_radius", "mechanical_trail"):
        assert by_screw[name] == pytest.approx(by_joints[name], abs=1e-9), name


def test_the_steering_axis_as_drawn():
    """PILS's double wishbone: G = (7, 620, -89) and D = (-12, 589, 127) mm, road at z = -265 mm."""
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / "double_wishbone.yaml")
    curves = sk.vehicle.suspension_curves(model, roles, travel=[0.0, 0.01])
    assert curves["caster"][0, 0] == pytest.approx(np.arctan(19 / 216), abs=1e-10)
    assert curves["kingpin_inclination"][0, 0] == pytest.approx(np.arctan(31 / 216), abs=1e-10)
    down = (265 - 89) / 216
    assert curves["mechanical_trail"][0, 0] == pytest.approx(1e-3 * (7 + 19 * down), abs=1e-10)
    assert curves["scrub_radius"][0, 0] == pytest.approx(1e-3 * (678 - 620 - 31 * down), abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_forces_balance_as_the_curves_say(kind):
    """Virtual work of a weightless corner as drawn: spring x motion ratio = dz Fz + dx Fx + dy Fy at the contact.

    The contact point lies straight below the center or across from there by the camber, and there is no toe, so
    dz = 1 - camber gradient x its way outward from the center; dx/dz and dy/dz are those of the braking support
    and of the roll center.
    """
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / f"{kind}.yaml")
    curves = sk.vehicle.suspension_curves(model, roles, travel=[0.0, 0.01])
    at = {name: curves[name][0, 0] for name in curves.names}
    side = 1 if curves.side == "left" else -1
    upright, spring = model.bodies["upright"], model.forces["spring"]
    center, drawn = (np.array(upright.frames[name].position) for name in ("wheel_center", "contact"))
    radius = np.linalg.norm(drawn - center)
    touch = center + radius * np.array([0, -side * np.sin(at["camber"]), -np.cos(at["camber"])])
    push = float(spring.stiffness) * (free_length(model) - at["spring_length"])
    dz = 1 - at["camber_gradient"] * side * (touch[1] - center[1])
    lift = push * at["motion_ratio"] / dz
    frames = {**upright.frames, "touch": sk.Frame(position=tuple(touch))}
    bodies = {**model.bodies, "upright": upright.model_copy(update={"frames": frames})}
    forces = {
        "spring": spring.model_copy(update={"damping": 0.0}),
        "road": sk.forces.PointForce(frame="upright.touch", force=(0.0, 0.0, 0.0)),
    }
    weightless = {"forces": forces, "bodies": bodies, "gravity": (0.0, 0.0, 0.0)}
    system = sk.compile(model.model_copy(update=weightless), parameters=["road.force"])
    q, v = system.initial_state().q, system.initial_state().v
    for fx, fy in ((0.0, 0.0), (-700.0, 0.0), (0.0, 900.0)):
        fz = lift - fx * np.tan(at["braking_support_angle"]) - fy * at["roll_center_height"] / touch[1]
        a = system.forward_dynamics(q, v, parameters={"road.force": (fx, fy, fz)})
        assert np.abs(a).max() < 1e-7 * push / upright.mass


def test_a_corner_has_the_angle_of_its_rocker():
    """Seen from its own pose: the rocker turns about its hinge by what the column says."""
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / "formula_student.yaml")
    curves = sk.vehicle.suspension_curves(model, roles, travel=TRAVEL)
    found = sk.kinematics(model, "upright.wheel_center.z", values=TRAVEL, relative=True)
    R = found.body("rocker").rotation
    turned = np.arccos((np.trace(R[0].T @ R, axis1=1, axis2=2) - 1) / 2)
    assert np.ptp(turned) > 0.1
    assert np.abs(curves["rocker_angle"][:, 0] - curves["rocker_angle"][0, 0]) == pytest.approx(
        turned, abs=1e-7
    )
    plain = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / "double_wishbone.yaml")
    assert "rocker_angle" not in sk.vehicle.suspension_curves(*plain, travel=TRAVEL[:2]).names


def test_limits_of_travel_are_told_as_travel():
    """From the drawing, as `travel` counts; the height of the wheel's center would be another number."""
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / "formula_student.yaml")
    curves = sk.vehicle.suspension_curves(model, roles, travel=[-0.5, 0.0, 0.01])
    assert curves.limits
    assert all(" at travel = -" in text for text in curves.limits)
    assert "wheel_center" not in str([*curves.limits, *curves.warnings])


def test_notebooks_show_curves_as_a_table():
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / "double_wishbone.yaml")
    shown = sk.vehicle.suspension_curves(model, roles, travel=[-0.01, 0.0, 0.01])._repr_html_()
    assert "<td>camber</td><td>deg</td>" in shown
