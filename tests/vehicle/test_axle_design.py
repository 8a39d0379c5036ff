"""Design of axles: preloads for wheel loads, sensitivities to hard points, points for targets."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.vehicle.hardpoints.coordinates import coordinates, moved
from sekant.views.suspension_plot import tornado_picture
from suspensions import EXAMPLES, planar_points

UPPER, LOWER = (0.36, 0.16, 0.62, 0.19), (0.33, -0.11, 0.66, -0.13)
ARM = {
    "type": "trailing_arm",
    "points": {
        "hinge_inner": [0.5, 0.4, 0.0],
        "hinge_outer": [0.5, 0.6, 0.0],
        "wheel_center": [0.0, 0.7, 0.0],
        "spring_top": [0.25, 0.5, 0.4],
        "spring_bottom": [0.25, 0.5, 0.0],
    },
    "wheel": {"radius": 0.3},
    "masses": {"upright": 1e-3, "arm": 1e-3},
    "spring": {"stiffness": 30e3},
}


def test_perches_for_wheel_loads():
    """Without weight, half-way springs carry twice the load: perch = 2 F / k, by hand; each side its own."""
    made = sk.vehicle.standing(ARM, {"left": 3000.0, "right": 2500.0})
    assert made.set_up["left.spring_perch"] == pytest.approx(2 * 3000 / 30e3, rel=1e-5)
    assert made.set_up["right.spring_perch"] == pytest.approx(2 * 2500 / 30e3, rel=1e-5)
    again = sk.vehicle.axle_curves(made, travel=[0.0, 0.01])
    assert again["left.spring_load"][0, 0] == pytest.approx(3000.0, abs=0.05)  # less 2 g of parts
    with pytest.raises(SekantError, match="'left' and 'right'"):
        sk.vehicle.standing(ARM, {"left": 3000.0})
    bare = ARM | {"points": {k: v for k, v in ARM["points"].items() if "spring" not in k}}
    with pytest.raises(SekantError, match="without springs"):
        sk.vehicle.standing(bare, 3000.0)


@pytest.fixture(scope="module")
def wishbones():
    return {"type": "double_wishbone", "points": planar_points(UPPER, LOWER)}


def test_sensitivities_of_the_caster_by_hand(wishbones):
    """As drawn caster = atan2(-(upper - lower)_x, height): a ball joint moved along x turns it by 1 / height."""
    wanted = ["caster", "kingpin_inclination"]
    found = sk.vehicle.curve_sensitivities(wishbones, wanted, points=["upper_ball"], travel=[0.0, 0.01])
    height = 0.19 + 0.13
    assert found.of("caster", "upper_ball.x")[0] == pytest.approx(-1 / height, rel=1e-6)
    across = 0.62 - 0.66
    slope = -height / (height**2 + across**2)  # of atan2(-(y_u - y_l), height) by y_u
    assert found.of("kingpin_inclination", "upper_ball.y")[0] == pytest.approx(slope, rel=1e-6)
    name, change = found.ranked("caster")[0]
    assert name == "upper_ball.x"
    assert change == pytest.approx(-np.degrees(1e-3 / height), rel=1e-6)
    assert "caster [deg]: upper_ball.x" in found.summary()


@pytest.mark.long
def test_points_for_a_target(wishbones):
    """Toe curves of a known design are found again by moving the tie rod back to where it was."""
    travel = [-0.03, 0.0, 0.03]
    goal = sk.vehicle.suspension_curves(sk.vehicle.corner(wishbones), travel=travel)
    shifted = moved(sk.vehicle.HardPoints(**wishbones), {"tie_rod_inner.z": 0.012})
    bounds = {"tie_rod_inner.z": (-0.03, 0.03)}
    found, curves = sk.vehicle.fit_points(shifted, {"toe": goal["toe"][:, 0]}, bounds, travel=travel)
    assert found.point("tie_rod_inner")[2] == pytest.approx(LOWER[1], abs=1e-5)
    assert curves["left.toe"] == pytest.approx(goal["toe"], abs=1e-6)
    with pytest.raises(SekantError, match="no coordinate 'tie_rod_inner"):
        sk.vehicle.fit_points(wishbones, {"toe": [0, 0, 0]}, {"tie_rod_inner.w": (-1, 1)}, travel=travel)
    with pytest.raises(SekantError, match="has 2 values for 3 positions"):
        sk.vehicle.fit_points(wishbones, {"toe": [0, 0]}, bounds, travel=travel)


STEER = 0.02  # m of the rack
FAR = ("view", "roll_center_y", "ackermann")  # curves with poles, or that round-off alone makes


def designs(data, **more):
    return sk.vehicle.AxleDesigns(data, travel=[-0.02, 0.0, 0.03], **more)


def compared(made, h=1e-4):
    """Exact derivatives against central differences of the curves, extrapolated: O(h^4)."""
    found = made.sensitivities()
    kept = {  # without the infinite ones: straight, there is no turning circle
        curve: values
        for curve, values in found.data.items()
        if np.isfinite(values).all() and not any(part in curve for part in FAR)
    }
    for name in made.names:
        slopes = []
        for step in (h, h / 2):
            high, low = (made.curves({name: made.drawn[name] + sign * step}) for sign in (1, -1))
            slopes.append({c: (high[c][:, 0] - low[c][:, 0]) / (2 * step) for c in kept})
        for curve, values in kept.items():
            wanted = (4 * slopes[1][curve] - slopes[0][curve]) / 3
            size = max(np.nanmax(np.abs(values)), 1e-3)
            np.testing.assert_allclose(
                found.of(curve, name), wanted, atol=2e-6 * size, rtol=0, err_msg=f"{curve} by {name}"
            )


@pytest.fixture(scope="module")
def made():
    """A steered axle with springs and a bar, whose two points move; its wheel's axis follows a point."""
    bar = {"bar": [0.3, 0.3, -0.05], "arm": [0.05, 0.4, -0.05], "link": [0.05, 0.5, -0.08], "rate": 900.0}
    points = planar_points(UPPER, LOWER) | {"axle_inner": [0.004, 0.3, 0.003]}
    points = {name: p for name, p in points.items() if name != "contact"}
    data = {
        "type": "double_wishbone",
        "points": points,
        "wheel": {"radius": 0.31},
        "spring": {"stiffness": 3e4, "preload": 3e3},
        "axle": {"anti_roll_bar": bar | {"on": "lower_arm"}},
        "suspension": {"wheelbase": 2.6, "cg_height": 0.5},
    }
    return designs(data, points=["upper_ball", "axle_inner", "anti_roll_bar.arm"], steering=[STEER])


