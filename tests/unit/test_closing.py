"""The compiled procedure that closes loops: in pages as in `sk.assemble`, and the same in plain Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sekant as sk
from loops import at, four_bar, random_loop, slider_crank, wishbones
from sekant.analyses.assembly.loop_geometry import LoopGeometry
from sekant.errors import SolverError
from sekant.loops.declare import procedures
from sekant.solvers.newton.closing import FOUND, NO_RATES, OPEN, SMALL, Closing, close
from sekant.views.live.assembly import page_closing

EXAMPLES = Path(__file__).parents[2] / "examples"


def closed(system: sk.System, start: sk.State, values=None) -> tuple[int, Closing]:
    """The code and the memory of `close` from a start; compiled, and the same as plain Python."""
    found = []
    for plain in (False, True):
        memory, _ = page_closing(system.with_expressions(), 0.0, system.parameter_vector(values))
        memory.q0[:], memory.v[:] = start.q, start.v
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(procedures, "as_python", plain)
            found.append((close(memory), memory))
    (code, compiled), (plain_code, plain_memory) = found
    assert (code, compiled.wrong) == (plain_code, plain_memory.wrong)
    np.testing.assert_array_equal(plain_memory.q, compiled.q)
    np.testing.assert_array_equal(plain_memory.v, compiled.v)
    return code, compiled


def collars() -> sk.natural.Mechanism:
    """Two collars on a turning rod, whose places on it are free and rough."""
    m = sk.natural.Mechanism(dim=2, gravity=(0, 0))
    O, S = m.ground("O", (0, 0)), m.point("S", (0.5, 0.4), velocity=(-0.4, 0.7))
    m.body("rod", [O, S], mass=1.0, inertia=0.3)
    for name, place, mass in (("C", (0.4, 0.45), 2.0), ("D", (1.1, 0.7), 1.3)):
        point = m.point(name, place)
        m.mass(point, mass)
        m.on_line(point, O, m.assign(f"u{name}", S - O))
    return m


MOVED = [
    (four_bar(), {"D.parent_pose.position": (0.7, 0.0, 0.15)}),
    (slider_crank(), {"D.parent_pose.position": (0.0, 0.0, 0.12)}),
    (wishbones(), {"high.parent_pose.position": (-0.05, 0.37, 0.48)}),
    (sk.load(EXAMPLES / "natural" / "slider_crank.yaml"), {"crank.length": 0.33}),
    (collars(), {}),
]


@pytest.mark.parametrize(
    ("model", "values"), MOVED, ids=["four_bar", "slider_crank", "wishbones", "natural", "collars"]
)
def test_loops_of_moved_geometry_close_as_assemble_closes_them(model: Any, values: dict):
    system = sk.compile(model, parameters=list(values))
    start, true = system.initial_state(values), sk.assemble(system, parameters=values)
    assert "Newton" in true.report.method
    assert np.abs(true.q - start.q).max() > 0.05
    code, found = closed(system, start, values)
    assert code == FOUND
    np.testing.assert_allclose(found.q, true.q, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.v, true.v, rtol=0, atol=1e-12)


def test_a_joint_that_closes_the_wrong_way_is_named():
    model = random_loop(1, ("spherical", "universal", "prismatic", "spherical"), "revolute")
    system, seen = sk.compile(model), set()
    geometry = LoopGeometry(system, 0.0, None, (), {})
    for seed in range(12):
        q = np.random.default_rng(50 + seed).normal(size=system.nq)
        for first, length in system.facts.unit_blocks:
            q[first : first + length] /= np.linalg.norm(q[first : first + length])
        code, found = closed(system, sk.State(q, np.zeros(system.nv)))
        left = [name for name, gap in geometry.gaps(found.q).items() if max(gap.distance, gap.angle) > SMALL]
        if code == FOUND:
            assert not left
        elif found.wrong >= 0:
            assert left == [list(system.equations.motion.cuts)[found.wrong // 2]] == ["close"]
        seen.add((code, found.wrong >= 0))
    assert {(FOUND, False), (OPEN, True)} <= seen


def test_a_loop_that_cannot_close():
    values = {"D.parent_pose.position": (0.0, 0.0, 1.7)}
    system = sk.compile(slider_crank(), parameters=list(values))
    code, found = closed(system, system.initial_state(values), values)
    assert (code, found.wrong) == (OPEN, -1)
    with pytest.raises(SolverError, match="cannot be assembled"):
        sk.assemble(system, parameters=values)


def test_rates_that_contradict_each_other():
    """A slider is pushed on where its crank is stretched."""
    model = slider_crank()
    joints = model.joints | {"D": model.joints["D"].model_copy(update={"parent_pose": at(0.0, 0.0, 0.0)})}
    push = sk.Motion(joint="D", value="1.4 + 0.6*t")
    system = sk.compile(model.model_copy(update={"joints": joints, "motions": {"push": push}}))
    names = system.state_names[: system.nq]
    stretched = dict.fromkeys(names, 0.0) | {"D.displacement": 1.4}
    code, _ = closed(system, sk.State(np.array([stretched[name] for name in names]), np.zeros(system.nv)))
    assert code == NO_RATES
