"""Modes of a linear model: eigenvalues with left and right eigenvectors, and the corresponding motions."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from sekant.analyses.assembly.loop_geometry import LoopGeometry
from sekant.engine.state import State
from sekant.errors import AnalysisWarning, SolverError, warning_lines
from sekant.extensions import picture
from sekant.html_tables import html_table

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel

Array = NDArray[Any]
ZERO = 1e-7
"""Largest eigenvalue, relative to the largest of all, that counts as zero: a double zero is accurate only to the
square root of round-off."""
STILL = 1e-9
"""Largest displacement in a unit eigenvector that counts as zero."""
GROWING = 1e-9
"""Largest real part, relative to the largest eigenvalue, that does not count as growth."""


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes in the order of undamped frequency; of a conjugate pair, the one with positive imaginary part is first.

    `eigenvalues` (n,) rad/s; `right`, `left` (n, n): columns with ``A r = lam r``, ``l^H A = lam l^H``, ``|r| = 1``,
    the largest entry of r real and positive, and ``l^H r = 1`` if the mode is not defective.
    """

    model: LinearModel
    eigenvalues: Array
    right: Array
    left: Array

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings of the linear model."""
        return self.model.warnings

    def _repr_html_(self) -> str:
        """A table for notebooks with one row for each oscillation and each real mode."""
        shown = sorted([*self.oscillations.tolist(), *self.decays.tolist()])
        rows = [
            (
                k,
                *(float(a[k]) for a in (self.undamped_frequency, self.damped_frequency, self.damping_ratio)),
                f"{self.eigenvalues[k]:.5g}",
            )
            for k in shown
        ]
        head = ("mode", "undamped [Hz]", "damped [Hz]", "damping ratio", "eigenvalue [rad/s]")
        return html_table(head, rows)

    @property
    def undamped_frequency(self) -> Array:
        """Undamped frequencies (n,) Hz: |lam| / 2 pi."""
        return np.abs(self.eigenvalues) / (2 * np.pi)

    @property
    def damped_frequency(self) -> Array:
        """Damped frequencies (n,) Hz: |Im lam| / 2 pi."""
        return np.abs(np.imag(self.eigenvalues)) / (2 * np.pi)

    @property
    def damping_ratio(self) -> Array:
        """Damping ratios (n,): -Re lam / |lam|; NaN for zero eigenvalues."""
        size = np.abs(self.eigenvalues)
        zero = size <= self._small
        return np.where(zero, np.nan, -np.real(self.eigenvalues) / np.where(zero, 1.0, size))

    @property
    def _small(self) -> float:
        return ZERO * float(np.max(np.abs(self.eigenvalues), initial=1e-300))

    @property
    def oscillations(self) -> Array:
        """Indices of the modes with positive imaginary part: one for each oscillation."""
        return np.flatnonzero(np.imag(self.eigenvalues) > self._small)

    @property
    def decays(self) -> Array:
        """Indices of the real modes, which decay or grow without oscillation."""
        real = np.abs(np.imag(self.eigenvalues)) <= self._small
        return np.flatnonzero(real & (np.abs(self.eigenvalues) > self._small))

    @property
    def zeros(self) -> int:
        """Number of zero eigenvalues, such as those of ignorable coordinates."""
        return int(np.sum(np.abs(self.eigenvalues) <= self._small))

    @property
    def stability(self) -> str:
        """ "stable" (all decay), "marginal" (some neither decay nor grow) or "unstable"."""
        real = np.real(self.eigenvalues)
        limit = GROWING * float(np.max(np.abs(self.eigenvalues), initial=1e-300))
        moving = np.abs(self.eigenvalues) > self._small
        if np.any(real[moving] > limit):
            return "unstable"
        return "stable" if np.all(real < -limit) and np.all(moving) else "marginal"

    def plot(self, to: str | os.PathLike[str] | None = None) -> Any:
        """Plot the amplitude of each coordinate in every mode as bars; `to`: a file to write (.svg, .pdf, .png)."""
        return picture("mode_bars", self, to=to)

    @cached_property
    def shapes(self) -> Array:
        """Complex displacements (nv, n) of all coordinates, in the tangent space."""
        basis = self.model.reduction.basis
        return basis.Z_q @ self.right[: basis.Z_q.shape[1]]

    def shape(self, k: int) -> dict[str, tuple[float, float]]:
        """Amplitude and phase (rad) of every coordinate in mode k; the largest amplitude is 1."""
        s = self.shapes[:, k]
        largest = np.max(np.abs(s), initial=0.0)
        s = s / (s[int(np.argmax(np.abs(s)))] if largest > 0 else 1.0)
        return {
            name: (float(abs(x)), float(np.angle(x)) if abs(x) > 1e-12 else 0.0)
            for name, x in zip(self.model.coordinate_names, s, strict=True)
        }

    @property
    def participation(self) -> Array:
        """Participation (states, modes) of each state in each mode, |l_i r_i|; the sum of a column is one."""
        shares = np.abs(np.conj(self.left) * self.right)
        total = shares.sum(axis=0)
        return shares / np.where(total > 0, total, 1.0)

    def body_motions(self, k: int) -> dict[str, Array]:
        """Complex motion (6,) of each body in mode k, in W: the displacement of its origin (m), then its rotation
        (rad)."""
        system, point = self.model.system, self.model.operating_point.point
        eq = system.equations
        bodies = [link.body for link in eq.motion.links]
        if not bodies:
            raise SolverError(
                "a mechanism modeled with points has no bodies; shape(k) gives the mode in its coordinates"
            )

        def make() -> Any:
            frames = [eq.motion.frame(body) for body in bodies]
            twists = ca.vertcat(*[ca.vertcat(f.v_WF, f.w_WF) for f in frames])
            J = ca.densify(ca.jacobian(twists, eq.v))
            return system.function("linear.twists", [eq.t, eq.q, eq.p], [J])

        J = system.once("linear twists", make)(np.array([point.t]), point.q, point.p)[0]
        motions = J.reshape(6 * len(bodies), -1) @ self.shapes[:, k]
        return {body: motions[6 * i : 6 * i + 6] for i, body in enumerate(bodies)}

    def states(self, k: int, amplitude: float = 0.1, count: int = 24) -> list[State]:
        """`count` states over one period of mode k, for animation; the largest displacement is `amplitude`."""
        model, point = self.model, self.model.operating_point.point
        geometry = LoopGeometry(model.system, point.t, model.operating_point.parameters, (), {})
        s = self.shapes[:, k]
        s = s * (amplitude / max(float(np.max(np.abs(s))), 1e-300))
        phases = 2 * np.pi * np.arange(count) / count
        return [State(geometry.move(point.q, np.real(s * np.exp(1j * phi))), point.v) for phi in phases]

    def dominant(self, k: int) -> str:
        """The coordinate that moves most; if none moves, the state that changes most."""
        s = np.abs(self.shapes[:, k])
        if s.size and np.max(s) > STILL:
            return self.model.coordinate_names[int(np.argmax(s))]
        return self.model.state_names[int(np.argmax(np.abs(self.right[:, k])))]

    def table(self) -> str:
        """All modes, one per line (as in TROM table 5.2)."""
        titles = f"{'f damped':>11} {'f undamped':>11} {'damping':>9}  dominant"
        head = f"{'mode':>4} {'real':>13} {'imaginary':>13} {titles}"
        lines = [head, f"{'':>4} {'1/s':>13} {'rad/s':>13} {'Hz':>11} {'Hz':>11} {'ratio':>9}"]
        damping = self.damping_ratio
        for k, value in enumerate(self.eigenvalues):
            ratio = f"{damping[k]:9.5f}" if np.isfinite(damping[k]) else f"{'-':>9}"
            lines.append(
                f"{k + 1:4d} {value.real:13.6f} {value.imag:13.6f} {self.damped_frequency[k]:11.5f} "
                f"{self.undamped_frequency[k]:11.5f} {ratio}  {self.dominant(k)}"
            )
        lines.append(f"{self.stability}; {self.zeros} zero eigenvalue{'' if self.zeros == 1 else 's'}")
        return "\n".join([*lines, *warning_lines(self.warnings)])

    __str__ = table


def modes_of(model: LinearModel) -> Modes:
    """The modes of a linear model, sorted and normalized."""
    A = model.A
    if not A.size:
        raise SolverError("modes: the system has no free motion")
    found: Any = scipy.linalg.eig(A, left=True, right=True)
    values, left, right = found
    size = np.abs(values)
    order = np.lexsort((-np.sign(values.imag), np.abs(values.imag), np.round(size, 9)))
    values, left, right = values[order], left[:, order], right[:, order]
    for k in range(values.size):
        r = right[:, k] / np.linalg.norm(right[:, k])
        largest = r[int(np.argmax(np.abs(r) > 0.999 * np.abs(r).max()))]
        r = r * (np.conj(largest) / abs(largest))
        product = np.vdot(left[:, k], r)
        right[:, k] = r
        left[:, k] = left[:, k] / np.conj(product) if abs(product) > 1e-14 else left[:, k]
    return Modes(model, values, right, left)
