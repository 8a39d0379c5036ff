"""Axles from hard points: wheels that spin, what joins the sides, set-up changes, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.io.source import read_source
from sekant.vehicle.hardpoints.components import AntiRollBar, BarSection
from suspensions import EXAMPLES, planar_points

UPPER, LOWER = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)
BAR = {"bar": [0.3, 0.3, -0.05], "arm": [0.05, 0.4, -0.05], "link": [0.05, 0.5, -0.08], "rate": "900 N*m/rad"}
TRAILING = {
    "type": "trailing_arm",
    "points": {
        "hinge_inner": [0.5, 0.4, 0.0],
        "hinge_outer": [0.5, 0.6, 0.0],
        "wheel_center": [0.0, 0.7, 0.0],
        "spring_top": [0.2, 0.5, 0.4],
        "spring_bottom": [0.2, 0.5, 0.0],
    },
    "wheel": {"tire": "205/55 R16", "mass": "17 kg"},
    "spring": {"stiffness": "30 N/mm", "preload": "4 kN"},
}


def wishbones(**more):
    points = planar_points(UPPER, LOWER)
    return {"type": "double_wishbone", "points": points, "spring": {"stiffness": "30 N/mm"}, **more}


def accelerations(model, **start):
    system = sk.compile(model, engine="casadi")
    state = sk.assemble(system, **start)
    a = system.forward_dynamics(state.q, state.v, 0.0)
    return dict(zip(system.equations.motion.v_names, a, strict=True))


def test_wheels_on_hubs_weigh_what_the_uprights_with_wheels_do():
    """The same accelerations at rest, the same mass and inertia: only the spin is added."""
    fixed, spinning = (sk.vehicle.corner(wishbones(camber="-2 deg"), spin=spin) for spin in (False, True))
    assert spinning.joints["hub"].parent == "upright.wheel_center"
    a, b = accelerations(fixed), accelerations(spinning)
    for name, value in a.items():
        assert b[name] == pytest.approx(value, rel=1e-10, abs=1e-10)
    assert sum(body.mass for body in fixed.bodies.values()) == pytest.approx(
        sum(body.mass for body in spinning.bodies.values()), rel=1e-14
    )


def test_an_axle_on_a_vehicle_s_body_is_its_own_mirror_image():
    """Mounted on a floating body: no yaw, roll or side acceleration, both sides the same."""
    parts = {"anti_roll_bar": BAR, "brakes": True, "drive": True}
    axle = sk.vehicle.axle(wishbones(axle=parts, wheel={"mass": 15.0}))
    body = sk.Body(mass=900.0, com=(-1.2, 0.0, 0.3), inertia=(250.0, 900.0, 1000.0))
    car = sk.Model(bodies={"body": body}, joints={"float": sk.joints.Free(child="body")})
    car = car.mount(axle, "front", on="body", at=(0.1, 0.0, 0.02))
    assert car.joints["front.rack"].parent == "body.front"
    assert {"front.left.brake_torque", "front.right.drive_torque"} <= set(car.inputs)
    a = accelerations(car)
    sideways = [a["float", i] for i in (0, 2, 4)]
    assert sideways == pytest.approx([0.0] * 3, abs=1e-9)
    assert a["front.left.hub", 0] == pytest.approx(a["front.right.hub", 0], abs=1e-9)
    assert a["front.left.upper_arm_hinge", 0] == pytest.approx(-a["front.right.upper_arm_hinge", 0], rel=1e-9)


def test_drive_and_brake_turn_the_wheel():
    """Torque over inertia of the wheel; the vehicle's body takes the drive, the upright the brake."""
    data = TRAILING | {"axle": {"brakes": True, "drive": True}}
    axle = sk.vehicle.axle(data)
    J = axle.bodies["left.wheel"].inertia[1]
    system = sk.compile(axle, engine="casadi")
    state = sk.assemble(system)
    names = list(system.equations.motion.v_names)
    hub, arm = names.index(("left.hub", 0)), names.index(("left.arm_hinge", 0))
    v = np.zeros(system.nv)

    def a(**inputs):
        values = {f"left.{name}": value for name, value in inputs.items()}
        return system.forward_dynamics(state.q, v, 0.0, parameters=values)

    # the arm's hinge points to the right, from the outer to the inner point: the wheel turns by hub - arm
    rest, driven = a(), a(drive_torque=240.0)
    assert driven[hub] - rest[hub] == pytest.approx(240.0 / J + (driven[arm] - rest[arm]), rel=1e-10)
    v[hub] = 30.0
    rest, braked = a(), a(brake_torque=500.0)
    assert braked[hub] - rest[hub] - (braked[arm] - rest[arm]) == pytest.approx(-500.0 / J, rel=1e-10)
    assert abs(braked[arm] - rest[arm]) > 1.0


