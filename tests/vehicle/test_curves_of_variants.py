"""Curves of a suspension whose numbers are run-time parameters: those of a model that has these numbers itself."""

from pathlib import Path

import numpy as np
import pytest

import sekant as sk
from sekant.vehicle import suspension_curves

FILE = Path(__file__).parents[2] / "examples" / "suspensions" / "double_wishbone.yaml"
TRAVEL = np.linspace(-0.05, 0.05, 5)
INNER = ("tie_rod_inner.parent_pose.position", "tie_rod_inner.child_pose.position")


@pytest.fixture(scope="module")
def system():
    return sk.compile(sk.load(FILE), parameters=[*INNER, "spring.stiffness"])


def test_moved_hard_points_and_rates(system):
    moved = np.array([-0.15, 0.32, 0.19])
    found = suspension_curves(
        system, travel=TRAVEL, parameters={**dict.fromkeys(INNER, moved), "spring.stiffness": 41e3}
    )
    model = sk.load(
        FILE,
        set={
            **{f"{name}[{i}]": float(moved[i]) for name in INNER for i in range(3)},
            "spring.stiffness": "41 N/mm",
        },
    )
    expected = suspension_curves(model, travel=TRAVEL)
    for name in expected.names:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9, atol=1e-12, err_msg=name)
    as_drawn = suspension_curves(system, travel=TRAVEL)
    assert np.max(np.abs(found["toe"] - as_drawn["toe"])) > 1e-4
    assert np.max(np.abs(found["wheel_rate"] - as_drawn["wheel_rate"])) > 1.0


def test_a_model_takes_parameters_too(system):
    values = {INNER[0]: [-0.155, 0.317, 0.186], INNER[1]: [-0.155, 0.317, 0.186]}
    first = suspension_curves(system.model, travel=TRAVEL, parameters=values)
    np.testing.assert_allclose(
        first["toe"], suspension_curves(system, travel=TRAVEL, parameters=values)["toe"], atol=1e-12
    )
