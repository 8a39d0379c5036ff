"""Hall's full vehicle (section 4.1.4): reduced against all its links."""

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "car" / "hall_comparison.py"


@pytest.mark.long
def test_reduced_cars_move_as_those_with_all_links():
    """Published: lateral response within 1 %, tire loads within 0.2 %; with exact inertia much closer."""
    found = runpy.run_path(str(SCRIPT))["compare"](6.0)
    assert found["all links"]["coordinates"] == 43
    assert found["exact"]["coordinates"] == found["split"]["coordinates"] == 15
    assert found["exact"]["lateral"] < 1e-6
    assert found["exact"]["tire loads"] < 1e-6
    assert found["split"]["lateral"] < 0.01
