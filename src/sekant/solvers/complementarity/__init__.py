"""Decides which elements stick, slide, touch or separate, by complementarity: no mechanics, only forces,
slips and limits."""