def test_designs_have_the_curves_of_models_built_anew(made):
    """Run-time parameters against numbers: every curve, at points moved by millimeters."""
    rng = np.random.default_rng(3)
    shifts = {name: 2e-3 * rng.normal() for name in made.names}
    found = made.curves({name: made.drawn[name] + shift for name, shift in shifts.items()})
    wanted = sk.vehicle.axle_curves(moved(made.given, shifts), travel=made.travel, steering=[STEER])
    assert set(found.names) == set(wanted.names)
    for name in wanted.names:
        size = max(1.0, np.nanmax(np.abs(wanted[name])))
        np.testing.assert_allclose(found[name], wanted[name], atol=1e-9 * size, rtol=1e-9, err_msg=name)
    many = made.many({"upper_ball.z": [0.19, 0.2]}, ["toe", "roll_stiffness"])
    np.testing.assert_allclose(
        many["toe"][1], made.curves({"upper_ball.z": 0.2})["left.toe"], atol=1e-14, rtol=0
    )


def test_exact_derivatives_are_those_of_differences(made):
    compared(made)


def test_optimization_on_targets_of_curves(made):
    """`sk.studies.optimize` finds the points of a known design again by its curves, with exact gradients."""
    goal = made.curves({"upper_ball.z": 0.2, "upper_ball.y": 0.615})
    targets = {name: goal[name][:, 0] for name in ("left.camber", "left.roll_center_height")}
    found = sk.studies.optimize(
        made.system,
        {"upper_ball.z": (0.17, 0.21), "upper_ball.y": (0.6, 0.64)},
        made.deviation(targets),
        constraints={"caster": (made.value("left.caster"), -0.5, 0.5)},
        tolerance=1e-14,
    )
    assert found.ok
    assert found.gradients == {"objective": "exact", "caster": "exact"}
    assert found.parameters["upper_ball.z"] == pytest.approx(0.2, abs=1e-5)
    assert found.parameters["upper_ball.y"] == pytest.approx(0.615, abs=1e-5)


