"""Cars for tests: corners of arms, rods and springs under a free chassis, with tires as expressions."""

from __future__ import annotations

import numpy as np

import sekant as sk

UPPER_FRONT, UPPER_REAR, UPPER = (0.1, 0.35, 0.142), (-0.12, 0.35, 0.128), (-0.012, 0.589, 0.127)
TIE_INNER, TIE_OUTER = (-0.156, 0.317, 0.186), (-0.156, 0.545, 0.178)
SPRING_TOP, SPRING_BOTTOM = (-0.01, 0.5, 0.54), (0.0, 0.5, -0.085)
RADIUS = 0.265


def _place(point, x, side):
    return (point[0] + x, side * point[1], point[2])


def car(axles=(0.0, -2.6), speed=20.0, drop=0.01, steady=0.03) -> sk.Model:
    """A car on double wishbones (the upper one as two rods) with `len(axles)` axles at these x (m).

    Tires: a spring and damper that cannot pull, and a side force that saturates with the slip angle. It starts
    `drop` (m) above the ground, at `speed` (m/s), with the front wheels toed to the same side by `steady` (rad of
    the force law).
    """
    length = len(axles)
    chassis_frames, bodies, joints, forces, constraints, sensors = {}, {}, {}, {}, {}, {}
    for k, x in enumerate(axles):
        for name, side in ((f"a{k}l", 1.0), (f"a{k}r", -1.0)):
            for point, place in (
                ("front", UPPER_FRONT),
                ("rear", UPPER_REAR),
                ("tie", TIE_INNER),
                ("spring", SPRING_TOP),
            ):
                chassis_frames[f"{name}_{point}"] = {"position": _place(place, x, side)}
            bodies[f"{name}_arm"] = sk.Body(
                mass=4.0,
                com=_place((0.007, 0.44, -0.083), x, side),
                inertia=(0.017, 0.009, 0.026),
                frames={"spring": {"position": _place(SPRING_BOTTOM, x, side)}},
            )
            bodies[f"{name}_upright"] = sk.Body(
                mass=32.0,
                com=_place((0.0, 0.678, 0.0), x, side),
                inertia=(1.152, 1.792, 1.153),
                frames={
                    "hub": {"position": _place((0.0, 0.678, 0.0), x, side)},
                    "ground": {"position": _place((0.0, 0.678, -RADIUS), x, side)},
                    "upper": {"position": _place(UPPER, x, side)},
                    "tie": {"position": _place(TIE_OUTER, x, side)},
                },
            )
            joints[f"{name}_hinge"] = sk.joints.Revolute(
                parent="chassis",
                child=f"{name}_arm",
                at=_place((0.122, 0.345, -0.08), x, side),
                axis=(1, 0, 0),
            )
            joints[f"{name}_ball"] = sk.joints.Spherical(
                parent=f"{name}_arm", child=f"{name}_upright", at=_place((0.007, 0.62, -0.089), x, side)
            )
            for rod, inner, outer in (
                ("front", UPPER_FRONT, UPPER),
                ("rear", UPPER_REAR, UPPER),
                ("tie", TIE_INNER, TIE_OUTER),
            ):
                end = "tie" if rod == "tie" else "upper"
                constraints[f"{name}_{rod}"] = sk.constraints.Distance(
                    parent=f"chassis.{name}_{rod}",
                    child=f"{name}_upright.{end}",
                    length=float(np.linalg.norm(np.subtract(inner, outer))),
                )
            forces[f"{name}_spring"] = sk.forces.SpringDamper(
                parent=f"chassis.{name}_spring",
                child=f"{name}_arm.spring",
                stiffness=6e4,
                damping=4e3,
                free_length=0.70,
            )
            sensors[f"{name}_hub"] = sk.sensors.Position(frame=f"{name}_upright.hub")
            sensors[f"{name}_v"] = sk.sensors.Velocity(frame=f"{name}_upright.ground")
            load = f"max(0, 2e5*({RADIUS} - {name}_hub.z) - 500*{name}_v.z)"
            slip = f"atan2({name}_v.y, {name}_v.x)" + (f" - {steady}" if k == 0 else "")
            forces[f"{name}_tire"] = sk.forces.PointForce(
                frame=f"{name}_upright.ground",
                force=(0, f"-1.1*{load}*sin(1.4*atan(9*({slip})))", load),
            )
    bodies["chassis"] = sk.Body(
        mass=300.0 * 2 * length,
        com=(float(np.mean(axles)), 0.0, 0.25),
        inertia=(220.0 * length, 600.0 * length, 650.0 * length),
        frames=chassis_frames,
    )
    joints["travel"] = sk.joints.Free(child="chassis", position=(0, 0, RADIUS + drop), velocity=(speed, 0, 0))
    return sk.Model(
        name="car",
        gravity=(0, 0, -9.81),
        bodies=bodies,
        joints=joints,
        forces=forces,
        constraints=constraints,
        sensors=sensors,
    )
