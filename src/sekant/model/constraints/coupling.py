"""Coupling of two joint coordinates: gears, racks, and any relation given by a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import model_validator

from sekant.geometry.spatial import scalar
from sekant.model.constraints.base import Constraint, register
from sekant.model.quantities import AnyQuantity, JointName, TableName

if TYPE_CHECKING:
    from sekant.model.examples import Stage


@register
class Coupling(Constraint):
    """q_driven = ratio * q_driving + offset, or q_driven = table(q_driving) + offset."""

    type: ClassVar[str] = "coupling"
    summary: ClassVar[str] = "gear, rack or cam: ties one joint coordinate to another by a ratio or a table"

    joint: JointName  # the driving joint
    coordinate: int = 0
    driven: JointName  # the driven joint
    driven_coordinate: int = 0
    ratio: AnyQuantity | None = None
    table: TableName | None = None
    offset: AnyQuantity = 0.0

    @classmethod
    def example(cls, stage: Stage) -> Self:
        driving, driven = stage.coordinates[0], stage.coordinates[-1]
        return cls(
            joint=driving[0],
            coordinate=driving[1],
            driven=driven[0],
            driven_coordinate=driven[1],
            ratio=stage.uniform(0.4, 1.7),
            offset=0.3,
        )

    @model_validator(mode="after")
    def _ratio_or_table(self):
        if (self.ratio is None) == (self.table is None):
            raise ValueError("needs either 'ratio' or 'table'")
        return self

    def position(self, motion, auxiliary):
        q = motion.coordinate(self.joint, self.coordinate)[0]
        q_driven = motion.coordinate(self.driven, self.driven_coordinate)[0]
        target = motion.table(self.table, q) if self.table is not None else scalar(self.ratio) * q
        return q_driven - target - scalar(self.offset)
