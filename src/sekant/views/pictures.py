"""Making and saving pictures in one style; the file extension sets the format, and files are written atomically."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from sekant import plot_style as style
from sekant.files import check_writable, picture_format, replace_file

_DATELESS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


class Picture(Figure):
    """A matplotlib figure; ``picture.save("a.svg")`` writes it, a notebook shows it."""

    def rendered(self, ending: str) -> bytes:
        """The picture as svg, pdf or png; equal pictures give equal bytes."""
        buffer = io.BytesIO()
        with mpl.rc_context(style.RC):
            self.savefig(buffer, format=ending, metadata=_DATELESS[ending])
        return buffer.getvalue()

    def save(self, path: Any) -> None:
        """Write the picture; the extension .svg, .pdf or .png sets the format."""
        save_picture(lambda: self, path)

    def _repr_svg_(self) -> str:
        return self.rendered("svg").decode()


@contextmanager
def drawing(width: float, height: float, *, find_room: bool = True) -> Iterator[Picture]:
    """An empty picture of `width` x `height` inches; drawing inside the context follows the common style.

    `find_room` reserves space for texts around axes, which requires an additional drawing; otherwise axes remain
    where they are placed.
    """
    with mpl.rc_context(style.RC):
        layout: Any = "constrained" if find_room else "none"  # the stub of matplotlib does not list "none"
        yield Picture((width, height), layout=layout)


def save_picture(draw: Callable[[], Picture], path: str | os.PathLike[str]) -> Path:
    """Draw and write a picture; an unwritable path is reported before drawing."""
    ending = picture_format(path)
    check_writable(path)
    replace_file(path, draw().rendered(ending))
    return Path(path)
