"""Models in which nothing can move: all coordinates show what their forces and signals do, or all refuse them."""

from __future__ import annotations

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SolverError
from sekant.model.parse import model_from_dict

FORMULATIONS = ("joint", "cartesian", "natural")


def still(**more) -> sk.Model:
    return model_from_dict(
        {
            "name": "still",
            "bodies": {"block": {"mass": 2.0, "inertia": [0.3, 0.4, 0.5]}},
            "joints": {"bolt": {"type": "fixed", "child": "block", "parent_pose": {"position": [1, 2, 3]}}},
            **more,
        }
    )


@pytest.mark.parametrize("formulation", FORMULATIONS)
@pytest.mark.parametrize("method", ["auto", "dop853", "taylor"])
def test_a_load_that_rises_shows_in_the_reaction(formulation, method):
    """Minus the load and the weight; the integral of a signal goes on too."""
    model = still(
        forces={"load": {"type": "point_force", "frame": "block", "force": ["3*t", 0, 1]}},
        signals={"sum": {"type": "integral", "input": "t"}},
    )
    result = sk.simulate(sk.compile(model, formulation=formulation), 1.0, method=method)
    t = result.time
    assert result.warnings == ()
    np.testing.assert_allclose(result["bolt.reaction.fx"], -3 * t, atol=1e-12)
    np.testing.assert_allclose(result["bolt.reaction.fz"], 2 * 9.81 - 1, rtol=1e-12)
    np.testing.assert_allclose(result["sum"], t**2 / 2, atol=1e-9)
    np.testing.assert_allclose(result["block.position"], np.tile([1.0, 2.0, 3.0], (t.size, 1)), atol=1e-14)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_model_without_states_is_refused(formulation):
    with pytest.raises(SolverError, match="every joint is fixed; there is nothing to integrate"):
        sk.simulate(sk.compile(still(), formulation=formulation), 1.0)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_mechanism_that_its_constraints_lock_is_refused(formulation):
    """Two hinges on skew axes."""
    model = still(
        joints={
            "one": {"type": "revolute", "child": "block", "axis": [0, 0, 1]},
            "two": {"type": "revolute", "child": "block", "axis": [0, 1, 0]},
        },
        forces={"load": {"type": "point_force", "frame": "block", "force": ["3*t", 0, 1]}},
    )
    with pytest.raises(SolverError, match=r"has no degree of freedom: (the|its joints)"):
        sk.simulate(sk.compile(model, formulation=formulation), 1.0)
