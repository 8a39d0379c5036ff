"""The axles among the examples: they assemble, and have the motions of an axle."""

from __future__ import annotations

import pytest

import sekant as sk
from suspensions import EXAMPLES

FILES = sorted((EXAMPLES.parent / "axles").glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_examples_assemble(file):
    """As drawn: two wheels that travel and spin; the rack is held, bushings give further freedoms."""
    points = sk.vehicle.load_axle(file).model_copy(update={"compliant": False})
    report = sk.assemble(sk.compile(sk.vehicle.axle(points), engine="casadi")).report
    assert report.degrees_of_freedom == 4
    assert report.redundant == ()
    assert report.moved == ()
