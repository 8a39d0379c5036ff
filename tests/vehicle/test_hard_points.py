"""Hard points to models: what they contain, the axle, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.io import model_text
from sekant.vehicle.curves.ranges import given_range, through_zero
from suspensions import EXAMPLES, KINDS, planar_points

UPPER, LOWER = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)


def points(**changes):
    return planar_points(UPPER, LOWER, **changes)


def refused(**keywords) -> str:
    with pytest.raises(SekantError) as caught:
        sk.vehicle.double_wishbone(**keywords)
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steered", [False, True])
def test_a_corner_has_its_travel_and_its_steering(kind, steered):
    model, _ = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / f"{kind}.yaml", steered=steered)
    report = sk.assemble(sk.compile(model)).report
    assert (report.degrees_of_freedom, report.redundant, report.moved) == (1, (), ())
    assert ("rack" in model.joints) == steered
    free = model.model_copy(update={"motions": {}})
    assert sk.assemble(sk.compile(free)).report.degrees_of_freedom == 1 + steered


def test_a_written_model_gives_the_same_curves(tmp_path):
    model, roles = sk.vehicle.load_suspension(EXAMPLES / "hardpoints" / "mcpherson.yaml")
    (tmp_path / "corner.yaml").write_text(model_text(model))
    again, _ = sk.vehicle.load_suspension(tmp_path / "corner.yaml")
    first, second = (sk.vehicle.suspension_curves(m, roles, travel=[-0.02, 0.03]) for m in (model, again))
    for name in first.names:
        assert second[name] == pytest.approx(first[name], abs=1e-12)


def test_an_axle_has_two_corners_on_one_rack():
    data = {"type": "double_wishbone", "points": points(), "spring": {"stiffness": "30 N/mm"}}
    model = sk.vehicle.axle(data, spin=False)
    free = model.model_copy(update={"motions": {}})
    assert sk.assemble(sk.compile(free)).report.degrees_of_freedom == 3
    roles = sk.vehicle.Suspension(
        wheel_center="left.upright.wheel_center", contact="left.upright.contact", spring="left.spring"
    )
    with pytest.raises(SekantError, match="3 degrees of freedom"):
        sk.vehicle.suspension_curves(model, roles)
    left, right = (model.bodies[f"{side}.upright"] for side in ("left", "right"))
    assert np.array(left.com) == pytest.approx(np.array(right.com) * [1, -1, 1])


def test_rods_have_the_inertia_of_thin_rods():
    model = sk.vehicle.double_wishbone(points(), masses={"tie_rod": 1.3})
    rod = model.bodies["tie_rod"]
    length = np.hypot(0.33, 0.02)
    J = np.array(rod.inertia[:3])
    assert rod.mass == 1.3
    assert J.sum() == pytest.approx(1.3 * (length**2 / 6 + 3 * 0.02**2 / 12))
    assert np.array(rod.com) == pytest.approx([-0.12, 0.495, -0.12])


def test_missing_and_unknown_points_are_named():
    short = points()
    del short["lower_ball"]
    assert "'lower_ball' is missing (lower ball joint)" in refused(points=short)
    assert "no point 'lower_bal'" in refused(points=points(lower_bal=[0, 0, 0]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"upper_ball": [0.4, 0.36, 0.16]}, "lie on one line"),
        ({"tie_rod_outer": [0.0, 0.64, 0.03]}, "cannot hold the upright"),
        ({"tie_rod_inner": [-0.12, 0.66, -0.13]}, "are different points of one part"),
        ({"upper_rear": [0.13, 0.36, 0.16]}, "are different points of one part"),
        ({"wheel_center": [0.0, 0.0, 0.0]}, "center plane"),
        ({"wheel_center": [0.0, 0.7]}, "3 values are expected"),
        ({"wheel_center": [0.0, "half", 0.0]}, "is not a number"),
        ({"wheel_center": [0.0, "7 s", 0.0]}, "m"),
    ],
)
def test_impossible_points_are_refused(changes, said):
    assert said in refused(points=points(**changes))


def test_other_faults_are_named():
    assert "no part 'upper_amr'" in refused(points=points(), masses={"upper_amr": 2})
    assert "must not be negative" in refused(points=points(), masses={"upper_arm": -2})
    assert "no part 'chassis'" in refused(points=points(), spring={"on": "chassis"})
    assert "not both" in refused(
        points=points(), spring={"stiffness": 1e4, "preload": 100, "free_length": 0.4}
    )
    assert "'lft' is not a side" in refused(points=points(), side="lft")
    with pytest.raises(SekantError, match="did you mean 'double_wishbone'"):
        sk.vehicle.corner({"type": "double_wishbon", "points": points()})
    with pytest.raises(SekantError, match="must be the number of a link from 1 to 5"):
        data = EXAMPLES / "hardpoints" / "five_link.yaml"
        given = sk.vehicle.HardPoints.model_validate(_read(data) | {"tie_rod": 6})
        sk.vehicle.corner(given)


def _read(path):
    from sekant.io.source import read_source

    return read_source(path).data


def test_curves_refuse_what_they_cannot_use():
    model = sk.vehicle.double_wishbone(points())
    curves, roles = sk.vehicle.suspension_curves, sk.vehicle.Suspension
    for message, call in (
        ("no frame 'hub'", lambda: curves(model, roles(wheel_center="hub"))),
        ("not prismatic", lambda: curves(model, roles(rack="upper_arm_hinge"))),
        (
            "which steering curves require",
            lambda: curves(sk.vehicle.double_wishbone(points(), steered=False), steering=[0.0, 0.01]),
        ),
        ("degrees of freedom", lambda: curves(model.model_copy(update={"motions": {}}), roles(rack=None))),
        ("no spring_damper 'strut'", lambda: curves(model, roles(spring="strut"))),
        ("increasing numbers", lambda: curves(model, travel=[0.01, 0.0])),
        ("no curve 'cambre'", lambda: curves(model, travel=[0.0, 0.01])["cambre"]),
    ):
        with pytest.raises(SekantError, match=message):
            call()


def test_a_spin_axis_to_the_right_is_refused():
    model = sk.vehicle.double_wishbone(points())
    upright = model.bodies["upright"]
    turned = sk.Frame(position=(0.0, 0.71, 0.0), orientation={"zyx": ["180 deg", 0, 0]})
    frames = {**upright.frames, "wheel_center": turned}
    bodies = {**model.bodies, "upright": upright.model_copy(update={"frames": frames})}
    with pytest.raises(SekantError, match="must point to the left"):
        sk.vehicle.suspension_curves(model.model_copy(update={"bodies": bodies}), travel=[0.0, 0.01])


def test_travel_beyond_what_the_arms_allow_is_told_with_its_value():
    """The planar linkage comes to a stop where the upright and an arm line up; the curves go as far as that."""
    model = sk.vehicle.double_wishbone(points(), steered=False)
    curves = sk.vehicle.suspension_curves(model, travel=np.linspace(-0.5, 0.5, 41))
    reached = np.isfinite(curves["camber"][:, 0])
    assert 10 < reached.sum() < 41
    assert reached[20]
    assert len(curves.limits) == 2
    assert "limit: " in curves.summary()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("type: mcpherson\npoints: 3\n", "bad.yaml:2"),
        ("model: nowhere.yaml\n", "no such file"),
        ("model: nowhere.yaml\nwheels: 4\n", "bad.yaml:2"),
        ("model: nowhere.yaml\nsuspension: {axle: middle}\n", "bad.yaml:2"),
        ("type: mcpherson\npoints: {}\nsuspension: {travel: [1, -1]}\n", "must be greater than the first"),
    ],
)
def test_faulty_files_are_refused(text, said, tmp_path):
    (tmp_path / "bad.yaml").write_text(text)
    with pytest.raises(SekantError) as caught:
        sk.vehicle.load_suspension(tmp_path / "bad.yaml")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "text", ["60..-50mm", "low..high", "1..2 s", "nan..1", "60mm", "-80..80", "-80..80 mm:5"]
)
def test_wrong_ranges_are_told(text):
    with pytest.raises(SekantError, match="--travel"):
        given_range(text, None, "--travel")


def test_ranges_run_through_the_drawing():
    for low, high, count in ((-0.17, 0.24, 41), (-0.01, 1.0, 5), (-3.0, 0.1, 3)):
        values = through_zero(low, high, count)
        assert (values[0], values[-1], values.size) == (low, high, count)
        assert 0.0 in values
        assert np.all(np.diff(values) > 0)


def test_points_in_millimeters_without_their_unit_are_refused():
    in_millimeters = {name: [1000 * x for x in p] for name, p in points().items()}
    assert "unit: mm" in refused(points=in_millimeters)
    assert "unit: mm" not in refused(points={"wheel_center": [0, 1, 0]})


def test_travel_without_its_unit_is_refused():
    with pytest.raises(SekantError, match="-60 without a unit means -60 m, which is too large; write -60mm"):
        given_range("-60..60", (0.0, 0.0), "travel")
    assert given_range("-6cm..60mm", (0.0, 0.0), "travel") == (-0.06, 0.06)


def test_a_model_has_the_side_that_it_has():
    with pytest.raises(SekantError, match="contains a model, but only hard points can be mirrored"):
        sk.vehicle.load_suspension(EXAMPLES / "five_link.yaml", side="right")
