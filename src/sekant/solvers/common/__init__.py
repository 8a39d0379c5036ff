"""What integrators share: how a run ends (`outcome.py`) and the loop over chunks (`chunks.py`).

`sites.py` and `modes.py` hold what a right-hand side decides within a step; `checks.py` refuses bad requests.
"""
