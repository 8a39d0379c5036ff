"""Coupling of two joint coordinates: gears, racks, and any relation given by a table."""

from __future__ import annotations

from typing import ClassVar, Self

from pydantic import model_validator

from sekant.model.constraints.base import Constraint, register
from sekant.model.coupled_coordinates import CoupledCoordinates
from sekant.model.examples import Stage


@register
class Coupling(CoupledCoordinates, Constraint):
    """q_driven = ratio * q_driving + offset, or q_driven = table(q_driving) + offset."""

    type: ClassVar[str] = "coupling"
    summary: ClassVar[str] = (
        "gear, rack or cam: couples one joint coordinate to another by a ratio or a table"
    )

    @model_validator(mode="after")
    def _two(self):
        same = (self.joint, self.coordinate) == (self.driven, self.driven_coordinate)
        if same and self.ratio != 0.0:
            raise ValueError(
                "'joint' and 'driven' are the same coordinate; to lock it at the offset, set the ratio to 0"
            )
        return self

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(**cls.example_pair(stage), ratio=stage.uniform(0.4, 1.7), offset=0.3)

    def position(self, motion, auxiliary):
        return self.deviation(motion)[0]
