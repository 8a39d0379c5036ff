"""Force elements whose frames are half a turn apart, where their angles and torques jump."""

from __future__ import annotations

from math import pi

import numpy as np
from numpy.typing import NDArray

from sekant.errors import AnalysisWarning
from sekant.model.model import Model
from sekant.results.channels import Channels

JUMP = 0.9 * pi
"""Smallest change (rad) between two rows that counts as a jump. Half a turn about y of a bushing changes its other
angles by pi; every other jump is 2 pi."""


def half_turns(
    model: Model, t: NDArray[np.float64], data: NDArray[np.float64], channels: Channels
) -> tuple[AnalysisWarning, ...]:
    """Warnings about force elements whose angles jump between rows `data` (m, n) at the times t (m,)."""
    found = []
    for name, force in model.forces.items():
        output = f"{name}.{force.jumping}"
        if not force.jumping or output not in channels:
            continue
        columns = channels.find(output)
        angles = data[:, columns.start : columns.stop]
        jumps = np.argwhere(np.abs(np.diff(angles, axis=0)) > JUMP)
        if len(jumps):
            i, k = jumps[0]
            found.append(
                AnalysisWarning(
                    "half_turn",
                    name,
                    f"between t = {t[i]:.6g} s and {t[i + 1]:.6g} s",
                    f"the element depends only on the pose of its frames, so its angle jumps from "
                    f"{angles[i, k]:.3g} to {angles[i + 1, k]:.3g} rad, and its torque jumps too",
                    "to count turns, use a rotational_spring_damper on the joint",
                )
            )
    return tuple(found)
