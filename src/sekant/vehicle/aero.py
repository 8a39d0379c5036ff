"""Aerodynamic forces: drag and downforce at two points, with areas that may depend on the ride height."""

from __future__ import annotations

from typing import Annotated, ClassVar, Self

import casadi as ca

from sekant.geometry.spatial import SX
from sekant.model.examples import Stage
from sekant.model.forces.base import Force, register
from sekant.model.motion import Action, ElementKinematics, PointWrench
from sekant.model.quantities import AnyQuantity, FrameName, Quantity, Value
from sekant.vehicle.roads import AnyRoad, Plane

Pace = Annotated[Value, Quantity("m/s")]
Area = Annotated[Value, Quantity("m^2")]
Density = Annotated[Value, Quantity("kg/m^3")]
DENSITY = 1.2  # kg/m^3, of air


@register
class Aero(Force):
    """Drag and downforce at a front and a rear point, each of which has a velocity v relative to the air.

    Half of the drag rho/2 C_d A |v| v acts at each point. The downforce at each point is rho/2 C_l A v_x^2, with the
    component v_x of v along x of its frame. A downforce area may be an expression of `h`, the height (m) of its
    point above the road, such as ``front_map(h)`` with a table `front_map`.
    """

    type: ClassVar[str] = "aero"
    summary: ClassVar[str] = "drag, and downforce that may depend on ride height"
    frame_fields: ClassVar = ("front", "rear")
    signals: ClassVar = ("drag_area", "front_area", "rear_area", "road")
    local_names: ClassVar = ("h", "x", "y")

    front: FrameName
    """frame at which the front downforce and half of the drag act, with x forward and z up"""
    rear: FrameName
    """frame at which the rear downforce and the other half of the drag act, with x forward and z up"""
    drag_area: Area = 0.0
    """drag area C_d A"""
    front_area: AnyQuantity = 0.0
    """C_l A at the front, m^2, positive downward; may be an expression of `h`"""
    rear_area: AnyQuantity = 0.0
    """C_l A at the rear, m^2, positive downward; may be an expression of `h`"""
    density: Density = DENSITY
    """density of the air"""
    headwind: Pace = 0.0
    """speed of the air in the direction -x of the world"""
    road: AnyRoad = Plane()
    """road above which `h` is measured"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        front, rear = stage.two_frames()
        return cls(front=front, rear=rear, drag_area=0.7, front_area="0.3 - 0.1*h", rear_area=0.5)

    def action(self, motion: ElementKinematics) -> Action:
        half = motion.value(self.density) / 2
        wrenches, power, outputs = [], SX(0), {}
        for name in ("front", "rear"):
            frame = motion.frame(getattr(self, name))
            below = self.road.elevation(motion, frame.p[0], frame.p[1])
            h = frame.p[2] - below
            area = motion.value(getattr(self, f"{name}_area"), {"h": h})
            v = frame.v_WF + ca.vertcat(motion.value(self.headwind), 0, 0)
            forward = ca.dot(v, frame.R[:, 0])
            speed = ca.sqrt(ca.dot(v, v) + 1e-12)
            down = half * area * forward**2
            drag = half * motion.value(self.drag_area) / 2 * speed
            f_W = -drag * v - down * frame.R[:, 2]
            wrenches.append(PointWrench(frame.body, frame.p, f_W, SX.zeros(3)))
            power = power + ca.dot(f_W, frame.v_WF)
            outputs[f"{name}_downforce"] = ("N", down)
            outputs[f"{name}_height"] = ("m", SX(h))
        return Action(wrenches=tuple(wrenches), power=power, outputs=outputs)