def test_designs_refuse_what_they_do_not_know(made):
    with pytest.raises(SekantError, match="no point 'uper_ball'; did you mean 'upper_ball'"):
        designs(made.given, points=["uper_ball"])
    with pytest.raises(SekantError, match=r"'lower_ball\.z' is not a coordinate of a movable point"):
        made.curves({"lower_ball.z": 0.0})
    with pytest.raises(SekantError, match="there is no curve 'tow'"):
        made.sensitivities(curves=["tow"])
    with pytest.raises(SekantError, match="the same number of values"):
        made.many({"upper_ball.z": [0.1, 0.2], "upper_ball.x": [0.0]})


@pytest.mark.long
@pytest.mark.parametrize("file", ["double_wishbone", "mcpherson", "five_link", "formula_student"])
def test_exact_derivatives_of_all_points(file):
    compared(designs(sk.vehicle.load_axle(EXAMPLES / "hardpoints" / f"{file}.yaml")))


@pytest.mark.long
@pytest.mark.parametrize("file", ["front_double_wishbone", "rear_solid_axle", "rear_twist_beam"])
@pytest.mark.parametrize("motion", ["parallel", "roll"])
def test_exact_derivatives_of_axles(file, motion):
    data = sk.vehicle.load_axle(EXAMPLES.parent / "axles" / f"{file}.yaml")
    middle = {
        name.rpartition(".")[0] for name, y in coordinates(data).items() if name.endswith(".y") and y == 0
    }
    points = [p for p in dict.fromkeys(n.rpartition(".")[0] for n in coordinates(data)) if p not in middle]
    compared(designs(data, motion=motion, points=points))


def test_travel_counts_from_the_drawing_with_set_up_changes(made):
    """A turnbuckle moves the start; designs and curves of hard points mean the same height by the same travel."""
    data = made.given.model_copy(update={"set_up": {"tie_rod_length": 0.004}})
    travel = [-0.02, 0.0, 0.03]
    ours, plain = (sk.vehicle.axle_curves(d, travel=travel, steering=[STEER]) for d in (data, made.given))
    others = designs(data, points=["upper_ball"], steering=[STEER]).curves()
    for name in others.names:
        np.testing.assert_allclose(ours[name], others[name], rtol=1e-6, atol=1e-7, err_msg=name)
    assert np.abs(ours["left.toe"] - plain["left.toe"]).min() > 1e-3


def test_round_off_is_not_drawn_as_a_sensitivity(wishbones, tmp_path):
    """As drawn, toe does not depend on the ball joints: bars are those of the travel at which it does."""
    found = sk.vehicle.curve_sensitivities(
        wishbones, ["toe"], points=["upper_ball", "lower_ball"], travel=[-0.02, 0.0, 0.03]
    )
    assert all(value == 0.0 for _, value in found.ranked("toe"))
    assert found.reference_travel("toe") in (-0.02, 0.03)
    assert "none as drawn; at" in found.summary()
    rows = [line.split(",")[1:] for line in found.to_csv(tmp_path / "table.csv").read_text().splitlines()[1:]]
    assert [any(float(x) for x in row[1:]) for row in rows] == [True, False, True]
    picture = tornado_picture(found, "toe")
    (axis,) = picture.axes
    widths = [abs(bar.get_width()) for bar in axis.patches]
    assert widths
    assert min(widths) > 1e-9 * max(widths)
    assert "of travel" in axis.get_xlabel()
