"""Newton's method for systems that are evaluated in Python: one loop, two ways to control the steps.

Compiled loops have their own iterations: Radau's simplified Newton method, generalized alpha, projections of all
integrators, the sweep from neighbor to neighbor (`sekant.solvers.sweep`), and the closing of loops (`closing.py`).
"""

from sekant.solvers.newton.newton import Found, FunctionProblem, Linear, Problem, Reason, follow, newton
from sekant.solvers.newton.rows import Rows
from sekant.solvers.newton.searches import Damping, FullSteps

__all__ = [
    "Damping",
    "Found",
    "FullSteps",
    "FunctionProblem",
    "Linear",
    "Problem",
    "Reason",
    "Rows",
    "follow",
    "newton",
]
