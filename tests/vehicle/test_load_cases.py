"""Load cases of an axle from accelerations: what moves across and along, and who brakes."""

from pathlib import Path

import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.io.source import read_source

FILE = Path(__file__).parents[2] / "examples" / "suspensions" / "hardpoints" / "double_wishbone.yaml"
G, MASS, BASE, HEIGHT, LOAD = 9.81, 270.0, 1.55, 0.28, 636.0
CAR = {"wheelbase": BASE, "cg_height": HEIGHT, "vehicle_mass": MASS}


def applied(case, load=LOAD, **vehicle):
    data = {**read_source(FILE).data, "load": load}
    data["suspension"] = {"travel": [-0.17, 0.24], **vehicle}
    found = sk.vehicle.member_loads(data, {"b": case})
    return found.applied["b"], found


def test_braking_moves_load_to_the_front():
    """270 kg at 1.5 g: 636 N of a wheel become 995 N."""
    values, found = applied({"az": 1, "ax": -1.5}, **CAR, brake_share=0.6)
    wanted = LOAD + MASS * G * 1.5 * HEIGHT / BASE / 2
    assert wanted == pytest.approx(995, abs=0.5)
    for side in ("left", "right"):
        assert values[f"{side}.fz"] == pytest.approx(wanted, rel=1e-12)
        assert values[f"{side}.fx"] == pytest.approx(-0.6 * MASS * G * 1.5 / 2, rel=1e-12)
    assert found.warnings == ()


def test_front_and_rear_carry_and_brake_the_vehicle():
    """Both axles together: the weight, and mass times acceleration; shared by load where no share is given."""
    case = {"az": 1.0, "ax": -0.9, "ay": 0.3}
    behind = MASS * G / 2 - LOAD
    sums = dict.fromkeys(("fx", "fy", "fz"), 0.0)
    ratios = []
    for axle, load in (("front", LOAD), ("rear", behind)):
        values, _ = applied(case, load, axle=axle, **CAR)
        for key in sums:
            sums[key] += values[f"left.{key}"] + values[f"right.{key}"]
        ratios += [values[f"{side}.fx"] / values[f"{side}.fz"] for side in ("left", "right")]
    assert sums["fz"] == pytest.approx(MASS * G, rel=1e-12)
    assert sums["fx"] == pytest.approx(-0.9 * MASS * G, rel=1e-12)
    assert sums["fy"] == pytest.approx(0.3 * MASS * G, rel=1e-12)
    assert ratios == pytest.approx([-0.9] * 4, rel=1e-12)


def test_driving_has_a_share_of_its_own():
    values, _ = applied({"az": 1, "ax": 0.5}, axle="rear", **CAR, brake_share=0.3, drive_share=1.0)
    assert values["left.dx"] == pytest.approx(0.5 * MASS * G / 2, rel=1e-12)  # shafts: at the wheel's center
    assert "left.fx" not in values
    assert values["left.fz"] == pytest.approx(LOAD + MASS * G * 0.5 * HEIGHT / BASE / 2, rel=1e-12)


def test_wheels_that_lift_carry_nothing_and_the_others_the_rest():
    values, _ = applied({"az": 1, "ay": 2.5}, **{**CAR, "cg_height": 0.5})
    assert values["left.fz"] == 0.0
    assert values["right.fz"] == pytest.approx(2 * LOAD, rel=1e-12)
    assert values["right.fy"] == pytest.approx(2 * LOAD * 2.5, rel=1e-12)
    values, _ = applied({"az": 1, "ax": -3.0}, axle="rear", **{**CAR, "cg_height": 0.9})
    assert values["left.fz"] == values["right.fz"] == 0.0


def test_without_the_mass_of_the_vehicle_the_assumption_is_told():
    values, found = applied({"az": 1, "ax": -1.5}, wheelbase=BASE, cg_height=HEIGHT)
    assert values["left.fz"] == pytest.approx(LOAD + 2 * LOAD * 1.5 * HEIGHT / BASE, rel=1e-12)
    (warning,) = found.warnings
    assert warning.code == "vehicle_mass_assumed"
    assert "load case 'b'" in str(warning)
    assert "259.3 kg" in str(warning)
    assert "give vehicle_mass" in found.summary()


def test_what_the_transfer_needs_is_asked_for():
    with pytest.raises(
        SekantError,
        match="along the car under ax cannot be computed; give cg_height and wheelbase under 'suspension'",
    ):
        applied({"az": 1, "ax": -1.0})
