"""Designs of an axle side by side: differences, targets and tuning, jacking, poles, the page on them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.vehicle.curves.poles import bound_of, cut_at, shown_number
from sekant.vehicle.hardpoints.coordinates import moved
from sekant.vehicle.kc.comparison import ComparedCurves, names_of_files
from sekant.vehicle.kc.curves import jacking
from sekant.vehicle.kc.targets import CurveTarget, read_targets, tune
from sekant.views.commands.new import FOLDER
from sekant.views.kc_report.charts import over_roll, over_steering, over_travel
from sekant.views.kc_report.report import ShownDesign, write_report
from suspensions import EXAMPLES

TRAVEL = np.linspace(-0.03, 0.03, 7)
FRONT = FOLDER / "formula" / "front.yaml"


@pytest.fixture(scope="module")
def points():
    return sk.vehicle.load_axle(FRONT)


@pytest.fixture(scope="module")
def lower(points):
    """The inner ends of the tie rods 3 mm lower: bump steer."""
    return moved(points, {"tie_rod_inner.z": -0.003})


@pytest.fixture(scope="module")
def pair(points, lower):
    racks = [-0.02, 0.0, 0.02]
    return tuple(sk.vehicle.axle_curves(p, travel=TRAVEL, steering=racks) for p in (points, lower))


def test_differences_are_those_of_the_curves(pair):
    compared = ComparedCurves(("front", "lower"), pair)
    rows = {row.name: row for row in compared.differences()}
    gap = pair[1]["left.toe"][:, 1] - pair[0]["left.toe"][:, 1]
    k = int(np.abs(gap).argmax())
    assert rows["left.toe"].largest[1] == gap[k]
    assert rows["left.toe"].where[1] == TRAVEL[k]
    assert not rows["left.motion_ratio"].differs or abs(rows["left.motion_ratio"].largest[1]) < 1e-3
    assert not rows["roll_center_y"].differs  # round-off is no difference
    text = compared.summary()
    assert "left.toe" in text
    assert re.search(r"identical: .*roll center y", text)
    with pytest.raises(SekantError, match="have curves at different values of travel"):
        ComparedCurves(("a", "b"), (pair[0], sk.vehicle.axle_curves(FRONT, travel=[0.0, 0.01])))


def test_curves_that_one_design_lacks_are_named_and_drawn(pair, points):
    """Front and rear of a car: one steers and has anti dive, the other is driven and has anti squat."""
    rear_points = sk.vehicle.load_axle(FRONT.with_name("rear.yaml"))
    rear = sk.vehicle.axle_curves(rear_points, travel=TRAVEL)
    front = sk.vehicle.axle_curves(points, travel=TRAVEL)
    own = {"left.anti_dive": front, "left.anti_squat": rear}
    assert all(name in curves.names for name, curves in own.items())
    text = ComparedCurves(("front", "rear"), (front, rear)).summary()
    assert re.search(r"not in all designs: front: .*left\.anti dive", text)
    assert re.search(r"not in all designs: rear: .*left\.anti squat", text)
    charts = {chart["name"]: chart for chart in over_travel((front, rear), None)}
    assert [line["d"] for line in charts["left.anti_squat"]["lines"]] == [1]
    assert [line["d"] for line in charts["left.anti_dive"]["lines"]] == [0]


def test_labels_of_files():
    assert names_of_files(["a/front.yaml", "a/rear.yaml"]) == ("front", "rear")
    assert names_of_files(["a/front.yaml", "b/front.yaml"]) == ("a/front", "b/front")
    assert len(set(names_of_files(["a.yaml", "a.yaml"]))) == 2


def test_what_runs_away_is_cut():
    x = np.linspace(-1, 1, 41)
    circle = 2.0 / np.where(x == 0, 1e-9, np.abs(x))
    limit = cut_at("turning_circle", circle)
    assert limit is not None
    assert 2.0 < limit <= bound_of("turning_circle")
    assert cut_at("left.camber", circle) is None
    assert cut_at("roll_center_height", np.full(3, 0.05)) is None
    assert shown_number("turning_circle", 808.6, 1.0) == "> 200"
    assert shown_number("roll_center_y", -9.0, 1e3) == "< -1000"
    assert shown_number("left.toe", 0.1, 1.0) == "0.1000"
    assert shown_number("left.toe", np.nan, 1.0) == "-"


def test_targets_of_a_file(tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(
        "travel: -30..30 mm:5\nmove: {tie_rod_inner.z: -10..20 mm}\ntargets:\n  toe: 0.1 deg\n"
        "  camber: {design: -1 deg, gradient: -20 deg/m, tolerance: 0.1 deg}\n  roll_center_height: {design: 50 mm}\n"
        "  motion_ratio: {travel: [-15 mm, 15 mm], values: [0.6, 0.8]}\n"
    )
    found = read_targets(file)
    assert found.move == {"tie_rod_inner.z": (-0.01, 0.02)}
    toe, camber, height, ratio = (t.over(found.travel) for t in found.targets)
    assert toe == pytest.approx(np.radians(0.1))
    assert np.degrees(camber) == pytest.approx([-0.4, -0.7, -1.0, -1.3, -1.6])
    assert np.isfinite(height).tolist() == [False, False, True, False, False]
    assert ratio[1:4] == pytest.approx([0.6, 0.7, 0.8])
    assert np.isnan(ratio[0])
    assert found.of("left.camber").tolerance == pytest.approx(np.radians(0.1))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("targets: {toee: 0 deg}", "no curve 'toee'; did you mean 'toe'"),
        ("targets: {toe: 0 mm}", "t.yaml:1: targets.toe: .*mm"),
        ("targets: {toe: {gradient: 1 deg/m}}", "needs either 'design'"),
        ("targets: {toe: {design: 0, tolerance: -1 deg}}", "must be positive"),
        ("targets: {toe: {travel: [0], values: [0]}}", "lists of equal length"),
        ("targets: {toe: 0}\nmove: {tie_rod_inner.z: 3 mm}", "t.yaml:2: move.tie_rod_inner.z: .*-20..20 mm"),
        ("target: {toe: 0}", "unknown key"),
        ("move: {}", "needs 'targets'"),
    ],
)
def test_faults_of_targets_have_a_line(text, fault, tmp_path):
    (tmp_path / "t.yaml").write_text(text + "\n")
    with pytest.raises(SekantError) as caught:
        read_targets(tmp_path / "t.yaml")
    assert re.search(fault, str(caught.value)), caught.value


def test_bump_steer_is_tuned_away(lower, points, tmp_path):
    """The tie rod goes back up to where there is hardly any bump steer; what is not to move stays."""
    file = tmp_path / "t.yaml"
    file.write_text(
        "travel: -30..30 mm:5\nmove: {tie_rod_inner.z: -20..20 mm}\n"
        "targets: {toe: {design: 0 deg, gradient: 0 deg/m, tolerance: 0.05 deg}}\n"
    )
    found = tune(lower, read_targets(file))
    before, after = found.misses(found.before)["toe"], found.misses(found.after)["toe"]
    assert before > 10 * after
    assert after < np.radians(0.05)
    assert "within its tolerance" in found.summary()
    changed = {n for n in points.points if found.points.points[n] != lower.points[n]}
    assert changed == {"tie_rod_inner"}
    file.write_text("targets: {toe: 0 deg}\n")
    with pytest.raises(SekantError, match=r"t.yaml: contains no hard points to move"):
        tune(lower, read_targets(file))
    file.write_text("targets: {toe: 0 deg}\nmove: {tie_rod_iner.z: -1..1 mm}\n")
    with pytest.raises(SekantError, match=r"did you mean 'tie_rod_inner\.z'"):
        tune(lower, read_targets(file))


def test_jacking_by_a_mechanism_that_stands_on_its_wheels(points):
    """Springs held, the wheels may rise: the contact's way by an assembly of the corner is that by interpolation."""
    racks = np.array([-0.02, 0.0, 0.015])
    curves = sk.vehicle.axle_curves(points, travel=[-0.01, 0.0, 0.01], steering=racks)
    radius = float(np.linalg.norm(points.point("wheel_center") - points.point("contact")))
    found = jacking(curves, radius)["left.jacking"][1]
    assert found[1] == 0.0
    model = sk.vehicle.corner(points, side="left")
    held = model.changed(motions={})
    for k in (0, 2):
        swept = sk.kinematics(held, {"rack.displacement": [0.0, racks[k]]}, hold=["spring.length"])
        z = float(
            np.ptp(swept["upright.wheel_center.z"]) * np.sign(np.diff(swept["upright.wheel_center.z"])[0])
        )
        there = sk.vehicle.suspension_curves(
            model, points.suspension, travel=sorted([0.0, z]), steering=sorted([0.0, racks[k]])
        )
        moved_to, drawn = (np.argmax(np.abs(there.travel)), np.argmax(np.abs(there.steering))), there.design()
        wheel = radius * (np.cos(there["camber"][moved_to]) - np.cos(there["camber"][drawn]))
        assert found[k] == pytest.approx(wheel - z, abs=2e-7)
        assert abs(found[k]) > 5e-4


