"""The end of a run of any integrator: return codes of compiled loops, their names, and their texts for readers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning

Floats = NDArray[np.float64]

# Return codes of compiled loops, in the order of `STATUSES`; after MORE the loop must be called again.
MORE, FINISHED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, NO_CONVERGENCE, CONSTRAINTS, CHATTERING, EVENT = (
    range(9)
)
Status = Literal[
    "interrupted",
    "finished",
    "not_finite",
    "step_too_small",
    "too_many_steps",
    "no_convergence",
    "constraints",
    "chattering",
    "event",
]
Ending = Status | Literal["stopped"]
STATUSES: tuple[Status, ...] = get_args(Status)
TEXTS: dict[str, str] = {
    "interrupted": "interrupted at {where} after {steps} steps",
    "finished": "finished at {where} after {steps} steps",
    "not_finite": "{state} is not finite beyond {where} (tried {tried}); {cause}",
    "step_too_small": (
        "the step became too small at {where}; {state} changes most: it may jump or grow without bound, or "
        "the mechanism reaches a singular position; loosen the tolerances, or add a stop at the jump{stiff}"
    ),
    "too_many_steps": (
        "stopped at {where} after {steps} steps and {rejected} rejected steps; raise max_steps, or loosen "
        "the tolerances{stiff}"
    ),
    "no_convergence": (
        "Newton's iteration does not converge at {where}, not even for short steps; {state} changes most. The "
        "equations may be singular or jump there, or the constraints may contradict each other"
    ),
    "constraints": (
        "{row} cannot be satisfied beyond {where} (tried {tried}): the mechanism cannot move further, the constraint "
        "contradicts another one, or the step is too long"
    ),
    "chattering": (
        "{site} switches back and forth endlessly at {where}: the motion would have to stay on the switch, "
        "as in sticking friction; smooth it, e.g. tanh(x / small) for sign(x), or use a fixed-step method"
    ),
    "event": "event {which} at {where} after {steps} steps",
}
"""Text for a reader: what happened, when, why, and what may help."""
STIFF = "; for a stiff problem, use an implicit method"
CAUSE = (
    "the motion may leave the range of a table, the equations may be singular or need the root or logarithm of a "
    "negative number, or the step may be too long"
)


@dataclass(frozen=True)
class EventRecord:
    """Event `number` at the time `t`, with the state `x` (n,) there, before it is changed; the first `nq`
    entries are q.

    `jump`: the event function has jumped over zero with a switch at this state.
    """

    number: int
    t: float
    x: Floats
    nq: int = 0
    jump: bool = False

    @property
    def q(self) -> Floats:
        return self.x[: self.nq]

    @property
    def v(self) -> Floats:
        return self.x[self.nq :]


def _no_rows() -> Floats:
    return np.zeros((0, 0))


def _nothing() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The motion up to the last computed point.

    `t` (k,), `x` (k, n): the requested output times that were reached, and the states there; `a` (k, nv) and
    `lam` (k, m) if the integrator computes them. `t_last`, `x_last` (n,): the last good point, which may lie
    beyond the last output. `t_failed`: the end of the last failed trial (NaN for a run that did not fail),
    `x_failed` (n,): the state there that could not be projected, if available. `component`: index of the
    state to blame, or -1: the first one that is not finite or beyond 1e100, or the one with the largest
    scaled error. `which`: number of the event or of the constraint to blame, or -1. `site`: name of the site
    that chatters. `reason`: the cause, if known. `events`: all that have happened. `start_moved`:
    largest change of q and of v by which the given start was made consistent. `largest_residuals`: largest
    |Phi| and |rates| at the ends of steps. `held` (k, nh), `held_last` (nh,): sampled values that are valid
    after each output, and after `t_last`. `next_step`: the next step of an adaptive method; None if unknown.
    `implicit`: whether the method is.

    `stats`: counts by name. All methods count `steps`: accepted, `rejected`: trial steps that failed (Taylor:
    how often a step was halved because its end could not be projected), and `restarts`: stops inside the
    interval (Taylor: switches and events). Others: `evaluations` of the equations, `landings` on changes of a mode,
    `jacobians` and `factorizations` of the Newton matrix, `order` of the series of v.

    An analysis adds the `message` for a reader, the `work` (nw,) done by the end, `warnings`. It may also end a run
    as "stopped".
    """

    status: Ending
    t: Floats
    x: Floats
    t_last: float
    x_last: Floats
    t_failed: float
    stats: dict[str, Any]
    a: Floats = field(default_factory=_no_rows)
    lam: Floats = field(default_factory=_no_rows)
    component: int = -1
    which: int = -1
    site: str = ""
    reason: str = ""
    x_failed: Floats = field(default_factory=_nothing)
    events: tuple[EventRecord, ...] = ()
    start_moved: tuple[float, float] = (0.0, 0.0)
    largest_residuals: tuple[float, float] = (0.0, 0.0)
    held: Floats = field(default_factory=_no_rows)
    held_last: Floats = field(default_factory=_nothing)
    next_step: float | None = None
    implicit: bool = False
    message: str = ""
    work: Floats = field(default_factory=_nothing)
    warnings: tuple[AnalysisWarning, ...] = ()

    @property
    def event(self) -> EventRecord | None:
        """The last event."""
        return self.events[-1] if self.events else None

    def describe(self, names: Sequence[str] | None = None, rows: Sequence[str] | None = None) -> str:
        """One line for a reader: what happened, when, and what may help. `names`: of the states; `rows`: of the
        constraints."""
        return TEXTS[self.status].format(
            where=f"t = {self.t_last:.9g}",
            tried=f"t = {self.t_failed:.9g}",
            steps=self.stats["steps"],
            rejected=self.stats["rejected"],
            state=_called("state", self.component, names, "the motion"),
            row=_called("constraint", self.which, rows, "a constraint"),
            site=self.site or "a switch (abs, comparison, limit, table piece)",
            which=self.which,
            cause=self.reason or CAUSE,
            stiff="" if self.implicit else STIFF,
        )


def _called(kind: str, index: int, names: Sequence[str] | None, unknown: str) -> str:
    if index < 0:
        return unknown
    return f"'{names[index]}'" if names is not None and index < len(names) else f"{kind} {index}"
