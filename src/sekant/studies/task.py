"""A task: the work for every row, as plain data that can be sent to other processes and machines.

There, the model is compiled once per process, or loaded from the cache of that machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter, process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.cache.content import Recent
from sekant.errors import SekantError
from sekant.studies.analyses import COMPLETE, Analysis, analysis_of
from sekant.studies.measures import Measure

Floats = NDArray[np.float64]
FAILED = "failed"
LARGEST_KEPT = 4
"""Number of compiled tasks that a process caches."""


@dataclass(frozen=True)
class Task:
    """A study's work. `model`: the description for its analysis; `names`: varied numbers; `fixed`: values that all
    rows share."""

    model: Any
    names: tuple[str, ...]
    analysis: str
    measures: tuple[Measure, ...] = ()
    outputs: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    formulation: str = "joint"
    fixed: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """Fingerprint of everything that affects the results."""
        parts = [
            self.model.model_dump_json(),
            self.names,
            self.analysis,
            [(m.name, m.kind, m.channel, m.place) for m in self.measures],
            self.outputs,
            {name: repr(value) for name, value in self.options.items()},
            self.formulation,
            dict(self.fixed),
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]

    @property
    def channels(self) -> tuple[str, ...]:
        """All channels that must be computed."""
        return tuple(dict.fromkeys([*self.outputs, *(measure.channel for measure in self.measures)]))


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Results of rows first .. first + n - 1.

    `measures` (n, nm); `axis` (n, nx) and `outputs` (no, n, nx) with NaN where a run ended early; `status` (n,)
    names; `messages` by row; `seconds`: wall time and processor time of all of them.
    """

    first: int
    measures: Floats
    axis: Floats
    outputs: Floats
    status: tuple[str, ...]
    messages: Mapping[int, str]
    seconds: float
    processor_seconds: float

    def __len__(self) -> int:
        return len(self.status)


_compiled = Recent(LARGEST_KEPT)


def prepare(task: Task) -> Analysis:
    """The analysis of a task, compiled; cached for the next rows of the same task in this process."""

    def make() -> Analysis:
        names = [*task.names, *(name for name in task.fixed if name not in task.names)]
        return analysis_of(task.analysis)(task.model, names, task.channels, task.options, task.formulation)

    return _compiled.answer(task.key, make)


def run_rows(task: Task, first: int, values: Floats) -> RowBlock:
    """Compute the rows values (n, k), starting with row number `first`; failed rows are included."""
    analysis = prepare(task)
    began, used = perf_counter(), process_time()
    measures = np.full((values.shape[0], len(task.measures)), np.nan)
    axes: list[Floats] = []
    series: list[list[Floats]] = []
    status: list[str] = []
    messages: dict[int, str] = {}
    rows = [{**task.fixed, **dict(zip(task.names, row.tolist(), strict=True))} for row in values]
    for i, answer in enumerate(analysis.answers(rows)):
        columns: dict[str, Floats] = {}
        if not isinstance(answer, SekantError):
            try:
                columns = {name: np.asarray(answer.column(name), float) for name in task.channels}
            except SekantError as error:
                answer = error
        if isinstance(answer, SekantError):
            status.append(FAILED)
            messages[first + i] = str(answer)
            axes.append(np.zeros(0))
            series.append([np.zeros(0)] * len(task.outputs))
            continue
        status.append(answer.status)
        if answer.message:
            messages[first + i] = answer.message
        for j, measure in enumerate(task.measures):
            y = columns[measure.channel]
            if y.ndim > 1:
                raise SekantError(
                    f"measure '{measure.name}': '{measure.channel}' has {y.shape[1]} components; name one of them"
                )
            known = np.isfinite(answer.x) & np.isfinite(y)
            measures[i, j] = measure.of(answer.x[known], y[known], answer.status in COMPLETE)
        axes.append(answer.x if task.outputs else np.zeros(0))
        series.append([columns[name] for name in task.outputs])
    return RowBlock(
        first,
        measures,
        _padded(axes),
        np.array([_padded([row[k] for row in series]) for k in range(len(task.outputs))]),
        tuple(status),
        messages,
        perf_counter() - began,
        process_time() - used,
    )


def _padded(rows: list[Floats]) -> Floats:
    """Rows of different lengths as one array, with NaN after the end of shorter ones."""
    width = max((row.size for row in rows), default=0)
    whole = np.full((len(rows), width), np.nan)
    for i, row in enumerate(rows):
        if row.ndim > 1:
            raise SekantError("an output of a study must have one component; name one, e.g. arm.position.x")
        whole[i, : row.size] = row
    return whole
