"""HALL's comparisons of run times, measured by the examples while the pages are built."""

from __future__ import annotations

import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path[:0] = [str(EXAMPLES), str(EXAMPLES / "suspensions")]


def forms() -> str:
    """One joint as DAE and as ODE (table 3.6)."""
    import dae_against_ode

    return dae_against_ode.text(dae_against_ode.compare(1.0))


def tie_rod() -> str:
    """Steering by a tie rod and by a coordinate (table 4.7)."""
    import tie_rod

    return tie_rod.text(tie_rod.compare(1.0))


def variable_steps() -> str:
    """Seconds of an evaluation (tables 4.2, 4.5)."""
    import variable_steps

    return variable_steps.text({pair: variable_steps.compare(pair, 5.0) for pair in variable_steps.PAIRS})
