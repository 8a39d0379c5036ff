"""Differentials and air forces against closed solutions."""

import numpy as np
import pytest

import sekant as sk
from sekant.errors import SekantError
from sekant.model.parse import model_from_dict

J, T, C = 1.3, 260.0, 40.0


def axle(load=0.0, **drive):
    """Two wheels on a fixed carrier; the left one is braked by `load` (N m)."""
    wheel = {"mass": 20.0, "inertia": [0.8, J, 0.9]}
    return model_from_dict(
        {
            "gravity": [0, 0, 0],
            "bodies": {"carrier": {"mass": 100, "inertia": [5, 6, 7]}, "left": wheel, "right": wheel},
            "joints": {
                "hold": {"type": "fixed", "child": "carrier"},
                "left_hub": {"type": "revolute", "parent": "carrier", "child": "left", "axis": [0, 1, 0],
                             "at": [0, 1, 0]},
                "right_hub": {"type": "revolute", "parent": "carrier", "child": "right", "axis": [0, 1, 0],
                              "at": [0, -1, 0]},
            },
            "forces": {
                "drive": {"type": "axle_drive", "left": "left", "right": "right", "carrier": "carrier",
                          "torque": T, **drive},
                "load": {"type": "actuator", "joint": "left_hub", "force": -load},
            },
        }
    )  # fmt: skip


def speeds(**options):
    result = sk.simulate(axle(**options), until=0.5, rtol=1e-10, output_step=0.1)
    assert np.abs(result["energy.balance"]).max() < 1e-8 * T
    # the ground holds the carrier against what it gives to the wheels
    np.testing.assert_allclose(result["hold.reaction"][:, 4], T - options["load"], rtol=1e-9)
    return result


def test_open_differentials_share_the_torque():
    result = speeds(load=50.0)
    assert result["left_hub.v"][-1] == pytest.approx((T / 2 - 50.0) / J * 0.5, rel=1e-9)
    assert result["right_hub.v"][-1] == pytest.approx(T / 2 / J * 0.5, rel=1e-9)


def test_locked_differentials_hold_the_speeds_together():
    """J d' = -load - 2 c d for the difference d of the speeds."""
    result = speeds(load=50.0, differential="locked", locking=C)
    d = result["left_hub.v"] - result["right_hub.v"]
    wanted = -50.0 / (2 * C) * (1 - np.exp(-2 * C / J * result.time))
    np.testing.assert_allclose(d, wanted, rtol=1e-7, atol=1e-9)


def test_limited_slip_differentials_slip_beyond_their_friction():
    """The locking torque is at most (preload + bias T) / 2: beyond it the wheels part at a constant rate."""
    result = speeds(load=90.0, differential="limited_slip", locking=1e4, preload=20.0, bias=0.1)
    most = (20.0 + 0.1 * T) / 2
    assert np.abs(result["drive.locking_torque"]).max() == pytest.approx(most, rel=1e-9)
    assert result["left_hub.v"][-1] == pytest.approx((T / 2 - 90.0 + most) / J * 0.5, rel=1e-3)
    assert result["drive.torque_left"][-1] + result["drive.torque_right"][-1] == pytest.approx(T)


def test_drag_and_downforce():
    """m v' = -rho/2 C_d A v^2; the downforce follows the table of the ride height."""
    model = model_from_dict(
        {
            "tables": {"map": {"x": [0.0, 0.1, 0.3], "y": [1.0, 2.0, 0.5]}},
            "bodies": {
                "body": {"mass": 700, "inertia": [1, 1, 1],
                         "frames": {"nose": {"position": [1, 0, 0]}, "tail": {"position": [-1, 0, 0.2]}}}
            },
            "joints": {"rail": {"type": "prismatic", "child": "body", "axis": [1, 0, 0], "v0": 60.0,
                                "parent_pose": {"position": [0, 0, 0.05]}}},
            "forces": {"air": {"type": "aero", "front": "body.nose", "rear": "body.tail", "drag_area": 0.9,
                               "front_area": "map(h)", "rear_area": 1.7}},
        }
    )  # fmt: skip
    result = sk.simulate(model, until=5.0, rtol=1e-10, output_step=1.0)
    k = 1.2 / 2 * 0.9 / 700
    np.testing.assert_allclose(result["rail.v"], 60 / (1 + k * 60 * result.time), rtol=1e-8)
    v = result["rail.v"][-1]
    assert result["air.front_height"][-1] == pytest.approx(0.05)
    assert result["air.front_downforce"][-1] == pytest.approx(0.6 * 1.5 * v**2)
    assert result["air.rear_downforce"][-1] == pytest.approx(0.6 * 1.7 * v**2)
    assert np.abs(result["energy.balance"]).max() < 1e-7 * 0.5 * 700 * 60**2


def test_nonsense_is_refused():
    with pytest.raises(SekantError, match="must not be negative"):
        axle(differential="locked", locking=-1.0)
    with pytest.raises(SekantError, match="differential"):
        axle(differential="welded")
