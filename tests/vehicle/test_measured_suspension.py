"""Suspensions known by measured curves: in axle files and cars, and one message for each thing that may be wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.vehicle.car.numbers import number_at, with_numbers
from sekant.vehicle.measured.axle import measured_of
from sekant.vehicle.measured.files import load_measured_axle
from sekant.vehicle.measured.readings import mirrored, read_both
from sekant.vehicle.measured.rig import measured_axles, rig_curves

EXAMPLE = Path(__file__).parents[2] / "examples/car/measured"
DEG = np.pi / 180


@pytest.fixture
def folder(tmp_path):
    """The example, to be changed."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "measured"))


def unsteered(folder: Path, rows: str, **keys) -> Path:
    """An axle file on curves of their own text."""
    (folder / "rig.csv").write_text(rows)
    lines = {"wheel_center": "[0, 0.7, 0.3]", "spring": "{wheel_rate: 30 N/mm}", "radius": "0.3 m", **keys}
    text = "".join(f"  {key}: {value}\n" for key, value in lines.items() if value)
    file = folder / "axle.yaml"
    file.write_text(f"suspension:\n  curves: rig.csv\n{text}")
    return file


HEAD = "travel [mm], camber [deg], toe [deg], track_change [mm]\n"
GOOD = HEAD + "".join(
    f"{z}, {-0.5 - 0.02 * z + 1e-4 * z * z}, {0.1 + 0.003 * z}, {0.05 * z - 4e-4 * z * z}\n"
    for z in range(-60, 61, 10)
)


# -- what it gives back ----------------------------------------------------------------------------------


def test_an_axle_gives_the_measured_curves_back():
    axle = load_measured_axle(EXAMPLE / "front.yaml")
    found, own = rig_curves(axle), axle.measured().curves
    for side in ("left", "right"):
        for name, far in (("camber", 1e-3 * DEG), ("toe", 1e-3 * DEG), ("track_change", 1e-5)):
            assert (
                np.abs(found.curves[f"{side}.{name}"] - own[side][name]).max() < far
            )  # the file's last digit


def test_the_other_side_is_the_mirror_image():
    axle = load_measured_axle(EXAMPLE / "front.yaml")
    poses = axle.measured().poses
    left, right = poses["left"], poses["right"]
    assert np.allclose(left.mirrored().p, right.p, atol=1e-12)
    same = np.abs(np.sum(left.mirrored().quaternion * right.quaternion, axis=-1))
    assert np.allclose(same, 1.0, atol=1e-12)
    assert np.allclose(right.rack, -left.rack[::-1])


def test_travel_beyond_the_curves_ends_there(tmp_path):
    """Each end once, in words of the suspension and in mm."""
    found = rig_curves(load_measured_axle(unsteered(tmp_path, GOOD)), travel=[-0.1, 0.0, 0.1]).curves
    ends = [text.split(", ")[0] for text in found.limits]
    assert sorted(ends) == ["travel ends at -60 mm", "travel ends at 60 mm"]


def test_strokes_are_averaged_and_the_hysteresis_is_told():
    axle = measured_axles(EXAMPLE / "car.yaml")["rear"]
    gaps = axle.measured().hysteresis
    assert gaps["left.camber"][0] == "deg"
    assert gaps["left.camber"][1] == pytest.approx(0.02, abs=1.1e-3)
    assert gaps["left.track_change"][1] == pytest.approx(0.08, abs=0.011)
    drawn = sk.vehicle.axle_curves(
        sk.vehicle.load_axle(EXAMPLE.parent / "parts/hatchback_rear.yaml"), travel=[-0.05, 0.0, 0.05]
    )
    found = rig_curves(axle, travel=[-0.05, 0.0, 0.05]).curves
    assert np.abs(found["left.camber"] - drawn["left.camber"]).max() < 1e-3 * DEG  # halves of a gap cancel


