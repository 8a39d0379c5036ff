"""Piecewise polynomials, which represent all sampled data: `table.py`; in expressions: `lookups.py`."""
