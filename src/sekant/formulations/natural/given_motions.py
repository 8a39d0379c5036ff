"""Motions that are given as functions of time, and prescribed components that masses must follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.formulations.natural.build import MechanismSums


def given_motions(assembled: MechanismSums) -> dict[str, SX]:
    """Functions of time by the name of the part that they move: motors, drives, and prescribed components that masses
    must follow."""
    mechanism = assembled.m
    asked = {f"motion '{name}'": value for name, value in mechanism.given.items()}
    moving = ca.vertcat(mechanism.y, mechanism.y_rate)
    return _prescribed(assembled) | {
        k: value for k, value in asked.items() if not ca.depends_on(value, moving)
    }


def _prescribed(assembled: MechanismSums) -> dict[str, SX]:
    """Prescribed components, by name, to which free masses are tied by inertia or by equations.

    Springs and dampers are not included, because a jump in the velocity of their end requires no infinite force.
    """
    mechanism, lookups, v = assembled.m, assembled.lookups, assembled.v
    momentum = lookups.gradient(assembled.T, v)
    rows = [row.expression for row in (*assembled.positions, *assembled.velocities)]
    felt = ca.veccat(momentum, *[row for row in rows if ca.depends_on(row, ca.vertcat(assembled.q, v))])
    found = {}
    for c in mechanism.coordinates:
        if c.fixed is None or c.fixed.is_constant():
            continue
        if ca.depends_on(felt, ca.vertcat(c.symbol, c.rate)):
            found[f"'{c.name}', which is prescribed"] = c.fixed
    return found
