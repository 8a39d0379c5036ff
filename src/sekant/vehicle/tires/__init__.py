"""Tires: linear, Fiala, brush and Magic Formula. Each is a type of force between a wheel and the road."""

from sekant.vehicle.tires.element import Tire as Tire
from sekant.vehicle.tires.from_file import MagicFormulaTire as MagicFormulaTire
from sekant.vehicle.tires.property_file import TirePropertyFile as TirePropertyFile
from sekant.vehicle.tires.property_file import read_tir as read_tir
from sekant.vehicle.tires.simple import BrushTire as BrushTire
from sekant.vehicle.tires.simple import FialaTire as FialaTire
from sekant.vehicle.tires.simple import LinearTire as LinearTire
