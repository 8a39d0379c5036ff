"""Optimization of what a model leaves open: `optimize.py`."""
