"""Constraint equations of a model: joints that close loops, prescribed motions on them, and explicit constraints.

Each block defines Phi(q, t) (or rows affine in the velocities), its rate, and its forces: the rate is linear in the
twists of the bodies and the rates of coordinates, rate = sum_b J_b V_b + sum_j J_j v_j + drift, and the multipliers
act on body b by the wrench -J_b^T lam, on coordinate j by -J_j lam. The J come from one differentiation with
respect to small displacements of the bodies, which works for every kind of constraint. Twists and wrenches are at the
origin of the body's link, in its frame, as in the recursions along the tree.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import casadi as ca

from sekant.formulations.kinematics import TreeKinematics, measured_coordinate, relative_pose
from sekant.formulations.tree import joint_frames
from sekant.geometry.spatial import SX, Pose, skew
from sekant.model.constraints.base import Constraint
from sekant.model.joints import leader_of, shared_coordinates
from sekant.model.motion import FrameState

Coordinate = tuple[str, int]  # (joint or owner of auxiliary parameters, index)


@dataclass(frozen=True)
class ConstraintBlock:
    """Equations that belong together, under the name of the item that imposes them."""

    name: str
    kind: str  # "loop", "motion" or the constraint's type
    phi: SX  # (k,), or empty where only velocities are restricted
    rate: SX  # (k,) d phi/dt, or the velocity rows
    drift: SX  # (k,) part of the rate due to the constraint's own signals of time
    bodies: dict[str, SX]  # J_b (k, 6): columns for the twist (angular, linear) of its link, in its frame
    coordinates: dict[Coordinate, SX]  # J_j (k,)
    through: dict[str, SX] = field(default_factory=dict)
    """For each cut joint, the part (k, 6) of its child's J_b that comes from its measured coordinates; for
    the ground, in W."""

    @property
    def rows(self) -> int:
        return self.rate.numel()

    @property
    def holonomic(self) -> bool:
        return self.phi.numel() > 0


def constraint_blocks(motion: TreeKinematics, closed: Collection[str] = ()) -> list[ConstraintBlock]:
    """All constraint equations of the model in its layout; contacts in `closed` stay closed."""
    blocks = []
    for name in motion.cuts:
        block = _block(motion, name, "loop", lambda view, name=name: _loop(view, name))
        if block is not None:
            blocks.append(block)
    for name, prescribed in motion.model.motions.items():
        if prescribed.joint in motion.cuts:
            block = _block(
                motion, name, "motion", lambda view, prescribed=prescribed: _drive(view, prescribed)
            )
            if block is not None:
                blocks.append(block)
    for name, item in motion.model.constraints.items():
        blocks += _explicit(motion, name, item)
    return blocks + [block for name, block in contact_blocks(motion).items() if name in closed]


def contact_blocks(motion: TreeKinematics) -> dict[str, ConstraintBlock]:
    """The gap of every contact, as a constraint."""
    blocks = {}
    for name, contact in motion.model.contacts.items():
        block = _block(motion, name, "contact", contact.gap)
        if block is not None:
            blocks[name] = block
    return blocks


def _loop(view: _Displaced, name: str) -> SX:
    joint = view.model.joints[name]
    F, M = view.joint_ends(name)
    parameters = view.auxiliary(name)
    X_FM = relative_pose(F, M)
    if joint.loop_parameters or not parameters.numel():
        return joint.loop_constraints(X_FM, parameters, view.lookups)
    return ca.vertcat(joint.constraints(X_FM), joint.counted_constraints(X_FM, parameters))


def _drive(view: _Displaced, prescribed) -> SX:
    q = view.coordinate(prescribed.joint, prescribed.coordinate)[0]
    difference = q - view.value(prescribed.value)
    unit = view.model.joints[prescribed.joint].coordinates[prescribed.coordinate].unit
    return ca.atan2(ca.sin(difference), ca.cos(difference)) if unit == "rad" else difference


def _explicit(motion: TreeKinematics, name: str, item: Constraint) -> list[ConstraintBlock]:
    blocks = []
    position = _block(motion, name, item.type, lambda view: item.position(view, view.auxiliary(name)))
    if position is not None:
        blocks.append(position)
    view = _Displaced(motion, velocities=True)
    rows = item.velocity(view)
    if rows is not None:
        rows = ca.vec(rows)
        blocks.append(_finish(view, name, item.type, SX.zeros(0, 1), view.undisturbed(rows), rows))
    return blocks


def _block(motion: TreeKinematics, name: str, kind: str, equations) -> ConstraintBlock | None:
    view = _Displaced(motion, velocities=False)
    rows = equations(view)
    if rows is None or not SX(rows).numel():
        return None
    rows = ca.vec(SX(rows))
    return _finish(view, name, kind, view.undisturbed(rows), None, rows)


def _finish(view: _Displaced, name: str, kind: str, phi: SX, given: SX | None, rows: SX) -> ConstraintBlock:
    def slopes(symbols: dict) -> dict:
        return {key: view.undisturbed(view.lookups.jacobian(rows, symbol)) for key, symbol in symbols.items()}

    bodies, coordinates = slopes(view.displacements), slopes(view.shifts)
    if given is None:
        drift = view.undisturbed(view.lookups.jacobian(rows, view.t))
        rate = drift
        for body, J in bodies.items():
            rate = rate + J @ view.twist(body)
        for key, J in coordinates.items():
            rate = rate + J * view.rate(key)
    else:
        rate, drift = given, view.at_rest(rows)
    through = slopes(view.passing)
    return ConstraintBlock(name, kind, phi, ca.densify(rate), ca.densify(drift), bodies, coordinates, through)


class _Displaced:
    """The moving model in the form that constraints use, like `TreeKinematics`; it records the bodies and
    coordinates on which they act.

    For positions, small displacements of bodies and coordinates are added; for velocities, symbols replace
    the twists and rates themselves. Both are twists (angular, linear) of links, in their frames. Time in
    signals of the constraint is a separate symbol, because the bodies may also depend on time, through
    prescribed motions.
    """

    def __init__(self, motion: TreeKinematics, velocities: bool):
        self._motion, self._velocities = motion, velocities
        self.model, self.lookups = motion.model, motion.lookups
        self.t = SX.sym("time in signals")
        self.displacements: dict[str, SX] = {}
        self.shifts: dict[Coordinate, SX] = {}
        self.passing: dict[str, SX] = {}  # displacement of a cut joint's child for its measured coordinates

    def undisturbed(self, expression: SX) -> SX:
        """`expression` at zero displacements, or at the true velocities."""
        return self._filled(expression, self._velocities)

    def at_rest(self, expression: SX) -> SX:
        """`expression` with zero displacements and velocities."""
        return self._filled(expression, False)

    def _filled(self, expression: SX, moving: bool) -> SX:
        symbols, values = [self.t], [self._motion.t]
        for body, symbol in self.displacements.items():
            symbols.append(symbol)
            values.append(self.twist(body) if moving else SX.zeros(6))
        for key, symbol in self.shifts.items():
            symbols.append(symbol)
            values.append(self.rate(key) if moving else SX(0))
        for symbol in self.passing.values():
            symbols.append(symbol)
            values.append(SX.zeros(6))
        return self.lookups.substitute(expression, ca.vertcat(*symbols), ca.vertcat(*values))

    def twist(self, body: str) -> SX:
        return self._motion.V[self._motion.link_index[body]].column()

    def rate(self, key: Coordinate) -> SX:
        return self._motion.coordinate(*key)[1]

    def frame(self, reference: str) -> FrameState:
        return self._displaced(*self._motion.place_of(reference))

    def between(self, parent: str, child: str) -> SX:
        """(3,) between two points, in the frame of a link that carries one of them."""
        motion = self._motion
        if motion.place_of(child)[0] == "ground":
            parent, child = child, parent
        body, X_BF = motion.place_of(child)
        start = self.frame(parent).p
        if body == "ground" or not motion.rigid:
            return self.frame(child).p - start
        i, xi = motion.link_index[body], self._displacement(body)
        X_WL, p = motion.X_WM[i], motion.on_link(i, X_BF).p
        return p + ca.cross(xi[:3], p) + xi[3:] - X_WL.R.T @ (start - X_WL.p)

    def _displacement(self, body: str) -> SX:
        if body not in self.displacements:
            self.displacements[body] = SX.sym(f"displacement of {body}", 6)
        return self.displacements[body]

    def joint_ends(self, joint: str, passing: SX | None = None) -> tuple[FrameState, FrameState]:
        """The states of the joint's frames F and M; `passing`: a displacement (6,) of its child, in addition
        to that of the body."""
        F, M = joint_frames(self.model, self.model.joints[joint])
        return self._displaced(*F), self._displaced(*M, passing)

    def _displaced(self, body: str, X_BF: Pose, passing: SX | None = None) -> FrameState:
        motion = self._motion
        xi, X_WL, X_LF = SX.zeros(6), Pose.identity(), X_BF
        if body != "ground":
            i = motion.link_index[body]
            xi, X_WL, X_LF = self._displacement(body), motion.X_WM[i], motion.on_link(i, X_BF)
        if passing is not None:
            xi = xi + passing
        w, shift = xi[:3], ca.cross(xi[:3], X_LF.p) + xi[3:]
        if self._velocities:
            return FrameState(body, X_WL @ X_LF, X_WL.R @ shift, X_WL.R @ w)
        X = X_WL @ Pose(X_LF.R + skew(w) @ X_LF.R, X_LF.p + shift)
        state = motion.frame_on(body, X_BF)
        return FrameState(body, X, state.v_WF, state.w_WF)

    def coordinate(self, joint: str, index: int) -> tuple[SX, SX]:
        shared = shared_coordinates(self.model.joints[joint]) if joint in self._motion.cuts else {}
        if index in shared:
            return self.coordinate(*shared[index])
        if joint in self._motion.cuts and joint not in self._motion.auxiliary:
            if joint not in self.passing:
                self.passing[joint] = SX.sym(f"displacement of the child of {joint}", 6)
            F, M = self.joint_ends(joint, self.passing[joint])
            return measured_coordinate(self.model.joints[joint], F, M, index)
        q, v = self._motion.coordinate(joint, index)
        shift = self._shift(joint, index)
        return (q, shift) if self._velocities else (q + shift, v)

    def auxiliary(self, owner: str) -> SX:
        """Auxiliary parameters of `owner`, displaced; for a joint in a group, its leader's coordinates."""
        joint = self.model.joints.get(owner)
        if joint is not None and leader_of(joint) is not None:
            return ca.vertcat(*[self.coordinate(*of)[0] for of in shared_coordinates(joint).values()])
        if owner not in self._motion.auxiliary:
            return SX.zeros(0, 1)
        q = self._motion.auxiliary[owner][0]
        if self._velocities:
            return q
        return ca.vertcat(*[q[i] + self._shift(owner, i) for i in range(q.numel())])

    def _shift(self, owner: str, index: int) -> SX:
        key = (owner, index)
        if key not in self.shifts:
            self.shifts[key] = SX.sym(f"shift of {owner}.{index}")
        return self.shifts[key]

    def value(self, number, local=None) -> SX:
        """A function of time, or a constant."""
        return self.lookups.substitute(self._motion.value(number, local), self._motion.t, self.t)

    def table(self, name: str, x: SX, order: int = 0) -> SX:
        return self._motion.table(name, x, order)
