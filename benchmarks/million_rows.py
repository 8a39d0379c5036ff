"""A million rows of a study: two local workers against one process, and what the process in charge spends on them.

Rates are wall times and need two free cores. Processor seconds do not: those of a row, in a worker against in one
process, and those of the process in charge.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter, process_time
from typing import Any

import numpy as np
from timing import Timed, figure, target

import sekant as sk
from sekant import studies

ROWS, QUICK = 1_000_000, 4_000


def model() -> sk.Model:
    spring = sk.forces.SpringDamper(parent="ground", child="mass", stiffness=40, damping=1.0, free_length=0)
    return sk.Model(
        name="mass on a spring",
        gravity=(0, 0, 0),
        bodies={"mass": sk.Body(mass=1.6)},
        joints={"slide": sk.joints.Prismatic(child="mass", axis=(0, 0, 1), q0=0.3)},
        forces={"spring": spring},
    )


def measured(rows: int, executor: Any) -> tuple[float, float, float]:
    """Wall seconds, processor seconds of the rows, and those of this process beside them."""
    samples = studies.latin_hypercube({"spring.stiffness": (30, 50), "mass.mass": (1.4, 1.8)}, rows, seed=1)
    began, own = perf_counter(), process_time()
    found = sk.sweep(
        model(),
        samples,
        measures=["final(slide.q)"],
        until=1.0,
        method="rk4",
        step=2e-3,
        output_step=0.05,
        executor=executor,
    )
    assert found.ok.all()
    assert np.isfinite(found.measures).all()
    wall, here = perf_counter() - began, process_time() - own
    spent = found.stats["processor_seconds"]
    return wall, spent, here if executor != "serial" else here - spent


def run(quick: bool, rows: int | None = None) -> dict[str, Any]:
    count = rows or (QUICK if quick else ROWS)
    measured(200, "serial")
    alone, row_alone, _ = measured(count, "serial")
    both, row_both, charge = measured(count, 2)
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    return {
        "figures": [
            figure("one process, a row", Timed(alone / count, 1, count), "us", f"load of a core: {busy:.1f}"),
            figure("two workers, a row", Timed(both / count, 1, count), "us"),
            figure("processor time of a row, one process", Timed(row_alone / count, 1, count), "us"),
            figure("processor time of a row, worker", Timed(row_both / count, 1, count), "us"),
            figure("processor time of a row, process in charge", Timed(charge / count, 1, count), "us"),
        ],
        "targets": [
            target("rate of two workers over one process", alone / both, 1.9, at_least=True),
            target(
                "processor time of a row in a worker over that in one process", row_both / row_alone, 1.05
            ),
        ],
    }


if __name__ == "__main__":
    told = run(False, int(sys.argv[1]) if len(sys.argv) > 1 else None)
    for entry in [*told["figures"], *told["targets"]]:
        print(f"{entry['name']:70} {entry['value']:.4g} {entry['unit']} {entry.get('note', '')}")
