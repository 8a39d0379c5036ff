"""Laws between bodies and coordinates against closed solutions: wrenches, couplings with play, bushings, tables."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.special import airy

import sekant as sk
from sekant.errors import ModelError
from sekant.io import model_text
from sekant.model.mirror import mirrored
from sekant.model.parse import model_from_dict

FORMULATIONS = ("joint", "cartesian", "natural")


def sliders(**more):
    """Two blocks on parallel rails."""
    return {
        "gravity": [0, 0, 0],
        "bodies": {
            name: {"mass": mass, "inertia": [0.1, 0.2, 0.3]} for name, mass in (("one", 1.3), ("two", 2.7))
        },
        "joints": {
            "rail1": {"type": "prismatic", "child": "one", "axis": [1, 0, 0], "q0": 0.2},
            "rail2": {"type": "prismatic", "child": "two", "axis": [1, 0, 0], "q0": -0.1, "v0": 0.4},
        },
        **more,
    }


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_wrench_acts_and_reacts(formulation):
    """A spring and a damper by expression between two sliders: momentum is kept, they swing about each other."""
    k, c = 37.0, 1.9
    model = sliders(
        forces={"w": {"type": "wrench", "parent": "one", "child": "two", "force": [f"-{k}*x - {c}*vx", 0, 0]}}
    )
    result = sk.simulate(
        sk.compile(model_from_dict(model), formulation=formulation), until=2.0, rtol=1e-11, atol=1e-13
    )
    M, K = np.diag([1.3, 2.7]), np.array([[1.0, -1.0], [-1.0, 1.0]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, k * K), -np.linalg.solve(M, c * K)]])
    q = expm(2.0 * A) @ np.array([0.2, -0.1, 0.0, 0.4])
    assert [result["rail1.q"][-1], result["rail2.q"][-1]] == pytest.approx(q[:2], abs=1e-9)
    assert 1.3 * result["rail1.v"] + 2.7 * result["rail2.v"] == pytest.approx(2.7 * 0.4, abs=1e-10)
    assert abs(result["energy.balance"]).max() < 1e-9


def test_a_wrench_at_a_spherical_joint():
    """A constant torque about z on a symmetric top in a spherical joint: what an actuator cannot do there."""
    model = {
        "gravity": [0, 0, 0],
        "bodies": {"top": {"mass": 1.0, "inertia": [0.3, 0.3, 0.5]}},
        "joints": {"ball": {"type": "spherical", "child": "top"}},
        "forces": {
            "motor": {"type": "wrench", "at_joint": "ball", "torque": [0, 0, 0.7], "resolved_in": "child"}
        },
    }
    result = sk.simulate(model_from_dict(model), until=1.5)
    assert result["top.angular_velocity.z"][-1] == pytest.approx(0.7 / 0.5 * 1.5, rel=1e-9)
    model["forces"]["motor"] = {"type": "actuator", "joint": "ball", "force": 0.7}
    with pytest.raises(ModelError, match="at_joint: ball"):
        model_from_dict(model)


def test_mirrored_laws_move_as_the_mirror_image():
    wrench = sk.forces.Wrench(
        parent="ground", child="b", force=("3*y", "2 - 5*y + vx", "x*y"), torque=("y", 0.4, "z")
    )
    image = mirrored(wrench, "y")
    assert [str(x) for x in image.force] == ["3*(-y)", "-(2 - 5*(-y) + vx)", "x*(-y)"]
    assert [str(x) for x in image.torque[1:]] == ["0.4", "-z"]
    rows = np.zeros((6, 6))
    rows[0, 1] = rows[1, 0] = 3.0
    rows[1, 3] = rows[3, 1] = 5.0
    rows += np.diag([10.0, 11.0, 0.0, 12.0, 0.0, 0.0])
    bushing = sk.forces.Bushing(parent="ground", child="b", matrix=tuple(map(tuple, rows.tolist())))
    turned = np.array(mirrored(bushing, "y").matrix)
    assert (turned[0, 1], turned[1, 3]) == (-3.0, 5.0)


def gears(**more):
    law = {
        "type": "compliant_coupling",
        "joint": "in",
        "driven": "out",
        "ratio": -0.5,
        "stiffness": 90.0,
        **more,
    }
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {
                n: {"mass": 1, "inertia": [0.6, 0.7, i]} for n, i in (("pinion", 0.3), ("wheel", 0.8))
            },
            "joints": {
                "in": {"type": "revolute", "child": "pinion", "axis": [0, 0, 1], "v0": 2.0},
                "out": {"type": "revolute", "child": "wheel", "axis": [0, 0, 1]},
            },
            "forces": {"mesh": law},
        }
    )


def test_a_compliant_gear_is_two_masses_on_a_spring():
    result = sk.simulate(gears(damping=0.8), until=1.7, rtol=1e-11, atol=1e-13)
    G = np.array([[0.5, 1.0]])  # d = out + 0.5 in
    M, K = np.diag([0.3, 0.8]), G.T @ G
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, 90 * K), -np.linalg.solve(M, 0.8 * K)]])
    q = expm(1.7 * A) @ np.array([0, 0, 2.0, 0])
    assert [result["in.q"][-1], result["out.q"][-1]] == pytest.approx(q[:2], abs=1e-9)
    assert abs(result["energy.balance"]).max() < 1e-9


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_backlash_lets_the_wheel_rest_until_the_flank_is_reached(method):
    """Free for d < b/2, then half a period of the relative oscillation, then free again with exchanged speeds."""
    play = 0.3
    result = sk.simulate(gears(backlash=play), until=0.9, method=method, rtol=1e-11, atol=1e-13)
    t_touch = play / 2 / (0.5 * 2.0)
    reduced = 1 / (0.25 / 0.3 + 1 / 0.8)
    t_leave = t_touch + np.pi * np.sqrt(reduced / 90)
    before, after = result.time < t_touch - 1e-9, result.time > t_leave + 1e-9
    assert np.all(result["mesh.force"][before] == 0.0)
    assert np.all(result["out.v"][before] == 0.0)
    impulse = 2 * reduced * (0.5 * 2.0)  # the deviation leaves with the speed at which it came
    still = after & (result.time < t_leave + 0.9 * play / (0.5 * 2.0))
    assert result["out.v"][still] == pytest.approx(-impulse / 0.8, rel=1e-8)
    assert result["in.v"][still] == pytest.approx(2.0 - 0.5 * impulse / 0.3, rel=1e-8)
    assert abs(result["energy.balance"]).max() < 1e-9


def mount(**law):
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 2.3, "inertia": [0.1, 0.2, 0.3]}},
            "joints": {
                "rail": {"type": "prismatic", "child": "block", "axis": [1, 0, 0], "q0": 0.02, "v0": 0.3}
            },
            "forces": {"rubber": {"type": "bushing", "parent": "ground", "child": "block", **law}},
            "tables": {
                "hard": {"x": [-0.1, -0.04, 0.04, 0.1], "y": [-90, -20, 20, 90], "extrapolation": "linear"}
            },
        }
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_maxwell_branch_is_a_third_state(formulation):
    k, km, tau = 110.0, 240.0, 0.07
    branch = {"stiffness": [km, 5, 6], "time_constant": "70 ms"}
    system = sk.compile(mount(stiffness=[k, 1, 2], maxwell=[branch]), formulation=formulation)
    result = sk.simulate(system, until=1.0, rtol=1e-11, atol=1e-13)
    A = np.array([[0, 1, 0], [-(k + km) / 2.3, 0, km / 2.3], [1 / tau, 0, -1 / tau]])
    assert result["rail.q"][-1] == pytest.approx((expm(A) @ [0.02, 0.3, 0])[0], abs=1e-10)
    assert abs(result["energy.balance"]).max() < 1e-10
    values = np.sort_complex(sk.linearize(system).modes().eigenvalues)
    # the branches of y and z, which nothing moves, decay by themselves
    exact = np.sort_complex([*np.linalg.eigvals(A), -1 / tau, -1 / tau])
    np.testing.assert_allclose(values, exact, rtol=1e-6)


def test_tables_and_a_coupled_matrix_in_a_bushing():
    rows = np.zeros((6, 6))
    rows[0, 0], rows[0, 4], rows[4, 0] = 30.0, 7.0, 7.0
    model = mount(tables=["hard", None, None], matrix=rows.tolist())
    system = sk.compile(model)
    found = system.outputs(sk.State(np.array([0.06]), np.zeros(1)))
    assert found["rubber.force"][0] == pytest.approx(-(20 + 70 / 0.06 * 0.02 + 30 * 0.06), rel=1e-12)
    assert found["rubber.moment"][1] == pytest.approx(-7 * 0.06, rel=1e-12)
    result = sk.simulate(system, until=3.0)
    assert abs(result["energy.balance"]).max() < 1e-7
    with pytest.raises(ModelError, match="symmetric"):
        mount(matrix=np.triu(np.ones((6, 6))).tolist())
    with pytest.raises(ModelError, match="unknown table 'soft'"):
        mount(tables=["soft", None, None])


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_tables_of_two_variables_in_expressions(kind, tmp_path):
    """f(t, q) = a t q on a grid is bilinear, so that every kind reproduces it: q'' = a t q / m, against a series."""
    x, x2 = np.array([0.0, 0.3, 0.7, 1.1, 2.0]), np.array([-1.0, -0.2, 0.4, 1.5])
    a = 0.9
    model = sliders(
        tables={
            "map": {"x": x.tolist(), "x2": x2.tolist(), "y": (a * np.outer(x, x2)).tolist(), "kind": kind}
        },
        forces={"push": {"type": "actuator", "joint": "rail1", "force": "map(t, rail1.q)"}},
    )
    loaded = model_from_dict(model)
    result = sk.simulate(loaded, until=1.6, method="dop853", rtol=1e-11, atol=1e-13)
    s = (a / 1.3) ** (1 / 3)  # Airy's equation: q = c1 Ai(s t) + c2 Bi(s t)
    Ai, Aip, Bi, Bip = airy(0.0)
    c1, c2 = np.linalg.solve([[Ai, Bi], [Aip, Bip]], [0.2, 0.0])
    end = airy(s * 1.6)
    assert result["rail1.q"][-1] == pytest.approx(c1 * end[0] + c2 * end[2], rel=1e-9)
    file = tmp_path / "grid.yaml"
    file.write_text(model_text(loaded))
    assert sk.load(file).tables == loaded.tables


@pytest.mark.parametrize(
    ("tables", "text"),
    [
        ({"map": {"x": [0, 1], "x2": [0, 1], "y": [1, 2]}}, "needs both x2 and rows"),
        (
            {"map": {"x": [0, 1], "x2": [0, 1, 2], "y": [[1, 2], [3, 4]]}},
            "x2: has 3 values, but the rows of y have 2",
        ),
        ({"map": {"x": [0, 1], "x2": [1, 1], "y": [[1, 2], [3, 4]]}}, "x2: must increase"),
        ({"map": {"x": [0, 1], "x2": [0, 1], "y": [[1, 2], [3, 4]], "kind": "pchip"}}, "linear or cubic"),
    ],
)
def test_bad_grids_are_refused(tables, text):
    with pytest.raises(ModelError, match=text):
        model_from_dict(sliders(tables=tables))


def test_calls_with_the_wrong_number_of_arguments():
    model = sliders(
        tables={"map": {"x": [0, 1], "x2": [0, 1], "y": [[1, 2], [3, 4]]}},
        forces={"push": {"type": "actuator", "joint": "rail1", "force": "map(t)"}},
    )
    with pytest.raises(ModelError, match="table of 2 variables, but an expression calls it with 1"):
        sk.simulate(model_from_dict(model), until=0.1)
