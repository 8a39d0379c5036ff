"""Series that no held value asks for are passed over: the same motion as without, and really passed."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from sekant.engine.codegen.parallel import compile_text
from sekant.engine.functions.taylor_tape import taylor_tape
from sekant.solvers.taylor import TaylorProblem, TaylorRun, integrate, schedule
from sekant.solvers.taylor.regions import ALWAYS


def bumper(compiler=None) -> TaylorProblem:
    """A pendulum that meets a bumper, drags where a flag is set, and has an event that asks for much then."""
    q, v, a, p = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("a", 2), ca.SX.sym("p", 2)
    depth = -ca.sin(q[0]) - 0.2
    hit = ca.if_else(depth > 0, depth * ca.sqrt(1 + depth**2) * ca.exp(depth) * (9 + ca.cos(v[0])), 0)
    wind = ca.sqrt(0.1 + (v[0] * ca.cos(q[1])) ** 2 + (v[1] + ca.sin(q[0]) * v[0]) ** 2)
    drag = ca.if_else(p[0], wind * ca.exp(-wind) * ca.atan(v[0]) / (1 + ca.cos(q[1]) ** 2), 0.01 * v[0])
    force = ca.vertcat(-3 * ca.sin(q[0]) + hit - drag, 0.3 * v[0] - q[1])
    watched = ca.if_else(p[1], wind**3 * ca.log(1 + wind) * drag - 0.4, q[1] - 0.35)
    tape = taylor_tape(q=q, v=v, a=a, p=p, residual=a - force, events=watched)
    return TaylorProblem(tape, compiler=compiler)


def motion(problem: TaylorProblem, flags: tuple[float, float]):
    times = np.linspace(0.0, 5.0, 11)
    return integrate(
        problem, times, [0.9, 0.0], [0.0, 0.1], p=flags, rtol=1e-10, on_event=lambda record: None
    )


@pytest.mark.parametrize("flags", [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)])
def test_the_same_motion_as_without(flags, monkeypatch) -> None:
    """Bit for bit where it is interpreted; compiled, products may be fused in other places."""
    found, native = motion(bumper(), flags), motion(bumper(compile_text), flags)
    monkeypatch.setattr(schedule, "find_regions", lambda nodes, results, operands: [ALWAYS] * len(nodes.op))
    plain = motion(bumper(), flags)
    np.testing.assert_array_equal(found.x, plain.x)
    assert [record.t for record in found.events] == [record.t for record in plain.events]
    assert found.stats["restarts"] == plain.stats["restarts"] >= 2
    np.testing.assert_allclose(native.x, plain.x, atol=1e-9)


def test_the_same_motion_in_small_blocks(monkeypatch) -> None:
    """Blocks of operations only change what is found one after the other."""
    whole = bumper()
    monkeypatch.setattr(schedule, "BLOCK", 3)
    cut = bumper()
    assert cut.layout.program.stage.op.size > whole.layout.program.stage.op.size
    np.testing.assert_array_equal(motion(cut, (1.0, 1.0)).x, motion(whole, (1.0, 1.0)).x)


@pytest.mark.parametrize("compiler", [None, compile_text])
def test_what_is_behind_a_flag_is_not_touched(compiler) -> None:
    """Its coefficients stay as they were laid out: not a number in these."""
    problem = bumper(compiler)
    work = problem.layout.program.stage
    regions = sorted(set(work.region.tolist()) - {ALWAYS})
    assert len(regions) == 2  # the bumper; drag and event, of which the small one goes with the large one
    run = TaylorRun(problem, [0.0, 1.0], [0.9, 0.0], [0.0, 0.1], p=[0.0, 0.0])
    members = work.d[np.repeat(work.region >= 0, np.diff(work.start))]
    assert members.size > 0.5 * work.d.size
    run.memory.series[members, 1:] = np.nan
    run.advance(2)
    assert np.isnan(run.memory.series[members, 1]).all()
    assert np.isfinite(run.series[1]).all()