def test_both_sides_of_one_file_count(tmp_path):
    rows = GOOD.replace("camber", "left.camber").replace("toe", "left.toe").replace("track_", "left.track_")
    head, *lines = rows.strip().split("\n")
    head += ", right.camber [deg], right.toe [deg], right.track_change [mm]"
    lines = [f"{line}, {-0.4 - 0.01 * k}, 0.15, {0.04 * (k - 6)}" for k, line in enumerate(lines)]
    found = load_measured_axle(unsteered(tmp_path, "\n".join([head, *lines]))).measured().curves
    assert found["right"]["camber"][0, 0] == pytest.approx(-0.4 * DEG)
    assert found["left"]["toe"][-1, 0] == pytest.approx(0.28 * DEG)


def test_full_poses_serve_as_curves_do(tmp_path):
    """Poses of the wheel that curves give, written in the columns of `sekant fit`, make the same path."""
    axle = load_measured_axle(unsteered(tmp_path, GOOD))
    poses, shapes = axle.measured().poses["left"], measured_of(axle.suspension, 0.3)[1]
    lines = ["travel [mm], x [mm], y [mm], z [mm], qw, qx, qy, qz"]
    for u, p, q in zip(poses.travel, poses.p[:, 0], poses.quaternion[:, 0], strict=True):
        lines.append(", ".join(f"{x:.12g}" for x in (1e3 * u, *(1e3 * p), *q)))
    other = load_measured_axle(unsteered(tmp_path, "\n".join(lines)))
    again = measured_of(other.suspension, 0.3)[1]
    u = np.linspace(-0.055, 0.055, 7)
    for side in ("left", "right"):
        for a, b in zip(shapes[side].pose(u), again[side].pose(u), strict=True):
            assert np.allclose(a, b, atol=1e-9)


def test_a_rack_that_was_held_with_noise_is_one_position(folder):
    """Up and down strokes over noisy racks and travels give back the curves that they came from."""
    rng, rows = (
        np.random.default_rng(4),
        ["travel [mm], rack [mm], camber [deg], toe [deg], track_change [mm]"],
    )
    for rack in (-40, -20, 0, 20, 40):
        for z in (*range(-80, 81, 8), *range(72, -81, -8)):
            camber, toe = -0.02 * z + 1e-4 * z * z - 0.01 * rack, -0.35 * rack + 0.002 * z
            u, y = (x + 0.01 * rng.normal() for x in (z, rack))
            rows.append(f"{u:.4f}, {y:.4f}, {camber:.6f}, {toe:.6f}, {-1e-3 * z * z:.6f}")
    (folder / "front.csv").write_text("\n".join(rows))
    file = folder / "front.yaml"
    file.write_text("\n".join(line for line in file.read_text().splitlines() if "compliance:" not in line))
    found = rig_curves(load_measured_axle(file), travel=[-0.04, 0.0, 0.04])
    curves = found.curves
    np.testing.assert_allclose(1e3 * curves.steering, [-40, -20, 0, 20, 40], atol=1e-9)
    np.testing.assert_allclose(curves["left.camber"][:, 2] / DEG, [0.96, 0.0, -0.64], atol=3e-3)
    np.testing.assert_allclose(curves["left.toe"][1] / DEG, [14, 7, 0, -7, -14], atol=5e-3)


def test_curves_of_one_side_may_end_at_different_racks(folder):
    """The other wheel, a mirror image, does not reach the last position: there nothing is compared."""
    file = folder / "front.csv"
    head, *rows = file.read_text().splitlines()
    file.write_text(
        "\n".join(
            [
                head,
                *(row.replace(", -60.00,", ", -57.00,") for row in rows),
            ]
        )
    )
    found = rig_curves(load_measured_axle(folder / "front.yaml"))
    assert "deviation of the right wheel" in "\n".join(found.texts)


# -- springs and dampers ---------------------------------------------------------------------------------


