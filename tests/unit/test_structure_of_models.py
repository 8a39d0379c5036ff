"""Index, freedom and redundant constraints of models, by name."""

from __future__ import annotations

import casadi as ca
import pytest

import sekant as sk
from sekant.model.parse import model_from_dict


def door(hinges):
    """A door on several hinges on one axis: all but one are redundant."""
    joints = {
        f"hinge{i}": {"type": "revolute", "child": "door", "at": [0, 0, 0.3 + 0.9 * i], "axis": [0, 0, 1]}
        for i in range(hinges)
    }
    return model_from_dict(
        {
            "bodies": {"door": {"mass": 20.0, "com": [0.4, 0.02, 1.0], "inertia": [6.0, 7.1, 1.3]}},
            "joints": joints,
        }
    )


def test_a_tree_is_an_ordinary_system():
    found = sk.analyses.structural_analysis(sk.compile(door(1)))
    assert found.degrees_of_freedom == 1
    assert found.index == 0
    assert found.redundant == ()


def test_a_door_on_two_hinges_names_the_redundant_one():
    found = sk.analyses.structural_analysis(sk.compile(door(2)))
    assert (found.degrees_of_freedom, found.equations, found.rank) == (1, 5, 0)
    assert [entry.name for entry in found.redundant] == ["hinge1"]
    assert found.redundant[0].rows == 5


def test_floating_coordinates_have_index_3():
    found = sk.analyses.structural_analysis(sk.compile(door(1), formulation="cartesian"))
    assert (found.index, found.degrees_of_freedom, found.tableau.degrees_of_freedom) == (3, 1, 1)
    assert found.redundant == ()
    text = str(found)
    assert "index 3" in text
    assert "hinge0 1" in text


def test_redundancy_is_seen_by_numbers_only():
    found = sk.analyses.structural_analysis(sk.compile(door(2), formulation="cartesian"))
    assert found.degrees_of_freedom == 1
    assert sum(entry.rows for entry in found.redundant) == 5
    names = {entry.name for entry in found.redundant} | {n for e in found.redundant for n in e.implied_by}
    assert names == {"hinge0", "hinge1"}


@pytest.mark.parametrize(("damping", "bent"), [(lambda v: v**2, ()), (lambda v: v**2 + v**4, ("force y",))])
def test_quasilinear_where_leading_derivatives_occur_linearly(damping, bent):
    """Without mass the rate of y is the leading derivative, and its damper must be linear in it."""
    x, y, u, w = (ca.SX.sym(name) for name in ("x", "y", "xdot", "ydot"))
    L = 1.3 * u**2 / 2 - 2 * x**2 - 3 * (y - x) ** 2
    system = sk.natural.lagrange([x, y], [u, w], L, rayleigh=damping(w), q0=[0.1, 0.2], engine="casadi")
    found = sk.analyses.structural_analysis(system)
    assert found.tableau.variables == ("x", "y")
    assert found.tableau.d.tolist() == [2, 1]
    assert (found.quasilinear, found.nonlinear) == (not bent, bent)
    assert f"quasilinear: {'no' if bent else 'yes'}" in str(found)


def test_a_mechanism_is_quasilinear():
    found = sk.analyses.structural_analysis(sk.compile(door(1), formulation="cartesian"))
    assert found.quasilinear
    assert "quasilinear: yes" in str(found)
