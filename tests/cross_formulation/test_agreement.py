"""Three formulations and all adaptive methods agree at their tolerances, where each of them has its difficulty.

A banked composite track (breaks between its segments), a spline path of measured data (40 pieces), a planar loop in
space (redundant constraints), a loop with a stiff bushing. Errors of positions are those against series in joint
coordinates at round-off, over what the positions cover; at most ten times the tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import sekant as sk
from loops import GRAVITY, at, four_bar, slider_crank
from paths import STADIUM
from sekant.model.joints import JOINTS
from sekant.model.model import Ground

FORMULATIONS, METHODS = ("joint", "cartesian", "natural"), ("dop853", "radau5", "taylor")


def banked_track(folder: Any) -> sk.Model:
    file = folder / "stadium.yaml"
    file.write_text(STADIUM)
    return sk.load(file)


def measured_path(folder: Any) -> sk.Model:
    """A bead on a fit through 241 points with 0.2 mm of noise."""
    t = np.linspace(0.0, 1.0, 241)
    points = np.stack([4 * t, np.sin(2.6 * t), 0.5 * np.cos(3.1 * t)], axis=1)
    points += 2e-4 * np.random.default_rng(3).normal(size=points.shape)
    bead = sk.Body(mass=0.7, com=(0.02, 0.01, 0.03), inertia=(0.01, 0.02, 0.025, 0, 0, 0))
    curve = sk.PoseCurve.fit(points, extrapolation="linear")
    rail = JOINTS["path"](child="bead", curve=curve, q0=0.4, v0=1.3)
    return sk.Model(name="measured", gravity=GRAVITY, bodies={"bead": bead}, joints={"rail": rail})


def redundant_loop(folder: Any) -> sk.Model:
    return four_bar()


def stiff_loop(folder: Any) -> sk.Model:
    """A slider-crank whose slider is held by a bushing: 380 Hz, and damped in 0.4 ms."""
    bush = sk.forces.SpringDamper(
        parent="ground.wall", child="slider", stiffness=4e6, damping=2e3, free_length=0.4
    )
    ground = Ground(frames={"wall": at(1.6, 0.0, 0.05)})
    return slider_crank(ground=ground, forces={"bush": bush})


MECHANISMS: dict[str, tuple[Callable[[Any], sk.Model], float]] = {
    "banked track": (banked_track, 8.0),
    "measured path": (measured_path, 1.2),
    "redundant loop": (redundant_loop, 1.0),
    "stiff loop": (stiff_loop, 0.3),
}
# What `make test` runs: every mechanism, formulation and method at least once; the rest is long.
FEW = {
    ("banked track", "cartesian"): ("dop853", "radau5"),
    ("measured path", "joint"): ("dop853", "radau5", "taylor"),
    ("redundant loop", "natural"): ("radau5", "dop853"),
    ("stiff loop", "cartesian"): ("radau5",),
}
ALL = [
    pytest.param(
        name,
        formulation,
        method,
        marks=() if method in FEW.get((name, formulation), ()) else (pytest.mark.long,),
    )
    for name in MECHANISMS
    for formulation in FORMULATIONS
    for method in METHODS
]


@pytest.fixture(scope="module")
def motions(tmp_path_factory) -> Callable[[str, str, str, float], np.ndarray]:
    """Positions (41, ...) of all bodies by a formulation and method at a tolerance; each system is compiled once."""

    @cache
    def model(name: str) -> sk.Model:
        return MECHANISMS[name][0](tmp_path_factory.mktemp("model"))

    @cache
    def system(name: str, formulation: Any) -> sk.System:
        return sk.compile(model(name), formulation=formulation)

    @cache
    def motion(name: str, formulation: str, method: str, rtol: float) -> np.ndarray:
        times = np.linspace(0.0, MECHANISMS[name][1], 41)
        options: Any = {"method": method, "rtol": rtol, "atol": rtol}
        result = sk.simulate(system(name, formulation), output_times=times, **options)
        assert result.status == "finished", result.message
        assert not [w for w in result.warnings if w.code in ("energy_drift", "breaks_crossed")]
        return np.hstack([result[f"{body}.position"] for body in sorted(model(name).bodies)])

    return motion


@pytest.mark.parametrize(("name", "formulation", "method"), ALL)
def test_formulations_and_methods_agree_at_their_tolerances(motions, name, formulation, method):
    reference = motions(name, "joint", "taylor", 1e-13)
    covered = np.max(np.ptp(reference, axis=0))
    for rtol in (1e-6, 1e-8):
        error = np.max(np.abs(motions(name, formulation, method, rtol) - reference))
        assert error < 10 * rtol * covered


@pytest.mark.parametrize(
    "formulation", ["joint", "cartesian", pytest.param("natural", marks=pytest.mark.long)]
)
def test_dop853_follows_tight_tolerances_over_the_pieces_of_a_fit(motions, formulation):
    reference = motions("measured path", "joint", "taylor", 1e-13)
    covered = np.max(np.ptp(reference, axis=0))
    for rtol in (1e-10, 1e-11):
        error = np.max(np.abs(motions("measured path", formulation, "dop853", rtol) - reference))
        assert error < 2 * rtol * covered
