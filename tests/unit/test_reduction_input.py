"""What `reduce` refuses, and what it says; models on disk."""

from __future__ import annotations

import json

import pytest

import sekant as sk
from loops import Y, four_bar, slider_crank
from sekant.errors import DataError, ModelError, SekantError, SolverError
from sekant.io import model_text
from sekant.model.joints import Revolute
from sekant.model.numbers import with_numbers
from sekant.model.shapes import Sphere


def reduced(model=None, keep="coupler", coordinate="A.angle", range=(-1.5, 0.0), **options):
    return sk.reduce(model or four_bar(), keep, coordinate, range, **options)


def test_beyond_the_dead_points_the_limits_are_told():
    """The slider of a crank of 0.4 m and a rod of 1 m comes between 0.6 and 1.4 m, less when off its line."""
    with pytest.raises(
        SolverError, match=r"D\.q = 0\.3 to 1\.3 m is requested, but only 0\.59\d* to 1\.3 m can be reached"
    ):
        reduced(slider_crank(), "coupler", "D.q", (0.3, 1.3))


def test_a_freedom_too_many_names_what_still_moves():
    bar = four_bar()
    joints = {**bar.joints, "loose": Revolute(parent="rocker.end", child="extra", axis=Y)}
    model = bar.model_copy(update={"joints": joints, "bodies": {**bar.bodies, "extra": bar.bodies["crank"]}})
    with pytest.raises(SekantError, match="loose"):
        reduced(model)


def test_a_table_too_coarse_names_the_step_that_would_do():
    with pytest.raises(DataError, match=r"is off by .* but the tolerance is 1e-12; use a step of about"):
        reduced(nodes=9, tolerance=1e-12)


def test_a_path_too_coarse():
    with pytest.raises(DataError, match="path of 12 poses is too coarse"):
        reduced(nodes=12, tolerance=1e-12, method="path")


def test_a_start_outside_the_range():
    with pytest.raises(SolverError, match=r"starts at A\.angle = -1.* rad, which is outside the range"):
        reduced(range=(-0.7, 0.0))


def test_force_on_a_joint_that_goes():
    friction = {"friction": sk.forces.JointFriction(joint="D", damping=0.1)}
    with pytest.raises(ModelError, match="'friction' acts on joint 'D', which the reduction replaces"):
        reduced(four_bar(forces=friction))
    assert reduced(four_bar(forces=friction), drop=["friction"], nodes=9).model.forces == {}


def test_motion_of_a_joint_that_goes():
    model = four_bar(motions={"motor": sk.Motion(joint="D", value="-1.8 + 0.1*t")})
    with pytest.raises(
        ModelError, match=r"motion 'motor' moves joint 'D'.*make 'D\.angle' a second coordinate"
    ):
        reduced(model)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": "copler"}, "there is no body or frame 'copler'"),
        ({"keep": []}, "at least one body"),
        ({"relative_to": "coupler"}, "listed twice"),
        ({"method": "spline"}, "unknown method 'spline'"),
        ({"inertia": "lumped"}, "unknown inertia 'lumped'"),
        ({"coordinate": ["A.angle", "D.angle", "B.angle"], "range": [(0, 1)] * 3}, "one or two coordinates"),
        ({"range": (-1.0, 0.0, 5)}, "range \\(first, last\\)"),
        ({"nodes": 3}, "one whole number for each coordinate, each at least 6"),
        ({"drop": ["nothing"]}, "no force, contact or sensor 'nothing'"),
    ],
)
def test_bad_input(options, message):
    with pytest.raises(SekantError, match=message):
        reduced(**options)


def test_the_reduced_model_on_disk_is_the_same(tmp_path):
    found = reduced(nodes=20)
    files = found.save(tmp_path / "bar.yaml")
    assert sorted(p.name for p in files) == sorted(p.name for p in tmp_path.iterdir())
    assert len(files) == 4  # the model, and poses of coupler, crank and rocker
    again = sk.load(tmp_path / "bar.yaml")
    assert model_text(again) == model_text(found.model)
    json.dumps(found.digest())
    assert "crank" in found.summary()
    with pytest.raises(SekantError, match=r"the name must end in \.yaml"):
        found.save(tmp_path / "bar")


def test_shapes_of_bodies_that_go_go_with_them():
    shapes = {f"{name}_ball": Sphere(frame=name, radius=0.1) for name in ("crank", "coupler", "ground")}
    found = reduced(four_bar(shapes=shapes), inertia="ignore", nodes=9)
    assert set(found.model.shapes) == {"coupler_ball", "ground_ball"}
    assert set(reduced(four_bar(shapes=shapes), nodes=9).model.shapes) == set(shapes)


def test_hard_points_are_parameters_too():
    """A four-bar whose ground pivot is moved is the one that was built with the pivot there."""
    model = four_bar()
    moved = {"D.parent_pose.position": [0.83, 0.0, 0.07], "coupler.mass": 1.7}
    joint, body = model.joints["D"], model.bodies["coupler"]
    place = joint.parent_pose.changed(position=moved["D.parent_pose.position"])
    built = model.changed(
        joints={**model.joints, "D": joint.changed(parent_pose=place)},
        bodies={**model.bodies, "coupler": body.changed(mass=1.7)},
    )
    assert with_numbers(model, moved) == built
    assert with_numbers(model, {"D.parent_pose.position[1]": 0.1}).joints["D"].parent_pose.position[1] == 0.1
    assert model_text(reduced(parameters=moved, nodes=12).model) == model_text(reduced(built, nodes=12).model)
    with pytest.raises(ModelError, match=r"'D\.parent_pose\.position' needs 3 finite numbers"):
        reduced(parameters={"D.parent_pose.position": 1.0})
    with pytest.raises(ModelError, match="unknown parameter 'E"):
        reduced(parameters={"E.place": 1.0})
