"""Designs of an axle: curves at 41 positions with all hard points as run-time parameters, and their derivatives."""

from __future__ import annotations

from pathlib import Path
from time import thread_time
from typing import Any

import numpy as np
from timing import Timed, figure, target

import sekant as sk

FILE = Path(__file__).parents[1] / "examples" / "axles" / "front_double_wishbone.yaml"
TRAVEL = np.linspace(-0.05, 0.05, 41)


def run(quick: bool) -> dict[str, Any]:
    designs = sk.vehicle.AxleDesigns(sk.vehicle.load_axle(FILE), travel=TRAVEL)
    rng, count = np.random.default_rng(5), (5 if quick else 1000)
    values = {name: x + 1e-3 * rng.normal(size=count) for name, x in designs.drawn.items()}
    designs.curves()
    began = thread_time()
    found = designs.many(values)
    each = (thread_time() - began) / count
    assert np.isfinite(found["left.toe"]).all()
    designs.sensitivities()
    began = thread_time()
    slopes = designs.sensitivities()
    derived = thread_time() - began
    number = sum(part.size for part in slopes.data.values())
    return {
        "figures": [
            figure(f"{len(found)} curves of an axle at {TRAVEL.size} positions", Timed(each, 1, count), "ms"),
            figure(f"{number} derivatives of these curves by hard points", Timed(derived, 1, 1), "ms"),
        ],
        "targets": [target("1,000 designs of an axle", 1000 * each, 4.0, unit="s")],
    }
