"""Piecewise polynomials, by which all that is sampled enters: `table.py`; in expressions: `lookups.py`."""
