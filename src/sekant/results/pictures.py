"""The door from results to their pictures.

Pictures are the top layer and know results; results know of pictures only by name, and load them when asked.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any


def picture(module: str, function: str, *arguments: Any, to: str | os.PathLike[str] | None = None) -> Any:
    """The picture that `function` of ``sekant.views.module`` draws; also written to `to`, if given."""
    drawn = getattr(import_module(f"sekant.views.{module}"), function)(*arguments)
    if to is not None:
        drawn.save(to)
    return drawn
