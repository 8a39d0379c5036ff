"""Optuna finds the stiffness and damping for the softest ride that keeps the tire on the road, with and without a
surrogate model.

pip install 'sekant[studies]'; python examples/studies/optimize_ride.py
"""

from pathlib import Path
from typing import Any

import numpy as np
import optuna
from scipy.interpolate import RBFInterpolator

import sekant as sk
from sekant import studies

RANGES = {"strut.stiffness": (12e3, 30e3), "strut.damping": (200.0, 3000.0)}
MEASURES = {"ride": "rms(body.acceleration.z)", "grip": "max(tire.force)"}
LEAST_LOAD = 300.0  # N that the tire presses at least
RUN = {"until": 2.0, "method": "rk4", "step": 5e-4, "output_step": 5e-3}
TOGETHER = 8  # trials that are computed at once, in the lanes of the processor


def quarter_car() -> sk.Model:
    return sk.load(Path(__file__).parent.parent / "quarter_car.yaml")


def _cost(ride: Any, grip: Any) -> Any:
    """The ride, and a penalty if the tire force (negative: compression) comes too close to lift-off."""
    return ride + np.maximum(0.0, grip + LEAST_LOAD) / 100.0


def _asked(study: optuna.Study) -> list[optuna.Trial]:
    floats = {name: optuna.distributions.FloatDistribution(*pair) for name, pair in RANGES.items()}
    return [study.ask(floats) for _ in range(TOGETHER)]


def directly(model: sk.Model, trials: int = 96) -> optuna.Study:
    """Optuna's own sampler; every batch of trials is a sweep."""
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1, constant_liar=True))
    for _ in range(trials // TOGETHER):
        asked = _asked(study)
        rows = studies.rows({name: [trial.params[name] for trial in asked] for name in RANGES})
        found = sk.sweep(model, rows, measures=MEASURES, **RUN)
        for trial, cost in zip(asked, _cost(found["ride"], found["grip"]), strict=True):
            if np.isfinite(cost):
                study.tell(trial, float(cost))
            else:
                study.tell(
                    trial, state=optuna.trial.TrialState.FAIL
                )  # a row that failed is a trial that failed
    return study


def on_a_surrogate(
    model: sk.Model, rows: int = 64, trials: int = 300
) -> tuple[dict[str, float], float, float]:
    """The best point of a smooth surrogate through a Latin hypercube; its cost there, and that of the model."""
    design = studies.latin_hypercube(RANGES, rows, seed=2)
    found = sk.sweep(model, design, measures=MEASURES, **RUN)
    low, high = np.array(list(RANGES.values())).T
    unit = (np.column_stack([found[name] for name in RANGES]) - low) / (high - low)
    surrogate = RBFInterpolator(unit, np.column_stack([found["ride"], found["grip"]]))

    def objective(trial: optuna.Trial) -> float:
        at = [trial.suggest_float(name, *pair) for name, pair in RANGES.items()]
        ride, grip = surrogate([(np.array(at) - low) / (high - low)])[0]
        return float(_cost(ride, grip))

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    study.optimize(objective, n_trials=trials)
    best = studies.rows({name: [study.best_params[name]] for name in RANGES})
    truth = sk.sweep(model, best, measures=MEASURES, **RUN)
    return study.best_params, study.best_value, float(_cost(truth["ride"], truth["grip"])[0])


def main() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    model = quarter_car()
    study = directly(model)
    print(f"directly: {study.best_params}, cost {study.best_value:.4f}")
    params, cost, truth = on_a_surrogate(model)
    print(f"on a surrogate: {params}, cost {cost:.4f}, by the model itself {truth:.4f}")


if __name__ == "__main__":
    main()
