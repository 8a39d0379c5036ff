"""The player: a result as one self-contained HTML page, see `docs/viewing.md`."""

from sekant.views.player.view import view

__all__ = ["view"]
