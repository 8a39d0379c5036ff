"""Heun's method of order 2, as a newcomer adds it: one file, with the compiled loop and its registration."""

from sekant.loops.declare.calls import call_native, tail
from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.outcome import FINISHED, MORE, NOT_FINITE
from sekant.solvers.common.spans import divide
from sekant.solvers.ode import Method, register
from sekant.solvers.ode.memory import LARGEST_STATE, Run
from sekant.solvers.ode.segments import enter_segment, keep_held
from sekant.solvers.ode.unit_blocks import normalize


@inner
def _step(run, t, h):
    """x += h/2 (f(t, x) + f(t + h, x + h f(t, x))); returns whether the state is good."""
    x, k, stage, clock = run.x, run.k, run.stage, run.clock
    clock[0] = min(max(t, run.earliest), run.latest)
    call_native(run.rhs, run.arg_x, run.res, run.work)
    for j in range(x.size):
        stage[j] = x[j] + h * k[0, j]
    clock[0] = min(max(t + h, run.earliest), run.latest)
    call_native(run.rhs, run.arg_stage, tail(run.res, 1), run.work)
    good = True
    for j in range(x.size):
        x[j] += 0.5 * h * (k[0, j] + k[1, j])
        good &= abs(x[j]) < LARGEST_STATE
    normalize(x, run.blocks)
    return good


@procedure(Run, "Heun's method", 1.0)
def advance(run, a, b):
    """Take at least `a` steps, to the output after them; returns a code of `memory`."""
    budget, t_eval, edges, x = int(a), run.t_eval, run.edges, run.x
    if run.started == 0:
        enter_segment(run, 0)
    while run.row < t_eval.size:
        if budget <= 0:
            return MORE
        edge = edges[run.segment + 1]
        at_edge = t_eval[run.row] >= edge - run.snap
        landing = edge if at_edge else t_eval[run.row]
        whole, h, rest = divide(landing - run.span_start, run.step)
        for i in range(whole + (1 if rest > 0.0 else 0)):
            if not _step(run, run.span_start + i * h, h if i < whole else rest):
                return NOT_FINITE
            run.steps += 1
            budget -= 1
        run.t = run.span_start = landing
        if abs(t_eval[run.row] - landing) <= run.snap:
            for j in range(x.size):
                run.rows[run.row, j] = x[j]
            keep_held(run, run.row)
            run.row += 1
        if at_edge and run.segment + 2 < edges.size:
            run.restarts += 1
            enter_segment(run, run.segment + 1)
    return FINISHED


HEUN = register(Method("heun", 2, False, "Heun, fixed step", advance, evaluations_per_step=2))