def test_a_spring_by_ratio_rate_and_points_carries_the_same(tmp_path):
    """A spring straight above the wheel's center: its length changes by the travel, so all three ways agree."""
    still = HEAD + "".join(f"{z}, 0, 0, 0\n" for z in range(-60, 61, 10))
    ways = {
        "ratio": "{stiffness: 20 N/mm, motion_ratio: 1}",
        "rate": "{wheel_rate: 20 N/mm}",
        "table": "{wheel_rate: rate.csv}",
        "points": "{stiffness: 20 N/mm, top: [0, 0.7, 0.8], bottom: [0, 0.7, 0.35]}",
    }
    (tmp_path / "rate.csv").write_text("travel [mm], wheel_rate [N/mm]\n-60, 20\n0, 20\n60, 20\n")
    found = {}
    for name, way in ways.items():
        file = unsteered(tmp_path, still, spring=way)
        file.write_text(file.read_text() + "load: 3 kN\nwheel: {mass: 18 kg}\n")
        axle = load_measured_axle(file)
        model = axle.model()
        curves = sk.vehicle.axle_curves(model, axle.roles(model), travel=[-0.04, 0.0, 0.03])
        found[name] = curves["left.spring_load"].ravel()
    carried = 3000.0 - 9.81 * (20.0 + 18.0)
    assert found["rate"] == pytest.approx([carried - 800.0, carried, carried + 600.0])
    for load in found.values():
        assert load == pytest.approx(found["rate"], rel=1e-6)


def test_damping_over_travel_and_through_a_ratio(tmp_path):
    (tmp_path / "damping.csv").write_text("travel [mm], damping [N*s/m]\n-60, 1000\n60, 2200\n")
    forces = {}
    for name, way in {
        "table": "{damping: damping.csv}",
        "ratio": "{damping: 2500 N*s/m, motion_ratio: 0.8}",
    }.items():
        system = sk.compile(load_measured_axle(unsteered(tmp_path, GOOD, damper=way)).model())
        at = system.state_names.index("left.travel.u_rate") - system.nq
        q, v = system.initial_state().q.copy(), np.zeros(system.nv)
        rest = system.forward_dynamics(q, v)[at]
        v[at] = 1e-6
        forces[name] = (system.forward_dynamics(q, v)[at] - rest) / 1e-6
    assert forces["table"] == pytest.approx(forces["ratio"], rel=1e-3)  # 1600 N s/m at the wheel, both


def test_what_curves_leave_open_is_not_told(folder, tmp_path):
    axle = load_measured_axle(EXAMPLE / "front.yaml")
    system, roles = axle.model(compliant=False), axle.roles(axle.model(compliant=False))
    assert "left.kingpin_inclination" in sk.vehicle.axle_curves(system, roles, travel=[-0.01, 0.0]).names
    found = rig_curves(axle)
    left = {name.rpartition(".")[2] for name in found.curves.names}
    assert not left & {"caster", "kingpin_inclination", "scrub_radius", "mechanical_trail"}
    assert "left.braking_support_angle" in found.curves.names  # caster is measured
    assert found.texts[0].startswith("not computed: caster, kingpin inclination, scrub radius")
    bare = rig_curves(load_measured_axle(unsteered(tmp_path, GOOD)))
    assert "left.braking_support_angle" not in bare.curves.names
    assert "left.driving_support_angle" in bare.curves.names
    assert "a column caster" in bare.texts[0]


def test_an_axle_file_is_a_model(folder):
    system = sk.compile(sk.load(folder / "front.yaml"))
    assert "left.travel.u1" in system.state_names
    with pytest.raises(SekantError, match=r"sekant kc FILE --model model\.yaml"):
        sk.load(EXAMPLE.parent / "parts" / "hatchback_front.yaml")


# -- bad input -------------------------------------------------------------------------------------------


def jittering(rows: str) -> str:
    lines = rows.strip().split("\n")
    lines[4], lines[5] = lines[5], lines[4]
    return "\n".join(lines)


