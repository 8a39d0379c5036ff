"""Pictures that results make of themselves, also written to a file."""

from __future__ import annotations

import os
from typing import Any

from sekant.extensions import drawing


def picture(name: str, *arguments: Any, to: str | os.PathLike[str] | None = None) -> Any:
    """The picture `name` of the arguments; also written to `to`, if given."""
    drawn = drawing(name)(*arguments)
    if to is not None:
        drawn.save(to)
    return drawn
