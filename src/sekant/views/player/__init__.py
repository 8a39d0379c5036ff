"""The player: a result as one HTML page that needs nothing else, see `docs/viewing.md`."""

from sekant.views.player.view import view

__all__ = ["view"]
