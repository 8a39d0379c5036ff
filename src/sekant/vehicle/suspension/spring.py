"""Spring, damper, bump and rebound stop of a corner, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sekant.model.expressions.expression import Expression
from sekant.model.forces import SpringDamper
from sekant.model.table import TableData
from sekant.vehicle.hardpoints.components import CurveData, StopData
from sekant.vehicle.hardpoints.description import apart
from sekant.vehicle.suspension import members
from sekant.vehicle.suspension.drawn import length, model_number, numbers, text_of

if TYPE_CHECKING:
    from sekant.vehicle.suspension.corner import Corner

FAR = 10.0  # m: end of the straight line of a stop's stiffness


def add_spring(corner: Corner, top: str, bottom: str) -> None:
    """Add the force elements `spring`, `bump_stop`, `rebound_stop` between the vehicle's body and the part that
    carries them."""
    given, into = corner.given, corner.into
    apart(given, (top, bottom))
    data = given.spring
    body = corner.carrier("", ("spring", "on"))
    upper = into.frame("ground", corner.name("spring_top"), members.frame_at(corner.p(top)))
    lower = into.frame(body, corner.frame_name(body, "spring"), members.frame_at(corner.p(bottom)))
    drawn = length(corner.p(top) - corner.p(bottom))
    free = data.free_length
    if free is None:
        free = drawn + (data.preload / data.stiffness if data.preload and data.stiffness else 0.0)
    tables = {}
    if data.curve is not None:
        tables["spring"] = into.add("tables", corner.name("spring_curve"), _pushing(data.curve))
    if data.damper_curve is not None:
        curve = TableData(x=data.damper_curve.x, y=data.damper_curve.y, extrapolation="linear")
        tables["damper"] = into.add("tables", corner.name("damper_curve"), curve)
    spring = SpringDamper(
        parent=upper,
        child=lower,
        stiffness=data.stiffness,
        damping=data.damping,
        free_length=Expression(f"{text_of(free)} + {corner.name('spring_perch')}"),
        **tables,
    )
    into.add("forces", corner.name("spring"), spring)
    for name, stop, sign in (("bump_stop", given.bump_stop, -1.0), ("rebound_stop", given.rebound_stop, 1.0)):
        if stop is not None:
            table = into.add("tables", corner.name(f"{name}_curve"), _one_sided(stop, sign))
            force = SpringDamper(
                parent=upper,
                child=lower,
                free_length=model_number(drawn + sign * stop.gap),
                spring=table,
                looks="stop" if sign < 0 else "rebound_stop",
            )
            into.add("forces", corner.name(name), force)


def _pushing(curve: CurveData) -> TableData:
    """Tension as a function of the extension, from the compressive force as a function of the compression."""
    order = np.argsort(curve.x)[::-1]
    x, y = -np.asarray(curve.x)[order], -np.asarray(curve.y)[order]
    return TableData(x=numbers(x), y=numbers(y), extrapolation="linear")


def _one_sided(stop: StopData, sign: float) -> TableData:
    """Tension as a function of the extension beyond the contact of a stop.

    `sign` is 1 for a stop that acts in extension, and -1 for one that acts in compression.
    """
    if stop.curve is None:
        x, y = np.array([0.0, FAR]), np.array([0.0, FAR * stop.stiffness])
    else:
        x, y = np.asarray(stop.curve.x), np.asarray(stop.curve.y)
        if x[0] > 0:
            x, y = np.concatenate([[0.0], x]), np.concatenate([[0.0], y])
    x, y = sign * np.concatenate([[-FAR], x]), sign * np.concatenate([[0.0], y])
    if sign < 0:
        x, y = x[::-1], y[::-1]
    return TableData(x=numbers(x), y=numbers(y), extrapolation="linear")