@pytest.mark.parametrize("kind", ["U", "T"])
def test_anti_roll_bars_twist_in_roll_only(kind):
    """Links that are vertical, arms that are level: the twist is (L phi_left - L phi_right) / a, closed form."""
    L = 0.35  # m from the arm's hinge to the drop link
    if kind == "U":
        bar = {"bar": [0.4, 0.3, 0.2], "arm": [0.15, 0.45, 0.2], "link": [0.15, 0.45, 0.0], "rate": 900.0}
        reach = 0.25
    else:
        bar = {"type": "T", "bar": [0.5, 0.0, 0.2], "top": [0.15, 0.0, 0.2], "arm": [0.15, 0.45, 0.2]}
        bar |= {"link": [0.15, 0.45, 0.0], "rate": 900.0}
        reach = 0.45 * 2
    model = sk.vehicle.axle(TRAILING | {"axle": {"anti_roll_bar": bar}}, spin=False)
    found = sk.kinematics(
        sk.compile(model), {"left.arm_hinge.angle": [0.0, 1e-3], "right.arm_hinge.angle": [0.0, 1e-3]}
    )
    twist = found.derivative("bar_twist.angle")[0]
    # left and right hinges are drawn as mirror images: their axes point to opposite sides
    np.testing.assert_allclose(np.abs(twist), L / reach, rtol=1e-9)
    assert twist[0] == pytest.approx(twist[1], rel=1e-9)  # opposite rotations (heave) cancel
    assert AntiRollBar(**bar).stiffness == 900.0


def test_the_rate_of_a_bar_s_section():
    """G pi D^4 / (32 L) by hand: 22 mm of steel, 1 m long."""
    assert BarSection(diameter=0.022, length=1.0).rate == pytest.approx(1823.7, rel=1e-4)
    tube = BarSection(diameter=0.022, inner_diameter=0.011, length=1.0)
    assert tube.rate == pytest.approx(1823.7 * 15 / 16, rel=1e-4)


def test_tire_size_stands_for_the_contact_point():
    """205/55 R16: 16 in / 2 + 55 % of 205 mm = 315.95 mm."""
    points = planar_points(UPPER, LOWER)
    del points["contact"]
    made = sk.vehicle.HardPoints(
        type="double_wishbone", points=points, wheel={"tire": "205/55 R16"}, camber=-0.02
    )
    d = made.point("wheel_center") - made.point("contact")
    assert np.linalg.norm(d) == pytest.approx(0.31595, abs=1e-12)
    assert np.arctan2(d[1], d[2]) == pytest.approx(-0.02, abs=1e-12)


def test_springs_are_optional():
    points = planar_points(UPPER, LOWER)
    del points["spring_top"], points["spring_bottom"]
    model = sk.vehicle.double_wishbone(points)
    assert not model.forces
    curves = sk.vehicle.suspension_curves(model, travel=[-0.01, 0.0, 0.01])
    assert "camber" in curves.names
    assert "motion_ratio" not in curves.names


