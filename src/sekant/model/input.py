"""Inputs: numbers that whoever runs the model sets, as constants, as functions of time, or step by step."""

from __future__ import annotations

from typing import Self

from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, Description


class Input(Description):
    """A quantity from outside, known by its name in signals, forces and sensors."""

    unit: str = "1"
    """unit in which values are given; they are used as SI numbers"""
    default: AnyQuantity = 0.0
    """value where a run gives none"""

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(unit="N")
