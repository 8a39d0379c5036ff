"""A wheel carrier on a suspension's path with strut and load, compared with a hand-written loop and
CasADi's interpreter."""

from __future__ import annotations

import ast
import inspect
import textwrap
from math import cos, pi, sin, sqrt
from typing import Any

import casadi as ca
import numpy as np
from initial_value import initial_value_problem
from numba import njit
from timing import best_of, figure, target

import sekant as sk
from sekant.model.forces import PointForce, SpringDamper
from sekant.model.joints import Path
from sekant.model.quantities import Expression
from sekant.solvers.ode import RunPool, integrate

MASS, INERTIA = 50.0, (1.0, 1.1, 0.9)  # HALL Table 4.1 has the identity
STIFFNESS, DAMPING, FREE = 50e3, 2200.0, 0.3
LOAD, SWING, FREQUENCY, GRAVITY = 4500.0, 1500.0, 2.0, 9.81
MOUNT = (-0.02, 0.45, 0.32)  # of the strut on the chassis, in the frame of the path
ARM = (0.01, -0.12, 0.08)  # of the strut on the carrier
STEP, START = 1e-4, 0.0
PIECES, LOW, HIGH = 40, -0.2, 0.2


def curve() -> sk.PoseCurve:
    """A path like that of a wheel carrier over its travel u: track, caster, camber and toe change."""

    def pose(u):
        position = ca.vertcat(0.08 * u - 0.3 * u**2, 0.6 - 0.05 * u - 0.9 * u**2 + 0.5 * u**3, u)
        return position, ca.vertcat(0.03 * u + 0.2 * u**2, 0.15 * u - 0.1 * u**2, -0.2 * u + 0.7 * u**2)

    breaks = np.linspace(LOW, HIGH, PIECES + 1)[1:-1].tolist()
    return sk.PoseCurve.from_function(
        pose, (LOW, HIGH), orientation="euler:zyx", degree=5, tolerance=1e-3, breaks=breaks
    )


@njit
def by_hand(x, n, h, t, breaks, c, low, scale):
    """Explicit Euler of M(u) u'' = Q - b(u) u'^2 for the same table, forces and numbers."""
    u, v = x[0], x[1]
    last = breaks.size - 2
    p, a, b = np.empty(6), np.empty(6), np.empty(6)
    for _ in range(n):
        i = min(max(int((u - low) * scale), 0), last)
        z = u - breaks[i]
        for k in range(6):
            c0, c1, c2, c3, c4, c5 = c[i, k, 0], c[i, k, 1], c[i, k, 2], c[i, k, 3], c[i, k, 4], c[i, k, 5]
            p[k] = c0 + z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * c5))))
            a[k] = c1 + z * (2 * c2 + z * (3 * c3 + z * (4 * c4 + z * 5 * c5)))
            b[k] = 2 * c2 + z * (6 * c3 + z * (12 * c4 + z * 20 * c5))
        cz, sz, cy, sy, cx, sx = cos(p[3]), sin(p[3]), cos(p[4]), sin(p[4]), cos(p[5]), sin(p[5])
        # angular velocity of the carrier for u' = 1, in its frame, and its derivative with respect to u
        w0 = a[5] - sy * a[3]
        w1 = cx * a[4] + sx * cy * a[3]
        w2 = -sx * a[4] + cx * cy * a[3]
        d0 = b[5] - sy * b[3] - cy * a[4] * a[3]
        d1 = cx * b[4] + sx * cy * b[3] + (cx * cy * a[3] - sx * a[4]) * a[5] - sx * sy * a[4] * a[3]
        d2 = -sx * b[4] + cx * cy * b[3] - (cx * a[4] + sx * cy * a[3]) * a[5] - cx * sy * a[4] * a[3]
        # arm and its velocity for u' = 1, in the frame of the path
        e0 = w1 * ARM[2] - w2 * ARM[1]
        e1 = w2 * ARM[0] - w0 * ARM[2]
        e2 = w0 * ARM[1] - w1 * ARM[0]
        r00, r01, r02 = cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx
        r10, r11, r12 = sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx
        r20, r21, r22 = -sy, cy * sx, cy * cx
        l0 = p[0] + r00 * ARM[0] + r01 * ARM[1] + r02 * ARM[2] - MOUNT[0]
        l1 = p[1] + r10 * ARM[0] + r11 * ARM[1] + r12 * ARM[2] - MOUNT[1]
        l2 = p[2] + r20 * ARM[0] + r21 * ARM[1] + r22 * ARM[2] - MOUNT[2]
        length = sqrt(l0 * l0 + l1 * l1 + l2 * l2)
        s0 = a[0] + r00 * e0 + r01 * e1 + r02 * e2
        s1 = a[1] + r10 * e0 + r11 * e1 + r12 * e2
        s2 = a[2] + r20 * e0 + r21 * e1 + r22 * e2
        slope = (l0 * s0 + l1 * s1 + l2 * s2) / length
        pull = STIFFNESS * (length - FREE) + DAMPING * slope * v
        force = LOAD + SWING * sin(2 * pi * FREQUENCY * t) - MASS * GRAVITY
        Q = force * a[2] - pull * slope
        M = MASS * (a[0] ** 2 + a[1] ** 2 + a[2] ** 2)
        M += INERTIA[0] * w0**2 + INERTIA[1] * w1**2 + INERTIA[2] * w2**2
        bias = MASS * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
        bias += INERTIA[0] * w0 * d0 + INERTIA[1] * w1 * d1 + INERTIA[2] * w2 * d2
        rate = (Q - bias * v * v) / M
        u += h * v
        v += h * rate
        t += h
    x[0], x[1] = u, v
    return x


