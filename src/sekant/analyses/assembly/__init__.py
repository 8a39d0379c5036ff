"""Consistent states from rough ones: `assemble.py`; why a mechanism cannot move: `immobility.py`."""
