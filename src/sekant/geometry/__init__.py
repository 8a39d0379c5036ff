"""Rotations, spatial vectors, and poses along curves and surfaces. Knows no bodies.

`rotations.py` (numbers) and `spatial.py` (expressions) come first; `curves/`, `surfaces/` and `pose_tables/` hold
poses over one or two parameters, `fit/` makes them from data.
"""
