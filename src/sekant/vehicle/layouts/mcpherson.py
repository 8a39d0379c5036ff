"""McPherson strut: a lower arm, a tie rod, and a strut whose tube is part of the upright.

The piston rod is mounted on a ball joint at the top and slides in the tube along the line from `strut_bottom` to
`strut_top`. The spring acts between the top and `spring_bottom` on the upright.
"""

from __future__ import annotations

import numpy as np

from sekant.vehicle.hardpoints.description import apart, not_collinear
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.corner import COMMON, SPRING, Corner, Layout


def _build(corner: Corner) -> None:
    given = corner.given
    apart(given, ("strut_top", "strut_bottom"))
    not_collinear(given, "lower_front", "lower_rear", "lower_ball", "the arm cannot move its ball joint")
    not_collinear(given, "lower_ball", "strut_top", "tie_rod_outer", "the tie rod cannot hold the upright")
    corner.upright()
    corner.arm("lower_arm", "lower_front", "lower_rear", "lower_ball")
    corner.tie_rod("tie_rod", "tie_rod_inner", "tie_rod_outer")
    top, bottom = corner.p("strut_top"), corner.p("strut_bottom")
    rod, upright = corner.name("strut_rod"), corner.name("upright")
    corner.body("strut_rod", members.rod(corner.mass("strut_rod"), top, (top + bottom) / 2))
    corner.into.bar(rod + "_bar", rod, 0.011, top, (top + bottom) / 2)
    corner.into.bar(upright + "_tube", upright, 0.024, bottom, (top + bottom) / 2)
    corner.into.add("joints", corner.name("strut_slide"), members.slider(upright, rod, bottom, top - bottom))
    out, rear = np.array([0.0, corner.outward, 0.0]), np.array([-1.0, 0.0, 0.0])
    shims = {"camber_shim": out, "caster_shim": rear}
    corner.ball("strut_top", "ground", "strut_rod", "strut_top", parent_changes=shims)
    corner.draw_upright("lower_ball", "tie_rod_outer", "strut_bottom")
    upper = "spring_top" if corner.has("spring_top") else "strut_top"
    lower = "spring_bottom" if corner.has("spring_bottom") else "strut_bottom"
    corner.spring(top=upper, bottom=lower)


MCPHERSON = Layout(
    name="mcpherson",
    required={
        "lower_front": "front hinge of the lower arm",
        "lower_rear": "rear hinge of the lower arm",
        "lower_ball": "lower ball joint",
        "strut_top": "top mount of the strut",
        "strut_bottom": "a point on the strut's axis, on the upright",
        **COMMON,
    },
    optional=SPRING,
    masses={"upright": 28.0, "lower_arm": 3.5, "tie_rod": 0.8, "strut_rod": 1.5, "rack": 3.0},
    build=_build,
    spring_on="upright",
    set_up=("camber_shim", "caster_shim", "tie_rod_length", "spring_perch"),
)