def model(path: sk.PoseCurve) -> sk.Model:
    return sk.Model(
        name="quarter_car_on_a_path",
        gravity=(0, 0, -GRAVITY),
        ground={"frames": {"mount": {"position": MOUNT}}},  # type: ignore[arg-type]
        bodies={
            "carrier": sk.Body(mass=MASS, inertia=(*INERTIA, 0, 0, 0), frames={"arm": sk.Frame(position=ARM)})
        },
        joints={"travel": Path(child="carrier", curve=path, q0=START)},
        forces={
            "strut": SpringDamper(
                parent="ground.mount",
                child="carrier.arm",
                stiffness=STIFFNESS,
                damping=DAMPING,
                free_length=FREE,
            ),
            "load": PointForce(
                frame="carrier", force=(0.0, 0.0, Expression(f"{LOAD} + {SWING}*sin(2*pi*{FREQUENCY}*t)"))
            ),
        },
    )


def interpreter(system: sk.System, count: int) -> ca.Function:
    """The right-hand side in CasADi's virtual machine, `count` times in one call, common expressions shared.

    Inputs: t, x and the coefficients of the piece on which the path is; the search for it is not counted.
    """
    eq = system.equations
    rhs, x, u = ca.vertcat(eq.qdot, eq.a), ca.vertcat(eq.q, eq.v), eq.q[0]
    c = ca.SX.sym("c", 6, 6)
    value = ca.vertcat(*[_horner(c[i, :], u) for i in range(6)])
    derivatives = [value, ca.jacobian(value, u), ca.jacobian(ca.jacobian(value, u), u)]
    nodes = eq.lookups.needed_by(rhs)
    symbols = [node.symbols for node in nodes]
    rhs = ca.cse(ca.substitute([rhs], symbols, [derivatives[node.order[0]] for node in nodes])[0])
    return ca.Function("rhs", [eq.t, x, c], [rhs]).map(count, "serial")


def operations(mapped: ca.Function, count: int) -> float:
    """Arithmetic of one of `count` evaluations in CasADi's machine, in which common expressions are shared."""
    inner = mapped.find_function(mapped.find_functions(0)[0].name()) if mapped.find_functions(0) else mapped
    passive = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER}
    return sum(inner.instruction_id(i) not in passive for i in range(inner.n_instructions()))


