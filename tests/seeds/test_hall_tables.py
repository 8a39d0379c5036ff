"""Examples for HALL's tables 3.6, 4.2, 4.5 and 4.7: sizes, agreement of the models that are timed, what is printed.

How long a run takes is not a matter of tests; what is compared must move alike.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import sekant as sk

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str):
    path = EXAMPLES / f"{name}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def test_both_forms_of_a_joint_and_the_mechanism_move_alike():
    """Table 3.6: one coordinate without constraints, or a free body and the parameter under six equations."""
    forms = example("dae_against_ode")
    found = forms.compare(0.05)
    assert {name: (one.coordinates, one.constraints) for name, one in found.items()} == {
        "ODE": (1, 0),
        "DAE": (7, 6),
    }
    moved = np.linalg.norm(found["ODE"].position[-1] - found["ODE"].position[0])
    assert moved > 1e-6
    assert np.abs(found["ODE"].position - found["DAE"].position).max() < 1e-6 * moved
    assert "times as fast" in forms.text(found)
    whole = sk.simulate(forms.mechanism(), 4.0, rtol=1e-9, output_step=0.2)
    path = sk.simulate(forms.coupler_on_its_path(), 4.0, rtol=1e-9, output_step=0.2)
    assert np.ptp(whole["coupler.position"], axis=0).max() > 0.05
    assert path["coupler.position"] == pytest.approx(whole["coupler.position"], abs=1e-6)


def test_a_tie_rod_holds_the_steering_as_its_coordinate_does():
    """4.1.3: 4 coordinates under 3 constraints with the rod, one free coordinate without it, the same motion."""
    tie_rod = example("suspensions/tie_rod")
    found = tie_rod.compare(0.3)
    driven, rod, mechanism = found.values()
    assert (driven.coordinates, driven.constraints) == (1, 0)
    assert (rod.coordinates, rod.constraints) == (4, 3)
    assert np.ptp(mechanism.place[:, 2]) > 1e-3
    for one in (driven, rod):  # nodes of the surface are 15 mm and 50 deg apart
        assert np.abs(one.place - mechanism.place).max() < 1e-5
    assert "surface and tie rod | 4 | 3" in tie_rod.text(found)


@pytest.mark.parametrize("pair", ["rigid", pytest.param("compliant", marks=pytest.mark.long)])
def test_variable_steps_count_evaluations(pair):
    """Tables 4.2 and 4.5: sizes of the reduced models are HALL's, 1 and 6 coordinates without constraints."""
    steps = example("suspensions/variable_steps")
    found = steps.compare(pair, 0.2)
    for full, reduced in found:
        assert reduced.size == ({"rigid": 1, "compliant": 6}[pair], 0)
        assert full.size[1] > 0
        assert min(full.evaluations, reduced.evaluations) > 20
    text = steps.text({pair: found})
    assert len(text.splitlines()) == 2 + 2 * len(steps.METHODS)
    assert str(steps.PUBLISHED[pair]) in text
