"""Optimization of design parameters: `optimize.py`."""