def operations_by_hand() -> int:
    """Arithmetic of a step of `by_hand`, counted in its source."""
    source: Any = by_hand
    tree = ast.parse(textwrap.dedent(inspect.getsource(source.py_func))).body[0]
    assert isinstance(tree, ast.FunctionDef)

    def counted(node: ast.AST) -> int:
        times = 6 if isinstance(node, ast.For) and ast.unparse(node.iter) == "range(6)" else 1
        functions = ("sin", "cos", "sqrt", "min", "max")
        called = isinstance(node, ast.Call) and getattr(node.func, "id", "") in functions
        own = isinstance(node, (ast.BinOp, ast.AugAssign)) or called
        return times * (own + sum(counted(part) for part in ast.iter_child_nodes(node)))

    return sum(counted(node) for node in tree.body if isinstance(node, ast.For))


def _horner(c: ca.SX, u: ca.SX) -> ca.SX:
    total = c[-1]
    for k in reversed(range(c.numel() - 1)):
        total = c[k] + u * total
    return total


def run(quick: bool) -> dict[str, Any]:
    steps = 2_000 if quick else 20_000
    path = curve()
    table = path.table
    assert np.allclose(np.diff(table.breaks), (HIGH - LOW) / PIECES)
    coefficients = np.zeros((PIECES, 6, 6))
    coefficients[:, :, : table.coefficients.shape[2]] = table.coefficients
    system = sk.compile(model(path))
    problem, x0 = initial_value_problem(system, balance=False, groups=True)
    until = steps * STEP
    pool = RunPool()  # as in `sk.simulate`: a run uses the memory of the one before

    def ours() -> Any:
        return integrate(problem, np.array([0.0, until]), x0, method="euler", step=STEP, pool=pool)

    def hand() -> np.ndarray:
        return by_hand(x0.copy(), steps, STEP, 0.0, table.breaks, coefficients, LOW, PIECES / (HIGH - LOW))

    count = 200 if quick else 1_000
    vm = interpreter(system, count)
    rng = np.random.default_rng(1)
    inputs = [ca.DM(rng.uniform(0.1, 1.0, (vm.size1_in(i), vm.size2_in(i)))) for i in range(3)]
    contenders = {
        "hand-written loop": (hand, steps),
        "Sekant": (ours, steps),
        "CasADi's interpreter": (lambda: vm(*inputs), count),
    }
    best = best_of(contenders, 3 if quick else 60)
    own, hands = operations(vm, count), operations_by_hand()
    outcome = ours()
    difference = abs(float(outcome.x_last[0]) - float(hand()[0]))
    figures = [
        figure("hand-written loop (numba)", best["hand-written loop"], "ns", "per Euler step"),
        figure("Sekant, from the model", best["Sekant"], "ns", "per Euler step"),
        figure(
            "CasADi's interpreter",
            best["CasADi's interpreter"],
            "ns",
            "per evaluation, without the search in the table",
        ),
    ]
    figures += [
        {
            "name": "operations of the model's equation",
            "value": own,
            "unit": "",
            "note": "including those of the table",
        },
        {
            "name": "operations of the hand-written loop",
            "value": hands,
            "unit": "",
            "note": "written for this one body",
        },
    ]
    ours_seconds = best["Sekant"].seconds
    ratio = ours_seconds / best["hand-written loop"].seconds
    targets = [
        target("Sekant / hand-written loop", ratio, 1.3),
        target(
            "CasADi's interpreter / Sekant",
            best["CasADi's interpreter"].seconds / ours_seconds,
            25,
            at_least=True,
        ),
        target(
            "CasADi's interpreter / Sekant, if Sekant took the hand-written loop's time per operation",
            best["CasADi's interpreter"].seconds / (best["hand-written loop"].seconds * own / hands),
        ),
        target(
            "CasADi's interpreter / hand-written loop",
            best["CasADi's interpreter"].seconds / best["hand-written loop"].seconds,
        ),
        target("time per operation, Sekant / hand-written loop", ratio * hands / own, 1.3),
        target("difference of the last position from the hand-written loop", difference, 1e-9, unit="m"),
    ]
    return {"figures": figures, "targets": targets}
