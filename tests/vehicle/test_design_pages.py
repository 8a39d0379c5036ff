"""Pages of designs: what they hold, and what they refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from sekant.errors import SekantError
from sekant.vehicle import axle_curves, load_axle
from sekant.vehicle.hardpoints.point_tables import hard_point_source
from sekant.views.design.drawing import drawing_of
from sekant.views.design.mechanism import mechanism_of
from sekant.views.design.page import design_page

EXAMPLES = Path(__file__).parents[2] / "examples"
CORNER = EXAMPLES / "suspensions" / "hardpoints" / "double_wishbone.yaml"
AXLE = EXAMPLES / "axles" / "front_double_wishbone.yaml"


def figure(text: str) -> dict:
    found = re.search(r'<script type="application/json" id="design">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def changed(tmp_path: Path, **changes) -> Path:
    file = tmp_path / "corner.yaml"
    file.write_text(json.dumps(hard_point_source(CORNER).data | changes))  # JSON is YAML
    return file


def test_a_page_holds_all_curves_and_points_of_the_command_and_asks_for_nothing():
    text = design_page(CORNER, axle=False)
    shown = figure(text)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "'unsafe-eval'" not in policy[1]
    assert "http" not in policy[1]
    assert [point["name"] for point in shown["points"]] == list(load_axle(CORNER).points)
    assert len(shown["travel"]) == len(shown["steering"]) == 41
    assert {"camber", "roll_center_height", "wheel_rate"} <= {curve["name"] for curve in shown["curves"]}
    assert len(text) < 1_200_000


def test_names_of_a_file_are_inert(tmp_path: Path):
    name = "</script><script>alert(1)</script>"
    text = design_page(changed(tmp_path, name=name), axle=False)
    assert name not in text
    assert figure(text)["title"] == name


def test_places_and_lengths_are_those_of_the_hard_points():
    given = load_axle(AXLE)
    mechanism = mechanism_of(given, None, both=True)
    drawing, system = drawing_of(mechanism), mechanism.system
    q = np.zeros(system.nq)
    for first, _ in system.facts.unit_blocks:
        q[first] = 1.0
    p = system.parameter_vector()
    places = drawing.places(np.zeros(1), q, p)[0].reshape(-1, 3)
    for name, (left, right) in drawing.points.items():
        if name in given.points:
            x, y, z = given.points[name]
            np.testing.assert_allclose(places[[left, right]], [(x, y, z), (x, -y, z)], atol=1e-15)
    lengths = dict(zip(drawing.links, drawing.lengths(np.zeros(1), q, p)[0], strict=True))
    rod = given.point("tie_rod_outer") - given.point("tie_rod_inner")
    assert lengths["tie rod"] == pytest.approx(np.linalg.norm(rod), rel=1e-14)
    p[system.places["left.tie_rod_length"]] = 2e-3
    longer = drawing.lengths(np.zeros(1), q, p)[0][drawing.links.index("tie rod")]
    assert longer - lengths["tie rod"] == pytest.approx(2e-3, rel=1e-9)


def test_curves_of_the_mechanism_are_named_as_those_of_the_command():
    mechanism = mechanism_of(load_axle(AXLE), None, both=True)
    curves = axle_curves(load_axle(AXLE), travel=[-0.01, 0.0, 0.01])
    assert set(mechanism.names) <= set(curves.names)
    assert all(curves.unit(name) == unit for name, unit in zip(mechanism.names, mechanism.units, strict=True))


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (lambda path: EXAMPLES / "quarter_car.yaml", {}, "contains no hard points"),
        (
            lambda path: changed(path, bushings={"upper_front": {"stiffness": [9e6, 9e6, 2e6]}}),
            {},
            "on bushings, .*compliant: false",
        ),
        (lambda path: changed(path, type="double_wishbon"), {}, "did you mean"),
        (
            lambda path: EXAMPLES / "axles" / "rear_twist_beam.yaml",
            {"axle": True, "steering": "-3..3mm"},
            "has no steering rack",
        ),
        (lambda path: CORNER, {"travel": "30..-30mm"}, "must increase"),
    ],
)
def test_what_cannot_be_a_page_is_refused_with_its_reason(make, options, words, tmp_path: Path):
    with pytest.raises(SekantError, match=words):
        design_page(make(tmp_path), **{"axle": False, **options})
