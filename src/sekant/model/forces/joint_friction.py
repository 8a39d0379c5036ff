"""Friction in a joint: viscous, and dry with sticking."""

from __future__ import annotations

from typing import ClassVar, Self

import casadi as ca
from pydantic import model_validator

from sekant.errors import ModelError
from sekant.geometry.spatial import SX, scalar
from sekant.model.ends import OnCoordinate
from sekant.model.examples import Stage
from sekant.model.expressions.expression import Expression
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, DryFriction, ElementKinematics
from sekant.model.quantities import AnyQuantity, Dimensionless, Length, NotNegative, Positive

_TINY = 1e-24  # N^2: keeps the size of a reaction smooth where there is none


@register
class JointFriction(OnCoordinate, Force):
    """The friction -damping v - F sign(v) on one joint coordinate with the rate v: a force (N) on a slider, a torque
    (N m) on a hinge. F is the dry friction.

    The dry part F is either `level` (N or N m), or `coefficient` times the component of the joint force that
    is perpendicular to all directions of sliding. `radius` is the lever arm of friction in a bearing or a
    thread; in a thread, the force along its axis contributes to F, too. While the joint slides,

        F(v) = level + (static - level) / (1 + (v / stribeck)^2) ,

    or F(v) = level without a `stribeck` speed (D. P. Hess, A. Soom: Friction at a lubricated line contact
    operating at oscillating sliding velocities, 1990). At rest, the joint sticks until the force needed to
    hold it exceeds `static`. The methods "taylor" and "dop853" stop where a joint begins to stick or to slip.
    Other methods use F v / sqrt(v^2 + width^2), so a joint creeps instead of sticking.
    """

    type: ClassVar[str] = "joint_friction"
    summary: ClassVar[str] = "friction on a joint coordinate: viscous, Coulomb with sticking, Stribeck"
    signals: ClassVar = ("damping", "level", "static")
    local_names: ClassVar = ("q", "v")
    of_coordinate: ClassVar = (
        "joint",
        "coordinate",
        {"damping": "f/v", "level": "f", "static": "f", "stribeck": "v", "width": "v"},
    )

    damping: NotNegative[AnyQuantity] = 0.0
    """coefficient of viscous friction, N s/m or N m s/rad"""
    level: NotNegative[AnyQuantity] | None = None
    """dry friction while the joint slides, N or N m; may vary with time and state, as in a brake"""
    static: NotNegative[AnyQuantity] | None = None
    """largest friction at rest, N or N m; by default `level`"""
    coefficient: NotNegative[Dimensionless] | None = None
    """coefficient of friction while the joint slides; the dry part is this coefficient times the force in the
    joint"""
    static_coefficient: NotNegative[Dimensionless] | None = None
    """coefficient of friction at rest; by default `coefficient`"""
    radius: Positive[Length] | None = None
    """lever arm of the friction in a bearing or a thread"""
    stribeck: Positive[AnyQuantity] | None = None
    """speed at which friction has fallen halfway from its value at rest to its value at high speed, m/s or
    rad/s"""
    width: Positive[AnyQuantity] = 1e-3
    """for methods that do not stop at events: speed below which the joint creeps instead of sticking, m/s or
    rad/s"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**stage.coordinate(), damping=Expression("0.8 + 0.3*v^2"))

    @model_validator(mode="after")
    def _possible(self):
        if self.level is not None and self.coefficient is not None:
            raise ValueError(
                "give either level (a force or torque) or coefficient (of the force in the joint), not both"
            )
        for name, of in (
            ("static", "level"),
            ("static_coefficient", "coefficient"),
            ("radius", "coefficient"),
        ):
            if getattr(self, name) is not None and getattr(self, of) is None:
                raise ValueError(
                    f"{name} requires {of}, without which there is no dry friction; give {of}, too"
                )
        for name, of in (("static", "level"), ("static_coefficient", "coefficient")):
            still, sliding = getattr(self, name), getattr(self, of)
            if isinstance(still, float) and isinstance(sliding, float) and still < sliding:
                raise ValueError(
                    f"{name} must not be below {of} (got {still:g} and {sliding:g}), because friction at "
                    "rest is at least as large as friction while sliding"
                )
        if self.stribeck is not None and self.level is None and self.coefficient is None:
            raise ValueError(
                "stribeck requires level or coefficient: it describes how dry friction decreases with speed"
            )
        if not self.model_fields_set & {"damping", "level", "coefficient"}:
            raise ValueError("give damping, level or coefficient; without them, there is no friction")
        return self

    @property
    def dry(self) -> bool:
        """Whether it can stick."""
        return self.level is not None or self.coefficient is not None

    def action(self, motion: ElementKinematics) -> Action:
        q, v = motion.coordinate(self.joint, self.coordinate)
        force = -motion.value(self.damping, {"q": q, "v": v}) * v
        outputs = {"force": ("N or N*m", force)}
        if not self.dry:
            return Action(
                generalized=((self.joint, self.coordinate, force),), power=force * v, outputs=outputs
            )
        name = next(name for name, item in motion.model.forces.items() if item is self)
        self._refuse_no_arm(name, motion)
        dry = SX.sym(f"{name}.dry")
        load = SX.sym(f"{name}.load") if self.coefficient is not None else None
        sliding, still = self._levels(motion, q, v, load)
        friction = DryFriction(
            name,
            self.joint,
            force=dry,
            slip=v,
            stuck=motion.held(name, "stuck"),
            direction=motion.held(name, "direction"),
            level=sliding,
            limit=still,
            width=scalar(self.width),
            load=load,
            measure=None if load is None else (lambda wrench: self._load(motion, wrench)),
        )
        total = force + dry
        outputs = {
            "force": ("N or N*m", total),
            "stuck": ("1", friction.stuck),
            "limit": ("N or N*m", still),
        }
        return Action(
            generalized=((self.joint, self.coordinate, total),),
            power=total * v,
            outputs=outputs,
            friction=friction,
        )

    def _levels(self, motion: ElementKinematics, q: SX, v: SX, load: SX | None) -> tuple[SX, SX]:
        """F while the joint slides at v, and its limit at rest."""
        local = {"q": q, "v": v}
        if load is None:
            sliding = motion.value(self.level, local)
            still = sliding if self.static is None else motion.value(self.static, local)
        else:
            arm = self._arm(motion) * load
            sliding = scalar(self.coefficient) * arm
            still = sliding if self.static_coefficient is None else scalar(self.static_coefficient) * arm
        if self.stribeck is None:
            return sliding, still
        return sliding + (still - sliding) / (1 + (v / scalar(self.stribeck)) ** 2), still

    def _refuse_no_arm(self, name: str, motion: ElementKinematics) -> None:
        if self.coefficient is None or self.radius is not None:
            return
        if not ca.sparsify(self._columns(motion)[3:, self.coordinate]).nnz():
            raise ModelError(
                f"coordinate {self.coordinate} of joint '{self.joint}' is a rotation: without a lever arm, "
                "a coefficient gives no friction; give the radius of the bearing",
                path=("forces", name, "coefficient"),
            )

    def _columns(self, motion: ElementKinematics) -> SX:
        """The joint's twists (6, nv) at unit rates of its coordinates, angular above linear, in the joint frame M."""
        joint = motion.model.joints[self.joint]
        q = ca.vertcat(*[motion.coordinate(self.joint, k)[0] for k in range(joint.nv)])
        return joint.subspace(q, motion.lookups)

    def _arm(self, motion: ElementKinematics) -> SX:
        """Displacement of the rubbing surfaces per unit of the coordinate."""
        column = self._columns(motion)[:, self.coordinate]
        turn, slide = column[:3], column[3:]
        square = ca.dot(slide, slide)
        if self.radius is not None:
            square = square + scalar(self.radius) ** 2 * ca.dot(turn, turn)
        return SX(1) if square.is_constant() and float(square) == 1.0 else ca.sqrt(square)

    def _load(self, motion: ElementKinematics, wrench: SX) -> SX:
        """Force (N) that presses the rubbing surfaces together, from the joint's wrench (force, moment) in M."""
        S, guided = self._columns(motion), motion.model.joints[self.joint].guided
        own = [] if self.radius is not None else [self.coordinate]
        others = [k for k in range(guided) if k != self.coordinate]
        slides = [S[3:, k] for k in (*own, *others) if ca.sparsify(S[3:, k]).nnz()]
        f = _across(wrench[:3], slides)
        return ca.sqrt(ca.dot(f, f) + _TINY)


def _across(f: SX, slides: list[SX]) -> SX:
    """A force f (3,) without its components along the directions (3,), which must not be parallel."""
    if not slides:
        return f
    if len(slides) == 1:
        s = slides[0]
        return f - ca.dot(f, s) / ca.dot(s, s) * s
    if len(slides) > 2:
        return SX.zeros(3)
    n = ca.cross(slides[0], slides[1])
    return ca.dot(f, n) / ca.dot(n, n) * n
