"""Numerical methods. They know no mechanics."""
