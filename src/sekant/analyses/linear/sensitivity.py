"""Exact derivatives of a linear model, its modes and its frequency response with respect to model parameters.

The operating point changes with the parameters, R_s ds + G^T dlam = -R_p dp and G ds = -Phi_p dp; the matrices change
with both. In a steady motion, its velocities, unknowns and axes change too. The system matrix is not symmetric, so
the derivatives of eigenvalues require left and right eigenvectors (unlike TROM 8.4 and 8.6), dlam_k = l_k^H dA r_k.
Those of frequency and damping follow from omega = |lam|, zeta = -Re lam / |lam| (unlike TROM 8.8 and 8.9).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
import scipy.optimize
from numpy.typing import NDArray

from sekant.analyses.linear.eigen_derivatives import EigenDerivatives, eigen_derivatives
from sekant.analyses.linear.independent_coordinates import ReductionRate, restricted
from sekant.analyses.linear.inputs import input_columns
from sekant.analyses.linear.linearize import linearize
from sekant.analyses.linear.moving_axes import axes_change
from sekant.analyses.steady.equations import Change, MotionChange
from sekant.engine.functions.linear import Slopes, linear_functions
from sekant.engine.state import State
from sekant.errors import AnalysisWarning, SolverError, warning_lines, without_repeats

if TYPE_CHECKING:
    from sekant.analyses.linear.linear_model import LinearModel

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Peak:
    """The largest |H| of a frequency response in a band: its frequency (Hz), its value, and the derivative
    (parameters,) of the value."""

    frequency: float
    value: float
    derivative: Array


class Sensitivity:
    """Derivatives of a linear model with respect to run-time parameters: the last axis of every array, with one
    entry for each component of a parameter; `parameters` names these entries."""

    def __init__(self, model: LinearModel, names: Sequence[str]):
        places = {name: model.system.places[name] for name in names}
        sizes = {name: at.stop - at.start for name, at in places.items()}
        labels = [[name] if n == 1 else [f"{name}[{i}]" for i in range(n)] for name, n in sizes.items()]
        self.model, self.parameters = model, tuple(chain.from_iterable(labels))
        functions, where = linear_functions(model.system), model.operating_point
        slopes = functions.slopes(where.point)
        indices = chain.from_iterable(range(at.start, at.stop) for at in places.values())
        self._changes = [_change(model, slopes, k, n) for k, n in zip(indices, self.parameters, strict=True)]
        turning = where.kind == "motion" and where.steady is not None
        self._rates = [
            ReductionRate(
                model.reduction,
                restricted(functions.tangent_change(where.point, c.ds, c.dv, c.da, c.dlam, c.dp), where.rows),
                turning,
            )
            for c in self._changes
        ]

    @cached_property
    def A(self) -> Array:
        """Derivative of the system matrix (n, n, parameters), including the change of the operating point."""
        where = self.model.operating_point
        parts = [rate.A for rate in self._rates]
        if where.steady is not None and where.moving:
            for k, (rate, change) in enumerate(zip(self._rates, self._changes, strict=True)):
                assert isinstance(change, MotionChange)
                own = replace(change, dp=change.dp[where.steady.places(self.model.system)])
                parts[k] = parts[k] - axes_change(where.steady, where.point, rate, own)
        return np.stack(parts, axis=-1)

    @property
    def operating_point(self) -> Array:
        """Derivative of the displacements of the operating point (nv, parameters)."""
        return np.stack([change.ds for change in self._changes], axis=-1)

    @property
    def unknowns(self) -> dict[str, Array]:
        """Derivatives (parameters,) of each unknown of a steady motion, by name."""
        steady = self.model.operating_point.steady
        names = () if steady is None else tuple(steady.unknowns)
        found = [c.unknowns for c in self._changes if isinstance(c, MotionChange)]
        return {name: np.array([unknowns[k] for unknowns in found]) for k, name in enumerate(names)}

    @property
    def multipliers(self) -> Array:
        """Derivatives of the multipliers (m, parameters)."""
        return np.stack([change.dlam for change in self._changes], axis=-1)

    @cached_property
    def _eigen(self) -> EigenDerivatives:
        return eigen_derivatives(self.model.modes(), self.A)

    @property
    def eigenvalues(self) -> Array:
        """Derivatives of the eigenvalues (n, parameters); for a repeated eigenvalue, the slopes of its branches in
        any order."""
        return self._eigen.values

    @property
    def right(self) -> Array:
        """Derivatives of the right eigenvectors (n, n, parameters); NaN if they are not unique."""
        return self._eigen.right

    @property
    def left(self) -> Array:
        """Derivatives of the left eigenvectors (n, n, parameters); NaN if they are not unique."""
        return self._eigen.left

    @property
    def repeated(self) -> tuple[tuple[int, ...], ...]:
        """Groups of modes whose eigenvalues coincide."""
        return self._eigen.repeated

    @property
    def warnings(self) -> tuple[AnalysisWarning, ...]:
        """Warnings of the linear model, and warnings about repeated, close and defective eigenvalues, which limit the
        derivatives."""
        return without_repeats(self.model.warnings, self._eigen.warnings)

    @cached_property
    def undamped_frequency(self) -> Array:
        """Derivatives of the undamped frequencies (n, parameters), Hz per unit: d|lam| / 2 pi."""
        values = self.model.modes().eigenvalues[:, None]
        size = np.where(np.abs(values) > 0, np.abs(values), np.nan)
        return np.real(np.conj(values) * self.eigenvalues) / size / (2 * np.pi)

    @property
    def damped_frequency(self) -> Array:
        """Derivatives of the damped frequencies (n, parameters), Hz per unit."""
        sign = np.sign(np.imag(self.model.modes().eigenvalues))[:, None]
        return sign * np.imag(self.eigenvalues) / (2 * np.pi)

    @cached_property
    def damping_ratio(self) -> Array:
        """Derivatives of the damping ratios (n, parameters)."""
        values = self.model.modes().eigenvalues[:, None]
        size = np.where(np.abs(values) > 0, np.abs(values), np.nan)
        growth = 2 * np.pi * self.undamped_frequency
        return -(np.real(self.eigenvalues) * size - np.real(values) * growth) / size**2

    # -- frequency response ----------------------------------------------------------------------------

    @cached_property
    def _ports(self) -> list[tuple[list[Array], Array, list[Array]]]:
        """For each parameter the derivatives of B0, B1, B2, of C and of D0, D1, D2."""
        model = self.model
        functions, where = linear_functions(model.system), model.operating_point
        found = []
        for change, rate in zip(self._changes, self._rates, strict=True):
            if where.point.p.size:
                slopes = functions.slopes_change(
                    where.point, change.ds, change.dv, change.da, change.dlam, change.dp
                )
            else:
                slopes = functions.slopes(where.point)
            B, D, responses = [], [], []
            for order in range(3):
                du = input_columns(model.input_items, slopes, where.rows, order)
                du.R[:, [i for i, item in enumerate(model.input_items) if item.kind == "force"]] = 0.0
                responses.append(rate.respond(model.columns[order], du))
                B.append(np.vstack([responses[-1].z, responses[-1].y]))
            C = np.zeros((0, model.A.shape[0]))
            if model.reporters is not None:
                _, g_s, g_v, _ = model.reporters.at(where.point)
                _, d_s, d_v, d_p = model.reporters.change(where.point, change.ds, change.dv, change.dp)
                basis, r = model.reduction.basis, model.reduction
                C = np.hstack(
                    [
                        d_s @ basis.Z_q + g_s @ rate.Z_q + d_v @ r.W + g_v @ rate.W,
                        d_v @ basis.Z_v + g_v @ rate.Z_v,
                    ]
                )
                for order in range(3):
                    at, moved = model.responses[order], responses[order]
                    D.append(
                        d_s @ at.P + g_s @ moved.P + d_v @ at.V + g_v @ moved.V + model._direct(d_p, order)
                    )
            found.append((B, C, D))
        return found

    def transfer(self, s: complex) -> Array:
        """Derivative of the transfer matrix (outputs, inputs, parameters) at s (rad/s)."""
        model = self.model
        C, _ = model._output_terms
        B = sum((model.input_matrix(order) * s**order for order in range(3)), np.zeros(1))
        factor = scipy.linalg.lu_factor(s * np.eye(model.A.shape[0]) - model.A)
        X = scipy.linalg.lu_solve(factor, B)
        parts = []
        for k, (dB, dC, dD) in enumerate(self._ports):
            inner = sum((dB[order] * s**order for order in range(3)), np.zeros(1))
            direct = sum((dD[order] * s**order for order in range(3)), np.zeros(1))
            parts.append(dC @ X + C @ scipy.linalg.lu_solve(factor, self.A[:, :, k] @ X + inner) + direct)
        return np.stack(parts, axis=-1)

    def peak(self, output: str, input: str, band: tuple[float, float]) -> Peak:
        """The largest |H| between two frequencies (Hz). To first order, a shift of the peak within the band does not
        change its value."""
        i, j = self.model.port(output, input)

        def size(f: float) -> float:
            return -float(abs(self.model.transfer(2j * np.pi * f)[i, j]))

        grid = np.linspace(band[0], band[1], 400)
        k = int(np.argmin([size(f) for f in grid]))
        low, high = grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]
        best: Any = scipy.optimize.minimize_scalar(
            size, bounds=(low, high), method="bounded", options={"xatol": 1e-12}
        )
        s = 2j * np.pi * float(best.x)
        H = self.model.transfer(s)[i, j]
        slope = np.real(np.conj(H) * self.transfer(s)[i, j]) / abs(H)
        return Peak(float(best.x), float(abs(H)), slope)

    def rows(self) -> list[dict[str, Any]]:
        """One row for each parameter and each oscillation or real mode, without conjugates and zero eigenvalues.

        Derivatives are per SI unit of the parameter. Real modes have only `real` (1/s); their `frequency` (Hz,
        undamped) and `damping_ratio` are None.
        """
        modes = self.model.modes()
        waves = set(modes.oscillations.tolist())
        found: list[dict[str, Any]] = []
        for k in sorted(waves | set(modes.decays.tolist())):
            for i, name in enumerate(self.parameters):
                row = {"mode": int(k) + 1, "dominant": modes.dominant(k), "parameter": name}
                value, rate = modes.eigenvalues[k], self.eigenvalues[k, i]
                row |= {"real": float(np.real(value)), "d_real": float(rate.real)}
                for key, of in (("frequency", "undamped_frequency"), ("damping_ratio", "damping_ratio")):
                    row[key] = float(getattr(modes, of)[k]) if k in waves else None
                    row[f"d_{key}"] = float(getattr(self, of)[k, i]) if k in waves else None
                found.append(row)
        return found

    def table(self) -> str:
        """Derivatives of every oscillation and every real mode, with one line for each parameter; see `rows`."""
        size = max([9, *map(len, self.parameters)])
        head = f"{'mode':>4} {'real':>12} {'f undamped':>11} {'damping':>9} {'parameter':>{size}} "
        lines = [head + f"{'d(real)':>12} {'df':>12} {'d(damping)':>12}"]
        lines.append(
            f"{'':>4} {'1/s':>12} {'Hz':>11} {'ratio':>9} {'':>{size}} {'1/s':>12} {'Hz':>12} {'per SI unit':>12}"
        )

        def shown(number: float | None, form: str, width: int) -> str:
            return f"{'-':>{width}}" if number is None else f"{number:{width}{form}}"

        for row in self.rows():
            lines.append(
                f"{row['mode']:4d} {row['real']:12.5f} {shown(row['frequency'], '.5f', 11)} "
                f"{shown(row['damping_ratio'], '.5f', 9)} {row['parameter']:>{size}} {row['d_real']:12.5g} "
                f"{shown(row['d_frequency'], '.5g', 12)} {shown(row['d_damping_ratio'], '.5g', 12)}"
            )
        zeros = self.model.modes().zeros
        if zeros:
            lines.append(f"left out: {zeros} zero eigenvalue{'' if zeros == 1 else 's'}")
        return "\n".join([*lines, *warning_lines(self.warnings)])

    __str__ = table


def with_parameters(model: LinearModel, names: Sequence[str], states: Collection[str] = ()) -> LinearModel:
    """The same linear model, for a system in which all numbers `names` are run-time parameters.

    `states`: names of states of elements, which are parameters of the linear model's system only.
    """
    system, where = model.system, model.operating_point
    missing = [name for name in names if name not in system.parameters]
    if not missing:
        return model
    if where.closed:
        raise SolverError(
            "sensitivity: the operating point has closed contacts, so every parameter must be a run-time "
            f"parameter of its system, but {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} "
            f"not; compile with parameters={missing}"
        )
    wider = system.recompiled(
        system.model, [*(name for name in system.parameters if name not in states), *missing]
    )
    inputs = list(dict.fromkeys(name.partition("[")[0] for name in model.inputs))
    ports: dict[str, Any] = {"inputs": inputs, "outputs": model.outputs, "independent": model.independent}
    if where.steady is not None and (np.any(where.point.v) or not states):
        at = "motion" if where.kind == "motion" else None
        return linearize(wider, where.steady.again(wider), at=at, **ports)
    given = dict(where.parameters or {})
    z = [float(np.ravel(given.pop(name))[0]) for name in wider.facts.z_names]
    held = where.point.p[where.point.p.size - len(system.facts.held) :]
    state = State(where.point.q, where.point.v, z=np.array(z), held=held)
    return linearize(wider, state, where.point.t, at=where.kind, a=where.point.a, parameters=given, **ports)


def _change(model: LinearModel, slopes: Slopes, k: int, name: str) -> Change:
    """Change of the operating point with entry k of p, named `name`."""
    where, T = model.operating_point, model.reduction.tangent
    if where.steady is not None:
        places = where.steady.places(model.system)
        if k not in places:
            raise SolverError(
                f"sensitivity: '{name}' is an input of the linear model, not a parameter of the steady motion"
            )
        change = where.steady.change(places.index(k), name)
        dp = np.zeros(where.point.p.size)
        dp[places] = change.dp
        return replace(change, dp=dp)
    rows, n = where.rows, T.M.shape[0]
    m = int(rows.sum())
    dp = np.zeros(where.point.p.size)
    dp[k] = 1.0
    dlam = np.zeros(rows.size)
    zero = np.zeros(n)
    if where.kind == "motion":
        matrix = np.block([[T.M, T.G.T], [T.G, np.zeros((m, m))]])
        right = -np.concatenate([slopes.R[:, k], slopes.acceleration[rows, k]])
        moved = np.abs(slopes.Phi[rows, k]).max(initial=0.0) + np.abs(slopes.rate[rows, k]).max(initial=0.0)
        if moved > 0:
            raise SolverError(
                f"sensitivity: '{name}' moves constraints, and with them the state of the motion; linearize about "
                "an equilibrium"
            )
        solution = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
        dlam[rows] = solution[n:]
        return Change(zero, zero, solution[:n], dlam, dp)
    none = np.zeros((m, m))
    matrix = np.block([[T.R_s, T.G.T], [T.G, none], [T.H, none], [T.acc_s, none]])
    parts = (slopes.R[:, k], slopes.Phi[rows, k], slopes.rate[rows, k], slopes.acceleration[rows, k])
    right = -np.concatenate(parts)
    solution = np.linalg.lstsq(matrix, right, rcond=1e-12)[0]
    gap = np.abs(matrix @ solution - right)
    if np.max(gap, initial=0.0) > 1e-7 * max(1.0, float(np.max(np.abs(right), initial=0.0))):
        names = [
            row for row, used in zip(linear_functions(model.system).row_names, rows, strict=True) if used
        ]
        worst = int(np.argmax(gap))
        if n <= worst < n + m:
            raise SolverError(
                f"sensitivity: redundant constraints contradict one another when '{name}' changes: "
                f"'{names[worst - n]}' cannot be satisfied"
            )
        kind = "equilibrium" if where.kind == "equilibrium" else "steady motion"
        raise SolverError(
            f"sensitivity: when '{name}' changes, there is no {kind} with the same velocities ({gap.max():.3g} in SI "
            "units remains unbalanced); linearize with at='motion'"
        )
    dlam[rows] = solution[n:]
    return Change(solution[:n], zero, zero, dlam, dp)
