"""A car with an anti-roll bar, with all its links and reduced: the same motion, and the bar does what bars do."""

from pathlib import Path

import numpy as np
import pytest

from sekant.vehicle.car import load_car
from sekant.vehicle.driving import drive

CAR = Path(__file__).parents[2] / "examples" / "car" / "hatchback.yaml"


@pytest.mark.long
def test_full_and_reduced_cars_agree_with_an_anti_roll_bar(tmp_path):
    car = load_car(CAR)
    how = {"speed": 20.0, "acceleration": 5.0, "at": 0.1, "duration": 2.0, "rtol": 1e-9}
    whole = drive(car.model_copy(update={"reduced": False}), "step-steer", **how)
    small = drive(car.model_copy(update={"reduced": True, "links": "exact"}), "step-steer", **how)
    assert whole.result.ok
    assert small.result.ok
    for name in ("yaw_rate", "angles", "front.left.tire.load", "rear.right.tire.load"):
        size = float(np.abs(whole[name]).max())
        np.testing.assert_allclose(small[name], whole[name], atol=2e-6 * size, err_msg=name)
    # without its bar the car rolls more
    front = Path(car.axles["front"].suspension)
    kept = [
        line for line in front.read_text().splitlines() if line != "axle:" and "anti_roll_bar" not in line
    ]
    (tmp_path / "plain.yaml").write_text("\n".join(kept) + "\n")
    axle = car.axles["front"].model_copy(update={"suspension": str(tmp_path / "plain.yaml")})
    plain = drive(car.model_copy(update={"axles": {**car.axles, "front": axle}}), "step-steer", **how)
    assert np.abs(plain["angles"][-1, 2]) > 1.05 * np.abs(small["angles"][-1, 2])
