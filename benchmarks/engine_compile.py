"""Speed of generated code and of its compilation: chains of bodies of growing size, compared with CasADi's
interpreter.

Run: ``python benchmarks/engine_compile.py [operations ...]``
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import casadi as ca
import numpy as np

from sekant.cache.store import Cache
from sekant.engine.codegen.build import build


def chain(operations: int) -> tuple[list[ca.SX], list[ca.SX]]:
    """Velocities and bias forces of a chain of hinged bodies, about `operations` of them, tip to base."""
    links = max(2, operations // 80)
    q, v = ca.SX.sym("q", links), ca.SX.sym("v", links)
    inertia = ca.DM([[0.3, 0.02, 0.01], [0.02, 0.7, 0.05], [0.01, 0.05, 0.9]])
    offset = ca.DM([0.1, -0.4, 0.2])
    w, speed, moments = ca.SX.zeros(3), ca.SX.zeros(3), []
    for i in range(links):
        c, s = ca.cos(q[i]), ca.sin(q[i])
        E = ca.vertcat(ca.horzcat(c, s, 0), ca.horzcat(-s, c, 0), ca.horzcat(0, 0, 1))
        tilt = ca.DM([[1, 0, 0], [0, 0.8, 0.6], [0, -0.6, 0.8]])
        speed = tilt @ (E @ (speed + ca.cross(w, offset)))
        w = tilt @ (E @ w + ca.vertcat(0, 0, v[i]))
        moments.append((E, tilt, ca.cross(w, inertia @ w) + ca.cross(offset, ca.cross(w, speed))))
    total, result = ca.SX.zeros(3), []
    for E, tilt, moment in reversed(moments):
        total = total * 0.5 + moment
        result.append(total[2])
        total = E.T @ (tilt.T @ total)
    return [q, v], [ca.vertcat(*result)]


def best(action, repeat: int = 5) -> float:
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def report(operations: int, cache: Cache) -> None:
    inputs, outputs = chain(operations)
    f = build("chain", inputs, outputs, cache=cache)
    again = build("chain", inputs, outputs, cache=cache)
    assert again.stats.from_cache
    rng = np.random.default_rng(0)
    count = max(2, int(2e7 / f.stats.operations))
    q, v = rng.normal(size=(2, count, inputs[0].numel()))
    native = best(lambda: f.map(q, v)) / count
    interpreter = ca.Function("chain", inputs, outputs)
    buffer, call = interpreter.buffer()
    arrays = [q[0].copy(), v[0].copy(), np.zeros(outputs[0].shape)]
    for i in range(2):
        buffer.set_arg(i, memoryview(arrays[i]))  # pyright: ignore[reportCallIssue]
    buffer.set_res(0, memoryview(arrays[2]))  # pyright: ignore[reportCallIssue]
    virtual = best(call)
    error = np.max(np.abs(arrays[2].ravel() - f(q[0], v[0])[0])) / np.max(np.abs(arrays[2]))
    n, seconds = f.stats.operations, f.stats.compile_seconds
    print(f"{n:8d} operations, compiled in {seconds:7.2f} s ({1e6 * seconds / n:5.1f} us each),", end=" ")
    print(f"from the cache in {1e3 * again.stats.seconds:6.1f} ms;", end=" ")
    print(f"native {1e6 * native:9.2f} us ({1e-9 * n / native:5.2f} per ns),", end=" ")
    print(
        f"interpreter {1e6 * virtual:9.1f} us ({virtual / native:5.1f} x), difference {error:.1e}", flush=True
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for size in [int(a) for a in sys.argv[1:]] or [1_000, 10_000, 100_000, 600_000]:
            report(size, Cache(Path(folder) / "cache"))
