"""McPherson strut: a lower arm, a tie rod, and a strut whose tube is part of the upright.

The piston rod hangs on a ball joint at the top and slides in the tube along the line from `strut_bottom` to
`strut_top`. The spring acts between the top and `spring_bottom` on the upright.
"""

from __future__ import annotations

from sekant.vehicle import parts
from sekant.vehicle.corner import COMMON, Corner, Layout
from sekant.vehicle.hardpoints import apart, not_collinear

_COMMON = {name: text for name, text in COMMON.items() if not name.startswith("spring")}


def _build(corner: Corner) -> None:
    given = corner.given
    apart(given, ("strut_top", "strut_bottom"))
    not_collinear(given, "lower_front", "lower_rear", "lower_ball", "the arm could not move its ball joint")
    not_collinear(given, "lower_ball", "strut_top", "tie_rod_outer", "the tie rod could not hold the upright")
    corner.upright()
    corner.arm("lower_arm", "lower_front", "lower_rear", "lower_ball")
    corner.tie_rod("tie_rod", "tie_rod_inner", "tie_rod_outer")
    top, bottom = corner.p("strut_top"), corner.p("strut_bottom")
    rod, upright = corner.name("strut_rod"), corner.name("upright")
    corner.bodies[rod] = parts.rod(corner.mass("strut_rod"), top, (top + bottom) / 2)
    corner.joints[corner.name("strut_slide")] = parts.slider(upright, rod, bottom, top - bottom)
    corner.ball("strut_top", "ground", "strut_rod", "strut_top")
    upper = "spring_top" if "spring_top" in given.points else "strut_top"
    lower = "spring_bottom" if "spring_bottom" in given.points else "strut_bottom"
    corner.spring(top=upper, bottom=lower)


MCPHERSON = Layout(
    name="mcpherson",
    required={
        "lower_front": "front hinge of the lower arm",
        "lower_rear": "rear hinge of the lower arm",
        "lower_ball": "lower ball joint",
        "strut_top": "top mount of the strut",
        "strut_bottom": "a point of the strut's axis on the upright",
        **_COMMON,
    },
    optional={name: COMMON[name] for name in ("spring_top", "spring_bottom")},
    masses={"upright": 28.0, "lower_arm": 3.5, "tie_rod": 0.8, "strut_rod": 1.5, "rack": 3.0},
    build=_build,
    spring_on="upright",
)
