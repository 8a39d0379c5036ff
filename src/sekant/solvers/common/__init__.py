"""Shared code of integrators: how a run ends (`outcome.py`) and the loop over chunks (`chunks.py`).

`sites.py` and `modes.py` contain the decisions of a right-hand side within a step; `checks.py` refuses bad
requests.
"""
