"""What a user describes: frozen items with units, read from files or made in Python, and checked together.

Begin with `model.py`, the collections of a model; `quantities.py` says what a number with a unit is, `registry.py`
how a type of items becomes known, `motion.py` what forces and sensors see of a moving model. `resolve.py` puts
numbers into expressions, `validate.py` finds what does not fit together.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sekant.model.placement import Orientation
    from sekant.model.simulation import SimulationSettings
    from sekant.model.table import TableData

__all__ = ["Orientation", "SimulationSettings", "TableData"]
_LATER = {
    "Orientation": "sekant.model.placement",
    "SimulationSettings": "sekant.model.simulation",
    "TableData": "sekant.model.table",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)
