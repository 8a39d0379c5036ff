"""Which parameter of a quarter car matters most for its ride? SALib computes Sobol and Morris indices.

pip install 'sekant[studies]'; python examples/studies/sensitivity_indices.py
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import SALib.analyze.morris
import SALib.analyze.sobol
import SALib.sample.morris
import SALib.sample.sobol

import sekant as sk
from sekant import studies

Ranges = Mapping[str, tuple[float, float]]


def _problem(ranges: Ranges) -> dict[str, Any]:
    return {
        "num_vars": len(ranges),
        "names": list(ranges),
        "bounds": [list(pair) for pair in ranges.values()],
    }


def _values(model: sk.Model, ranges: Ranges, design: Any, measure: str, options: Mapping[str, Any]) -> Any:
    """The measure (n,) of every row of the design (n, k)."""
    rows = studies.rows({name: design[:, i] for i, name in enumerate(ranges)})
    found = sk.sweep(model, rows, measures={"y": measure}, **options)
    return found["y"]


def sobol_indices(model: sk.Model, ranges: Ranges, measure: str, n: int = 64, **options: Any) -> Any:
    """First-order and total indices; n (2 k + 2) rows, n a power of two."""
    problem = _problem(ranges)
    design = SALib.sample.sobol.sample(problem, n, seed=1)
    y = _values(model, ranges, design, measure, options)
    return SALib.analyze.sobol.analyze(problem, y, seed=1)


def morris_indices(model: sk.Model, ranges: Ranges, measure: str, n: int = 10, **options: Any) -> Any:
    """Elementary effects: mean size and spread; n (k + 1) rows, which show what can be left out."""
    problem = _problem(ranges)
    design = SALib.sample.morris.sample(problem, n, seed=1)
    y = _values(model, ranges, design, measure, options)
    return SALib.analyze.morris.analyze(problem, design, y, seed=1)


def main() -> None:
    model = sk.load(Path(__file__).parent.parent / "quarter_car.yaml")
    ranges = {"strut.stiffness": (16e3, 28e3), "body.mass": (250.0, 330.0), "speed": (5.0, 20.0)}
    run = {"until": 2.0, "method": "rk4", "step": 5e-4, "output_step": 5e-3}  # four rows at once on each core
    ride = "rms(body.acceleration.z)"
    screening = morris_indices(model, ranges, ride, **run)
    print(screening.to_df())
    for table in sobol_indices(model, ranges, ride, **run).to_df():
        print(table)


if __name__ == "__main__":
    main()
