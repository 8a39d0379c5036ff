"""Tires: linear, Fiala, brush, Magic Formula; each is a force type of its own between a wheel and the road."""

from sekant.vehicle.tires.element import Tire
from sekant.vehicle.tires.from_file import MagicFormulaTire
from sekant.vehicle.tires.property_file import TirePropertyFile, read_tir
from sekant.vehicle.tires.simple import BrushTire, FialaTire, LinearTire

__all__ = [
    "BrushTire",
    "FialaTire",
    "LinearTire",
    "MagicFormulaTire",
    "Tire",
    "TirePropertyFile",
    "read_tir",
]
