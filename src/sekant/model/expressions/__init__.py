"""Expressions in model files: text to a tree, names to values, jumps in time."""
