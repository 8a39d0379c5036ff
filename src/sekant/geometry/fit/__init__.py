"""Fitting of pose curves and surfaces to data: reading, checking, knots, arc length, reports."""
