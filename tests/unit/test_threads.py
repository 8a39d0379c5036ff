"""One system in several threads: every call has its own buffers, and loops release the interpreter's lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread
from time import perf_counter, sleep

import numpy as np
import pytest

import sekant as sk
from sekant.analyses.simulation.problems import explicit_problem
from sekant.solvers.ode import METHODS, integrate


@pytest.fixture(scope="module")
def system() -> sk.System:
    arm = sk.Body(mass=1.3, com=(0.2, 0.1, -0.4), inertia=(0.3, 0.7, 0.9))
    rod = sk.Body(mass=0.6, com=(0.0, 0.3, -0.2), inertia=(0.2, 0.1, 0.15))
    model = sk.Model(
        bodies={"arm": arm, "rod": rod},
        joints={
            "hinge": sk.joints.Revolute(child="arm", axis=(0, 1, 0), q0=0.7),
            "elbow": sk.joints.Revolute(parent="arm", child="rod", axis=(1, 0, 0), q0=-0.2),
        },
        forces={"d": sk.forces.RotationalSpringDamper(joint="hinge", stiffness=2.0, damping=0.1)},
    )
    return sk.compile(model, parameters=["d.stiffness"])


def test_several_threads_get_what_one_gets(system) -> None:
    values = [{"d.stiffness": 1.0 + 0.7 * k} for k in range(6)]

    def ask(chosen):
        q, v = np.array([0.3, 0.4]), np.array([1.0, -2.0])
        answers = [system.forward_dynamics(q * k, v, parameters=chosen) for k in range(50)]
        run = sk.simulate(system, until=0.1, method="rk4", step=1e-3, outputs=["hinge.*"], parameters=chosen)
        return np.array(answers), run.data, system.mass_matrix(q, parameters=chosen)

    expected = [ask(chosen) for chosen in values]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, values))
    for one, other in zip(expected, found, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_other_threads_run_while_a_loop_does(system, monkeypatch) -> None:
    """With the lock held, no other thread would get a turn between the beginning and the end of a loop's call."""
    problem = explicit_problem(system, None, False, "rk4")
    start = system.initial_state()
    x0 = np.concatenate([start.q, start.v])
    integrate(problem, [0.0, 1e-2], x0, method="rk4", step=1e-3)  # compiled and linked
    ends: list[float] = []
    plain = METHODS["rk4"]

    def advance(run, budget, kernel):
        ends.append(perf_counter())
        code = plain.advance(run, budget, kernel)
        ends.append(perf_counter())
        return code

    monkeypatch.setitem(METHODS, "rk4", replace(plain, advance=advance))
    walk = Thread(
        target=integrate,
        args=(problem, [0.0, 50.0], x0),
        kwargs={"method": "rk4", "step": 1e-4, "chunk_steps": 1_000_000},
    )
    turns: list[float] = []
    walk.start()
    while walk.is_alive():
        turns.append(perf_counter())
        sleep(1e-4)
    begin, end = ends
    margin = 0.25 * (end - begin)
    assert sum(begin + margin < turn < end - margin for turn in turns) > 3
