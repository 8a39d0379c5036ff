"""Making and saving pictures: one style, formats by the ending of the file name, never half-written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sekant import plot_style as style
from sekant.files import check_writable, picture_format, replace_file

if TYPE_CHECKING:
    from sekant.views.figures import Picture


@contextmanager
def drawing(width: float, height: float) -> Iterator[Picture]:
    """An empty picture of `width` x `height` inches; what is drawn inside follows the common style."""
    import matplotlib as mpl

    from sekant.views.figures import Picture

    with mpl.rc_context(style.RC):
        yield Picture((width, height), layout="constrained")


def save_picture(draw: Callable[[], Picture], path: str | os.PathLike[str]) -> Path:
    """Draw and write a picture; a path that cannot be written is told before anything is drawn."""
    ending = picture_format(path)
    check_writable(path)
    replace_file(path, draw().rendered(ending))
    return Path(path)
