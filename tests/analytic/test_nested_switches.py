"""Switches whose value jumps with another switch: every method decides them anew where that one changes."""

from __future__ import annotations

import pytest

import sekant as sk
from sekant.model.parse import model_from_dict

LAWS = {
    "if_else(if_else(rail.q > 0.4, rail.q - 0.9, 1) < 0, 5, 1)": 0.7 + 5 * 0.5,
    "if_else(if_else(rail.q > 0.4, rail.q - 0.9, 1) > 0, 5, 1)": 5 * 0.7 + 0.5,
    "sign(if_else(rail.q > 0.4, rail.q - 0.9, 1))": 0.7 - 0.5,
    "max(0, if_else(rail.q > 0.4, 0.9 - rail.q, -1))": 0.5**2 / 2,
    "floor(if_else(rail.q > 0.4, 20*rail.q, 0.5))": sum(range(8, 24)) / 20,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_the_integral_of_a_law_within_a_law(law, method):
    """A slider at 1 m/s passes 0.4 m, where the inner law jumps, and then what the outer one asks for."""
    model = model_from_dict(
        {
            "name": "slider",
            "gravity": [0, 0, 0],
            "bodies": {"block": {"mass": 1, "inertia": [1, 1, 1]}},
            "joints": {"rail": {"type": "prismatic", "child": "block", "v0": 1}},
            "signals": {"sum": {"type": "integral", "input": law}},
        }
    )
    result = sk.simulate(model, 1.2, method=method, rtol=1e-9, output_step=0.3)
    assert result.status == "finished", result.message
    assert result["sum"][-1] == pytest.approx(LAWS[law], abs=1e-7)
