"""Import of models from other programs: URDF and MJCF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sekant.errors import AnalysisWarning, ModelError
from sekant.io.importers.left_out import LeftOut
from sekant.io.importers.mjcf import read_mjcf
from sekant.io.importers.urdf import read_urdf
from sekant.io.importers.xml_files import read_xml
from sekant.model.model import Model

__all__ = ["SUFFIXES", "Imported", "LeftOut", "import_model", "load_foreign"]

SUFFIXES = (".urdf", ".mjcf", ".xml")


@dataclass(frozen=True)
class Imported:
    """A model, and the contents of its file that it lacks."""

    model: Model
    warnings: tuple[AnalysisWarning, ...]


def import_model(path: str | PathLike[str]) -> Imported:
    """The model in a URDF or MJCF file."""
    model, omitted = _read(Path(path))
    return Imported(model, omitted.warnings)


def load_foreign(path: Path, given: Mapping[str, Any]) -> Model:
    """The model for `sekant.load`: omissions become Python warnings and are listed in its description."""
    if given:
        raise ModelError(
            f"values can be overridden only in Sekant model files (got {', '.join(given)}); write the model "
            "to such a file with sekant.dump first",
            file=str(path),
        )
    model, omitted = _read(path)
    omitted.tell()
    return model


def _read(path: Path):
    root = read_xml(path)
    if root.tag == "mujoco":
        return read_mjcf(root, path)
    return read_urdf(root, path)
