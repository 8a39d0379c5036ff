"""Coordinates of paths and surfaces have the unit of their parameter, wherever a value of one is given."""

import casadi as ca
import numpy as np
import pytest

import sekant as sk


def model(curve: sk.PoseCurve) -> sk.Model:
    body = sk.Body(mass=4.0, com=(0, -0.2, 0), inertia=(0.07, 0.006, 0.07))
    return sk.Model(
        bodies={"shank": body},
        curves={"bend": curve},
        joints={"knee": sk.joints.Path(child="shank", curve="bend", q0="-20 deg")},
    )


def curve(unit: str) -> sk.PoseCurve:
    return sk.PoseCurve.from_function(
        lambda u: (ca.vertcat(0.02 * ca.sin(u), 0, 0.01 * u), ca.vertcat(u)),
        (-1.8, 0.1),
        orientation="euler:z",
        unit=unit,
    )


def test_a_path_over_an_angle_is_driven_in_degrees():
    found = sk.kinematics(model(curve("rad")), "knee.u", range=("-90 deg", "-5 deg", 5))
    assert found.drive == pytest.approx(np.radians(np.linspace(-90, -5, 5)))
    assert found.drive_units == ("rad",) or list(found.drive_units) == ["rad"]
    with pytest.raises(sk.SekantError, match="is a length, but an angle is expected"):
        sk.kinematics(model(curve("rad")), "knee.u", range=("-9 mm", "-5 deg", 5))


def test_a_path_over_a_length_is_not():
    with pytest.raises(sk.SekantError, match="is an angle, but a length is expected"):
        sk.kinematics(model(curve("m")), "knee.u", range=("-90 deg", "-5 deg", 5))


def test_a_surface_over_an_angle_is_driven_in_degrees():
    surface = sk.PoseSurface.from_function(
        lambda a, b: (ca.vertcat(b, 0.02 * ca.sin(a), 0.1 * a), ca.vertcat(a)),
        ((-1.8, 0.1), (-0.1, 0.1)),
        orientation="euler:z",
        units=("rad", "m"),
    )
    body = sk.Body(mass=4.0, com=(0, -0.2, 0), inertia=(0.07, 0.006, 0.07))
    on = sk.Model(
        bodies={"shank": body},
        curves={"bend": surface},
        joints={"knee": sk.joints.Surface(child="shank", surface="bend", q0=("-20 deg", "5 mm"))},
    )
    ranges = [("-90 deg", "-5 deg", 3), ("-50 mm", "20 mm", 2)]
    found = sk.kinematics(on, ["knee.u1", "knee.u2"], range=ranges)
    assert np.ptp(np.asarray(found.q)[..., 0]) == pytest.approx(np.radians(85))


def test_stops_on_a_path_over_an_angle_take_degrees():
    """In the mechanism itself: limits and stiffness of the coordinate."""
    base = model(curve("rad"))
    stop = sk.forces.JointLimit(
        joint="knee", lower="-90 deg", upper="-5 deg", stiffness="3 N*m/deg", ramp="1 deg"
    )
    sk.compile(base.model_copy(update={"forces": {"stop": stop}}))
    again = sk.Model(
        **{**{k: getattr(base, k) for k in ("bodies", "curves", "joints")}, "forces": {"stop": stop}}
    )
    assert again.forces["stop"].lower == pytest.approx(np.radians(-90))