def both(rows: str, change) -> str:
    """Rows with the left columns named, and right ones that `change` makes of them."""
    head, *lines = rows.strip().split("\n")
    names = head.split(", ")
    head = ", ".join([names[0], *(f"left.{n}" for n in names[1:]), *(f"right.{n}" for n in names[1:])])
    numbers = [[float(x) for x in line.split(",")] for line in lines]
    return "\n".join([head, *(", ".join(map(str, [*row, *change(row[1:])])) for row in numbers)])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (jittering(GOOD), "travel reverses its direction at -20 mm, inside its range"),
        (
            HEAD + "".join(f"{z}, 0, 0, 0\n" for z in range(10, 70, 10)),
            "must include zero",
        ),
        (GOOD.replace("\n0, -0.5", "\n0, nan", 1), "column 'camber': 'nan' is not a finite number"),
        (GOOD.replace("camber [deg]", "camber"), "column 'camber' has no unit; write camber [deg]"),
        (GOOD.replace("travel [mm]", "travel"), "column 'travel' has no unit; write travel [mm]"),
        (GOOD.replace("toe [deg]", "toe_ [deg]"), "unknown quantity 'toe_'; did you mean 'toe'"),
        (GOOD.replace(", toe [deg]", ", caster [deg]"), "has no column 'toe'"),
        (
            both(GOOD, lambda x: [x[0], x[1], x[2] + 4.0]),
            "measure the travel of both sides from the design position",
        ),
        (
            both(GOOD, lambda x: [-x[0], x[1], x[2]]),
            "camber has opposite signs on the left and right sides",
        ),
        (
            both(GOOD, lambda x: [x[0], -x[1], x[2]]),
            "toe has opposite signs on the left and right sides",
        ),
        (
            both(GOOD, lambda x: [x[0], x[1], -x[2]]),
            "track_change has opposite signs on the left and right sides",
        ),
        (GOOD.replace("camber [deg]", "camber [rad]"), "camber reaches 77 deg; check the unit in the header"),
        (
            HEAD + "".join(f"{z}, 0, 0, {3 + 0.1 * z}\n" for z in range(-60, 61, 10)),
            "track_change is 3 mm at zero travel",
        ),
    ],
)
def test_bad_curves_are_told(tmp_path, rows, says):
    with pytest.raises(SekantError, match=r"rig\.csv") as caught:
        load_measured_axle(unsteered(tmp_path, rows))
    assert says in str(caught.value)


def test_signs_of_the_other_wheel_show_in_the_steer_angle(tmp_path):
    rows = "travel [mm], camber [deg], toe [deg], steer_angle [deg], track_change [mm]\n"
    rows += "".join(f"{z}, 0, {0.02 * z}, {0.02 * z}, 0\n" for z in range(-60, 61, 10))
    with pytest.raises(SekantError, match="toe or steer_angle has the wrong sign"):
        load_measured_axle(unsteered(tmp_path, rows))


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"spring": ""}, "there is no spring"),
        ({"spring": "{stiffness: 20 N/mm}"}, "the motion ratio is unknown"),
        ({"spring": "{wheel_rate: 20 N/mm, stiffness: 3}"}, "fully describes the spring; remove stiffness"),
        ({"damper": "{motion_ratio: 0.9}"}, "either damping or a curve"),
        ({"wheel_center": "[0, -0.7, 0.3]"}, "must have a positive y coordinate"),
        (
            {"wheel_center": "[0, 730, 300]"},
            "is 730 m from the center plane, which is too far; if the value is in mm, write the unit, as in",
        ),
        (
            {"spring": "{stiffness: 20 N/mm, top: [0, 0.5, 0.6]}"},
            "one end is missing; give both top and bottom",
        ),
        ({"compliance": "none.csv"}, "there is no file 'none.csv'; in that directory: rig.csv"),
        ({"spring": "{stiffness: 20 N/mm, top: [0, 0.7, 0.1], bottom: [0, 0.7, 0.4]}"}, "extends in bump"),
    ],
)
def test_bad_descriptions_are_told_with_their_line(tmp_path, keys, says):
    file = unsteered(tmp_path, GOOD, **keys)
    with pytest.raises(SekantError, match=r"axle\.yaml:\d+") as caught:
        load_measured_axle(file)
    assert says in str(caught.value)


