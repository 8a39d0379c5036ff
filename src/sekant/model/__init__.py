"""What a user describes: frozen items with units, read from files or made in Python, and checked together.

Begin with `model.py`, the collections of a model; `quantities.py` says what a number with a unit is, `registry.py`
how a type of items becomes known, `motion.py` what forces and sensors see of a moving model. `resolve.py` puts
numbers into expressions, `validate.py` finds what does not fit together.
"""
