"""Reference motions of case studies in extended precision, against a closed solution, their script, and Sekant."""

from __future__ import annotations

import json
import sys
from decimal import Decimal, localcontext
from pathlib import Path

import mpmath
import numpy as np
import pytest

import sekant as sk

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))
sys.path.insert(0, str(ROOT / "tests" / "references"))

import case_studies  # noqa: E402
import make_references as make  # noqa: E402

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
}


@pytest.mark.parametrize("name", STORED)
def test_sekant_reaches_the_references(name):
    system = sk.compile(case_studies.load(name))
    reference = case_studies.stored_reference(name)
    values, _ = case_studies.motion(system, 1e-12, "taylor")
    moving = np.ptp(reference, axis=0) > 1e-9
    assert case_studies.correct_digits(values[-1, moving], reference[-1, moving]) > REACHED[name]
    assert case_studies.apart(values[::10], reference) < 10.0 ** -REACHED[name]
