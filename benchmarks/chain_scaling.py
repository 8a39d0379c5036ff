"""Growth of evaluation and compile time with the number of bodies: chains of hinges at random positions."""

from __future__ import annotations

import os
from functools import partial
from time import perf_counter, thread_time
from typing import Any

import numpy as np
import trees
from native_loop import RightHandSide
from timing import Timed, best_of, figure, target

import sekant as sk
from sekant.engine.functions.motion import right_hand_side


def run(quick: bool) -> dict[str, Any]:
    sizes = (5, 10, 20) if quick else (10, 30, 100, 300)
    figures, chains, compile_seconds = [], {}, {}
    _compile(trees.chain(2), cache=False)  # imports, and the first use of the compiler
    for n in sizes:
        links = trees.chain(n)
        wall, processor = perf_counter(), sum(os.times()[:4])
        _, _, parts = _compile(links, cache=False)
        compile_seconds[n] = perf_counter() - wall
        processor = sum(os.times()[:4]) - processor
        note = f"wall time; {processor:.2f} s of processor time, {parts[0]:.2f} s of it for expressions"
        figures.append(figure(f"compile {n} bodies", Timed(compile_seconds[n], 1, 1), "s", note))
        system, _, _ = _compile(links, cache=True)
        chains[n] = RightHandSide(system, links, trees.motion(links))
    calls = {n: max(1, 10_000 // n) for n in sizes}
    contenders = {str(n): (partial(own.run, calls[n]), calls[n]) for n, own in chains.items()}
    times = best_of(contenders, 5 if quick else 100)
    for n in sizes:
        operations = chains[n].function.stats.operations
        note = f"{operations} operations, {operations / n:.0f} per body"
        figures.append(figure(f"evaluate {n} bodies", times[str(n)], "us", note))
    slope, _ = np.polyfit(np.log(sizes), np.log([times[str(n)].seconds for n in sizes]), 1)

    vehicle = trees.vehicle()
    fresh = _best(vehicle, cache=False, runs=1 if quick else 3)
    _compile(vehicle, cache=True)
    runs = 3 if quick else 20
    cached = Timed(min(_found_again(vehicle) for _ in range(runs)), runs, 1)
    figures.append(figure("compile the vehicle", fresh, "ms"))
    figures.append(figure("compile the vehicle, code from the cache", cached, "ms"))
    largest = sizes[-1]
    targets = [
        target("exponent x of the evaluation time ~ N^x", float(slope), None if quick else 1.15, unit=""),
        target(f"compile {largest} bodies", compile_seconds[largest], 20.0, unit="s"),
        target("compile the vehicle", fresh.seconds, 1.0, unit="s"),
        target("compile the vehicle, code from the cache", 1e3 * cached.seconds, 50.0, unit="ms"),
    ]
    return {"figures": figures, "targets": targets}


def _compile(links: list, cache: bool) -> tuple[sk.System, float, tuple[float, float]]:
    """From a model to its right-hand side: the system, and the time of this thread (s) for expressions and
    for code."""
    model = trees.sekant_model(links)
    began = thread_time()
    system = sk.compile(model, parameters=trees.force_names(links), cache=cache)
    _ = system.equations.a
    middle = thread_time()
    right_hand_side(system, balance=False)
    end = thread_time()
    return system, end - began, (middle - began, end - middle)


def _found_again(links: list) -> float:
    """Time of this thread (s) from a model to its right-hand side if both are in the cache."""
    model = trees.sekant_model(links)
    began = thread_time()
    right_hand_side(sk.compile(model, parameters=trees.force_names(links)), balance=False)
    return thread_time() - began


def _best(links: list, cache: bool, runs: int) -> Timed:
    return Timed(min(_compile(links, cache)[1] for _ in range(runs)), runs, 1)
