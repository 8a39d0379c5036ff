"""Players in notebooks: pages in frames, whose code is in the notebook only once."""

from __future__ import annotations

import hashlib
import json
import sys
from itertools import count
from typing import Any

from sekant.views.player.page import FRAME_STYLE, Addition, embedded, in_frame, page, page_parts

_numbers = count(1)
_cells: dict[str, str] = {}
"""The cell whose output contains the code, by the hash of the code."""
_MISSING = "<p>The player's code is in the output of an earlier cell: run all cells again.</p>"


def framed(figure: dict[str, Any], code: str, addition: Addition | None = None) -> str:
    """The page as an element for notebooks.

    The first cell that shows a page with this `code` (`shared_code`) contains it for all others, also when
    the cell runs again. If every output is a separate page, as in Colab, each contains the code.
    """
    if "google.colab" in sys.modules:
        return in_frame(page(figure, addition))
    key = hashlib.sha256(code.encode()).hexdigest()[:16]
    cell = _present_cell()
    before, after = page_parts(figure, addition, code=code)
    name, own = f"sekant-{key}-{next(_numbers)}", json.dumps(key)
    lines = ["const known = (window.sekantPlayers ??= {});"]
    if _cells.setdefault(key, cell) == cell:
        lines.append(f"known[{own}] = {embedded(code)};")
    lines += [
        f"const code = known[{own}];",
        f"const parts = [{embedded(before + '<script>')}, code, {embedded('</script>' + after)}];",
        f'document.getElementById("{name}").srcdoc = code ? parts.join("") : {embedded(_MISSING)};',
    ]
    script = "\n".join(lines)
    return f'<iframe id="{name}" style="{FRAME_STYLE}"></iframe><script>{{\n{script}\n}}</script>'


def _present_cell() -> str:
    """An identifier of the running cell, if the notebook provides it."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None:
        return f"output {next(_numbers)}"
    header = getattr(shell, "parent_header", None) or {}
    cell = (header.get("metadata") or {}).get("cellId") if isinstance(header, dict) else None
    return str(cell or f"execution {getattr(shell, 'execution_count', 0)}")
