"""Files: YAML <-> models."""

from sekant.io.yaml import dump, json_schema, load, save

__all__ = ["dump", "json_schema", "load", "save"]