def test_stops_push_beyond_their_gap_only():
    stops = {"bump_stop": {"gap": "20 mm", "stiffness": "200 N/mm"}}
    stops["rebound_stop"] = {"gap": "30 mm", "curve": {"x": ["0 mm", "10 mm"], "y": [0, 3000]}}
    model = sk.vehicle.corner(TRAILING | stops, spin=False)
    found = sk.kinematics(sk.compile(model), {"spring.length": [0.36, 0.375, 0.39, 0.42, 0.435, 0.45]})
    np.testing.assert_allclose(found["bump_stop.force"], [-4000, -1000, 0, 0, 0, 0], atol=1e-6)
    np.testing.assert_allclose(found["rebound_stop.force"], [0, 0, 0, 0, 1500, 6000], atol=1e-6)


def test_set_up_changes_are_parameters():
    """Camber by a shim: the rod's length over the distance of the ball joints; the tie rod's length is toe."""
    base = {"camber": "-1 deg"}
    shim = 0.002
    model = sk.vehicle.corner(wishbones(**base), steered=False)
    assert model.parameters["camber_shim"] == 0.0
    curves = {}
    for name, value in {"": 0.0, "camber_shim": shim, "tie_rod_length": shim}.items():
        data = wishbones(**base, **({"set_up": {name: value}} if name else {}))
        made = sk.vehicle.corner(data, steered=False)
        curves[name] = sk.vehicle.suspension_curves(made, travel=[0.0])
    change = curves["camber_shim"]["camber"][0, 0] - curves[""]["camber"][0, 0]
    assert change == pytest.approx(-shim / 0.32, rel=0.05)  # 0.32 m: heights of the ball joints apart
    # a tie rod in front of or behind the axle turns the wheel about the axis of the ball joints
    assert abs(curves["tie_rod_length"]["toe"][0, 0] - curves[""]["toe"][0, 0]) == pytest.approx(
        shim / 0.12, rel=0.1
    )


def test_stiff_bushings_tend_to_rigid_joints():
    travel = [-0.03, 0.0, 0.03]
    rigid = sk.vehicle.suspension_curves(sk.vehicle.corner(real_corner(), steered=False), travel=travel)
    gaps = []
    for stiffness in (1e8, 1e10):
        mount = {"stiffness": [stiffness] * 3, "rotational_stiffness": [1e-3] * 3}
        data = real_corner() | {"bushings": dict.fromkeys(("lower_front", "lower_rear", "upper_ball"), mount)}
        model = sk.vehicle.corner(data, steered=False)
        model = model.changed(
            constraints={"rig": sk.constraints.DrivePoint(frame="upright.wheel_center", z="height")},
            parameters={**model.parameters, "height": 0.0},
        )
        system = sk.compile(model, parameters=["height"])
        eq = system.equations
        pose = eq.lookups.oracle("R", [eq.t, eq.q, eq.p], [eq.motion.frame("upright.wheel_center").R])
        state, camber = None, []
        for z in travel:
            state = sk.equilibrium(system, state, parameters={"height": z})
            R = np.array(pose(0.0, state.q, system.parameter_vector({"height": z})))
            camber.append(np.arcsin(-R[2, 1]))
        gaps.append(np.abs(np.array(camber) - rigid["camber"][:, 0]).max())
    assert gaps[0] < 1e-3
    assert gaps[1] < 0.02 * gaps[0]
    assert (
        sk.vehicle.corner(data | {"compliant": False}, steered=False).joints.keys()
        == sk.vehicle.corner(real_corner(), steered=False).joints.keys()
    )


