"""Pose curves: from formulas, points and tracks; frames along them, arc length, and how exactly they are stored."""
