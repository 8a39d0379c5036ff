"""Steady motion, in which all bodies turn and travel as one: `motion.py`, its equations and their solution."""
