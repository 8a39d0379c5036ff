"""Fixed steps while sites rest: held over a stretch of steps, with one look at their guards at its end.

A site rests with its guard on one side of zero (a contact in the air, whose gap is positive). It is held while its
guard is more than `MARGIN` times what it would change by over the next stretch if it went on as fast as at its
fastest in the last looks. At the end of the stretch it must still have `KEPT` of what it had; otherwise the stretch
is taken again with all sites free. So the steps are bit for bit those that ask at every evaluation, unless something
goes through zero and comes back within one stretch, many times as fast as it was before. Stretches have different
lengths, so that no vibration keeps in step with the looks.
"""

from __future__ import annotations

from sekant.loops.declare.calls import call_native
from sekant.loops.declare.procedures import inner
from sekant.solvers.common.sites import NUMBERS
from sekant.solvers.common.vectors import put
from sekant.solvers.ode.kernels import RK4, take_steps
from sekant.solvers.ode.memory import UNKNOWN_RATE

MARGIN = 4.0
KEPT = 0.5
FADING = 0.9
"""What is left of the fastest change, from one look to the next."""
LONGEST = 16
"""Steps of a stretch."""
VARIED = 5
"""Steps by which stretches are shorter than that, in turn."""
FEWEST = 4
"""Steps of one evaluation between two outputs from which on a look pays; with four evaluations it pays always."""


@inner
def _look(run, t):
    """Guards of the sites at `run.x`, positive where they rest."""
    put(run.stage, 0, run.x)
    run.clock[0] = min(max(t, run.earliest), run.latest)
    call_native(run.rest_guards, run.arg_rest, run.rest_res, run.work)
    for k in range(run.rest_g.size):
        run.rest_g[k] *= run.rest_sign[k]


@inner
def _hold(run, steps):
    """Hold what rests for so many steps, free the others."""
    modes = run.modes
    for k in range(run.rest_g.size):
        site = run.rest_site[k]
        rests = run.rest_g[k] > MARGIN * steps * run.rest_rate[k]
        modes.code[NUMBERS * site] = 1 if rests else 0
        modes.value[NUMBERS * site + 1] = run.rest_sign[k]
        run.rest_before[k] = run.rest_g[k]


@inner
def _free(run):
    """Hold nothing, and forget how fast guards change."""
    for k in range(run.rest_site.size):
        run.modes.code[NUMBERS * run.rest_site[k]] = 0
        run.rest_rate[k] = UNKNOWN_RATE
    run.rest_known, run.rest_length = 0, 1


@inner
def _goes_on(run, steps):
    """Compare the guards with those `steps` ago; returns whether all that was held still rests."""
    good = True
    for k in range(run.rest_g.size):
        before, now = run.rest_before[k], run.rest_g[k]
        if run.modes.code[NUMBERS * run.rest_site[k]] != 0 and not now > KEPT * before:
            good = False
        known = FADING * run.rest_rate[k] if run.rest_rate[k] < UNKNOWN_RATE else 0.0
        run.rest_rate[k] = max(abs(now - before) / steps, known)
    return good


@inner
def steps_with_rests(run, kernel, base, first, last, h):
    """As `take_steps`, in stretches over which sites are held."""
    if last - first < FEWEST and kernel != RK4:
        _free(run)
        return take_steps(run, kernel, base, first, last, h)
    i = first
    while i < last:
        if run.rest_known == 0:
            _look(run, base + i * h)
        run.rest_turn = (run.rest_turn + VARIED) % (VARIED + 1)
        steps = min(last - i, run.rest_length, LONGEST - run.rest_turn)
        _hold(run, steps)
        put(run.rest_x, 0, run.x)
        done = take_steps(run, kernel, base, i, i + steps, h)
        good = done == steps
        if good:
            _look(run, base + (i + steps) * h)
            good = _goes_on(run, steps)
        if good:
            run.rest_known, run.rest_length = 1, min(2 * run.rest_length, LONGEST)
        else:
            _free(run)
            put(run.x, 0, run.rest_x)
            done = take_steps(run, kernel, base, i, i + steps, h)
            if done < steps:
                return i + done - first
        i += steps
    return last - first
