"""Where the energy of a run is, who put it in or took it out, and what the balance has lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sekant.errors import SekantError
from sekant.results.result import Result
from sekant.views.plots import Panel, draw_panels

if TYPE_CHECKING:
    from sekant.views.pictures import Picture

_STORED = ("energy.kinetic", "energy.potential", "energy")
_MOST = 12


def energy_picture(result: Result) -> Picture:
    """Energies, the work of every element that is not conservative, and the balance, J over s."""
    columns = result.channels.columns
    if "energy.balance" not in columns:
        raise SekantError("the result has no energies; run the model with this version of Sekant")
    stored = tuple(columns.index(name) for name in _STORED if name in columns)
    works = tuple(i for i, name in enumerate(columns) if name.endswith(".work"))
    panels = [Panel("energy", "J", stored)]
    if works:
        panels.append(Panel("work done on the bodies", "J", works[:_MOST], len(works) - len(works[:_MOST])))
    panels.append(
        Panel("balance: energy less work less initial energy", "J", (columns.index("energy.balance"),))
    )
    return draw_panels(result, panels)
