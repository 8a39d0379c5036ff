"""Descriptions by the user: frozen items with units, read from files or made in Python, and checked together.

Begin with `model.py`, the collections of a model; `quantities.py` defines numbers with units, `registry.py`
registers types of items, `motion.py` defines what forces and sensors see of a moving model. `resolve.py` puts
numbers into expressions, `validate.py` finds contradictions.
"""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later, names_of

if TYPE_CHECKING:
    from sekant.model.placement import Orientation as Orientation
    from sekant.model.settings import SimulationSettings as SimulationSettings
    from sekant.model.settings import View as View
    from sekant.model.table import TableData as TableData

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = imported_later(__name__)
