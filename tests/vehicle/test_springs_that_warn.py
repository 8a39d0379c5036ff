"""Springs in the wrong unit and push rods past their dead point give a warning with the curves."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.io.source import read_source
from sekant.vehicle.hardpoints.description import hard_points
from sekant.vehicle.hardpoints.files import load_suspension

POINTS = Path(__file__).parents[2] / "examples" / "suspensions" / "hardpoints"
TRAVEL = np.array([-0.02, 0.0, 0.02])


def curves(data, axle, travel=TRAVEL):
    if axle:
        return sk.vehicle.axle_curves(data, travel=travel)
    return sk.vehicle.suspension_curves(sk.vehicle.corner(data), hard_points(data).suspension, travel=travel)


@pytest.mark.parametrize("axle", [False, True])
def test_a_bare_stiffness_in_millimeters_is_told(axle):
    """unit: mm is that of the points: 37 is 37 N/m, which a preload of 4 kN presses by 108 m."""
    data = read_source(POINTS / "double_wishbone.yaml").data
    data["spring"] = {**data["spring"], "stiffness": 37.0, "preload": 4000.0}
    data["spring"].pop("free_length", None)
    found = curves(data, axle)
    warning = found.warnings[0]
    assert warning.code == "spring_pressed_far"
    assert "spring'" in str(warning)
    assert "37 N/m, it is compressed from a free length of 108" in str(warning)
    assert "write 37 N/mm" in found.summary()
    data["spring"]["stiffness"] = "37 N/mm"
    assert curves(data, axle).warnings == ()


@pytest.mark.parametrize("axle", [False, True])
def test_a_push_rod_past_its_dead_point_is_told(axle):
    """The rod's end on the rocker turned about the pivot until the rod points at it."""
    data = read_source(POINTS / "formula_student.yaml").data
    pivot, outer = (np.array(data["points"][name]) for name in ("rocker_pivot", "push_rod_outer"))
    arm = np.linalg.norm(np.array(data["points"]["push_rod_inner"]) - pivot)
    line = outer - pivot
    line[0] = 0.0
    data["points"]["push_rod_inner"] = (pivot + arm * line / np.linalg.norm(line) - [0, 0, 1e-4]).tolist()
    found = curves(data, axle, np.array([0.0, 1e-3, 2e-3]))
    codes = {warning.code for warning in found.warnings}
    assert "negative_motion_ratio" in codes
    text = str(found.warnings[0])
    assert "spring'" in text
    assert "beyond which the spring extends" in text
    assert "move the points" in text


def test_a_single_position_is_told_as_one():
    data = read_source(POINTS / "formula_student.yaml").data
    found = curves(data, False, np.array([0.0, 0.06]))
    (warning,) = [w for w in found.warnings if w.code == "negative_wheel_rate"]
    assert warning.place == "travel 60 mm"


def test_examples_have_no_such_warning():
    for file in sorted(POINTS.glob("*.yaml")):
        model, roles = load_suspension(file)
        assert not sk.vehicle.suspension_curves(model, roles, travel=TRAVEL).warnings, file
