"""Equilibria: `equilibrium.py` finds them, with their stability and forces; `rest_search.py` is the search."""
