"""Linearization: exact M, C, K and A, B, C, D of a system about an equilibrium, a steady motion or any instant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from sekant.analyses.assembly.tangent_space import TangentSpace
from sekant.analyses.linear.finite_differences import difference_tangent, forward_tangent
from sekant.analyses.linear.independent_coordinates import IndependentRows, ReducedEquations, restricted
from sekant.analyses.linear.inputs import (
    LinearOutputs,
    check_direct,
    check_inputs,
    find_inputs,
    input_columns,
    with_inputs,
)
from sekant.analyses.linear.kinks import kinks
from sekant.analyses.linear.linear_model import LinearModel
from sekant.analyses.linear.moving_axes import frozen, moving_axes
from sekant.analyses.linear.operating_point import operating_point
from sekant.analyses.linear.stick_branch import stick_branch
from sekant.analyses.statics.equilibrium import with_closed_contacts
from sekant.analyses.steady.element_states import has_states
from sekant.engine.arguments import check_state, names_of
from sekant.engine.functions.linear import EquationTangent, linear_functions
from sekant.engine.state import State
from sekant.engine.system import System, as_system
from sekant.errors import SolverError, suggest, without_repeats
from sekant.model.model import Model

if TYPE_CHECKING:
    from sekant.model.points.collector import Collector

METHODS = ("exact", "forward", "finite_difference")
Array = NDArray[Any]
GRADIENT = 1e-6
"""Largest deviation of the rate of a tracked quantity from a gradient; this is the accuracy of differences of
tangents."""


def linearize(
    system: System | Model | Collector,
    state: State | None = None,
    t: float = 0.0,
    *,
    at: str | None = None,
    a: ArrayLike | None = None,
    inputs: str | Sequence[str] = (),
    outputs: str | Sequence[str] = (),
    independent: str | Sequence[str] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    method: str = "exact",
    step: float = 1e-7,
) -> LinearModel:
    """The linear model of small motions about `state` at time `t` (s).

    Without a state, the model is linearized about its equilibrium; a result of `sk.equilibrium` may also be given. A
    state with velocities must be a steady motion with the constant accelerations `a` (nv,), by default zero. The
    linear model about a result of `sk.analyses.steady_motion` uses axes that move with that motion. If the state is
    neither an equilibrium nor a steady motion, an error reports the unbalanced forces. With ``at="motion"``, any
    state is accepted, with the accelerations that the system has there. If a joint with dry friction is at rest in
    the state, a constraint with the name of the friction element locks the joint.

    `inputs`: names of run-time parameters, of prescribed motions, or of coordinates along which forces act.
    `outputs`: names or patterns of outputs. `independent`: names of the independent coordinates of a constrained
    system, or "auto" to choose them; by default, amplitudes in an orthonormal basis of the free motions are used.
    `method`: "exact" differentiates inverse dynamics; "forward" differentiates forward dynamics, as a check;
    "finite_difference" takes one-sided differences of inverse dynamics with increments `step`, as in published
    methods.
    """
    if method not in METHODS:
        raise SolverError(f"linearize: unknown method '{method}'; {suggest(method, METHODS, 'methods')}")
    own = getattr(state, "system", None)  # an equilibrium or a steady motion of this model has a system
    if own is not None and own.model is system:
        system = own
    system = as_system(system, parameters)
    if state is not None:
        check_state(system, state)
        t = getattr(state, "t", t)
    inputs, outputs = names_of(inputs, "inputs"), names_of(outputs, "outputs")
    options: dict[str, Any] = {"independent": independent, "method": method, "step": step}
    branch = stick_branch(system, state, t, at, parameters)
    if branch is not None:
        ports = {"inputs": inputs, "outputs": outputs, "parameters": branch.parameters}
        model = linearize(branch.system, branch.state, t, at=at, a=a, **ports, **options)
        return replace(model, warnings=without_repeats(model.warnings, branch.warnings))
    if has_states(system):
        from sekant.analyses.linear.with_states import linearize_with_states

        return linearize_with_states(system, state, t, at, a, inputs, outputs, parameters, options)
    system = with_inputs(system, inputs, t)
    where = operating_point(system, state, t, at, a, parameters)
    functions = linear_functions(system)
    if method == "finite_difference":
        tangent = difference_tangent(functions, where.point, step)
    elif np.any(where.point.v) or np.any(where.point.a):
        tangent = functions.tangent(where.point)
    else:
        tangent = functions.rest_tangent(where.point)
    tangent = restricted(tangent, where.rows)
    names = system.start_facts.coordinate_of
    holonomic = _holonomic(tangent, functions.holonomic[where.rows], functions.tracked[where.rows])
    chosen = _independent(tangent.G[holonomic], names, independent)
    basis = IndependentRows(tangent.G, holonomic, chosen)
    if method == "forward":
        tangent = forward_tangent(with_closed_contacts(system, where.closed), where.point, tangent)
    reduction = ReducedEquations(tangent, basis)
    moving = moving_axes(where, reduction)
    found = find_inputs(system, inputs, names)
    slopes = functions.slopes(where.point)
    check_inputs(system, functions, found, slopes)
    columns = [input_columns(found, slopes, where.rows, order) for order in range(3)]
    reporters = LinearOutputs(with_closed_contacts(system, where.closed), outputs) if outputs else None
    check_direct(found, reporters.names if reporters else ())
    return LinearModel(
        system=system,
        operating_point=where,
        reduction=reduction,
        columns=tuple(columns),
        responses=tuple(reduction.respond(part) for part in columns),
        input_items=tuple(found),
        reporters=reporters,
        coordinate_names=tuple(names),
        state_names=_state_names(system, basis, names, chosen),
        method=method,
        independent=None if chosen is None else tuple(names[i] for i in chosen),
        moving=moving,
        warnings=without_repeats(
            where.warnings, (*frozen(where, reduction), *kinks(functions, where, tangent))
        ),
    )


def _holonomic(tangent: EquationTangent, holonomic: Array, tracked: Array) -> Array:
    """Mask of the rows (m,) that constrain positions: holonomic rows, and tracked quantities that constrain positions
    in small motions.

    A tracked quantity (an angle that counts turns) has the rate r(q) v. Its displacement follows from those of the
    other coordinates, s_k = r s, if d(r s)/dt is the variation of that rate, r' s + r w = H s + r w; the remaining
    constant is the start of the count, not a motion. With d(rate)/dt = r a + H v, acc_v is r' + H, and therefore
    H - r' = 2 H - acc_v. This is zero at rest, and along a motion if r is a gradient, as for angles.
    """
    if not np.any(tracked):
        return holonomic
    Z = TangentSpace.of(tangent.G).Z
    left = (2 * tangent.H[tracked] - tangent.acc_v[tracked]) @ Z
    scale = 1.0 + np.max(np.abs(tangent.H[tracked]), axis=1, initial=0.0)
    found = holonomic.copy()
    found[tracked] = np.max(np.abs(left), axis=1, initial=0.0) <= GRADIENT * scale
    return found


def _independent(G, names: Sequence[str], given: Sequence[str] | str | None) -> list[int] | None:
    """Indices of the independent coordinates among the displacements, or None for a basis of the null space."""
    if not G.shape[0]:
        if given is not None and given != "auto" and sorted(given) != sorted(names):
            raise SolverError(
                "linearize: nothing constrains the coordinates, so all of them are independent; leave "
                "out `independent`"
            )
        return None if given is None or given == "auto" else [list(names).index(n) for n in given]
    if given is None:
        return None
    Z = IndependentRows(G, np.ones(G.shape[0], bool)).positions.Z
    if given == "auto":
        order = scipy.linalg.qr(Z.T, pivoting=True, mode="r")[-1]
        return sorted(int(i) for i in order[: Z.shape[1]])
    chosen: list[int] = []
    for name in [given] if isinstance(given, str) else given:
        if name not in names:
            raise SolverError(
                f"linearize: there is no coordinate '{name}'; {suggest(name, list(names), 'coordinates')}"
            )
        chosen.append(list(names).index(name))
    if len(chosen) != Z.shape[1]:
        raise SolverError(
            f"linearize: independent must name {Z.shape[1]} coordinate{'' if Z.shape[1] == 1 else 's'} "
            f"(got {len(chosen)}); use independent='auto' to let Sekant choose"
        )
    sizes = np.linalg.svd(Z[chosen], compute_uv=False)
    if sizes.size and sizes[-1] < 1e-9:
        raise SolverError(
            f"linearize: the values of {', '.join(names[i] for i in chosen)} do not determine the "
            "position here (smallest singular value "
            f"{sizes[-1]:.1e}); name other coordinates, or use independent='auto'"
        )
    return chosen


def _state_names(
    system: System, basis: IndependentRows, names: Sequence[str], chosen: list[int] | None
) -> tuple[str, ...]:
    rates = system.state_names[system.nq : system.nq + system.nv]
    fq, fv = basis.Z_q.shape[1], basis.Z_v.shape[1]
    if chosen is None and fq == len(names):
        positions = list(names)
    elif chosen is None:
        positions = [f"z{i + 1}" for i in range(fq)]
    else:
        positions = [names[i] for i in chosen]
    if basis.second_order and (chosen is not None or fq == len(names)):
        index = range(len(names)) if chosen is None else chosen
        velocities = [rates[i] for i in index]
        velocities = [f"{n} rate" if n in positions else n for n in velocities]
    else:
        velocities = [f"y{i + 1}" for i in range(fv)]
    return (*positions, *velocities)
