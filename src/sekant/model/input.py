"""Inputs: numbers that the user sets in a run, as constants, as functions of time, or step by step."""

from __future__ import annotations

from typing import Any, Self

from pydantic import ValidationInfo, field_validator

from sekant.errors import ModelError
from sekant.model.examples import Stage
from sekant.model.quantities import AnyQuantity, Description, UnitName, read_value, wrong
from sekant.units import NONE, Unit, parse_unit


class Input(Description):
    """A quantity whose value the user sets for a run. Signals, forces and sensors refer to it by name."""

    unit: UnitName = "1"
    """SI unit of the values"""
    default: AnyQuantity = 0.0
    """value if the user does not set one"""

    @field_validator("unit")
    @classmethod
    def _in_si(cls, text: str) -> str:
        unit = _mechanical(text)
        if unit is not None and unit.factor != 1.0:
            si = unit.si or "1"
            raise ValueError(
                f"values of an input are numbers in SI units, so write '{si}' instead of '{text}'; a run also "
                f"accepts text with a unit, such as '5 {text}'"
            )
        return text

    @field_validator("default", mode="before")
    @classmethod
    def _alike(cls, given: Any, info: ValidationInfo) -> Any:
        unit = _mechanical(info.data.get("unit", "1"))
        if unit is None or unit.dimension == NONE:
            return given
        try:
            return read_value(given, unit.text)
        except ModelError as error:
            raise wrong(error.message) from None

    @classmethod
    def example(cls, stage: Stage) -> Self:
        return cls(unit="N")


def _mechanical(text: str) -> Unit | None:
    """The unit; None if it is outside mechanics."""
    try:
        return parse_unit(text)
    except ModelError:
        return None
