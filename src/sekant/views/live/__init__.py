"""Live pages: one offline HTML file with the model's equations and the engine's loops as WebAssembly."""

from sekant.views.live.live import live as live
from sekant.views.live.live import live_page as live_page
