"""From a model to equations of motion in CasADi expressions.

`contract.py` says what a formulation provides, `build.py` chooses one. In joint coordinates: `tree.py` (which joints
close loops), `kinematics.py`, `recursive.py`, `equations.py`; what all have in common under constraints:
`constrained.py`, `kkt.py`. In points: `natural/`.
"""
