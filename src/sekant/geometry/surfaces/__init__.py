"""Pose surfaces: poses over two parameters, and their derivatives."""
