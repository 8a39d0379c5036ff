"""Ranges as texts: one syntax for commands, studies and drives."""

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model.ranges import read_named_range, read_range


@pytest.mark.parametrize(
    ("text", "unit", "first", "last", "count"),
    [
        ("10..40 kN/m", "N/m", 1e4, 4e4, None),
        ("10 kN/m..0.04 MN/m", "N/m", 1e4, 4e4, None),
        ("-80..80mm:41", "m", -0.08, 0.08, 41),
        ("0.5..1.5", "", 0.5, 1.5, None),
        (".5..1e1", None, 0.5, 10.0, None),
        ("30..-30 deg", "rad", np.pi / 6, -np.pi / 6, None),
        (" 200 .. 9000 N*s/m : 3", None, 200.0, 9000.0, 3),
        ("1..2.", "m", 1.0, 2.0, None),
    ],
)
def test_ranges_are_read(text, unit, first, last, count):
    found = read_range(text, unit, "k")
    assert (found.first, found.last, found.count) == (pytest.approx(first), pytest.approx(last), count)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("10", "as 10..40 N/m"),
        ("10..", "as 10..40 N/m"),
        ("10..40 s", "N/m"),
        ("10..40 kN/m:x", "number of values"),
        ("10..40 kN/m:0", "number of values"),
        ("10..1e999 N/m", "k:"),
        ("a..b", "not a number"),
        ("3..3 N/m", "are equal"),
        ("4..3 N/m", "must increase"),
    ],
)
def test_wrong_ranges_are_told(text, said):
    with pytest.raises(SekantError, match="k:") as caught:
        read_range(text, "N/m", "k", rising=True)
    assert said in str(caught.value)


def test_names_and_ranges():
    assert read_named_range("strut.damping = 200..9000 N*s/m", "--locus") == (
        "strut.damping",
        "200..9000 N*s/m",
    )
    with pytest.raises(SekantError, match="NAME=RANGE"):
        read_named_range("c", "--locus")


def test_drives_take_ranges():
    arm = sk.Body(mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01))
    model = sk.Model(bodies={"arm": arm}, joints={"hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0))})
    swept = sk.kinematics(model, "hinge.angle", "-30..30 deg:5")
    assert np.asarray(swept.drive) == pytest.approx(np.radians([-30, -15, 0, 15, 30]))
