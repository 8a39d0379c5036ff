"""Equilibria, their stability and forces: `equilibrium.py`; the search: `rest_search.py`."""
