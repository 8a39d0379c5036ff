"""Pose curves: from formulas, points and tracks; frames along them, arc length, and storage as pieces within
a tolerance."""
