"""Studies: one analysis for every row of a design, on one core, all cores or a cluster."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.engine.system import System
from sekant.errors import SekantError, counted
from sekant.files import check_writable
from sekant.progress_bar import ProgressBar, RowsBar
from sekant.studies.analyses import FINISHED, analysis_of
from sekant.studies.executors import Chunks, executor_of
from sekant.studies.measures import Measure, read_measures
from sekant.studies.partial_results import StudyParts
from sekant.studies.result import SweepResult
from sekant.studies.samples import Samples
from sekant.studies.task import RowBlock, Task, prepare
from sekant.version import __version__

MOST_NUMBERS = 2_000_000_000
"""Largest number of output values: 16 GB."""


@dataclass(frozen=True)
class Progress:
    """Progress of a study: `done` of `rows` rows are complete, and `failed` of the complete rows have failed; `rate`
    is in rows per second, and `left` is the remaining time in s."""

    done: int
    rows: int
    failed: int
    rate: float
    left: float


def sweep(
    system: Any,
    samples: Samples,
    *,
    analysis: str = "simulate",
    measures: Sequence[str | Measure] | Mapping[str, str] | str = (),
    outputs: Sequence[str] = (),
    parameters: Mapping[str, float] | None = None,
    executor: Any = "serial",
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[Progress], object] | bool | None = None,
    **options: Any,
) -> SweepResult:
    """Run the analysis for every row of `samples`, whose names are parameters or ``item.field`` of the model.

    `system`: a system or a model. `analysis`: "simulate", "kinematics", "equilibrium" or "linearize", with its
    `options` (``until=3.0``, ``drive="hub.z", range=(-0.1, 0.1, 41)``); "drive" takes a car through a maneuver
    (``maneuver="step-steer"``). With "drive", the names of the samples refer to the car file, such as `chassis.mass`,
    or to options of the maneuver, such as `maneuver.speed`. `measures`: values to compute for each row, such as
    ``max(strut.force)``, in a list, or in a mapping whose keys are names that you choose. `outputs`: channels to
    store completely. `parameters`: values of parameters that are the same for all rows. `executor`: "serial",
    "processes", a number of processes, or a client of dask.distributed.

    `progress`: True for a bar in terminals and notebooks, or a function that is called after every chunk.

    With `output` (``.nc``), rows are stored in a folder beside the file while the study runs; `resume` continues
    from these rows. A failed row remains in the result, with a status and a message.
    """
    if not isinstance(samples, Samples):
        raise SekantError(
            "samples must be made with sk.studies.grid, rows, latin_hypercube, sobol, monte_carlo or one_at_a_time "
            f"(got {type(samples).__name__})"
        )
    formulation = system.equations.formulation if isinstance(system, System) else "joint"
    task = Task(
        analysis_of(analysis).described(system),
        samples.names,
        analysis,
        read_measures(measures),
        tuple(outputs),
        dict(options),
        formulation,
        dict(parameters or {}),
    )
    runner = executor_of(executor)
    # find errors in names, channels or options before any worker starts
    with ProgressBar("preparing the study", enabled=progress is True):
        first = prepare(task)
        if not task.channels:
            task = replace(task, measures=first.measures())
        if not task.channels:
            raise SekantError(
                "a study without measures or outputs computes nothing; add a measure, e.g. max(channel)"
            )
        units = _units_of_numbers(task, analysis)
        units |= {name: first.unit(name) for name in task.outputs}
        units |= {m.name: "" if m.kind.startswith("where") else first.unit(m.channel) for m in task.measures}
    parts = None
    if output is not None:
        check_writable(output)
        key = hashlib.sha256(task.key.encode() + samples.values.tobytes()).hexdigest()[:24]
        parts = StudyParts(Path(f"{os.fspath(output)}.parts"), key, len(samples))
        parts.open(resume)
    elif resume:
        raise SekantError("resume=True requires output, the file of the unfinished study")
    began = perf_counter()
    blocks = list(parts.blocks()) if parts is not None else []
    done = resumed = sum(len(block) for block in blocks)
    failed = sum(s != FINISHED for b in blocks for s in b.status)
    with RowsBar(len(samples), enabled=progress is True) as bar:
        tell = progress if callable(progress) else lambda p: bar(p.done, p.failed, p.rate)
        for block in runner.run(task, Chunks(samples.values, _left(blocks, len(samples)))):
            if parts is not None:
                parts.add(block)
            blocks.append(block)
            done += len(block)
            failed += sum(status != FINISHED for status in block.status)
            rate = (done - resumed) / max(perf_counter() - began, 1e-9)
            tell(Progress(done, len(samples), failed, rate, (len(samples) - done) / rate))
    result = _gathered(task, samples, blocks, units, first.axis, perf_counter() - began, resumed)
    if output is not None and parts is not None:
        result.save(output)
        parts.remove()
    return result


def _units_of_numbers(task: Task, analysis: str) -> dict[str, str]:
    """SI units of the varied numbers, if known."""
    found = {}
    for name in task.names:
        with suppress(SekantError):
            found[name] = analysis_of(analysis).number_unit(task.model, name, task.options) or ""
    return {name: "" if unit == "1" else unit for name, unit in found.items()}


def _left(blocks: Sequence[RowBlock], rows: int) -> list[tuple[int, int]]:
    """Ranges of rows that no block contains."""
    have = np.zeros(rows, bool)
    for block in blocks:
        if have[block.first : block.first + len(block)].any() or block.first + len(block) > rows:
            raise SekantError(
                "the stored parts of the study overlap; remove the folder of the parts to start again"
            )
        have[block.first : block.first + len(block)] = True
    edges = np.flatnonzero(np.diff(np.concatenate([[1], have.astype(np.int8), [1]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _gathered(
    task: Task,
    samples: Samples,
    blocks: Sequence[RowBlock],
    units: Mapping[str, str],
    axis_name: str,
    seconds: float,
    resumed: int,
) -> SweepResult:
    n, width = len(samples), max((block.axis.shape[1] for block in blocks), default=0)
    if len(task.outputs) * n * width > MOST_NUMBERS:
        raise SekantError(
            f"{counted(n, 'rows')} with {width} values of each of {counted(len(task.outputs), 'outputs')} are too "
            "many values to store; use measures instead of outputs"
        )
    measures = np.full((n, len(task.measures)), np.nan)
    outputs = np.full((len(task.outputs), n, width), np.nan)
    axis: NDArray[np.float64] = np.full(width, np.nan)
    names: dict[str, int] = {FINISHED: 0}
    status, messages = np.zeros(n, np.int8), {}
    for block in sorted(blocks, key=lambda block: block.first):
        rows = slice(block.first, block.first + len(block))
        measures[rows] = block.measures
        if task.outputs:
            outputs[:, rows, : block.outputs.shape[2]] = block.outputs
            for row in block.axis:
                known = np.isnan(axis[: row.size])
                axis[: row.size][known] = row[known]
        status[rows] = [names.setdefault(name, len(names)) for name in block.status]
        messages |= block.messages
    stats = {
        "rows": n,
        "failed": int((status != 0).sum()),
        "resumed": resumed,
        "seconds": seconds,
        "row_seconds": sum(block.seconds for block in blocks),
        "processor_seconds": sum(block.processor_seconds for block in blocks),
    }
    provenance = {
        "model": task.model.name,
        "analysis": task.analysis,
        "options": {name: repr(value) for name, value in task.options.items()},
        "formulation": task.formulation,
        "parameters": dict(task.fixed),
        "key": task.key,
        "sekant": __version__,
    }
    measure_names = tuple(measure.name for measure in task.measures)
    return SweepResult(
        samples,
        measure_names,
        measures,
        task.outputs,
        axis_name,
        axis,
        outputs,
        tuple(names),
        status,
        messages,
        units,
        stats,
        provenance,
    )
