"""Steady motion, in which all bodies turn and travel as one rigid body: `motion.py` finds it."""
