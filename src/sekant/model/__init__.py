"""What a user describes: frozen items with units, read from files or made in Python, and checked together.

Begin with `model.py`, the collections of a model; `quantities.py` defines numbers with units, `registry.py`
registers types of items, `motion.py` defines what forces and sensors see of a moving model. `resolve.py` puts
numbers into expressions, `validate.py` finds contradictions.
"""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later

if TYPE_CHECKING:
    from sekant.model.placement import Orientation
    from sekant.model.simulation import SimulationSettings
    from sekant.model.table import TableData
    from sekant.model.view import View

__all__ = ["Orientation", "SimulationSettings", "TableData", "View"]
__getattr__ = imported_later(
    __name__,
    {
        "sekant.model.placement": ["Orientation"],
        "sekant.model.simulation": ["SimulationSettings"],
        "sekant.model.view": ["View"],
        "sekant.model.table": ["TableData"],
    },
)
