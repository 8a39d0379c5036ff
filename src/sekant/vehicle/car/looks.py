"""The drawing of a car: wheels to scale, and a closed body or, with open wheels, a tub with wings."""

from __future__ import annotations

from typing import Any

from sekant.model.placement import Orientation, Placement
from sekant.model.shapes import Box, Polyline, Sphere, Wheel
from sekant.vehicle.car.axle_data import axle_data
from sekant.vehicle.car.description import Car
from sekant.vehicle.car.simple_axle import SIDES

LIGHT = 500.0  # kg, mass of the chassis: by default, lighter cars are drawn with open wheels
LIFT = 2.5  # lift coefficient of a wing with flaps: the area as drawn is c_L A divided by it
FLAT = 0.04  # m, thickness of a wing as drawn
HELMET = 0.14  # m, radius


def car_shapes(car: Car, road: float) -> dict[str, Any]:
    """Shapes of the chassis and of the wheels; `road` (m) is the height of the road in the axes of the chassis."""
    found = _open(car, road) if _is_open(car) else _closed(car, road)
    for name, axle in car.axles.items():
        for side in SIDES:
            radius = float(axle.tire.unloaded_radius)  # type: ignore[arg-type]
            found[f"{name}.{side}.wheel_shape"] = Wheel(
                frame=f"{name}.{side}.wheel", radius=radius, width=axle.wheel.width, color="dark"
            )
    return found


def eye_point(car: Car, road: float) -> tuple[float, float, float]:
    """The driver's eyes (m) in the axes of the chassis, where the drawing does not hide the road: in front of the
    helmet, or behind the windscreen on the left."""
    front, rear = _ends(car)
    if _is_open(car):
        x, z = _head(front, front - rear)
        return x + 1.2 * HELMET, 0.0, road + z
    return front - 0.13 * (front - rear), 0.32, road + 1.15


def _is_open(car: Car) -> bool:
    return (car.looks or ("open_wheels" if car.chassis.mass < LIGHT else "closed")) == "open_wheels"


def _head(front: float, length: float) -> tuple[float, float]:
    """x (m) and height above the road (m) of the middle of the helmet in a car with open wheels."""
    return front - 0.68 * length + 0.2, 0.78


def _ends(car: Car) -> tuple[float, float]:
    """x (m) of the first and the last axle."""
    places = [axle_data(axle).x for axle in car.axles.values()]
    return max(places), min(places)


def _closed(car: Car, road: float) -> dict[str, Any]:
    """A block with a cabin between the wheels."""
    front, rear = _ends(car)
    length, middle = front - rear, (front + rear) / 2
    width = min(
        2 * abs(float(axle_data(axle).center[1])) - 1.2 * axle.wheel.width for axle in car.axles.values()
    )
    found: dict[str, Any] = {}
    for key, x, z, size in (
        ("lower", 0.0, 0.5, (1.55 * length, width, 0.5)),
        ("cabin", -0.08 * length, 0.99, (0.78 * length, 0.86 * width, 0.48)),
    ):
        pose = Placement(position=(middle + x, 0.0, road + z))
        found[f"chassis_{key}"] = Box(frame="chassis", pose=pose, size=size, color="blue", opacity=0.55)
    return found


