"""Fits of paths: 1,000 noisy points with knots chosen as by Tao and Watson, and 10,000 clean points."""

from __future__ import annotations

from typing import Any

import numpy as np
from timing import best_of, figure, target

import sekant as sk


def truth(t: np.ndarray) -> np.ndarray:
    """A curve in space (n, 3) m over t in [0, 1]."""
    return np.stack(
        [2 * np.cos(5 * t) + t, 1.5 * np.sin(4 * t) * (1 + 0.2 * t), 0.8 * t + 0.3 * np.sin(9 * t)], axis=1
    )


def run(quick: bool) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    sigma = 1e-3
    noisy = truth(np.linspace(0, 1, 200 if quick else 1_000))
    noisy = noisy + rng.normal(scale=sigma, size=noisy.shape)
    clean = truth(np.linspace(0, 1, 500 if quick else 10_000))
    contenders = {
        "noisy": (lambda: sk.PoseCurve.fit(noisy, method="tao-watson"), 1),
        "clean": (lambda: sk.PoseCurve.fit(clean), 1),
    }
    best = best_of(contenders, 1 if quick else 3, warm_up=1)
    one, two = sk.PoseCurve.fit(noisy, method="tao-watson"), sk.PoseCurve.fit(clean)
    dense = truth(np.linspace(0.005, 0.995, 4_000))
    places = one.position(one.sample(20_001))
    error = max(float(np.linalg.norm(places - p, axis=1).min()) for p in dense[::40])
    assert one.report is not None
    assert two.report is not None
    figures = [
        figure(
            f"{len(noisy):,} noisy points",
            best["noisy"],
            "s",
            f"{one.report.knots} knots, error {error:.1e} m",
        ),
        figure(f"{len(clean):,} clean points", best["clean"], "s", f"error {two.report.position_max:.1e} m"),
    ]
    targets = [
        target("1,000 noisy points", best["noisy"].seconds, 3.0, unit="s"),
        target("10,000 clean points", best["clean"].seconds, 1.0, unit="s"),
    ]
    return {"figures": figures, "targets": targets}
