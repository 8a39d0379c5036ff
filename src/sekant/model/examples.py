"""The surroundings in which item types create random instances: frames, joints and tables to refer to.

All values are different and nothing is aligned, so that a swapped index is detected.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sekant.geometry.curves.pose_curve import PoseCurve
from sekant.geometry.surfaces.pose_surface import PoseSurface
from sekant.model.placement import Orientation, Placement
from sekant.model.table import TableData
from sekant.tables.table import Table, Table2


class Stage:
    """Names of `bodies` and joint `coordinates`. Each body, and the ground, has the frames ``hub`` and ``tip``.

    `tables` collects the tables that instances need.
    """

    def __init__(
        self,
        rng: np.random.Generator,
        bodies: tuple[str, ...] = ("arm", "wheel"),
        coordinates: tuple[tuple[str, int], ...] = (("hinge", 0),),
    ):
        self.rng = rng
        self.bodies = bodies
        self.coordinates = coordinates
        self.tables: dict[str, TableData] = {}
        self.parent, self.child = "ground", bodies[0]

    def two_frames(self) -> tuple[str, str]:
        """Frames on two different bodies; one of them may be the ground."""
        first, second = self.rng.choice(["ground", *self.bodies], 2, replace=False)
        return f"{first}.tip", f"{second}.hub"

    def ends(self) -> dict[str, str]:
        """Fields that name two frames on different bodies."""
        return dict(zip(("parent", "child"), self.two_frames(), strict=True))

    def frame(self) -> str:
        """A frame on a body that moves."""
        return self.two_frames()[0].replace("ground.tip", f"{self.bodies[0]}.tip")

    def coordinate(self) -> dict[str, Any]:
        """Fields that name a coordinate which is the integral of its velocity."""
        names = list(dict.fromkeys(name for name, _ in self.coordinates))
        name = str(self.rng.choice(names))
        count = sum(1 for joint, _ in self.coordinates if joint == name)
        return {"joint": name, "coordinate": int(self.rng.integers(count))}

    def signal(self) -> str:
        """An expression, as text, that varies in time and with the motion."""
        name, k = self.coordinates[int(self.rng.integers(len(self.coordinates)))]
        return f"{self.uniform(0.5, 1.5):.3f}*sin(2.3*t) + {self.uniform(0.2, 0.9):.3f}*{name}.q{k}"

    def table(self) -> str:
        """A smooth characteristic over [-3, 3]."""
        x = np.linspace(-3.0, 3.0, 13)
        y = 7.0 * x + 3.0 * np.sin(1.7 * x) + self.rng.uniform(-1, 1)
        name = f"table{len(self.tables)}"
        self.tables[name] = TableData(x=tuple(x), y=tuple(y), kind="cubic", extrapolation="linear")
        return name

    def uniform(self, low: float, high: float) -> float:
        return float(self.rng.uniform(low, high))

    def three(self, low: float, high: float) -> tuple[float, float, float]:
        x, y, z = self.rng.uniform(low, high, 3).tolist()
        return x, y, z

    def direction(self) -> tuple[float, float, float]:
        """A random direction, not normalized."""
        x, y, z = self.rng.normal(size=3).tolist()
        return x, y, z

    def placement(self, reach: float = 0.6) -> Placement:
        """A random placement within a cube, in any orientation."""
        position = self.three(-reach, reach)
        e = self.rng.normal(size=4)
        w, x, y, z = (e / np.linalg.norm(e)).tolist()
        return Placement(position=position, orientation=Orientation(quaternion=(w, x, y, z)))

    def connection(self) -> dict[str, Any]:
        """Fields of a joint between `parent` and `child`: at a point of the world, or with a frame on each."""
        ends = {"parent": self.parent, "child": self.child}
        if self.rng.random() < 0.2:
            return {**ends, "at": self.three(-0.5, 0.5)}
        return {**ends, "parent_pose": self.placement(), "child_pose": self.placement()}

    def curve(self) -> PoseCurve:
        """A skew path in space with turning frames, over u in [-2, 2]."""
        u = np.linspace(-2.0, 2.0, 15)
        a, b = self.rng.uniform(-0.4, 0.4, (2, 6)), self.rng.uniform(0.8, 1.6, 6)
        y = np.outer(u, self.rng.uniform(0.3, 0.8, 6)) + a[0] + a[1] * np.sin(np.outer(u, b))
        return PoseCurve(Table.cubic(u, y, extrapolation="linear"), "euler:zyx")

    def surface(self) -> PoseSurface:
        """A skew family of poses over (u1, u2) in [-2, 2]^2."""
        u = np.linspace(-2.0, 2.0, 9)
        x1, x2 = (x[..., None] for x in np.meshgrid(u, u, indexing="ij"))
        c = self.rng.uniform(-0.4, 0.4, (4, 6))
        y = c[0] * x1 + c[1] * x2 + c[2] * np.sin(x1 * x2) + c[3] * np.cos(x1)
        y[..., 0] += x1[..., 0]
        y[..., 1] += x2[..., 0]
        return PoseSurface(Table2.cubic(u, u, y), "euler:zyx")