def _open(car: Car, road: float) -> dict[str, Any]:
    """Tub, nose, side pods, roll hoop, driver, and wings with areas that match the downforce of the axles."""
    front, rear = _ends(car)
    length = front - rear
    axles = list(car.axles.values())
    half = min(abs(float(axle_data(axle).center[1])) for axle in axles)
    radius = [float(axle.tire.unloaded_radius) for axle in (axles[0], axles[-1])]  # type: ignore[arg-type]
    tub = 0.62 * half  # half width: the links take a third of the track on each side
    found: dict[str, Any] = {}

    def box(key: str, ends: tuple[float, float], size: tuple[float, float], z: float, y: float = 0.0) -> None:
        """Add a block between two positions x (m), with its size (m) across and up and its center at the height z (m)
        above the road."""
        pose = Placement(position=((ends[0] + ends[1]) / 2, y, road + z))
        found[f"chassis_{key}"] = Box(
            frame="chassis", pose=pose, size=(abs(ends[0] - ends[1]), *size), color="blue", opacity=0.55
        )

    nose, dash, hoop = front + 0.32 * length, front - 0.28 * length, front - 0.68 * length
    box("nose", (nose, front + 0.1 * length), (0.6 * tub, 0.2), 0.24)
    box("foot_well", (front + 0.1 * length, dash), (tub, 0.34), 0.27)
    box("cockpit", (dash, hoop), (1.15 * tub, 0.46), 0.32)
    box("motor", (hoop, rear - 0.1 * length), (0.9 * tub, 0.4), 0.3)
    outer = half - axles[-1].wheel.width / 2
    pod = (outer - 0.6 * tub) * 0.75
    for side, sign in SIDES.items():
        box(
            f"{side}_pod",
            (dash - 0.05 * length, hoop - 0.08 * length),
            (pod, 0.3),
            0.24,
            sign * (0.575 * tub + pod / 2),
        )
    points = [(0.5, 0.1), (0.5, 0.75), (0.25, 1.08), (-0.25, 1.08), (-0.5, 0.75), (-0.5, 0.1)]
    found["chassis_hoop"] = Polyline(
        frame="chassis",
        points=tuple((hoop, 1.1 * tub * y, road + z) for y, z in points),
        radius=0.014,
        color="dark",
    )
    x, z = _head(front, length)
    found["chassis_helmet"] = Sphere(
        frame="chassis",
        pose=Placement(position=(x, 0.0, road + z)),
        radius=HELMET,
        color="orange",
    )
    return found | _wings(car, road, (front + radius[0], rear - radius[1]), half)


def _wings(car: Car, road: float, ends: tuple[float, float], half: float) -> dict[str, Any]:
    """Flat plates with end plates, ahead of the front tires and above the rear tires, sized by c_L A at each axle."""
    if car.air is None:
        return {}
    found: dict[str, Any] = {}
    width = 2 * half + car.axles[next(iter(car.axles))].wheel.width
    for name, given, x, z, span in (
        ("front", car.air.front_area, ends[0] + 0.05, 0.1, 0.95 * width),
        ("rear", car.air.rear_area, ends[1] - 0.02, 0.95, 0.8 * width),
    ):
        area = _number(given)
        if not area > 0:
            continue
        chord = area / LIFT / span
        middle = x + (chord / 2 if name == "front" else -chord / 2 + 0.1)
        tilt = Orientation(axis=(0.0, 1.0, 0.0), angle=0.15)
        found[f"chassis_{name}_wing"] = Box(
            frame="chassis",
            pose=Placement(position=(middle, 0.0, road + z), orientation=tilt),
            size=(chord, span, FLAT),
            color="dark",
        )
        for side, sign in SIDES.items():
            found[f"chassis_{name}_{side}_plate"] = Box(
                frame="chassis",
                pose=Placement(position=(middle, sign * span / 2, road + z + 0.03)),
                size=(1.05 * chord, 0.01, 0.22 if name == "front" else 0.35),
                color="dark",
            )
        if name == "rear":
            for side, sign in SIDES.items():
                foot = (ends[1] + 0.35, sign * 0.18 * half, road + 0.4)
                found[f"chassis_wing_{side}_strut"] = Polyline(
                    frame="chassis",
                    points=(foot, (middle, sign * 0.18 * half, road + z)),
                    radius=0.012,
                    color="dark",
                )
    return found


def _number(area: Any) -> float:
    """c_L A, m^2; 0 if it is an expression."""
    return float(area) if isinstance(area, (int, float)) else 0.0
