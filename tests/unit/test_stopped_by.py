"""What ended a run, and what a maneuver warns about, are values: texts are for readers alone."""

from types import SimpleNamespace

import numpy as np
import pytest

import sekant as sk
from sekant.vehicle.maneuvers import DrivenManeuver, maneuver
from sekant.vehicle.maneuvers.base import OVER


@pytest.fixture(scope="module")
def fall():
    signals = {
        name: sk.signals.Event(when=f"fall.q + {depth}", direction="falling", stop="it is there")
        for name, depth in (("shelf", 0.3), ("ground_floor", 0.9))
    }
    return sk.Model(
        bodies={"ball": sk.Body(mass=1.5, inertia=(0.1, 0.2, 0.25))},
        joints={"fall": sk.joints.Prismatic(child="ball")},
        signals=signals,
    )


@pytest.mark.parametrize(("start", "name", "depth"), [(0.0, "shelf", 0.3), (-0.5, "ground_floor", 0.9)])
def test_a_result_names_the_event_that_stopped_it(fall, tmp_path, start, name, depth):
    """Both say the same to a reader."""
    joint = fall.joints["fall"].changed(q0=start)
    result = sk.simulate(fall.changed(joints={"fall": joint}), until=2.0)
    assert result.status == "stopped"
    assert result.stats["stopped_by"] == name
    assert result["fall.q"][-1] == pytest.approx(-depth, abs=1e-9)
    result.save(tmp_path / "run.nc")
    assert sk.Result.load(tmp_path / "run.nc").stats["stopped_by"] == name


def test_a_run_to_its_end_names_none(fall):
    assert "stopped_by" not in sk.simulate(fall, until=0.1).stats


def run_of(status, **stats):
    result = SimpleNamespace(status=status, message="the car has turned over: the car stands", stats=stats)
    return DrivenManeuver(None, maneuver("brake-straight"), None, result, None)


def test_a_maneuver_is_complete_where_its_own_event_ends_it():
    assert run_of("finished").complete
    assert run_of("stopped", stopped_by=OVER).complete
    assert not run_of("stopped", stopped_by="overturned").complete
    assert not run_of("step_too_small").complete


@pytest.mark.parametrize(("off", "warned"), [(0.9, False), (1.2, True)])
def test_a_lost_path_is_told(off, warned, monkeypatch):
    chosen, x = maneuver("iso-3888-1", speed="80 km/h"), np.linspace(0.0, 100.0, 50)
    monkeypatch.setattr(type(chosen), "path", lambda self, car: (x, np.zeros(50)))

    class Run(dict):
        car = None

    texts = chosen.warnings(Run(position=np.column_stack([x, np.full(50, off)])))
    assert bool(texts) is warned
    assert all("80 km/h" in text and "1.2 m" in text for text in texts)