def test_left_and_right_are_mirror_images_over_steering_and_roll(points):
    moves = np.linspace(-0.02, 0.02, 5)
    curves = sk.vehicle.axle_curves(points, travel=[-0.01, 0.0, 0.01], steering=moves)
    found = {c["name"]: c for c in over_steering([curves], [jacking(curves, 0.228)])}
    assert {"ackermann_share", "camber", "jacking", "track"} <= set(found)
    for name in ("camber", "jacking"):
        left, right = (line["y"] for line in found[name]["lines"])
        assert left == pytest.approx(right[::-1], abs=1e-5)
    roll = sk.vehicle.axle_curves(points, motion="roll", travel=TRAVEL)
    charts = {c["name"]: c for c in over_roll([roll])}
    x = np.array(charts["camber_to_road"]["x"])
    left, right = (np.array(line["y"]) for line in charts["camber_to_road"]["lines"])
    assert np.all(np.diff(x) > 0)
    assert left == pytest.approx(right[::-1], abs=1e-5)
    assert (
        left[-1] < left[0]
    )  # right side down: the left wheel falls against the body and leans inward on the road


def test_charts_of_a_steered_axle_mark_what_is_cut(pair):
    found = {c["name"]: c for c in over_travel([pair[0]], None)}
    assert "left.roll_center_height" not in found
    assert [c for c in found if found[c]["first"]][:2] == ["left.camber", "left.toe"]
    for chart in found.values():
        for line in chart["lines"]:
            assert len(line["y"]) == len(chart["x"])
    wanted = CurveTarget("toe", "rad", design=0.01, tolerance=0.002)
    assert wanted.drawn == 0.01


