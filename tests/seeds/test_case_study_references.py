"""Reference motions of case studies in extended precision, against a closed solution, their script, and Sekant."""

from __future__ import annotations

import json
import sys
from decimal import Decimal, localcontext
from pathlib import Path

import mpmath
import numpy as np
import pytest
from ruamel.yaml import YAML

import sekant as sk

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))
sys.path.insert(0, str(ROOT / "tests" / "references"))

import case_studies  # noqa: E402
import make_references as make  # noqa: E402
from jets import cross, minus  # noqa: E402

OFF = Decimal("1e-19")
STORED = sorted(path.stem for path in make.FOLDER.glob("*.json"))


def stored(name: str) -> dict:
    return json.loads((make.FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_all_references_that_the_script_makes_are_stored():
    assert sorted(make.SETTINGS) == STORED
    for name in STORED:
        assert stored(name)["made"]["digits"] > 16.0  # beyond what doubles hold


def test_four_bars_are_a_pendulum_in_elliptic_functions():
    """Inertia 3 kg m^2 and 3.5 kg m of all rods: sin(chi/2) = sn(Omega t/2 - K), chi from the lowest place."""
    found = stored("n_four_bar")
    with mpmath.workdps(30):
        square = mpmath.mpf("9.81") * mpmath.mpf("3.5") / 3
        Omega = mpmath.sqrt(1 + 4 * square)
        m = 4 * square / Omega**2
        for t, row in zip(found["time"], found["values"], strict=True):
            u = Omega * mpmath.mpf(t) / 2 - mpmath.ellipk(m)
            s, c = mpmath.ellipfun("sn", u, m=m), mpmath.ellipfun("cn", u, m=m)
            for i in range(3):
                assert abs(mpmath.mpf(row[2 * i]) - (i - 2 * s * c)) < 1e-18
                assert abs(mpmath.mpf(row[2 * i + 1]) - (2 * s * s - 1)) < 1e-18


def model_file(name: str) -> dict:
    """What a model file says, as it is written, without Sekant."""
    return YAML(typ="base").load(case_studies.FOLDER / f"{name}.yaml")


def written(text: str) -> Decimal:
    number, _, unit = text.partition(" ")
    return Decimal(number) / (1000 if unit == "mm" else 1)


def vector(texts: list[str]) -> list[Decimal]:
    return [written(text) for text in texts]


def inner(a, b) -> Decimal:
    return sum((x * y for x, y in zip(a, b, strict=True)), Decimal(0))


def stored_points(name: str, dim: int):
    """Points of each row, in the order of the file."""
    for row in stored(name)["values"]:
        numbers = [Decimal(x) for x in row]
        yield [numbers[k : k + dim] for k in range(0, len(numbers), dim)]


def test_the_stored_strut_keeps_its_lengths_and_its_line():
    model = model_file("mcpherson_strut")
    at = model["natural"]["points"]
    A0, B0, P0 = vector(at["A"]["at"]), vector(at["B"]), vector(at["P"])
    upright, arm = minus(P0, B0), minus(B0, A0)
    slope = inner(upright, upright).sqrt()
    Q_from_A = [
        p - a + written(model["parameters"]["strut"]) * x / slope
        for p, a, x in zip(P0, A0, upright, strict=True)
    ]
    for A, B, P in stored_points("mcpherson_strut", 2):
        assert abs(inner(minus(B, A), minus(B, A)) - inner(arm, arm)) < OFF
        found = minus(P, B)
        assert abs(inner(found, found) - slope**2) < OFF
        x, y = minus(minus(P, A), Q_from_A)
        assert abs(found[0] * y - found[1] * x) < OFF


def test_the_stored_five_links_close():
    natural = model_file("five_link_suspension")["natural"]
    center = vector(natural["points"]["BT"]["at"])
    at = {name: vector(point["at"]) for name, point in natural["bodies"]["carrier"]["points"].items()}
    for BT, G, H, W in stored_points("five_link_suspension", 3):
        u, v = ([10 * x for x in minus(end, BT)] for end in (G, H))
        axes = [u, v, cross(u, v)]
        assert max(abs(inner(a, b) - (a is b)) for a in axes for b in axes) < OFF
        now = {
            name: [x + inner(minus(place, center), [axis[i] for axis in axes]) for i, x in enumerate(BT)]
            for name, place in at.items()
        }
        for rod in natural["rods"].values():
            F = vector(natural["ground"][rod["ends"][0]])
            arm, before = minus(now[rod["ends"][1]], F), minus(at[rod["ends"][1]], F)
            assert abs(inner(arm, arm) - inner(before, before)) < OFF
        spoke = minus(W, now["B"])
        assert abs(inner(spoke, spoke) - written("300 mm") ** 2) < OFF
        assert abs(inner(spoke, minus(now["B"], now["BS"]))) < OFF


def test_the_stored_governor_keeps_its_lengths_and_its_hinge():
    radius = written(model_file("flyball_governor")["parameters"]["radius"])
    for A, B, E in stored_points("flyball_governor", 3):
        rod = minus(B, A)
        assert abs(A[0] ** 2 + A[1] ** 2 - radius**2) < OFF
        assert abs(inner(rod, rod) - 1) < OFF
        assert abs(rod[0] * A[1] - rod[1] * A[0]) < OFF
        assert (E[0], E[1]) == (0, 0)


@pytest.mark.parametrize(
    ("name", "until"), [("n_four_bar", 1), *[pytest.param(n, 10, marks=pytest.mark.long) for n in STORED]]
)
def test_the_script_makes_what_is_stored(name, until):
    """Both settings, to the digits in which they agreed; the stored numbers have 22."""
    found = stored(name)
    digits = min(found["made"]["digits"] - 0.1, 20.0)
    with localcontext():
        _, runs = make.motions(name, until)
        kept = [[Decimal(x) for x in row] for row in found["values"][: len(runs[0])]]
        assert min(make.agreement(rows, kept) for rows in runs) > digits


# Correct digits at t = 10 s of Taylor's method at 1e-12, rounded down. The four-bars lose theirs in singular
# positions, the slider-crank at the start: assembly stops within 2e-12 m of the nearest place.
REACHED = {
    "n_four_bar": 8.5,
    "slider_crank": 8.9,
    "bricard": 11.5,
    "copy_machine": 14.0,
    "mcpherson_strut": 14.5,
    "five_link_suspension": 11.4,
    "flyball_governor": 12.2,
}


@pytest.mark.parametrize("name", STORED)
def test_sekant_reaches_the_references(name):
    system = sk.compile(case_studies.load(name))
    reference = case_studies.stored_reference(name)
    values, _ = case_studies.motion(system, 1e-12, "taylor")
    moving = np.ptp(reference, axis=0) > 1e-9
    assert case_studies.correct_digits(values[-1, moving], reference[-1, moving]) > REACHED[name]
    assert np.max(case_studies.differences(values[::10], reference)) < 10.0 ** -REACHED[name]
