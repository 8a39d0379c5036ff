"""Right-hand sides with the native interface, compiled by numba."""

from __future__ import annotations

from functools import cached_property
from math import cos, nan, sin


class Compiled:
    """A handle; it compiles its function on first use and keeps it alive."""

    work_size: int = 0
    sites: tuple = ()

    def __init__(self, function) -> None:
        self.function = function

    @cached_property
    def _compiled(self):
        from numba import cfunc, types

        table = types.CPointer(types.CPointer(types.float64))
        return cfunc(types.void(table, table, types.CPointer(types.float64)))(self.function)

    @property
    def address(self) -> int:
        return self._compiled.address


native = Compiled  # a decorator


@native
def pendulum(arg, res, w):
    """x = [q, v], p = [g / l]."""
    x, p = arg[1], arg[2]
    res[0][0] = x[1]
    res[0][1] = -p[0] * sin(x[0])


@native
def pendulum_kinematics(arg, res, w):
    res[0][0] = arg[1][1]


@native
def pendulum_with_quadrature(arg, res, w):
    """x = [q, v, w], p = [g / l, frequency of w']."""
    x, p = arg[1], arg[2]
    res[0][0] = x[1]
    res[0][1] = -p[0] * sin(x[0])
    res[0][2] = cos(p[1] * arg[0][0])


@native
def ramp_then_parabola(arg, res, w):
    """x' = 0.3 + 2 t before p[0], -7 t^2 after it; the jump itself belongs to the left."""
    t, jump = arg[0][0], arg[2][0]
    res[0][0] = 0.3 + 2.0 * t if t <= jump else -7.0 * t * t


@native
def ramp_then_parabola_from_right(arg, res, w):
    """As `ramp_then_parabola`, but the jump itself belongs to the right."""
    t, jump = arg[0][0], arg[2][0]
    res[0][0] = 0.3 + 2.0 * t if t < jump else -7.0 * t * t


@native
def harmless_and_square(arg, res, w):
    """x0' = -x0, x1' = x1^2: the second state is infinite at t = 1 / x1(0)."""
    x = arg[1]
    res[0][0] = -x[0]
    res[0][1] = x[1] * x[1]


@native
def table_end(arg, res, w):
    """x0' = -0.1 x0, x1' = p[0] (p[1] - x1), undefined for x1 > 1."""
    x, p = arg[1], arg[2]
    res[0][0] = -0.1 * x[0]
    res[0][1] = p[0] * (p[1] - x[1]) if x[1] <= 1.0 else nan


@native
def harmless_and_stiff(arg, res, w):
    """x0' = -x0, x1' = -p[0] (x1 - cos t)."""
    x = arg[1]
    res[0][0] = -x[0]
    res[0][1] = -arg[2][0] * (x[1] - cos(arg[0][0]))


@native
def free_rigid_body(arg, res, w):
    """x = [e (4), omega (3)]: unit quaternion body to world, angular velocity in body axes; p = inertias (3,)."""
    x, p = arg[1], arg[2]
    e0, e1, e2, e3, a, b, c = x[0], x[1], x[2], x[3], x[4], x[5], x[6]
    out = res[0]
    out[0] = 0.5 * (-e1 * a - e2 * b - e3 * c)
    out[1] = 0.5 * (e0 * a + e2 * c - e3 * b)
    out[2] = 0.5 * (e0 * b + e3 * a - e1 * c)
    out[3] = 0.5 * (e0 * c + e1 * b - e2 * a)
    out[4] = (p[1] - p[2]) * b * c / p[0]
    out[5] = (p[2] - p[0]) * c * a / p[1]
    out[6] = (p[0] - p[1]) * a * b / p[2]