def test_one_rack_position_of_a_steered_wheel(folder):
    text = (
        (folder / "car.yaml")
        .read_text()
        .replace("    at: [-2.55 m, 0, 0]\n", "    at: [-2.55 m, 0, 0]\n    steering: {}\n")
    )
    text = text.replace("    steering: {rack_per_turn: 50 mm}\n", "")
    (folder / "car.yaml").write_text(text)
    with pytest.raises(
        SekantError, match="curves were measured at only one rack position; measure at three or more"
    ):
        sk.vehicle.load_car(folder / "car.yaml")


# -- the car ---------------------------------------------------------------------------------------------


def test_mirrored_curves_turn_back():
    one = read_both(str(EXAMPLE / "front.csv"))["left"]
    again = mirrored(mirrored(one))
    assert again.side == "left"
    for name in one.names:
        assert np.allclose(again[name], one[name])


def leaned(folder: Path) -> None:
    """A degree less camber in every row of the front wheel."""
    lines = []
    for line in (folder / "front.csv").read_text().split("\n"):
        cells = line.split(",")
        if line[:1] in "-0123456789" and len(cells) > 3:
            cells[2] = f" {float(cells[2]) - 1.0}"
        lines.append(",".join(cells))
    (folder / "front.csv").write_text("\n".join(lines))


def test_a_changed_camber_column_changes_the_axle(folder):
    """Both front wheels lean by a degree more, and nothing else of their path changes."""
    leaned(folder)
    poses = []
    for place in (EXAMPLE, folder):
        axle = measured_axles(place / "car.yaml")["front"]
        poses.append(rig_curves(axle, travel=[-0.03, 0.0, 0.03], steering=[-0.02, 0.0, 0.02]).curves)
    for side in ("left", "right"):
        gap = poses[1][f"{side}.camber"] - poses[0][f"{side}.camber"]
        assert np.allclose(gap, -DEG, atol=1e-7)
        for name in ("toe", "track_change", "wheelbase_change"):
            assert np.allclose(poses[1][f"{side}.{name}"], poses[0][f"{side}.{name}"], atol=2e-6)


def test_a_changed_camber_column_changes_the_drive(folder):
    """Driven again, the front tires meet the road a degree leaner, and the rear ones as before."""
    axle = folder / "front.yaml"
    axle.write_text("".join(x for x in axle.read_text().splitlines(True) if "compliance:" not in x))
    runs = []
    for change in (False, True):
        if change:
            leaned(folder)
        car = sk.vehicle.load_car(folder / "car.yaml")
        runs.append(
            sk.vehicle.drive(car, "step-steer", speed="60 km/h", acceleration=2.0, duration=0.3).result
        )
    camber = [
        {name: run[f"{name}.tire.camber"][0] for name in ("front.left", "front.right", "rear.left")}
        for run in runs
    ]
    for name, sign in (("front.left", 1.0), ("front.right", -1.0)):
        gap = camber[1][name] - camber[0][name]
        assert abs(gap) == pytest.approx(DEG, rel=2e-2)
        assert gap * sign == pytest.approx((camber[1]["front.left"] - camber[0]["front.left"]), rel=2e-2)
    assert camber[1]["rear.left"] == pytest.approx(camber[0]["rear.left"], abs=0.02 * DEG)


def test_numbers_of_a_measured_car_are_swept():
    """Names reach into the suspension; the number stands in the model."""
    car = sk.vehicle.load_car(EXAMPLE / "car.yaml")
    name = "axles.front.suspension.spring.stiffness"
    assert number_at(car, name) == pytest.approx(28e3)
    model = sk.vehicle.car_model(with_numbers(car, {name: "35 N/mm"}))
    assert model.forces["front.left.spring"].stiffness == 35e3
    assert model.joints["front.left.travel"].elastic.count == 4
