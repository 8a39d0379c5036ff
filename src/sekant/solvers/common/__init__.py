"""What integrators share: how a run ends (`outcome.py`), the loop over chunks (`chunks.py`), structs and procedures.

`structs.py` declares the memory of a compiled loop, `loops.py` marks its procedures, `objects.py` finds or makes
their object code; `sites.py` and `modes.py` hold what a right-hand side decides within a step.
"""
