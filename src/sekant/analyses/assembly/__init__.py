"""Consistent states from rough ones: `assemble.py`. Why a mechanism cannot move: `immobility.py`."""
