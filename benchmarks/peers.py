"""The same trees in Pinocchio and MuJoCo, with their coordinates translated to Sekant's.

========== =============================== ==================================================
library    q of a free joint               v of a free joint
========== =============================== ==================================================
Sekant     position, quaternion wxyz       angular, linear, both in the body
Pinocchio  position, quaternion xyzw       linear, angular, both in the body
MuJoCo     position, quaternion wxyz       linear in the world, angular in the body
========== =============================== ==================================================
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from trees import GRAVITY, Link, TreeMotion


def rotation(e: Any) -> np.ndarray:
    """R (3, 3) of a unit quaternion, scalar first."""
    w, x, y, z = e
    return pin.Quaternion(float(w), float(x), float(y), float(z)).toRotationMatrix()


def _swapped(v: np.ndarray, free: bool) -> np.ndarray:
    return np.concatenate([v[3:6], v[:3], v[6:]]) if free else v.copy()


class Pinocchio:
    """The tree in Pinocchio. `a` gives accelerations in Sekant's order, `aba` is the bare call to be timed."""

    def __init__(self, links: list[Link], motion: TreeMotion):
        self.free = links[0].kind == "free"
        model = pin.Model()
        model.gravity.linear = np.array(GRAVITY)
        kinds = {"hinge": pin.JointModelRZ, "slider": pin.JointModelPZ, "free": pin.JointModelFreeFlyer}
        numbers = []
        for i, link in enumerate(links):
            parent = numbers[link.parent] if link.parent >= 0 else 0
            X_PF = pin.SE3(rotation(link.e_PF), np.array(link.p_PF))
            numbers.append(model.addJoint(parent, kinds[link.kind](), X_PF, f"j{i}"))
            xx, yy, zz, xy, xz, yz = link.inertia
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            inertia = pin.Inertia(link.mass, np.array(link.com), J)
            model.appendBodyToJoint(numbers[-1], inertia, pin.SE3.Identity())
        self.model, self.data = model, model.createData()
        self.q = motion.q.copy()
        if self.free:
            self.q[3:7] = motion.q[[4, 5, 6, 3]]
        self.v = _swapped(motion.v, self.free)
        self.tau = _swapped(motion.force, self.free)

    def aba(self) -> np.ndarray:
        return pin.aba(self.model, self.data, self.q, self.v, self.tau)

    def a(self) -> np.ndarray:
        return _swapped(self.aba(), self.free)


class MuJoCo:
    """The tree in MuJoCo: no contacts, no constraints, no sensors, explicit Euler without implicit damping."""

    def __init__(self, links: list[Link], motion: TreeMotion):
        self.free = links[0].kind == "free"
        self.model = mujoco.MjModel.from_xml_string(_xml(links))
        self.data = mujoco.MjData(self.model)
        q, v = motion.q, motion.v
        self.data.qpos[:] = q
        self.data.qvel[:] = v
        if self.free:
            self.data.qvel[:3], self.data.qvel[3:6] = rotation(q[3:7]) @ v[3:6], v[:3]
        self.data.qfrc_applied[:] = _swapped(motion.force, self.free)
        self.R_WB, self.v_free = rotation(q[3:7]) if self.free else None, v[:6]

    def step(self) -> None:
        mujoco.mj_step(self.model, self.data)

    def steps(self, n: int) -> None:
        """`n` steps in one call: nothing in Python between them."""
        mujoco.mj_step(self.model, self.data, n)

    def forward(self) -> None:
        mujoco.mj_forward(self.model, self.data)

    def a(self) -> np.ndarray:
        self.forward()
        a = np.array(self.data.qacc)
        if self.free:
            w, v = self.v_free[:3], self.v_free[3:]
            linear = self.R_WB.T @ a[:3] - np.cross(w, v)  # rate of the components in the body
            a = np.concatenate([a[3:6], linear, a[6:]])
        return a


def _xml(links: list[Link]) -> str:
    children: dict[int, list[int]] = {}
    for i, link in enumerate(links):
        children.setdefault(link.parent, []).append(i)

    def row(values: Any) -> str:
        return " ".join(repr(float(x)) for x in values)

    def body(i: int) -> str:
        link = links[i]
        types = {"hinge": "hinge", "slider": "slide", "free": "free"}
        joint = f'<joint type="{types[link.kind]}" axis="0 0 1"/>'
        if link.kind == "free":
            joint = "<freejoint/>"
        inner = "".join(body(k) for k in children.get(i, []))
        return (
            f'<body pos="{row(link.p_PF)}" quat="{row(link.e_PF)}">{joint}'
            f'<inertial pos="{row(link.com)}" mass="{link.mass!r}" fullinertia="{row(link.inertia)}"/>'
            f"{inner}</body>"
        )

    tree = "".join(body(i) for i in children[-1])
    return (
        f'<mujoco><option timestep="1e-6" gravity="{row(GRAVITY)}" integrator="Euler">'
        '<flag contact="disable" constraint="disable" eulerdamp="disable" sensor="disable"/></option>'
        f"<worldbody>{tree}</worldbody></mujoco>"
    )
