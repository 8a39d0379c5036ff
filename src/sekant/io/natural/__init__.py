"""YAML <-> mechanisms in natural coordinates: the section `natural` of a file."""

from sekant.io.natural.reader import is_natural, mechanism_from_dict
from sekant.io.natural.sections import natural_schema
from sekant.io.natural.writer import mechanism_as_dict

__all__ = ["is_natural", "mechanism_as_dict", "mechanism_from_dict", "natural_schema"]
