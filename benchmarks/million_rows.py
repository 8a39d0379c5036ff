"""A million rows of a study: two local workers compared with one process, and the work of the main process.
Rates are slopes of rows over wall time after the workers have started, so that ten thousand rows on two free
cores predict the time of a million; the start is reported separately. Processor time does not require free
cores: that of a row, in a worker compared with one process, and that of the main process. `python
million_rows.py 100000` runs this number of rows.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from time import perf_counter, process_time
from typing import Any

import numpy as np
from timing import Timed, figure, target

import sekant as sk
from sekant import studies
from sekant.studies import executors

ROWS, QUICK = 1_000_000, 4_000
CHUNKS = 30  # chunks of a study, about, if a row takes 0.1 ms: enough for a slope, and as long as may be
LEAST = 12  # chunks needed to estimate a slope


def model() -> sk.Model:
    spring = sk.forces.SpringDamper(parent="ground", child="mass", stiffness=40, damping=1.0, free_length=0)
    return sk.Model(
        name="mass on a spring",
        gravity=(0, 0, 0),
        bodies={"mass": sk.Body(mass=1.6)},
        joints={"slide": sk.joints.Prismatic(child="mass", axis=(0, 0, 1), q0=0.3)},
        forces={"spring": spring},
    )


@dataclass(frozen=True)
class Taken:
    """`rate`: rows per second of wall time while all workers run; `start`: additional time (s) for the start;
    processor time (s) of the `rows`, and `charge`: that of the main process."""

    rate: float
    start: float
    rows: float
    charge: float


def measured(rows: int, executor: Any) -> Taken:
    samples = studies.latin_hypercube({"spring.stiffness": (30, 50), "mass.mass": (1.4, 1.8)}, rows, seed=1)
    seen: list[tuple[float, int]] = []
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
        progress=lambda now: seen.append((perf_counter(), now.done)),
    )
    assert found.ok.all()
    assert np.isfinite(found.measures).all()
    wall, here = perf_counter() - began, process_time() - own
    spent = found.stats["processor_seconds"]
    rate = _slope(seen) if len(seen) >= LEAST else rows / wall
    return Taken(rate, wall - rows / rate, spent, here if executor != "serial" else here - spent)


def _slope(seen: list[tuple[float, int]]) -> float:
    """Rows per second, by least squares over the returned chunks, without those of the start and the last ones."""
    t, done = np.array(seen[len(seen) // 4 : -2]).T
    return float(np.polyfit(t - t[0], done, 1)[0])


def run(quick: bool, rows: int | None = None) -> dict[str, Any]:
    count = rows or (QUICK if quick else ROWS)
    executors.CHUNK_SECONDS = min(
        executors.CHUNK_SECONDS, count / CHUNKS * 1e-4
    )  # enough of them for a slope
    measured(200, "serial")
    alone, both = measured(count, "serial"), measured(count, 2)
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    ratio = both.rate / alone.rate
    whole = (alone.start + ROWS / alone.rate) / (both.start + ROWS / both.rate)
    return {
        "figures": [
            figure(
                "one process, time per row",
                Timed(1 / alone.rate, 1, count),
                "us",
                f"load of a core: {busy:.1f}",
            ),
            figure("two workers, time per row", Timed(1 / both.rate, 1, count), "us"),
            figure("two workers, time of the start", Timed(both.start, 1, 1), "ms"),
            figure("processor time per row, one process", Timed(alone.rows / count, 1, count), "us"),
            figure("processor time per row, worker", Timed(both.rows / count, 1, count), "us"),
            figure("processor time per row, main process", Timed(both.charge / count, 1, count), "us"),
        ],
        "targets": [
            target("rate of two workers / rate of one process", ratio, 1.9, at_least=True),
            target(
                "rate for a million rows with the start, two workers / one",
                whole,
                1.9,
                at_least=True,
            ),
            target("processor time per row, worker / one process", both.rows / alone.rows, 1.05),
        ],
    }


if __name__ == "__main__":
    told = run(False, int(sys.argv[1]) if len(sys.argv) > 1 else None)
    for entry in [*told["figures"], *told["targets"]]:
        print(f"{entry['name']:70} {entry['value']:.4g} {entry['unit']} {entry.get('note', '')}")
