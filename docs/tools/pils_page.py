"""Numbers of PILS beside ours: the double wishbone, pose tables, the Formula Student corner in motion."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np
from validation_rows import Row, example, table

import sekant as sk
from sekant.geometry.pose_tables.table_errors import pose_errors

MOST = "published value is an upper limit of the deviation from another program"


def kinematics_table() -> str:
    return table(pils())


@cache
def pose_tables() -> str:
    """Errors of pose tables, by the example that computes them."""
    tables = example("suspensions/pose_tables")
    return tables.text({name: tables.compare(name) for name in tables.CORNERS})


def pils() -> Iterator[Row]:
    """Range and iterations of the double wishbone; a rod on a hinge; tables against mechanisms in motion."""
    tables = example("suspensions/pose_tables")
    system = sk.compile(tables.marked("double_wishbone"))
    down, up = (
        sk.kinematics(system, tables.DRIVE, values=side * np.arange(0, 0.3, 0.01)) for side in (-1.0, 1.0)
    )
    yield Row(
        "double wishbone, lowest reachable position, in steps of 10 mm [mm]",
        "3.5.2",
        -190.0,
        1e3 * down.drive.min(),
        1e-9,
    )
    yield Row(
        "double wishbone, highest reachable position, in steps of 10 mm [mm]",
        "2.4",
        240.0,
        1e3 * up.drive.max(),
        0.05,
        "the printed value is one step lower",
    )
    steps = (down.iterations + up.iterations) / (down.drive.size + up.drive.size)
    yield Row(
        "mean number of Newton iterations per position",
        "2.4",
        10,
        steps,
        0.0,
        "published value is an upper limit",
        limit=True,
    )
    yield from _hinged_rod()
    falls = example("suspensions/formula_student_fall")
    for name, case in falls.CASES.items():
        runs = falls.run(case)
        spin = float(np.linalg.norm(runs.spin - runs.spin_of_table, axis=1).max())
        where = "5.1" if name == "fall" else "5.2"
        corner = f"Formula Student suspension, {name}"
        yield Row(
            f"{corner}: difference in position between pose table and mechanism [m]",
            where,
            2e-4,
            runs.error,
            0.0,
            MOST,
            limit=True,
        )
        yield Row(
            f"{corner}: difference in angular velocity between pose table and mechanism [rad/s]",
            where,
            1e-2,
            spin,
            0.0,
            MOST,
            limit=True,
        )


def _hinged_rod(step: float = 0.3) -> Iterator[Row]:
    """3.5.1: a rod about a fixed axis, nodes every 0.3 rad. A cubic misses an arc by h^4/384 of its radius."""
    radius = 0.7
    rod = sk.Body(mass=1.0, frames={"end": sk.Frame(position=(radius, 0, 0))})
    system = sk.compile(
        sk.Model(bodies={"rod": rod}, joints={"hinge": sk.joints.Revolute(child="rod", axis=(1, 2, 3))})
    )
    fine = sk.kinematics(system, "hinge.angle", values=np.arange(0, 151) / 100).pose_table(["rod.end"])
    errors = pose_errors(fine.every(30).motion("rod.end", fine.drive, "cubic"), fine.nodes("rod.end"))
    across = radius * np.sqrt(1 - 1 / 14)  # distance of the end from the axis
    yield Row(
        "rod on a hinge, nodes every h = 0.3 rad: position error as a multiple of r h⁴/384 (r: radius)",
        "3.5.1",
        1.0,
        errors.e.max() / (step**4 * across / 384),
        0.02,
        "closed form",
    )
    yield Row(
        "rod on a hinge, nodes every 0.3 rad: rotation error [rad]",
        "3.5.1",
        1e-13,
        float(errors.theta.max()),
        0.0,
        "published value is an upper limit; ours is round-off",
        limit=True,
    )
