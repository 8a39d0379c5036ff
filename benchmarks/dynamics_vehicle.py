"""Forward dynamics of a vehicle-like tree with 16 degrees of freedom, compared with Pinocchio and MuJoCo."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import trees
from native_loop import RightHandSide
from timing import best_of, figure, target

import sekant as sk

CASES = [
    (algorithm, masses)
    for algorithm in ("articulated", "composite", "auto")
    for masses in ("known", "symbolic")
]


def run(quick: bool) -> dict[str, Any]:
    from peers import MuJoCo, Pinocchio

    links = trees.vehicle()
    motion = trees.motion(links)
    pinocchio, mujoco = Pinocchio(links, motion), MuJoCo(links, motion)
    hinge = trees.chain(1)
    one_joint = Pinocchio(hinge, trees.motion(hinge))
    reference, mujoco_a = pinocchio.a(), mujoco.a()
    ours = {case: _system(links, motion, *case) for case in CASES}
    errors = {case: _error(own, reference) for case, own in ours.items()}

    n = 100 if quick else 1000
    system = sk.compile(trees.sekant_model(links), parameters=trees.force_names(links))
    bound, (q_order, v_order) = system.bound("forward_dynamics"), trees.state_order(system, links)
    q, v = motion.q[q_order], motion.v[v_order]
    p = system.parameter_vector(trees.forces(links, motion))
    bound.inputs["q"][:], bound.inputs["v"][:], bound.inputs["p"][:] = q, v, p
    bound()
    a = np.empty(v_order.size)
    a[v_order] = bound.outputs[0]
    python = {
        "Sekant, bound, from Python": bound,
        "system.forward_dynamics, from Python": partial(system.forward_dynamics, q, v),
    }
    contenders = {
        **{name: (partial(_repeat, call, n), n) for name, call in python.items()},
        "pin.aba, from Python": (partial(_repeat, pinocchio.aba, n), n),
        "pin.aba of one hinge, from Python": (partial(_repeat, one_joint.aba, n), n),
        "mj_step, from Python": (partial(_repeat, mujoco.step, n), n),
        "mj_step, n steps in one call": (partial(mujoco.steps, n), n),
        "mj_forward, from Python": (partial(_repeat, mujoco.forward, n), n),
        **{_name(case): (partial(own.run, n), n) for case, own in ours.items()},
    }
    times = best_of(contenders, 10 if quick else 200)
    figures = [figure(name, t, "us") for name, t in times.items()]
    for case, own in ours.items():
        stats = own.function.stats
        for entry in figures:
            if entry["name"] == _name(case):
                entry["note"] = f"{stats.operations} operations"
    call = times["pin.aba of one hinge, from Python"].seconds
    inside = times["pin.aba, from Python"].seconds - call
    figures.append(
        {
            "name": "pin.aba without the call from Python, at least",
            "value": 1e6 * inside,
            "unit": "us",
            "note": "",
        }
    )
    targets = []
    for masses in ("known", "symbolic"):
        own = times[_name(("auto", masses))].seconds
        for peer, limit in (
            ("pin.aba, from Python", 3.0),
            ("mj_step, from Python", 2.5),
            ("mj_step, n steps in one call", 2.5),
        ):
            ratio = times[peer].seconds / own
            targets.append(target(f"{peer} / Sekant, masses {masses}", ratio, limit, at_least=True))
        ratio = inside / own
        targets.append(target(f"pin.aba without the call / Sekant, masses {masses}", ratio))
    for name in python:
        ratio = times["pin.aba, from Python"].seconds / times[name].seconds
        targets.append(target(f"pin.aba, from Python / {name}", ratio, 1.0, at_least=True))
    scale = np.abs(reference).max()
    worst = max(*errors.values(), float(np.abs(a - reference).max() / scale))
    targets.append(target("largest difference from Pinocchio", worst, 1e-9, unit="relative"))
    difference = float(np.abs(mujoco_a - reference).max() / scale)
    targets.append(target("largest difference of MuJoCo from Pinocchio", difference, 1e-9, unit="relative"))
    return {"figures": figures, "targets": targets}


def _name(case: tuple[str, str]) -> str:
    algorithm, masses = case
    return f"Sekant {algorithm}, masses {masses}"


def _repeat(function: Callable[[], Any], n: int) -> None:
    for _ in range(n):
        function()


def _system(links: list, motion: trees.TreeMotion, algorithm: Any, masses: str) -> RightHandSide:
    symbolic = trees.force_names(links) + (trees.mass_names(links) if masses == "symbolic" else [])
    system = sk.compile(trees.sekant_model(links), parameters=symbolic, algorithm=algorithm)
    return RightHandSide(system, links, motion)


def _error(own: RightHandSide, reference: np.ndarray) -> float:
    own.run(1)
    return float(np.abs(own.a() - reference).max() / np.abs(reference).max())
