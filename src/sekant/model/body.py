"""Bodies: mass, center of mass, inertia, and the frames on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import casadi as ca
import numpy as np
from pydantic import Field, field_validator, model_validator

from sekant.geometry.spatial import Pose, RigidInertia, scalar, vector
from sekant.model.examples import Stage
from sekant.model.placement import Placement
from sekant.model.quantities import Description, InertiaTensor, Mass, Point


class Body(Description):
    """A rigid body. The frame of the body may be anywhere in the body, with any orientation."""

    mass: Mass = 0.0
    """mass of the whole body"""
    com: Point = (0.0, 0.0, 0.0)
    """center of mass, in the body frame"""
    inertia: InertiaTensor = (
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
    )
    """inertia about `com`, in the axes of the body frame: [Ixx, Iyy, Izz], [Ixx, Iyy, Izz, Ixy, Ixz, Iyz], a
    symmetric 3 x 3 matrix, or {xx: ..., yy: ..., zz: ..., xy: ...}; Ixy, Ixz and Iyz are elements of the
    tensor (Ixy is minus the integral of x y dm)"""
    frames: dict[str, Placement] = Field(default_factory=dict)
    """frames fixed in the body, by name; other items refer to a frame as ``body.name``"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(
            mass=1.3, com=(0.0, 0.02, -0.4), inertia=(0.07, 0.05, 0.03), frames={"tip": stage.placement()}
        )

    @field_validator("mass")
    @classmethod
    def _not_negative(cls, mass):
        if isinstance(mass, float):
            check_mass(mass)
        return mass

    @model_validator(mode="after")
    def _possible_inertia(self):
        if all(isinstance(value, float) for value in self.inertia):
            check_inertia(np.array(inertia_matrix(self.inertia), float))
            if isinstance(self.mass, float):
                check_mass_of_inertia(self.mass, self.inertia)  # type: ignore[arg-type]
        return self

    def inertia_at(self, X_BM: Pose) -> RigidInertia:
        """The inertia of the body about the origin of a frame M, resolved in M. X_BM is the pose of M in the body
        frame."""
        X_MB = X_BM.inverse()
        J_com = ca.blockcat(inertia_matrix(tuple(scalar(value) for value in self.inertia)))
        R = X_MB.R
        return RigidInertia.of(self.mass, X_MB.point(vector(self.com)), R @ J_com @ R.T)

    def frame(self, name: str) -> Pose:
        """The pose X_BF of the frame with this name. An empty name means the body's own frame."""
        return self.frames[name].pose() if name else Pose.identity()


def inertia_matrix(values: tuple[Any, ...]) -> list[list[Any]]:
    """Inertia tensor from (Ixx, Iyy, Izz, Ixy, Ixz, Iyz); the off-diagonal values are elements of the tensor."""
    xx, yy, zz, xy, xz, yz = values
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def check_body(mass: float, inertia: Sequence[float]) -> None:
    """Refuse a mass (kg) and an inertia (Ixx, Iyy, Izz, Ixy, Ixz, Iyz in kg m^2) that no body can have."""
    try:
        check_mass(mass)
    except ValueError as fault:
        raise ValueError(f"mass {fault}") from None
    check_inertia(np.array(inertia_matrix(tuple(inertia)), float))
    check_mass_of_inertia(mass, inertia)


def check_mass(mass: float) -> None:
    """Refuse a negative mass (kg)."""
    if mass < 0:
        raise ValueError(f"must not be negative (got {mass:g} kg)")


def check_mass_of_inertia(mass: float, inertia: Sequence[float]) -> None:
    """Refuse a body that could turn but not move."""
    if mass == 0.0 and any(value != 0.0 for value in inertia):
        raise ValueError("a body with inertia needs a mass; give the mass, or remove the inertia")


def check_inertia(J: np.ndarray) -> None:
    """Refuse an inertia tensor (3, 3) kg m^2 that no body can have."""
    diagonal = J[0, 1] == 0.0 and J[0, 2] == 0.0 and J[1, 2] == 0.0
    a, b, c = sorted(J.diagonal().tolist()) if diagonal else np.linalg.eigvalsh(J)
    slack = 1e-9 * max(abs(a), c)
    shown = f"principal moments {a:.6g}, {b:.6g}, {c:.6g} kg m^2"
    if a < -slack:
        raise ValueError(
            f"inertia is not positive definite ({shown}); check the signs of the off-diagonal terms"
        )
    if c > a + b + slack:
        raise ValueError(
            f"inertia violates the triangle inequality, so no body can have it ({shown}: the largest "
            "exceeds the sum of the other two); check the units and the reference point (the center of "
            "mass)"
        )
