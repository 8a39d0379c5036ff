"""Five links: each holds the upright at a fixed distance from a point of the body; one of them is the tie rod, and
one may carry the spring."""

from __future__ import annotations

from sekant.errors import ModelError
from sekant.vehicle.suspension.corner import COMMON, Corner, Layout

_LINKS = range(1, 6)
_COMMON = {name: text for name, text in COMMON.items() if not name.startswith("tie_rod")}


def _build(corner: Corner) -> None:
    steering = corner.given.tie_rod
    if steering not in _LINKS:
        raise ModelError(f"must be the number of a link from 1 to 5 (got {steering})", path=("tie_rod",))
    corner.upright()
    for k in _LINKS:
        add = corner.tie_rod if k == steering else corner.rod
        add(f"link{k}", f"link{k}_inner", f"link{k}_outer")
    corner.draw_upright(*(f"link{k}_outer" for k in _LINKS))
    corner.spring()


FIVE_LINK = Layout(
    name="five_link",
    required={
        **{f"link{k}_inner": f"inner end of link {k}" for k in _LINKS},
        **{f"link{k}_outer": f"outer end of link {k}, on the upright" for k in _LINKS},
        **_COMMON,
    },
    masses={
        "upright": 27.0,
        "link1": 1.0,
        "link2": 1.0,
        "link3": 1.2,
        "link4": 1.5,
        "link5": 2.5,
        "rack": 3.0,
    },
    build=_build,
    spring_on="link5",
    set_up=("tie_rod_length",),
)
