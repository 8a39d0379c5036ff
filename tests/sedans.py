"""Cars on simple suspensions for tests; all numbers differ from one another."""

from __future__ import annotations

from typing import Any

LINEAR = {
    "type": "linear_tire",
    "radius": 0.32,
    "vertical_stiffness": 220e3,
    "vertical_damping": 0.0,
    "slip_stiffness": 0.0,
    "cornering_stiffness": 52e3,
}
BRUSH = {
    "type": "brush_tire",
    "radius": 0.32,
    "vertical_stiffness": 220e3,
    "vertical_damping": 400.0,
    "tread_stiffness": 60e3,
    "friction": 0.85,
}
STIFFER = {"linear_tire": {"cornering_stiffness": 61e3}, "brush_tire": {"tread_stiffness": 71e3}}


def sedan(
    tire: dict[str, Any] | None = None, rear: dict[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """The description of a car that understeers a little."""
    tire = tire or BRUSH
    front_suspension = {
        "track": 1.52,
        "stiffness": 24e3,
        "damping": 2100,
        "mass": 17,
        "inertia": [0.3, 0.4, 0.5],
    }
    rear_suspension = {
        "track": 1.49,
        "stiffness": 27e3,
        "damping": 2300,
        "mass": 15,
        "inertia": [0.2, 0.3, 0.4],
    }
    return {
        "chassis": {"mass": 1300, "com": [-1.15, 0, 0.52], "inertia": [420, 1900, 2100]},
        "axles": {
            "front": {
                "suspension": front_suspension,
                "wheel": {"mass": 19, "inertia": [0.7, 1.1, 0.7]},
                "tire": tire,
                "steering": {"rack_per_turn": 0.047, "arm": 0.125, "rack_mass": 4.0},
                "anti_roll_bar": 9e3,
            },
            "rear": {
                "at": [-2.63, 0, 0],
                "suspension": rear_suspension,
                "wheel": {"mass": 18, "inertia": [0.6, 1.0, 0.6]},
                "tire": rear or {**tire, **STIFFER[tire["type"]]},
            },
        },
        **changes,
    }
