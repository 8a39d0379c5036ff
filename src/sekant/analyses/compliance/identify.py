"""`identify_compliance`: least squares with exact sensitivities of the equilibria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sekant.analyses.compliance.load_case import LoadCase, as_case
from sekant.analyses.compliance.problem import StiffnessProblem
from sekant.analyses.compliance.response import Response
from sekant.analyses.compliance.result import IdentifiedCompliance
from sekant.errors import DataError, ModelError, SolverError, suggest
from sekant.model.joints import Path, Surface
from sekant.model.joints.compliance import PathCompliance, Spring, SurfaceCompliance
from sekant.model.model import Model

Array = NDArray[np.float64]
GUESS = {"normal": 1e6, "binormal": 1e6, "roll": 1e5, "pitch": 1e5, "yaw": 1e5}  # N/m, N m/rad
RANGE = 12.0  # logarithm of the factor by which a stiffness may differ from its guess


def identify_compliance(
    model: Model,
    joint: str,
    frame: str,
    cases: Sequence[LoadCase | tuple[str, Any, Any]],
    *,
    use: str = "all",
    guess: Mapping[str, float] | None = None,
    damping: float = 0.01,
    levels: int = 10,
    length: float = 0.3,
    resolution: float = 1e-5,
    t: float = 0.0,
) -> IdentifiedCompliance:
    """Stiffnesses of the path or surface joint `joint`, from load ramps at the `frame` of a body that it carries.

    The model must constrain the joint's own coordinate, for instance by a spring. `use`: "all" uses all six
    displacements of each ramp, "direct" only the displacement along its load (Hall). Long ramps are averaged over
    `levels` steps of the load. `length` (m) converts angles to displacements. A stiffness is refused if its effect on
    the displacements is below `resolution` (m). `guess`: initial stiffnesses by direction, by default those of the
    joint. `damping` (s): ratio of damping to stiffness in the returned model, by default 0.01 s (Hall).
    """
    names = _directions(model, joint)
    given = [as_case(case) for case in cases]
    if not given:
        raise DataError("compliance: no load cases are given; give at least one")
    if use not in ("all", "direct"):
        raise DataError(f"compliance: use must be 'all' or 'direct' (got '{use}')")
    k0 = _start(model.joints[joint], names, guess or {})
    response = Response(
        _with_compliance(model, joint, names, k0, 0.0),
        frame,
        [f"{joint}.compliance.{name}.stiffness" for name in names],
        t,
    )
    problem = StiffnessProblem(response, given, levels, length, use == "direct")
    found = _solve(problem, np.log(k0), names, resolution)
    k = np.exp(found.x)
    covariance = _covariance(found.fun, found.jac)
    sigma = np.sqrt(np.diag(covariance))
    left = problem.errors(found.x)
    return IdentifiedCompliance(
        model=_with_compliance(model, joint, names, k, damping),
        joint=joint,
        stiffness={name: float(value) for name, value in zip(names, k, strict=True)},
        uncertainty={name: float(value) for name, value in zip(names, k * sigma, strict=True)},
        correlation=covariance / np.outer(sigma, sigma) if np.all(sigma > 0) else np.eye(len(names)),
        position_rms=float(np.sqrt(np.mean(left[:, :3] ** 2))),
        angle_rms=float(np.sqrt(np.mean(left[:, 3:] ** 2))),
        coefficients=tuple(problem.coefficients(k)),
        iterations=int(found.nfev),
    )


def _solve(problem: StiffnessProblem, x0: Array, names: Sequence[str], resolution: float) -> Any:
    from scipy.optimize import least_squares

    found = least_squares(
        lambda x: problem.evaluate(x)[0],
        x0,
        jac=lambda x: problem.evaluate(x)[1],  # type: ignore[arg-type]
        x_scale=1.0,
        xtol=1e-14,
        ftol=1e-15,
        gtol=1e-15,
        bounds=(x0 - RANGE, x0 + RANGE),
        max_nfev=80,
    )
    _check_effects(found.jac, names, problem, resolution)
    if found.status <= 0:
        raise SolverError(
            f"compliance: the fit did not converge in {found.nfev} evaluations; give a better guess"
        )
    return found


def _check_effects(J: Array, names: Sequence[str], problem: StiffnessProblem, resolution: float) -> None:
    """Refuse stiffnesses that the load cases do not determine, or determine only in combination.

    J (rows, n) contains the derivatives of displacements in m with respect to the logarithms of the stiffnesses. The
    effect of a stiffness must exceed the resolution, and so must the part of it that the others cannot explain.
    """
    given = ", ".join(dict.fromkeys(problem.directions))
    size = np.linalg.norm(J, axis=0)
    for name, effect in zip(names, size, strict=True):
        if effect <= resolution:
            raise DataError(
                f"compliance: the stiffness '{name}' cannot be identified: the loads {given} "
                f"deflect its spring so little that the frame moves by only {effect:.1e} m; add a load "
                "case that acts on this spring"
            )
    for i, name in enumerate(names):
        others = np.delete(J / size, i, axis=1)
        share = np.linalg.lstsq(others, J[:, i], rcond=None)[0]
        apart = float(np.linalg.norm(J[:, i] - others @ share))
        if apart <= resolution:
            rest = [n for n in names if n != name]
            like = rest[int(np.argmax(np.abs(share)))]
            raise DataError(
                f"compliance: the stiffness '{name}' cannot be distinguished from '{like}': under the loads {given} "
                f"their effects are collinear to within {apart:.1e} m; add a load case along another direction"
            )


def _covariance(residuals: Array, J: Array) -> Array:
    """Covariance (n, n) of the logarithms of the stiffnesses, from the scatter of the residuals."""
    freedom = max(1, residuals.size - J.shape[1])
    return np.linalg.inv(J.T @ J) * float(residuals @ residuals) / freedom


def _directions(model: Model, joint: str) -> tuple[str, ...]:
    if joint not in model.joints:
        raise ModelError(
            f"compliance: there is no joint '{joint}'; {suggest(joint, list(model.joints), 'joints')}"
        )
    item = model.joints[joint]
    if not isinstance(item, (Path, Surface)):
        raise ModelError(
            f"compliance: '{joint}' is a {item.type} joint; only path and surface joints have a compliance"
        )
    return PathCompliance.directions if isinstance(item, Path) else SurfaceCompliance.directions


def _start(item: Any, names: Sequence[str], guess: Mapping[str, float]) -> Array:
    for name in guess:
        if name not in names:
            raise ModelError(
                f"compliance: the compliance of a {item.type} joint has no direction '{name}'; the "
                f"directions are {', '.join(names)}"
            )
    values = []
    for name in names:
        own = getattr(item.compliance, name).stiffness if item.compliance is not None else None
        value = guess.get(name, own if isinstance(own, float) else GUESS[name])
        if not value > 0.0:
            raise ModelError(f"compliance: the guess for '{name}' must be positive (got {value:g})")
        values.append(float(value))
    return np.array(values)


def _with_compliance(model: Model, joint: str, names: Sequence[str], k: Array, damping: float) -> Model:
    springs = {
        name: Spring(stiffness=float(value), damping=damping * float(value))
        for name, value in zip(names, k, strict=True)
    }
    item: Any = model.joints[joint]
    kind: Any = PathCompliance if isinstance(item, Path) else SurfaceCompliance
    return model.changed(joints={**model.joints, joint: item.changed(compliance=kind(**springs))})
