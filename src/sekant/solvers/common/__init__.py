"""Shared code of integrators: the end of a run (`outcome.py`) and the loop over chunks (`chunks.py`).

`sites.py` and `modes.py` handle the switches of a right-hand side within a step; `checks.py` checks
arguments.
"""
