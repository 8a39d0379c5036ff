"""Exact linearization compared with one-sided differences, and d(qdd)/d(q, v) compared with Pinocchio's
computeABADerivatives."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import trees
from native_loop import repeated
from timing import best_of, figure, target

import sekant as sk
from sekant.engine.functions.linear import LinearFunctions, MotionPoint, linear_functions
from sekant.engine.questions import Questions

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def run(quick: bool) -> dict[str, Any]:
    from loops import five_link

    links = trees.vehicle()
    motion = trees.motion(links)
    tree = sk.compile(trees.sekant_model(links), parameters=trees.force_names(links))
    q_order, v_order = trees.state_order(tree, links)
    p = tree.parameter_vector(trees.forces(links, motion))
    loop = sk.compile(five_link())
    assembled = sk.assemble(loop)
    points = {
        "16-DOF tree": _point(tree, motion.q[q_order], motion.v[v_order], p),
        "five-link": _point(loop, assembled.q, assembled.v, loop.parameter_vector()),
    }
    runs, n = (5, 20) if quick else (60, 200)
    figures, targets = [], []
    for name, (functions, point) in points.items():
        exact = partial(functions.native_tangent, *point.arguments)
        rough = partial(_difference, functions, point)
        error = _error(exact, rough)
        calls = functions.nv + 1
        contenders = {
            f"{name} at rest: exact": [(functions.native_rest_tangent, n)],
            f"{name} at rest: differences": [
                (functions.native_rest_residual, calls * n),
                (functions.differences[0], calls * n),
                (functions.native_mass, n),
            ],
            f"{name} in motion: exact": [(functions.native_tangent, n)],
            f"{name} in motion: differences": [
                (functions.differences[0], (2 * calls - 1) * n),
                (functions.native_mass, n),
            ],
        }
        times = best_of({key: (_all(parts, point), n) for key, parts in contenders.items()}, runs)
        python = best_of(
            {
                f"{name} in motion: exact, from Python": (partial(_repeat, exact, n), n),
                f"{name} in motion: differences, from Python": (partial(_repeat, rough, n), n),
            },
            runs,
        )
        notes = {key: f"{_operations(parts, n)} operations" for key, parts in contenders.items()}
        figures += [figure(key, t, "us", notes.get(key, "")) for key, t in {**times, **python}.items()]
        for what, limit in (("at rest", 3.0), ("in motion", 3.0)):
            exactly, roughly = f"{name} {what}: exact", f"{name} {what}: differences"
            ratio = times[roughly].seconds / times[exactly].seconds
            label = f"{name} {what}: one-sided differences / exact"
            targets.append(target(label, ratio, limit, at_least=True))
            allowed = _operations(contenders[roughly], n) / _operations(contenders[exactly], n)
            targets.append(target(f"{label}, at the same time per operation", allowed))
        targets.append(target(f"{name}: largest difference between the two", error, 1e-4, unit="relative"))
    figures += _pinocchio(tree, links, motion, points["16-DOF tree"][1], n, runs, targets)
    return {"figures": figures, "targets": targets}


def _point(system: sk.System, q: Any, v: Any, p: Any) -> tuple[LinearFunctions, MotionPoint]:
    functions = linear_functions(system)
    rng = np.random.default_rng(4)
    return functions, MotionPoint(0.0, q, v, rng.normal(size=system.nv), rng.normal(size=functions.m), p)


def _all(parts: list[tuple[Any, int]], point: MotionPoint) -> Callable[[], Any]:
    """Calls of native functions, with a number for each, in loops of native code. Differences need a call of
    the residual for each column, one more, and the exact mass matrix (as in TROM); moving the samples apart
    and subtracting them is not counted, in their favor.
    """
    values: dict[str, np.ndarray] = dict(zip(("t", "q", "v", "a", "lam", "p"), point.arguments, strict=True))
    runs = []
    for function, n in parts:
        names = {6: "t q v a lam p", 4: "t q lam p", 3: "t q p"}[len(function.shapes_in)]
        runs.append(repeated(function, [values[name] for name in names.split()], n))
    return partial(_each, runs)


def _operations(parts: list[tuple[Any, int]], n: int) -> int:
    """Arithmetic operations of one linearization."""
    return sum(function.stats.operations * (count // n) for function, count in parts)


def _each(functions: list[Callable[[], Any]]) -> None:
    for function in functions:
        function()


def _difference(functions: LinearFunctions, point: MotionPoint) -> list[np.ndarray]:
    from sekant.analyses.linear.finite_differences import difference_tangent

    found = difference_tangent(functions, point, 1e-7)
    return [found.M, found.R_v, found.R_s]


def _error(exact: Callable[[], list[np.ndarray]], rough: Callable[[], list[np.ndarray]]) -> float:
    pairs = zip(exact()[:3], rough(), strict=True)
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in pairs)


def _repeat(function: Callable[[], Any], n: int) -> None:
    for _ in range(n):
        function()


def _pinocchio(
    tree: sk.System, links: list, motion: Any, point: MotionPoint, n: int, runs: int, targets: list
) -> list[dict[str, Any]]:
    bound = tree.bound("forward_derivatives")
    bound.inputs["q"][:], bound.inputs["v"][:], bound.inputs["p"][:] = point.q, point.v, point.p
    names = {
        "native": "d(qdd)/d(q, v): Sekant, in native code",
        "bound": "d(qdd)/d(q, v): Sekant, bound, from Python",
        "own": "d(qdd)/d(q, v): Sekant, own arrays, from Python",
        "peer": "pin.computeABADerivatives, from Python",
    }
    loop = repeated(Questions(tree).function("forward_derivatives"), list(bound.inputs.values()), n)
    contenders: dict[str, Any] = {
        "native": (loop, n),
        "bound": (partial(_repeat, bound, n), n),
        "own": (partial(_repeat, partial(tree.forward_derivatives, point.q, point.v), n), n),
    }
    try:
        import pinocchio as pin
        from peers import Pinocchio
    except ImportError:
        pass
    else:
        peer = Pinocchio(links, motion)
        asked = partial(pin.computeABADerivatives, peer.model, peer.data, peer.q, peer.v, peer.tau)
        contenders["peer"] = (partial(_repeat, asked, n), n)
    times = best_of(contenders, runs)
    own, python = times["native"].seconds, {name: times[name].seconds for name in ("bound", "own")}
    targets += [
        target(
            "d(qdd)/d(q, v): additional time of the bound call", 1e6 * (python["bound"] - own), 1.0, unit="us"
        ),
        target(
            "d(qdd)/d(q, v): additional time with new arrays", 1e6 * (python["own"] - own), 4.0, unit="us"
        ),
    ]
    if "peer" in times:
        theirs = times["peer"].seconds
        targets += [
            target("pin.computeABADerivatives, from Python / Sekant", theirs / own, 1.5, at_least=True),
            *(
                target(f"{names['peer']} / {names[name]}", theirs / seconds, 1.0, at_least=True)
                for name, seconds in python.items()
            ),
        ]
    note = "" if "peer" in times else "Pinocchio is not installed"
    return [figure(names[key], t, "us", note) for key, t in times.items()]
