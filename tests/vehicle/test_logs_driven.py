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


@pytest.mark.parametrize("first", [0.0, 1e-17])
def test_a_log_may_begin_at_rest(tmp_path, first):
    """With a brake channel, whose friction has no direction at rest."""
    rows = [(0.0, 0.0, 0.0, first), (0.2, 0.0, 0.0, 0.0), (0.4, 0.3, 0.0, 0.0), (1.5, 0.3, 0.0, 0.0)]
    file = write(tmp_path / "log.csv", "time [s], throttle [1], brake [1], speed [m/s]", rows)
    run = drive(sedan(), "log", file=file)
    assert run.result.ok
    assert run["speed"][0] == pytest.approx(1e-3)
    assert run["speed"][-1] > 1.0


def test_faults_of_logs_are_told(tmp_path):
    file = write(tmp_path / "log.csv", "time [s], torque [N*m]", [(0, 1), (1, 2)])
    with pytest.raises(SekantError, match="has no column for any of steering, throttle"):
        drive(sedan(), "log", file=file)
    with pytest.raises(SekantError, match="unknown channel 'stering'"):
        drive(sedan(), "log", file=file, columns={"stering": "torque"})
    with pytest.raises(SekantError, match="has no column 'SWA'"):
        drive(sedan(), "log", file=file, columns={"steering": "SWA"})


def test_an_mdf_file_drives_the_car_as_the_csv_file_does(tmp_path):
    """Channels of different rates and units, of which the times are shifted."""
    asammdf = pytest.importorskip("asammdf")
    t, late = np.linspace(0, 3, 61), np.linspace(0, 3, 31)
    angle, speed = 40 * np.sin(3 * t), 72 + 6 * late
    rows = np.column_stack([t, angle, np.interp(t, late, speed)])
    csv = write(tmp_path / "log.csv", "time [s], SWA [deg], v [km/h]", rows)
    file = asammdf.MDF(version="4.10")
    file.append([asammdf.Signal(angle, t + 10, name="SWA", unit="\N{DEGREE SIGN}")])
    file.append([asammdf.Signal(speed, late + 10, name="v", unit="km/h")])
    mdf = str(tmp_path / "log.mf4")
    file.save(mdf)
    file.close()
    columns = {"steering": "SWA", "speed": "v"}
    one = drive(sedan(), "log", file=csv, columns=columns)
    other = drive(sedan(), "log", file=mdf, columns=columns, shift=-10.0)
    assert np.abs(one["yaw_rate"]).max() > 0.1
    assert other["yaw_rate"] == pytest.approx(one["yaw_rate"], abs=1e-6)
    with pytest.raises(SekantError, match="has no channel 'SWB'"):
        drive(sedan(), "log", file=mdf, columns={"steering": "SWB"})
    (tmp_path / "bad.mf4").write_bytes(b"no measurement")
    with pytest.raises(SekantError, match="cannot be read as MDF"):
        drive(sedan(), "log", file=str(tmp_path / "bad.mf4"))
