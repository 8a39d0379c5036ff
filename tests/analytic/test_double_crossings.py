"""What leaves its sign or its mode and comes back between two looks at a step is found by every method.

A mass is thrown up, z = v t - g t^2/2, and is above z_0 for a part of a step only.
"""

from __future__ import annotations

import pytest

import sekant as sk
from sekant.model.parse import model_from_dict

G, V = 9.81, 7.3
TOP = V / G
METHODS = ("dop853", "taylor", "radau5", "rk4", "generalized_alpha")
FIXED = ("rk4", "generalized_alpha")
STEP = 0.0125


def thrown(when: str, direction: str) -> sk.System:
    return sk.compile(
        model_from_dict(
            {
                "name": "thrown",
                "bodies": {"b": {"mass": 1.7, "inertia": [0.1, 0.2, 0.3]}},
                "joints": {"j": {"type": "prismatic", "child": "b", "axis": [0, 0, 1], "v0": V}},
                "signals": {"high": {"type": "event", "when": when, "direction": direction, "stop": "high"}},
            }
        )
    )


def level(half: float) -> float:
    """The height above which the mass is from `half` before until `half` after the top."""
    return V * TOP - G * TOP**2 / 2 - G * half**2 / 2


@pytest.fixture(scope="module", params=[0.3, 0.02], ids=["wide", "narrow"])
def half(request) -> float:
    """Half of the time above the height, over a step."""
    return request.param * STEP


@pytest.fixture(scope="module")
def systems(half):
    return {d: thrown(f"j.q - {level(half)!r}", d) for d in ("rising", "falling")}


@pytest.mark.parametrize("direction", ["rising", "falling"])
@pytest.mark.parametrize("method", METHODS)
def test_events_that_come_and_go_within_a_step(systems, half, method, direction):
    """The top lies at 0.53 of a step of fixed length; adaptive methods take steps that are far longer."""
    options = {"step": STEP} if method in FIXED else {}
    result = sk.simulate(systems[direction], until=1.1, method=method, output_step=1.1, **options)
    assert result.status == "stopped"
    expected = TOP + (half if direction == "falling" else -half)
    assert result.time[-1] == pytest.approx(
        expected, abs=1e-7
    )  # v = g half: 1e-9 m of height at 1e-4 s from the top


@pytest.mark.parametrize("half", [0.05, 2e-3])
@pytest.mark.parametrize("method", ["dop853", "taylor", "radau5"])
def test_a_law_that_acts_for_a_part_of_a_step(method, half):
    """Above a height gravity is four times as large: what enters with g half comes back with it, 3/2 half earlier."""
    data = {
        "name": "thrown",
        "bodies": {"b": {"mass": 1.7, "inertia": [0.1, 0.2, 0.3]}},
        "joints": {"j": {"type": "prismatic", "child": "b", "axis": [0, 0, 1], "v0": V}},
        "forces": {
            "law": {
                "type": "actuator",
                "joint": "j",
                "force": f"if_else(j.q > {level(half)!r}, {-3 * 1.7 * G!r}, 0)",
            }
        },
    }
    result = sk.simulate(sk.compile(model_from_dict(data)), until=1.1, method=method, output_step=1.1)
    t = 1.1 + 1.5 * half
    assert result["j.q"][-1] == pytest.approx(V * t - G * t**2 / 2, abs=1e-7)
    assert result["j.v"][-1] == pytest.approx(V - G * t, abs=1e-7)
