"""Two joint coordinates coupled by a ratio or by a table: common fields of rigid and compliant couplings."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import model_validator

from sekant.geometry.spatial import SX, scalar
from sekant.model.examples import Stage
from sekant.model.motion import Kinematics
from sekant.model.quantities import AnyQuantity, Description, JointName, TableName


class CoupledCoordinates(Description):
    """q_driven = ratio * q_driving + offset, or q_driven = table(q_driving) + offset."""

    of_coordinate: ClassVar[tuple[str, str, dict[str, str]]] = (
        "driven",
        "driven_coordinate",
        {"offset": "q"},
    )

    joint: JointName
    """the driving joint"""
    coordinate: int = 0
    """index of the coordinate of the driving joint, starting at 0"""
    driven: JointName
    """the driven joint"""
    driven_coordinate: int = 0
    """index of the coordinate of the driven joint, starting at 0"""
    ratio: AnyQuantity | None = None
    """change of the driven coordinate divided by that of the driving coordinate: negative for external gears,
    positive for a belt"""
    table: TableName | None = None
    """name of a table of the driven coordinate versus the driving coordinate, such as the profile of a cam"""
    offset: AnyQuantity = 0.0
    """constant part of the driven coordinate, m or rad"""

    @model_validator(mode="after")
    def _ratio_or_table(self):
        if (self.ratio is None) == (self.table is None):
            raise ValueError("give either 'ratio' or 'table'")
        return self

    @staticmethod
    def example_pair(stage: Stage) -> dict[str, Any]:
        """The fields of an example that name its two coordinates; they may be the same one."""
        names = ("joint", "coordinate", "driven", "driven_coordinate")
        return dict(zip(names, (*stage.coordinates[0], *stage.coordinates[-1]), strict=True))

    def deviation(self, motion: Kinematics) -> tuple[SX, SX]:
        """The deviation of the driven coordinate from its nominal value, and the derivative of that value by
        the driving one."""
        q = motion.coordinate(self.joint, self.coordinate)[0]
        q_driven = motion.coordinate(self.driven, self.driven_coordinate)[0]
        if self.table is not None:
            target, slope = motion.table(self.table, q), motion.table(self.table, q, 1)
        else:
            slope = SX(scalar(self.ratio))
            target = slope * q
        return q_driven - target - scalar(self.offset), slope
