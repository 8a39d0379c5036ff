"""A motion that leaves the range of a path or table: a status of its own, with item, value and time."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.model import TableData
from sekant.results import Result

BODY = sk.Body(mass=1.3, com=(0.1, 0.05, -0.2), inertia=(0.1, 0.2, 0.25))
STEPS = {"euler": 1e-3, "semi_implicit_euler": 1e-3, "rk4": 1e-3, "generalized_alpha": 1e-3}
METHODS = ("dop853", "taylor", "radau5", *STEPS)


def on_a_path() -> sk.Model:
    """A curve of length 5, left at its upper end."""
    curve = PoseCurve.from_function(lambda u: ca.vertcat(u, 0.1 * u * u, 0.2 * ca.sin(u)), (-2, 3))
    return sk.Model(
        bodies={"car": BODY}, joints={"rail": sk.joints.Path(child="car", curve=curve, q0=1.0, v0=4.0)}
    )


def on_a_spring() -> sk.Model:
    """A spring by a table that ends at 0.5 m."""
    return sk.Model(
        bodies={"block": BODY},
        joints={"slide": sk.joints.Prismatic(child="block", axis=(0, 0, -1), q0=0.2)},
        forces={"s": sk.forces.SpringDamper(parent="ground", child="block", spring="rate")},
        tables={"rate": TableData(x=(0.0, 0.5), y=(0.0, 1.0), extrapolation="error")},
    )


def pushed_for_a_while() -> sk.Model:
    """A force by a table of time that ends at 0.5 s."""
    return sk.Model(
        bodies={"block": BODY},
        joints={"slide": sk.joints.Prismatic(child="block", axis=(1, 0, 0))},
        forces={"push": sk.forces.Actuator(joint="slide", force="ramp(t)")},
        tables={"ramp": TableData(x=(0.0, 0.25, 0.5), y=(0.0, 1.0, 2.0), extrapolation="error")},
    )


CASES = {
    "path": (on_a_path, "joint 'rail'", "leaves its path [-2, 3]", "u = 3"),
    "spring": (on_a_spring, "table 'rate'", "outside its range [0, 0.5]", "0.50"),
    "time": (pushed_for_a_while, "table 'ramp'", "outside its range [0, 0.5]", "0.5"),
}


@pytest.fixture(scope="module")
def systems() -> dict[tuple[str, str], sk.System]:
    return {
        (name, form): sk.compile(case[0](), formulation=form)
        for name, case in CASES.items()
        for form in ("joint", "cartesian")
    }


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["joint", "cartesian"])
@pytest.mark.parametrize("case", CASES)
def test_leaving_a_range_has_a_status_of_its_own(systems, case, form, method):
    _, item, cause, value = CASES[case]
    result = sk.simulate(systems[case, form], 3.0, method=method, step=STEPS.get(method), output_step=0.01)
    assert result.status == "out_of_range"
    (warning,) = (w for w in result.warnings if w.code == "out_of_range")
    assert warning.item == item
    assert cause in warning.cause
    assert warning.cause.startswith(value[:3])
    assert warning.place == f"t = {result.final_state.t:.9g} s"
    assert item in result.message
    assert np.isfinite(result.data).all()


def test_adaptive_methods_leave_at_the_same_time(systems):
    ends = [
        sk.simulate(systems["path", form], 3.0, method=method).final_state.t
        for form in ("joint", "cartesian")
        for method in METHODS[:3]
    ]
    assert np.ptp(ends) < 1e-6
    assert 0.5 < min(ends) < 0.55


def test_natural_coordinates_have_the_status_too():
    result = sk.simulate(sk.compile(on_a_path(), formulation="natural"), 3.0, method="dop853")
    assert result.status == "out_of_range"
    assert "leaves its path [-2, 3]" in result.message


def test_files_and_studies_keep_the_status(systems, tmp_path):
    sk.simulate(systems["spring", "joint"], 1.0).save(tmp_path / "run.nc")
    read = Result.load(tmp_path / "run.nc")
    assert read.status == "out_of_range"
    assert [w.item for w in read.warnings] == ["table 'rate'"]
    assert "out_of_range" in read.summary()
    samples = sk.studies.grid({"block.mass": [1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8]})
    study = sk.sweep(on_a_spring(), samples, measures=["max(slide.q)"], until=1.0, method="rk4", step=1e-3)
    assert {study.statuses[i] for i in study.status} == {"out_of_range"}
    assert "table 'rate'" in study.messages[3]


def test_what_is_not_finite_for_another_reason_stays_so():
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"block": BODY},
        joints={"rail": sk.joints.Prismatic(child="block", axis=(1, 0, 0), q0=0.5, v0=-1.0)},
        forces={"push": sk.forces.Actuator(joint="rail", force="sqrt(rail.q)")},
    )
    assert sk.simulate(model, 1.0, method="radau5").status == "not_finite"
