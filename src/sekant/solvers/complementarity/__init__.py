"""Decides what sticks, slides, touches and parts, by complementarity: no mechanics, only forces, slips and limits."""
