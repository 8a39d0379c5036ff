"""Contacts at events: impacts, rest and release.

A contact that is open is watched for its gap to close, a closed one for its force to turn into a pull. The equations
with a given set of closed contacts are a system of their own, built when first needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.analyses.simulation.events import Instant
from sekant.analyses.simulation.runs import Guards
from sekant.engine.system import System
from sekant.errors import AnalysisWarning, SolverError

Floats = NDArray[np.float64]
CLOSED = 1e-9  # gap (m or rad) and rate up to which a contact counts as closed at the start


class Contacts:
    """The contacts of a model, as a reactor; see `sekant.analyses.simulation.events`."""

    def __init__(self, system: System):
        self._system = system
        self._impacts = 0

    def guards(self, system: System) -> Guards:
        """One function a contact that falls through zero: the gap of an open one, the force of a closed one."""
        eq = system.equations
        watched = [eq.contact_force(n) if n in eq.closed else block.phi for n, block in eq.contacts.items()]
        return Guards(ca.vertcat(*watched), -np.ones(len(watched)))

    def settled(self, now: Instant, before: Instant | None) -> Instant:
        """At the start contacts that are closed and closing have their impact; those that rest hold."""
        if before is not None:
            return now
        for name, block in self._system.equations.contacts.items():
            gap, rate = (float(x) for x in _oracle(now, "gap", [block.phi, block.rate]))
            if gap < -CLOSED:
                raise SolverError(
                    f"contact '{name}' starts {-gap:.4g} (m or rad) inside; change the start values or the contact"
                )
            if gap > CLOSED or rate > CLOSED:
                continue
            now, rests = self._impact(now, name)
            if rests:
                held = self._with(now, now.system.equations.closed | {name})
                if float(_oracle(held, "force", [held.system.equations.contact_force(name)])[0]) > 0:
                    now = held
        return now

    def reaction(self, now: Instant, number: int) -> Instant:
        """Release of a closed contact, impact of an open one."""
        eq = now.system.equations
        name = list(eq.contacts)[number]
        self._impacts += 1
        if name in eq.closed:
            return self._with(now, eq.closed - {name})
        after, rests = self._impact(now, name)
        return self._with(after, eq.closed | {name}) if rests else after

    def stats(self) -> dict[str, int]:
        return {"impacts": self._impacts}

    def warnings(self) -> tuple[AnalysisWarning, ...]:
        return ()

    def _with(self, now: Instant, closed: frozenset[str]) -> Instant:
        return replace(now, system=variant_of(self._system, closed))

    def _impact(self, now: Instant, name: str) -> tuple[Instant, bool]:
        v, rests = impact(now, name)
        loss = _kinetic(now, v) - _kinetic(now, now.v)
        gained = {**now.gained, name: now.gained.get(name, 0.0) + loss}
        return replace(now, v=v, gained=gained), rests


def variant_of(system: System, closed: frozenset[str]) -> System:
    """The system in which the contacts `closed` stay closed."""
    if not closed:
        return system

    def make() -> System:
        eq = system.equations
        return System(
            system.model,
            eq.holding(closed),
            system.engine,
            system.uses_cache,
        )

    return system.once(("closed", closed), make)


def impact(now: Instant, name: str) -> tuple[Floats, bool]:
    """Velocities after contact `name` closes, and whether it stays closed.

    Impulses of all constraints and of the contact: M (v+ - v-) = -G^T Lambda + J^T P, with G v+ + drift = 0 and the
    gap opening at `restitution` times the rate at which it closed.
    """
    system, eq = now.system, now.system.equations
    block = eq.contacts[name]

    def make() -> Any:
        J = ca.densify(ca.jacobian(block.rate, eq.v))
        terms = [eq.mass_matrix, ca.densify(eq.G), eq.rate, J, block.rate]
        return system.function(f"impact of {name}", [eq.t, eq.q, eq.v, eq.z, eq.p], terms)

    M, G, rate, J, closing = system.once(("impact", name), make)(*now.arguments)
    nv, m = system.nv, rate.size
    contact = eq.model.contacts[name]
    restitution, rest_speed = float(contact.restitution), float(contact.rest_speed)
    speed = float(closing.ravel()[0])
    opening = -restitution * speed
    rests = opening < rest_speed
    K = np.zeros((nv + m + 1, nv + m + 1))
    K[:nv, :nv] = M.reshape(nv, nv)
    rows = np.vstack([G.reshape(m, nv), J.reshape(1, nv)])
    K[:nv, nv:], K[nv:, :nv] = rows.T, rows
    target = np.concatenate([np.zeros(nv), -rate.ravel(), [(0.0 if rests else opening) - speed]])
    change = np.linalg.lstsq(K, target, rcond=None)[0][:nv]
    return now.v + change, rests


def _oracle(now: Instant, name: str, terms: list) -> tuple:
    eq = now.system.equations
    found = eq.lookups.oracle(name, [eq.t, eq.q, eq.v, eq.z, eq.p], terms)(*now.arguments)
    return found if isinstance(found, tuple) else (found,)


def _kinetic(now: Instant, v: Floats) -> float:
    eq, system = now.system.equations, now.system
    inputs = [eq.t, eq.q, eq.v, eq.z, eq.p]
    function = system.once("kinetic", lambda: system.function("kinetic", inputs, [eq.kinetic_energy]))
    return float(function(*replace(now, v=v).arguments)[0].ravel()[0])
