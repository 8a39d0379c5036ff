"""Numerical methods, independent of mechanics."""
