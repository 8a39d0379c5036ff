"""A figure that shows itself in notebooks, in vector form and in the common style."""

from __future__ import annotations

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from sekant import plot_style as style

_DATELESS: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}


class Picture(Figure):
    """A matplotlib figure; ``picture.save("a.svg")`` writes it, a notebook shows it."""

    def rendered(self, ending: str) -> bytes:
        """The picture as svg, pdf or png; the same bytes for the same picture."""
        buffer = io.BytesIO()
        with mpl.rc_context(style.RC):
            self.savefig(buffer, format=ending, metadata=_DATELESS[ending])
        return buffer.getvalue()

    def save(self, path: Any) -> None:
        """Write the picture; the ending .svg, .pdf or .png gives the format."""
        from sekant.views.pictures import save_picture

        save_picture(lambda: self, path)

    def _repr_svg_(self) -> str:
        return self.rendered("svg").decode()
