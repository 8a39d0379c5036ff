"""Reading and writing files: model files, logs, imports and exports."""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later, names_of

if TYPE_CHECKING:
    from sekant.io.writing import model_text as model_text

__all__ = names_of(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
__getattr__ = imported_later(__name__)
