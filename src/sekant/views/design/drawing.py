"""The drawing of a design page: positions of bars, springs, wheels and hard points as one compiled function of q
and p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from sekant.engine.codegen.native import NativeFunction
from sekant.geometry.spatial import SX, Pose, vector
from sekant.model.forces import SpringDamper
from sekant.model.joints import Prismatic, Revolute
from sekant.model.model import Model
from sekant.model.shapes import Polyline
from sekant.vehicle.curves.frames import frame_pose
from sekant.vehicle.kc.roles import SIDES, AxleRoles
from sekant.views.design.mechanism import DesignMechanism

Floats = NDArray[np.float64]
SAME = 1e-9  # m: a frame or an end of a bar this close to a hard point represents it


@dataclass(frozen=True, eq=False)
class Drawing:
    """Positions in the drawing.

    `places`: function of t, q, p -> positions (n, 3) m in the world, x, y, z of one after the other. By their
    indices: `bars`, `springs`, `wheels` (center, a point one meter along the spin axis, contact), and `points` by
    name, one for each side. `lengths`: function of t, q, p -> lengths (m) of `links` by name, of one side.
    """

    places: NativeFunction
    bars: list[dict[str, Any]]
    springs: list[dict[str, Any]]
    wheels: list[dict[str, Any]]
    points: dict[str, list[int]]
    lengths: NativeFunction
    links: list[str]


def drawing_of(mechanism: DesignMechanism) -> Drawing:
    system, eq = mechanism.system, mechanism.system.equations
    made, model = _Places(mechanism), eq.resolved.model
    bars, springs = [], []
    for shape in model.shapes.values():
        if isinstance(shape, Polyline):
            body, _ = model.split_reference(shape.frame)
            ends = [made.add(body, vector(point)) for point in shape.points]
            radius: Any = shape.radius
            bars.append({"body": body, "ends": ends, "radius": float(radius or 0.0)})
    for name, force in model.forces.items():
        if isinstance(force, SpringDamper) and not name.endswith("_stop"):
            springs.append({"name": name, "ends": [made.frame(force.parent), made.frame(force.child)]})
    wheels = [made.wheel(*roles) for roles in _wheels(mechanism)]
    names = dict.fromkeys(name.rpartition(".")[0] for name in mechanism.points)
    points = {name: made.point(name) for name in names}
    links, lengths = _links(mechanism, model)
    symbols = [eq.t, eq.q, eq.p]
    places = system.function("places", symbols, [ca.densify(ca.vertcat(*made.places))])
    measured = system.function("lengths", symbols, [ca.densify(lengths)])
    return Drawing(places, bars, springs, wheels, points, measured, links)


def _wheels(mechanism: DesignMechanism) -> list[tuple[str, str]]:
    """Frames of center and contact of each wheel."""
    if not mechanism.is_axle:
        return [(mechanism.roles.wheel_center, mechanism.roles.contact)]
    both = AxleRoles.of(mechanism.system.model, mechanism.roles)
    return [(role.wheel_center, role.contact) for _, role in both.sides]


class _Places:
    """Positions in the world, and in vehicle axes as drawn, which identify hard points."""

    def __init__(self, mechanism: DesignMechanism):
        self._mechanism, self.places = mechanism, list[SX]()
        self._model = mechanism.system.equations.resolved.model
        self._drawn: list[Floats] = []
        self._p = mechanism.system.parameter_vector()

    def add(self, body: str, inside: Any) -> int:
        """The index of the point `inside` (3,) of a body."""
        eq, inside = self._mechanism.system.equations, SX(inside)
        state = None if body == "ground" else eq.motion.frame(body)
        self.places.append(inside if state is None else state.p + state.R @ inside)
        self._drawn.append(self._value(inside))
        return len(self.places) - 1

    def frame(self, reference: str) -> int:
        body, pose = _in_body(self._model, reference)
        return self.add(body, pose.p)

    def wheel(self, center: str, contact: str) -> dict[str, Any]:
        body, pose = _in_body(self._model, center)
        ends = [self.add(body, pose.p), self.add(body, pose.p + pose.R[:, 1]), self.frame(contact)]
        return {"ends": ends, "width": float(self._mechanism.given.wheel.drawn_width)}

    def point(self, name: str) -> list[int]:
        """Indices of a hard point, for both sides if it has two; a point on no part of the drawing is fixed."""
        given, eq = self._mechanism.given, self._mechanism.system.equations
        places = self._mechanism.system.places
        index = [places[f"{name}.{axis}"].start for axis in "xyz"]
        at, symbol = self._p[index], ca.vertcat(*(eq.p[i] for i in index))
        signs = (1.0, -1.0) if self._mechanism.is_axle and abs(at[1]) > SAME else (1.0,)
        if not self._mechanism.is_axle and self._mechanism.side != given.side:
            signs = (-1.0,)
        numbers, still = list[int](), False
        for sign in signs:
            flip = np.array([1.0, sign, 1.0])
            found = self._at(flip * at)
            if found is not None:
                numbers.append(found)
            elif len(numbers) < 1 or still:
                still = True
                numbers.append(self.add("ground", ca.DM(flip) * symbol))
        return numbers  # for one side only if there is no mirror image, as for a Panhard rod

    def _at(self, place: Floats) -> int | None:
        """The index of the end of a bar or spring, or of a frame of a body, drawn at `place`; None without one."""
        for k, drawn in enumerate(self._drawn):
            if np.abs(drawn - place).max() < SAME:
                return k
        for body, part in self._model.bodies.items():
            for frame in part.frames.values():
                inside = frame.pose().p
                if np.abs(self._value(inside) - place).max() < SAME:
                    return self.add(body, inside)
        return None

    def _value(self, inside: SX) -> Floats:
        """Coordinates of a point of a body as drawn."""
        p = self._mechanism.system.equations.p
        return np.array(ca.Function("drawn", [p], [inside])(self._p)).ravel()


def _in_body(model: Model, reference: str) -> tuple[str, Pose]:
    """The body of a frame, and the frame's pose in it."""
    return model.split_reference(reference)[0], frame_pose(model, reference)


def _links(mechanism: DesignMechanism, model: Model) -> tuple[list[str], SX]:
    """Distances between the joints of rods, and between a ball joint and both ends of an arm's hinge."""
    prefix = f"{mechanism.given.side}." if mechanism.is_axle else ""
    names, found = [], []
    joined: dict[
        str, list[tuple[bool, Pose]]
    ] = {}  # by body: joints, whether they are hinges, and their frames in it
    for joint in model.joints.values():
        for reference, pose in zip((joint.parent, joint.child), joint.frame_poses(), strict=True):
            on, frame = _in_body(model, reference)
            joined.setdefault(on, []).append((isinstance(joint, (Revolute, Prismatic)), frame @ pose))
    for body, part in model.bodies.items():
        if body.partition(".")[0] in SIDES and not body.startswith(prefix or "\0"):
            continue
        hinged = any(hinge for hinge, _ in joined.get(body, []))
        ends = [frame.p for hinge, frame in joined.get(body, []) if not hinge]
        label = body.removeprefix(prefix).replace("_", " ")
        if len(ends) == 2 and not hinged:
            names.append(label)
            found.append(ca.norm_2(ends[0] - ends[1]))
        elif ends and hinged and {"front", "rear"} <= set(part.frames):
            for leg in ("front", "rear"):
                names.append(f"{label}, {leg} leg")
                found.append(ca.norm_2(part.frames[leg].pose().p - ends[0]))
    return names, ca.vertcat(SX.zeros(0, 1), *found)
