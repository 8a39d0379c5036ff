"""A log drives a car as the maneuver did from which it was recorded."""

import numpy as np
import pytest

from sedans import sedan
from sekant.errors import SekantError
from sekant.vehicle.driving import drive


def write(path, head, rows):
    path.write_text(head + "\n" + "\n".join(", ".join(f"{x:.9g}" for x in row) for row in rows) + "\n")
    return str(path)


def test_a_recorded_run_drives_the_car_alike(tmp_path):
    first = drive(sedan(), "step-steer", duration=3.0, speed=20.0)
    rows = np.column_stack(
        [
            first.time + 5.0,
            np.degrees(first["steering_wheel"]),
            3.6 * first["speed"],
            np.degrees(first["yaw_rate"]),
        ]
    )[::2]
    file = write(tmp_path / "log.csv", "time [s], SWA [deg], v [km/h], yaw_rate [deg/s]", rows)
    again = drive(sedan(), "log", file=file, columns="steering=SWA, speed=v", shift=-5.0)
    assert again["speed"][0] == pytest.approx(20.0)
    assert again["yaw_rate"] == pytest.approx(np.interp(again.time, first.time, first["yaw_rate"]), abs=2e-3)
    found = {m.name: m.value for m in again.measures}
    assert found["difference of yaw rate"] < 1e-3
    # the driver holds what was logged as well as the first one held 20 m/s
    assert found["difference of speed"] < np.abs(first["speed"] - 20.0).max()


def test_faults_of_logs_are_told(tmp_path):
    file = write(tmp_path / "log.csv", "time [s], torque [N*m]", [(0, 1), (1, 2)])
    with pytest.raises(SekantError, match="has none of steering, throttle"):
        drive(sedan(), "log", file=file)
    with pytest.raises(SekantError, match="unknown channel 'stering'"):
        drive(sedan(), "log", file=file, columns={"stering": "torque"})
    with pytest.raises(SekantError, match="has no column 'SWA'"):
        drive(sedan(), "log", file=file, columns={"steering": "SWA"})
