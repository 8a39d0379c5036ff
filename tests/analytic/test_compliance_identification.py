"""Stiffnesses found back from load ramps: of paths and surfaces, exact data and noisy ones, bushings, bad input."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import sekant as sk
from sekant.analyses import compliance
from sekant.analyses.compliance import simulated_ramp
from sekant.analyses.compliance.response import LOADS, Response, displacement
from sekant.errors import DataError, ModelError
from sekant.model.forces import SpringDamper
from sekant.model.joints import Path, Surface
from sekant.model.joints.compliance import PathCompliance, Spring, SurfaceCompliance
from sekant.model.model import Ground
from sekant.model.placement import Placement
from suspensions import EXAMPLES

PATH = {"normal": 1.3e6, "binormal": 0.9e6, "roll": 1.9e5, "pitch": 2.3e5, "yaw": 1.1e5}
SURFACE = {"normal": 0.8e6, "roll": 1.7e5, "pitch": 2.9e5, "yaw": 0.7e5}
RAMPS = ("fx", "fy", "mx", "my", "mz")


def carrier(compliant: bool = True, kind: str = "path") -> sk.Model:
    """A body that goes up and down on a curved and twisted path, or on a surface, held by springs."""
    body = sk.Body(
        mass=40.0,
        com=(0.01, 0.02, -0.03),
        inertia=(0.9, 1.3, 1.1),
        frames={
            "hub": Placement(position=(0.03, 0.11, -0.02)),
            "seat": Placement(position=(-0.05, -0.1, 0.04)),
        },
    )
    springs = PATH if kind == "path" else SURFACE
    given = {name: Spring(stiffness=k, damping=0.01 * k) for name, k in springs.items()}
    if kind == "path":
        curve = sk.PoseCurve.from_function(
            lambda u: ([0.1 * u**2, -0.3 * u**2, u], [0.2 * u, -0.1 * u, 0.3 * u]),
            (-0.2, 0.2),
            orientation="euler:zyx",
            unit="m",
        )
        compliance = {"compliance": PathCompliance(**given)} if compliant else {}
        joint = Path(child="carrier", curve=curve, q0=0.01, **compliance)
    else:
        surface = sk.PoseSurface.from_function(
            lambda u, w: (
                ca.vertcat(0.1 * u**2, 0.8 * w - 0.3 * u**2, u + 0.2 * w**2),
                [0.2 * u + w, -0.1 * u, 0.3 * w],
            ),
            ((-0.2, 0.2), (-0.2, 0.2)),
            orientation="euler:zyx",
            units=("m", "rad"),
        )
        compliance = {"compliance": SurfaceCompliance(**given)} if compliant else {}
        joint = Surface(child="carrier", surface=surface, **compliance)
    tops = {"top": Placement(position=(-0.08, -0.15, 0.5)), "side": Placement(position=(-0.3, -0.5, 0.1))}
    return sk.Model(
        name="carrier",
        bodies={"carrier": body},
        joints={"guide": joint},
        ground=Ground(frames=tops),
        forces={
            "coil": SpringDamper(
                parent="ground.top", child="carrier.seat", stiffness=3e4, damping=900.0, free_length=0.45
            ),
            "stay": SpringDamper(
                parent="ground.side", child="carrier.seat", stiffness=2e5, damping=900.0, free_length=0.47
            ),
        },
    )


def test_sensitivities_equal_central_differences():
    names = [f"guide.compliance.{name}.stiffness" for name in PATH]
    response = Response(carrier(), "carrier.hub", names, 0.0)
    k, loads = np.array(list(PATH.values())), np.array([300.0, -200.0, 150.0, 90.0, -60.0, 110.0])

    def states(p):
        first = response.rest(response.first(k).q, np.zeros(0), np.append(p[:5], np.zeros(6)))
        return response.rest(first.q, first.lam, p), first

    p = response.parameters(k, loads)
    assert list(response.system.parameters) == [*names, *LOADS]
    exact = displacement(*states(p))[1]
    for i, size in enumerate(1e-4 * k):
        step = size * np.eye(p.size)[i]
        ends = [displacement(*states(p + side * step))[0] for side in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * size)
        np.testing.assert_allclose(exact[:, i], slope, atol=2e-7 * np.abs(exact[:, i]).max())
    exact = states(p)[0].slope[:3]
    for i in range(5, 11):
        step = 0.5 * np.eye(p.size)[i]
        slope = states(p + step)[0].p - states(p - step)[0].p
        np.testing.assert_allclose(exact[:, i], slope, atol=2e-7 * np.abs(exact[:, i]).max())


@pytest.mark.parametrize("use", ["all", "direct"])
def test_stiffnesses_of_a_path_come_back(use):
    cases = compliance.load_ramps(carrier(), "carrier.hub", RAMPS, 1500.0)
    found = compliance.identify_compliance(carrier(False), "guide", "carrier.hub", cases, use=use)
    for name, k in PATH.items():
        assert found.stiffness[name] == pytest.approx(k, rel=1e-6)
    spring = found.model.joints["guide"].compliance.roll
    assert spring.damping == pytest.approx(0.01 * spring.stiffness)
    slope = found.coefficient("fx", "x")
    assert slope.measured == pytest.approx(slope.model, rel=1e-3)
    assert "roll" in found.summary()


def test_stiffnesses_of_a_surface_come_back():
    cases = compliance.load_ramps(carrier(kind="surface"), "carrier.hub", (*RAMPS, "fz"), 1200.0)
    found = compliance.identify_compliance(carrier(False, "surface"), "guide", "carrier.hub", cases)
    assert list(found.stiffness) == list(SURFACE)
    for name, k in SURFACE.items():
        assert found.stiffness[name] == pytest.approx(k, rel=1e-6)


def test_noise_gives_uncertainties_that_hold():
    """The error of most stiffnesses stays below two standard uncertainties, which grow with the noise."""
    cases = compliance.load_ramps(carrier(), "carrier.hub", RAMPS, 1500.0)
    rng = np.random.default_rng(5)

    def identified(noise):
        seen = [(c.direction, c.load, c.displacement + noise * rng.standard_normal((11, 6))) for c in cases]
        return compliance.identify_compliance(carrier(False), "guide", "carrier.hub", seen)

    coarse, fine = identified(2e-5), identified(2e-6)
    for found in (coarse, fine):
        gaps = [abs(found.stiffness[n] - k) / found.uncertainty[n] for n, k in PATH.items()]
        assert sorted(gaps)[3] < 2.5
    for name, k in PATH.items():
        assert 0 < fine.uncertainty[name] < 0.5 * coarse.uncertainty[name] < 0.5 * k


def test_a_ramp_in_time_lags_by_little():
    case = simulated_ramp(carrier(), "carrier.hub", "fy", 1500.0, start=0.2, duration=2.0)
    static = compliance.load_ramps(carrier(), "carrier.hub", ["fy"], 1500.0)[0]
    assert case.load[-1] == pytest.approx(1500.0)
    np.testing.assert_allclose(
        case.displacement[-1], static.displacement[-1], atol=1e-3 * np.abs(static.displacement[-1]).max()
    )


def test_bushings_of_a_corner_are_matched_along_each_load():
    """Hall, 4.1.2: five springs cannot have every cross effect of the bushings, but those along the loads."""
    rigid = sk.load(EXAMPLES / "quarter_car_geometric.yaml", set={"sweep": 0.0})
    soft = sk.load(EXAMPLES / "quarter_car_compliant.yaml", set={"sweep": 0.0})
    hub = "upright.wheel_center"
    reduced = sk.reduce(rigid, hub, f"{hub}.z", (-0.15, 0.15), inertia="ignore", nodes=31)
    cases = compliance.load_ramps(soft, hub, RAMPS, 2000.0, count=5)
    found = compliance.identify_compliance(reduced.model, reduced.joint, hub, cases, use="direct")
    for load, moved in zip(RAMPS, ("x", "y", "rx", "ry", "rz"), strict=True):
        c = found.coefficient(load, moved)
        assert c.model == pytest.approx(c.measured, rel=0.05)
    assert found.position_rms > 1e-5


def test_a_missing_load_case_names_the_stiffness():
    cases = compliance.load_ramps(carrier(), "carrier", ["fx", "fy"], 20.0)
    with pytest.raises(
        DataError, match=r"stiffness '(roll|pitch|yaw)' cannot be identified: the loads fx, fy"
    ):
        compliance.identify_compliance(carrier(False), "guide", "carrier", cases)


def test_collinear_load_cases_name_what_cannot_be_told_apart():
    cases = compliance.load_ramps(carrier(), "carrier.hub", ["fx"], 1500.0, count=3)
    with pytest.raises(DataError, match=r"cannot be distinguished from .* collinear|cannot be identified"):
        compliance.identify_compliance(carrier(False), "guide", "carrier.hub", cases * 2, use="direct")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda m, c: compliance.identify_compliance(m, "rail", "carrier.hub", c),
            "there is no joint 'rail'",
        ),
        (
            lambda m, c: compliance.identify_compliance(m, "guide", "carrier.hub", []),
            "no load case",
        ),
        (
            lambda m, c: compliance.identify_compliance(m, "guide", "carrier.hub", c, guess={"pitsch": 1.0}),
            "no direction",
        ),
        (
            lambda m, c: compliance.identify_compliance(m, "guide", "carrier.hub", c, use="some"),
            "got 'some'",
        ),
        (
            lambda m, c: compliance.LoadCase("fq", np.arange(3.0), np.zeros((3, 6))),
            "unknown direction 'fq'",
        ),
        (
            lambda m, c: compliance.LoadCase("fx", np.arange(3.0), np.zeros((4, 6))),
            r"loads must have shape \(n,\) and displacements \(n, 6\)",
        ),
        (
            lambda m, c: compliance.LoadCase("fx", np.ones(3), np.zeros((3, 6))),
            "a ramp needs at least three rows",
        ),
        (lambda m, c: compliance.load_ramps(m, "carrier", ["up"]), "unknown direction 'up'"),
    ],
)
def test_bad_input(call, message):
    case = compliance.LoadCase("fx", np.arange(3.0), np.ones((3, 6)))
    with pytest.raises((DataError, ModelError), match=message):
        call(carrier(), [case])


def test_load_cases_from_a_file(tmp_path):
    file = tmp_path / "ramp.csv"
    file.write_text(
        "time,load,rx,ry,rz,x,y,z\n0,0,1,2,3,4,5,6\n1,10,1.1,2.2,3.3,4.4,5.5,6.6\n2,20,2,3,4,5,6,7\n"
    )
    case = compliance.LoadCase.from_csv(file, "my")
    np.testing.assert_allclose(case.load, [0, 10, 20])
    np.testing.assert_allclose(case.displacement[1], [0.4, 0.5, 0.6, 0.1, 0.2, 0.3])
    with pytest.raises(DataError, match="no column 'force'"):
        compliance.LoadCase.from_csv(file, "my", load="force")