def test_the_page_on_two_designs(pair, points, lower, tmp_path):
    (tmp_path / "t.yaml").write_text(
        "targets: {camber: {design: -1.5 deg, tolerance: 0.1 deg}, toe: {design: 1 deg, tolerance: 0.1 deg}}\n"
    )
    designs = [ShownDesign("front", points, pair[0]), ShownDesign("lower <b>", lower, pair[1])]
    path = write_report(tmp_path / "r.html", designs, read_targets(tmp_path / "t.yaml"))
    page = Path(path).read_text()
    for key in ("drawn", "motion", "travel", "steering", "roll", "numbers", "words"):
        assert f"<a href='#{key}'>" in page
        assert f"<section id='{key}'>" in page
    assert "✓ within" in page
    assert "✗ -1" in page
    assert "lower <b>" not in page.replace("\\u003cb\\u003e", "")
    data = json.loads(re.search(r"const DATA = (.*);\n", page)[1])
    assert data["designs"] == ["front", "lower <b>"]
    assert data["racks"] == [-20.0, 0.0, 20.0]
    toe = next(c for c in data["sections"]["travel"] if c["name"] == "left.toe")
    assert toe["lines"][1]["y"] == pytest.approx(np.degrees(pair[0]["left.toe"][:, 1]), abs=1e-6)
    assert len(toe["lines"]) == 6
    assert "https://" not in re.sub(r"https://github.com/leeoniya/uPlot|srcdoc=\"[^\"]*\"", "", page)


def test_the_roll_center_of_a_steered_axle_has_no_spike():
    """Where the lines of both sides are parallel the height runs away; what is drawn falls all the way down."""
    file = EXAMPLES.parent / "car" / "parts" / "hatchback_front.yaml"
    travel = np.linspace(-0.02, 0.04, 25)
    curves = sk.vehicle.axle_curves(file, travel=travel, steering=[-0.06, 0.0])
    raw = curves["roll_center_height"][:, 0]
    assert np.any(np.diff(raw) > 0.2)
    found = next(c for c in over_travel([curves], None) if c["name"] == "roll_center_height")
    steered, straight = found["lines"]
    assert None not in straight["y"]
    assert straight["cuts"] == []
    gap = [k for k, y in enumerate(steered["y"]) if y is None]
    assert 2 <= len(gap) <= 6
    assert gap == list(range(gap[0], gap[-1] + 1))
    assert [sign for _, sign in steered["cuts"]] == [-1.0, 1.0]
    beside = [steered["y"][: gap[0]], steered["y"][gap[-1] + 1 :]]
    assert np.ptp([y for part in beside for y in part]) < 250
    assert np.all(np.diff(beside[0]) < 0)
    assert np.all(np.diff(beside[1]) < 0)


def test_the_targets_of_the_examples_are_met():
    folder = EXAMPLES.parent / "car" / "formula" / "parts"
    targets = read_targets(folder / "targets.yaml")
    found = tune(sk.vehicle.load_axle(folder / "front.yaml"), targets)
    misses = found.misses(found.after)
    for target in targets.targets:
        assert misses[target.curve] <= target.tolerance