def real_corner():
    return read_source(EXAMPLES / "hardpoints" / "double_wishbone.yaml").data


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"set_up": {"camber_shin": 0.001}}, "no set-up change 'camber_shin'.*did you mean 'camber_shim'"),
        ({"set_up": {"push_rod_length": 0.001}}, "no set-up change 'push_rod_length'"),
        ({"wheel": {"tire": "205-55-16"}}, "not a tire size"),
        ({"wheel": {"radius": 0.3}}, "not both"),
        ({"bushings": {"lower_frnt": {"stiffness": [1, 2, 3]}}}, "no point 'lower_frnt' for a bushing"),
        (
            {"axle": {"anti_roll_bar": {**BAR, "section": {"diameter": 0.02, "length": 1}}}},
            "needs a rate or a section, but not both",
        ),
        ({"axle": {"anti_roll_bar": {**BAR, "arm": [0.3, 0.4, -0.05]}}}, "ends on the bar's axis"),
        ({"axle": {"anti_roll_bar": {**BAR, "arm": [0.05, -0.4, -0.05]}}}, "must be on the left side"),
        ({"axle": {"anti_roll_bar": {**BAR, "on": "rocker"}}}, "no part 'rocker'"),
        ({"bump_stop": {"gap": 0.02}}, "needs a stiffness or a curve, but not both"),
        ({"axle": {"steering": {"column": True}}}, "a column needs rack_per_turn"),
        ({"unit": "mm"}, "if the points are in meters, write unit: m"),
    ],
)
def test_faults_are_named(change, said):
    with pytest.raises(SekantError, match=said):
        sk.vehicle.axle(wishbones(**change))


def test_a_trailing_arm_s_hinge_runs_across():
    points = {**TRAILING["points"], "hinge_inner": [0.4, 0.4, 0.0]}
    with pytest.raises(SekantError, match="semi_trailing_arm"):
        sk.vehicle.axle(TRAILING | {"points": points})
    assert sk.vehicle.axle(TRAILING | {"type": "semi_trailing_arm", "points": points}).bodies


@pytest.mark.parametrize("steering", [{"column": True}, {"stiffness": "800 N*m/rad", "damping": 2.0}])
def test_the_column_moves_the_rack(steering):
    data = wishbones(axle={"steering": {"rack_per_turn": "-50 mm", **steering}})
    model = sk.vehicle.axle(data, spin=False)
    if "column" in steering:
        free = model.changed(motions={})
        found = sk.kinematics(
            sk.compile(free), {"column.angle": [0.0, 1.0]}, hold=["left.spring.length", "right.spring.length"]
        )
        assert found["rack.displacement"] == pytest.approx([0.0, -0.05 / (2 * np.pi)], abs=1e-12)
    else:
        a = [accelerations(model)["rack", 0]]
        system = sk.compile(model, engine="casadi")
        state = sk.assemble(system)
        rack = list(system.equations.motion.v_names).index(("rack", 0))
        a.append(system.forward_dynamics(state.q, state.v, 0.0, parameters={"steering_wheel": 0.1})[rack])
        assert a[1] < a[0]


def test_points_of_the_other_side_are_refused():
    points = planar_points(UPPER, LOWER)
    points["lower_ball"] = [points["lower_ball"][0], -points["lower_ball"][1], points["lower_ball"][2]]
    with pytest.raises(SekantError, match=r"lower_ball.*on the side of the vehicle opposite to"):
        sk.vehicle.double_wishbone(points)


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("  lower_ball: [7, 620, -89]\n", "", 7, "'lower_ball' is missing"),
        ("lower_ball: [7, 620", "lower_ball: [7, -620", 13, "on the side of the vehicle opposite to"),
        ("wheel_center: [0, 678", "wheel_center: [0, -678", 18, "opposite to most points"),
        ("lower_ball: [7, 620, -89]", "lower_ball: [0, 345, -80]", 13, "lie on one line"),
        ("unit: mm", "unit: m", 6, "if their coordinates are in mm, write unit: mm"),
        ("load: 4.3 kN", "set_up: {camber_shin: 2 mm}", 33, "did you mean 'camber_shim'"),
        ("stiffness: 80 N/mm", "stiffness: 80 mm", 21, "a stiffness is expected"),
    ],
)
def test_faults_of_files_have_their_lines(old, new, line, said, tmp_path):
    text = (EXAMPLES.parent / "axles" / "front_double_wishbone.yaml").read_text()
    assert old in text
    file = tmp_path / "front.yaml"
    file.write_text(text.replace(old, new))
    with pytest.raises(SekantError, match=said) as caught:
        sk.vehicle.load_axle(file)
    assert f"{file}:{line}: " in str(caught.value)
