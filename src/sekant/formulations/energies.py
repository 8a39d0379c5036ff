"""Energies of a model with bodies and joints, and the powers of its non-conservative elements."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from sekant.geometry.spatial import SX

if TYPE_CHECKING:
    from sekant.formulations.equations import Equations, MotionForces


class ModelEnergies:
    """Energies of the links, gravity and all elements."""

    def __init__(self, eq: Equations):
        self._eq = eq

    @cached_property
    def kinetic(self) -> SX:
        links, V = self._eq.motion.links, self._eq.motion.V
        return sum((link.inertia.kinetic_energy(twist) for link, twist in zip(links, V, strict=True)), SX(0))

    @cached_property
    def potential(self) -> SX:
        """Potential energy of gravity (zero with every center of mass at W's origin) and of all springs."""
        eq = self._eq
        energies = [SX(action.potential) for action in eq.elements.actions.values()]
        for link, X_WM in zip(eq.motion.links, eq.motion.X_WM, strict=True):
            moment = link.inertia.m * X_WM.p + X_WM.R @ link.inertia.h
            energies.append(-ca.dot(eq.gravity, moment))
        return sum(energies, SX(0))

    @property
    def total(self) -> SX:
        return self.kinetic + self.potential

    @cached_property
    def powers(self) -> dict[str, SX]:
        """Powers of all non-conservative elements, including prescribed motions."""
        return self._powers(self._eq.motion_forces, self._eq.lam)

    def powers_with(self, a: SX, lam: SX) -> dict[str, SX]:
        return self._powers(self._eq.motion_forces_with(*self._eq.motion_with(a, lam), lam), lam)

    def _powers(self, motions: MotionForces, lam: SX) -> dict[str, SX]:
        eq = self._eq
        acting = eq.elements.actions.items()
        powers = {name: action.power for name, action in acting if action.power is not None}
        powers.update({name: power for name, (_, power) in motions.items()})
        for name in eq.model.contacts:  # contacts do work only in impacts and by friction
            powers.setdefault(name, SX(0))
        for block, part in eq.by_block(lam):
            if block.kind != "motion" and not block.drift.is_zero():
                powers[block.name] = powers.get(block.name, SX(0)) + ca.dot(part, block.drift)
        return powers
