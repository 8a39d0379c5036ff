"""Files: YAML <-> models."""

from typing import TYPE_CHECKING

from sekant.extensions import imported_later

if TYPE_CHECKING:
    from sekant.io.writing import model_text

__all__ = ["model_text"]
__getattr__ = imported_later(
    __name__,
    {"sekant.io.writing": ["model_text"]},
)
