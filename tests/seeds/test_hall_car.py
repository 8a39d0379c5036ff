"""Hall's full vehicle (section 4.1.4): reduced against all its links."""

import runpy
from pathlib import Path

import pytest

LOADS = 0.002  # as published
SCRIPT = Path(__file__).parents[2] / "examples" / "car" / "hall_comparison.py"


@pytest.mark.long
def test_reduced_cars_move_as_those_with_all_links():
    """Published: lateral response within 1 %, tire loads within 0.2 %; with exact inertia much closer."""
    found = runpy.run_path(str(SCRIPT))["compare"](6.0)
    whole, exact, split = (found[name] for name in ("all links", "exact", "split"))
    assert (whole.velocities, whole.constraints) == (38, 24)
    assert all((run.velocities, run.constraints) == (14, 0) for run in (exact, split))
    assert exact.lateral < 1e-6
    assert exact.loads < 1e-6
    assert split.lateral < 0.01
    assert split.loads < LOADS
