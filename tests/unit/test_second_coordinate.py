"""Surfaces that share a drive: two bodies, each with a coordinate of its own, on one slider."""

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.io import model_text

MASSES = {"slider": 3.0, "a": 1.1, "b": 0.7}


def model(**changes):
    """Bodies a and b rise by u1 and go sideways with the slider: a by its travel, b by twice that."""
    a = sk.PoseSurface.from_function(lambda u, r: ca.vertcat(0, r, u), ((-30, 30), (-30, 30)))
    b = sk.PoseSurface.from_function(lambda u, r: ca.vertcat(1, 2 * r, u + r), ((-60, 60), (-30, 30)))
    joints = {
        "slide": sk.joints.Prismatic(child="slider", axis=(0, 1, 0)),
        "on_a": sk.joints.Surface(child="a", surface=a, q0=(1.0, 0.0), second_coordinate_of="slide"),
        "on_b": sk.joints.Surface(child="b", surface=b, q0=(2.0, 0.0), second_coordinate_of="slide"),
    }
    return sk.Model(
        gravity=(0, 0, -9.0),
        bodies={name: sk.Body(mass=m, inertia=(0.1, 0.2, 0.25)) for name, m in MASSES.items()},
        joints={**joints, **changes},
        forces={"push": sk.forces.Actuator(joint="slide", force=5.0)},
    )


def test_one_coordinate_moves_both():
    """With y_a = r, y_b = 2 r, z_b = u + r: (m + m_a + 4 m_b) r'' = F, z_a'' = z_b'' = -g."""
    system = sk.compile(model())
    assert (system.nq, system.nv) == (3, 3)
    result = sk.simulate(system, until=1.0, rtol=1e-10)
    r = 0.5 * 5.0 / (3.0 + 1.1 + 4 * 0.7)
    fall = -0.5 * 9.0
    np.testing.assert_allclose(result["a.position"][-1], [0, r, 1 + fall], atol=1e-9)
    np.testing.assert_allclose(result["b.position"][-1], [1, 2 * r, 2 + fall], atol=1e-9)
    assert result["on_a.q"].shape[1] == 2
    np.testing.assert_allclose(result["on_b.q"][:, 1], result["slide.q"], atol=1e-12)
    assert np.abs(result["energy.balance"]).max() < 1e-9


def test_a_driven_slider_drives_both():
    driven = model().changed(motions={"pull": sk.Motion(joint="slide", value="0.3*t^2")}, forces={})
    result = sk.simulate(driven, until=1.0, rtol=1e-10)
    np.testing.assert_allclose(result["b.position"][-1], [1, 0.6, 2 - 4.5], atol=1e-9)
    assert result["pull.force"][-1] == pytest.approx(0.6 * (3.0 + 1.1 + 4 * 0.7), rel=1e-8)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"second_coordinate_of": "nothing"}, "unknown joint 'nothing'"),
        ({"second_coordinate_of": "on_b"}, "must have exactly one coordinate"),
        ({"second_coordinate_of": "slide", "coordinate_of": "on_b"}, "already shares both coordinates"),
    ],
)
def test_nonsense_is_refused(change, words):
    with pytest.raises(SekantError, match=words):
        surface = model().joints["on_a"].surface
        model(on_a=sk.joints.Surface(child="a", surface=surface, **change))


def test_loops_of_such_joints_are_refused():
    with pytest.raises(SekantError, match="use formulation 'joint'"):
        sk.compile(model(), formulation="cartesian")


def test_it_survives_files(tmp_path):
    (tmp_path / "model.yaml").write_text(model_text(model()))
    assert sk.load(tmp_path / "model.yaml").joints["on_b"].second_coordinate_of == "slide"


def led(**own):
    """Body a on a surface y = r, z = u; body b on a curve over r alone: y = 2 r, z = r."""
    a = sk.PoseSurface.from_function(lambda u, r: ca.vertcat(0, r, u), ((-30, 30), (-30, 30)))
    b = sk.PoseCurve.from_function(lambda r: ca.vertcat(1, 2 * r, r), (-30, 30))
    joints = {
        "on_a": sk.joints.Surface(child="a", surface=a, q0=(1.0, 0.5), v0=(0.2, -0.3)),
        "on_b": sk.joints.Path(child="b", curve=b, **{"coordinate_of": "on_a", "coordinate": 1, **own}),
    }
    bodies = {name: sk.Body(mass=MASSES[name], inertia=(0.1, 0.2, 0.25)) for name in "ab"}
    push = sk.forces.Actuator(joint="on_a", coordinate=1, force=5.0)
    return sk.Model(gravity=(0, 0, -9.0), bodies=bodies, joints=joints, forces={"push": push})


@pytest.mark.parametrize("formulation", ["joint", "cartesian"])
def test_a_path_over_one_coordinate_of_a_surface(formulation):
    """(m_a + 5 m_b) r'' = F - m_b g, u'' = -g."""
    system = sk.compile(led(), formulation=formulation)
    result = sk.simulate(system, until=1.0, rtol=1e-10, atol=1e-12)
    r = 0.5 - 0.3 + 0.5 * (5.0 - 0.7 * 9.0) / (1.1 + 5 * 0.7)
    np.testing.assert_allclose(result["a.position"][-1], [0, r, 1 + 0.2 - 4.5], atol=1e-8)
    np.testing.assert_allclose(result["b.position"][-1], [1, 2 * r, r], atol=1e-8)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"coordinate": 2}, "has 2 coordinates, but a path joint shares 1; select one by its index"),
        ({"coordinate": None}, "has 2 coordinates, but a path joint shares 1; select one by its index"),
        ({"coordinate_of": None}, "selects a coordinate of the joint that coordinate_of names"),
    ],
)
def test_a_coordinate_that_is_not_there_is_refused(own, words):
    with pytest.raises(SekantError, match=words):
        led(**own)
