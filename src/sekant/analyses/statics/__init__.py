"""Positions of rest, their stability and forces: `equilibrium.py`, found by `rest_search.py`."""
