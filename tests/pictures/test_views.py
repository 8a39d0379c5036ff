"""`view:` of a model: where the camera of a player stands at first, and which body it rides on."""

from __future__ import annotations

import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model import View
from sekant.model.parse import model_from_dict
from sekant.views.player.figure import figure


def falling(**view):
    """A body that falls far away; without a view it is chased."""
    tip = {"position": [0.1, 0, 0]}
    bodies = {"stone": {"mass": 1.3, "inertia": [0.01, 0.02, 0.03], "frames": {"tip": tip}}}
    joints = {"flight": {"type": "free", "child": "stone", "velocity": [9.0, 0, 4.0]}}
    raw = {"name": "stone", "bodies": bodies, "joints": joints}
    return model_from_dict({**raw, "view": view} if view else raw)


def drawn(model):
    return figure(sk.simulate(model, 3.0))


def test_a_camera_stays_where_the_model_puts_it():
    free = drawn(falling())
    assert (free["camera"], free["target"], free["follow"]) == (None, None, 0)
    held = drawn(falling(camera=["3 m", -2, "500 mm"], target=[1, 0, 0.2]))
    assert (held["camera"], held["target"], held["follow"]) == ([3.0, -2.0, 0.5], [1.0, 0.0, 0.2], -1)
    assert drawn(falling(camera=[3, 1, 1]))["target"] is None  # of the other model, with the same equations


@pytest.mark.parametrize(("plane", "normal"), [("xy", [0, 0, 1]), ("xz", [0, 1, 0]), ("yz", [1, 0, 0])])
def test_a_plane_is_seen_square_onto_it(plane, normal):
    run = drawn(falling(plane=plane))
    assert (run["plane"], run["follow"], run["camera"]) == (normal, -1, None)


def test_the_camera_rides_with_what_the_model_says():
    assert drawn(falling())["ride"] == {"track": 0, "eyes": None}
    run = drawn(falling(ride="stone.tip"))
    assert run["ride"] == {"track": 0, "eyes": [0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]}
    assert run["follow"] == 0  # who travels far is chased, still
    both = drawn(falling(ride="stone", plane="xz"))
    assert (both["ride"]["eyes"], both["plane"]) == ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0, 1, 0])


def test_a_view_is_written_and_read(tmp_path):
    model = falling(camera=[3, -2, 0.5])
    again = sk.load(sk.save(model, tmp_path / "stone.yaml"))
    assert again.view == View(camera=(3.0, -2.0, 0.5))
    assert again == model


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ({"target": [1, 2, 3]}, "give either 'plane' or 'camera'"),
        ({"plane": "xz", "camera": [1, 2, 3]}, "give either 'plane' or 'camera'"),
        ({"plane": "xz", "target": [1, 2, 3]}, "'target' is the point at which the camera looks"),
        ({"camera": [1, 2, 3], "target": [1, 2, 3]}, "the same point"),
        ({"plane": "zx"}, "plane"),
        ({"camera": ["1 kg", 2, 3]}, "kg"),
        ({"ride": "stoned"}, "no body or frame 'stoned' on which the camera can ride; did you mean 'stone'"),
        ({"ride": "ground"}, "no body or frame 'ground' on which the camera can ride"),
    ],
)
def test_views_that_cannot_be_are_refused(view, message):
    with pytest.raises(SekantError, match=message):
        falling(**view)
