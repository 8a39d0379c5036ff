"""Blends that roads are made of."""

from __future__ import annotations

import casadi as ca

from sekant.geometry.spatial import SX


def clipped(u: SX) -> SX:
    """u within [0, 1]."""
    return ca.fmax(0, ca.fmin(1, u))


def blend(u: SX) -> SX:
    """From 0 at u <= 0 to 1 at u >= 1 with continuous curvature: u^3 (10 - 15 u + 6 u^2)."""
    s = clipped(u)
    return s**3 * (10 - 15 * s + 6 * s**2)


def blend_integral(u: SX) -> SX:
    """Integral of `blend` from 0 to u: s^4 (5/2 - 3 s + s^2), and u - 1/2 beyond 1."""
    s = clipped(u)
    return s**4 * (2.5 - 3 * s + s**2) + ca.fmax(u - 1, 0)
