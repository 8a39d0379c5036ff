"""Files: YAML <-> models."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sekant.io.writing import model_text

__all__ = ["model_text"]
_LATER = {"model_text": "sekant.io.writing"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_LATER[name]), name)
