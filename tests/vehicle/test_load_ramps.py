"""Compliance from load ramps: symmetric and positive whatever was measured, and given back by the axle made of it."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sekant.errors import SekantError
from sekant.vehicle.kc.compliance import axle_compliance
from sekant.vehicle.measured.files import load_measured_axle
from sekant.vehicle.measured.matrices import ComplianceMatrices
from sekant.vehicle.measured.ramps import LOADS, SCALE, LoadRamp, identify, read_matrices, read_ramps
from sekant.views.cli import app

EXAMPLE = Path(__file__).parents[2] / "examples/car/measured"


def scaled(C):
    return SCALE[:, None] * C * SCALE


def compliance(rng, rank=5):
    """At held height, m/N and rad/(N m)."""
    A = rng.normal(size=(6, rank))
    A[2] = 0.0
    return 1e-7 * (A @ A.T) / SCALE[:, None] / SCALE


def ramps_of(C, travel=0.0, noise=0.0, rng=None):
    found = []
    for name in ("fx", "fy", "mx", "my", "mz"):
        F = np.zeros((31, 6))
        k = list(LOADS).index(name)
        F[:, k] = np.linspace(0, 4000 if k < 3 else 900, 31)
        moved = F @ C.T + 1e-4
        if rng is not None:
            moved = moved + noise * rng.normal(size=moved.shape) / SCALE
        found.append(LoadRamp(name, travel, F, moved))
    return found


def test_exact_ramps_give_the_compliance_with_its_cross_effects():
    rng = np.random.default_rng(5)
    low, high = compliance(rng), compliance(rng)
    found = identify([*ramps_of(low, -0.03), *ramps_of(high, 0.05)])
    assert found.travel == pytest.approx([-0.03, 0.05])
    for C, exact in zip(found.C, (low, high), strict=True):
        assert np.allclose(scaled(C), scaled(exact), rtol=0, atol=1e-9 * np.abs(scaled(exact)).max())
    assert max(m.share for m in found.misfits) < 1e-9


def test_noise_and_contradictions_leave_it_symmetric_and_positive():
    rng = np.random.default_rng(6)
    C = compliance(rng)
    noisy = identify(ramps_of(C, noise=2e-5, rng=rng))
    assert np.abs(scaled(noisy.C[0] - C)).max() < 0.02 * np.abs(scaled(C)).max()
    wrong = C.copy()
    wrong[0, 1] *= 2.0  # Maxwell's theorem broken
    wrong[4, 4] *= -0.1  # energy made
    found = identify([LoadRamp(r.name, 0.0, r.load, r.load @ wrong.T) for r in ramps_of(C)])
    assert np.array_equal(found.C[0], found.C[0].T) or np.allclose(found.C[0], found.C[0].T, rtol=1e-12)
    assert np.linalg.eigvalsh(scaled(found.C[0])).min() > -1e-12 * np.abs(scaled(C)).max()
    shares = {m.name: m.share for m in found.misfits}
    assert shares["my"] > 0.1  # the ramp that cannot be so has the largest misfit
    assert max(shares, key=shares.__getitem__) == "my"


def test_fewer_ramps_give_the_least_rank_that_explains_them():
    C = compliance(np.random.default_rng(7))
    found = identify(ramps_of(C)[:2]).C[0]
    assert np.linalg.matrix_rank(scaled(found), tol=1e-9 * np.abs(scaled(C)).max()) == 2
    assert np.allclose(scaled(found)[:, :2], scaled(C)[:, :2], rtol=0, atol=1e-9 * np.abs(scaled(C)).max())


def test_written_rates_read_back(tmp_path):
    found = identify(ramps_of(compliance(np.random.default_rng(8)), 0.01))
    travel, C = read_matrices(found.to_csv(tmp_path / "rates.csv"))
    assert travel == pytest.approx([0.01])
    assert np.allclose(scaled(C), scaled(found.C), rtol=0, atol=1e-8 * np.abs(scaled(found.C)).max())


def test_a_free_height_is_held_by_the_path():
    rng = np.random.default_rng(9)
    A = rng.normal(size=(6, 5))
    free = 1e-7 * (A @ A.T) / SCALE[:, None] / SCALE
    held = ComplianceMatrices("left", np.zeros(1), free[None]).at(np.zeros(1))[0]
    load = rng.normal(size=6)
    load[2] = -(free[2] @ load - free[2, 2] * load[2]) / free[2, 2]  # what holds the height
    assert (free @ load)[2] == pytest.approx(0.0, abs=1e-20)
    load_without = load.copy()
    load_without[2] = 0.0
    assert held @ load_without == pytest.approx(free @ load, rel=1e-9, abs=1e-18)


def test_contact_loads_are_moved_to_the_center(tmp_path):
    file = tmp_path / "ramp.csv"
    head = "fx [N], fy [N], x [mm], y [mm], z [mm], rx [deg], ry [deg], rz [deg]\n"
    file.write_text(head + "".join(f"{200 * k}, {100 * k}, {k}, 0, 0, 0, 0, 0\n" for k in range(5)))
    (ramp,) = read_ramps([file], 0.3)
    assert ramp.load[-1] == pytest.approx([800.0, 400.0, 0.0, 120.0, -240.0, 0.0])


def test_the_axle_gives_way_as_the_ramps_did():
    """From front_ramps.csv: 2000 N of braking and 100 N m at the design position."""
    axle = load_measured_axle(EXAMPLE / "front.yaml")
    model = axle.model()
    rates = axle_compliance(model, axle.roles(model), cases=("driving", "aligning_same"))
    ramps = {r.name: r for r in read_ramps([EXAMPLE / "front_ramps.csv"])}
    driving, aligning = ramps["front_ramps 8"], ramps["front_ramps 7"]
    for case, ramp, load in (("driving", driving, 0), ("aligning_same", aligning, 5)):
        slope = np.polyfit(ramp.load[:, load], ramp.moved, 1)[0]
        size = np.abs(slope * SCALE).max()
        found = np.array([rates.rate(case, "left", name) for name in ("x", "y", "z")])
        assert np.abs(found - slope[:3]).max() < 0.03 * size
        assert -rates.rate(case, "left", "toe") == pytest.approx(slope[5], abs=0.03 * size / SCALE[5])


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (
            "fx [N], x [mm], y [mm], z [mm], rx [deg], ry [deg], rz [deg]\n0,0,0,0,0,0,0\n9,1,0,0,0,0,0\n",
            "too short",
        ),
        (
            "fx [N], x [mm], y [mm], z [mm], rx [deg], ry [deg], rz [deg]\n" + "5,0,0,0,0,0,0\n" * 4,
            "too short to determine a slope: it has 4 rows, and its loads vary by at most 0 (N or N*m)",
        ),
        ("fx [N], x [mm], y [mm], z [mm], rx [deg], ry [deg]\n" + "5,0,0,0,0,0\n" * 4, "has no column 'rz'"),
        (
            "fx, x [mm], y [mm], z [mm], rx [deg], ry [deg], rz [deg]\n" + "5,0,0,0,0,0,0\n" * 4,
            "'fx' has no unit",
        ),
        (
            "x [mm], y [mm], z [mm], rx [deg], ry [deg], rz [deg]\n" + "0,0,0,0,0,0\n" * 4,
            "has no column for a load",
        ),
        (
            "fx [N], x [mm], y [mm], z [mm], rx [deg], ry [deg], rz [deg]\n"
            + "".join(f"{k * 100},{-k},0,0,0,0,0\n" for k in range(4)),
            "moves opposite to the load",
        ),
    ],
)
def test_bad_ramps_are_told(tmp_path, rows, says):
    file = tmp_path / "ramps.csv"
    file.write_text(rows)
    with pytest.raises(SekantError) as caught:
        identify(read_ramps([file]))
    assert says in str(caught.value)


def test_the_command_writes_rates(tmp_path):
    out = tmp_path / "rates.csv"
    run = CliRunner().invoke(app, ["kc", "--identify", str(EXAMPLE / "front_ramps.csv"), "-o", str(out)])
    assert run.exit_code == 0, run.output
    assert "of the largest" in run.stdout
    assert np.allclose(read_matrices(out)[1], read_matrices(EXAMPLE / "rates.csv")[1], rtol=1e-5, atol=1e-12)
    assert CliRunner().invoke(app, ["kc"]).exit_code == 2


def test_a_direction_that_a_steered_wheel_cannot_have_is_told():
    from sekant.vehicle.measured.matrices import ComplianceMatrices

    softness = np.diag([3e-6, 2e-6, 0.0, 4e-5, 3e-5, 2e-5])
    rates = ComplianceMatrices("left", np.zeros(1), softness[None])
    u, axes = np.linspace(-0.05, 0.05, 5), np.tile(np.eye(3), (5, 1, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert rates.modes(u, axes, 0.3).count == 5
    with pytest.warns(UserWarning, match="compliance of the left wheel.*4 elastic modes"):
        assert rates.modes(u, axes, 0.3, u2=np.linspace(-0.03, 0.03, 4)).count == 4
