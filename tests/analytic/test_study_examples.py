"""The examples with SALib and Optuna: indices against closed ones, an optimum against a grid."""

import runpy

import numpy as np
import pytest

import sekant as sk
from sekant import studies
from sekant.studies.study_files import load_study

pytestmark = pytest.mark.long  # make test-long installs SALib and Optuna


@pytest.mark.parametrize("name", ["quarter_car", "step_steer"])
def test_study_files_run(name):
    study = load_study(f"examples/studies/{name}.yaml")
    found = sk.sweep(
        study.model, study.samples, analysis=study.analysis, measures=study.measures, **study.options
    )
    assert found.stats["failed"] == 0
    assert np.isfinite(found.measures).all()
    assert (np.ptp(found.measures, axis=0) > 0).all()


def test_indices_of_a_frequency():
    """f ~ k^a m^-b: over small ranges the first indices are shares of (a dk / k)^2 and (b dm / m)^2."""
    example = runpy.run_path("examples/studies/sensitivity_indices.py")
    model = sk.Model(
        gravity=(0, 0, 0),
        bodies={"mass": sk.Body(mass=1.6)},
        joints={"slide": sk.joints.Prismatic(child="mass", axis=(0, 0, 1))},
        forces={"spring": sk.forces.SpringDamper(parent="ground", child="mass", stiffness=40, free_length=0)},
    )
    ranges = {"spring.stiffness": (38.0, 42.0), "mass.mass": (1.59, 1.61)}
    found = example["sobol_indices"](model, ranges, "at(frequency, 0)", 256, analysis="linearize")
    parts = np.array([(2.0 / 40) ** 2, (0.01 / 1.6) ** 2])
    np.testing.assert_allclose(found["S1"], parts / parts.sum(), atol=0.03)
    np.testing.assert_allclose(found["ST"], parts / parts.sum(), atol=0.03)
    effects = example["morris_indices"](model, ranges, "at(frequency, 0)", analysis="linearize")
    f = np.sqrt(40 / 1.6) / 2 / np.pi
    # SALib counts effects over the whole range of each name
    np.testing.assert_allclose(effects["mu_star"], f / 2 * np.array([4 / 40, 0.02 / 1.6]), rtol=0.05)


def test_optimum_is_that_of_a_grid():
    example = runpy.run_path("examples/studies/optimize_ride.py")
    model = example["quarter_car"]()
    ranges = {name: np.linspace(*pair, 9) for name, pair in example["RANGES"].items()}
    grid = sk.sweep(model, studies.grid(ranges), measures=example["MEASURES"], **example["RUN"])
    best = example["_cost"](grid["ride"], grid["grip"]).min()
    assert example["directly"](model).best_value < 1.03 * best
    _, promised, truth = example["on_a_surrogate"](model)
    assert truth < 1.03 * best
    assert promised == pytest.approx(truth, rel=0.02)
