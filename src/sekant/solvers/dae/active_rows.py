"""The active constraint rows of a Radau step, if rows are dependent.

Newton's iteration with a fixed matrix cannot satisfy dependent rows: off the constraints they contradict each
other. A step therefore uses a maximal set of independent rows; the others get no multiplier, and the
projection at the end of the step satisfies them. Rows are selected by the Gram-Schmidt method with pivoting;
rows in use are preferred as long as they are well conditioned.

A mechanism that passes through a singular position (a flat four-bar) has independent rows on both sides of
it, but there Newton's iteration converges only for steps shorter than the distance. Once it diverges, nearly
dependent rows are dropped too: their multipliers grow like one over the pivot (a coupler cannot turn a flat
crank), and the projection corrects the missing rows up to an error of the order of the pivot squared.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call, set_time
from sekant.solvers.common.vectors import clear
from sekant.solvers.dae.memory import DaeMemory, set_state

DEPENDENT = (
    1e-8  # least sine of the angle between a row and the span of the others for it to count as independent
)
WEAKEST, STRONGEST = (
    3.0,
    0.1,
)  # bounds of the same after divergence, the first times the root of the tolerance
ESCALATION = 3.0  # factor of that bound from one divergence to the next
PREFERENCE = 0.01  # weight of the squared pivot of a row that is not in use

# Values of COUNT[SELECTING].
ALL, INDEPENDENT, STRONG = range(3)


@inner
def _unit_velocities(memory):
    """V_UNIT: unit of each velocity, of equal kinetic energy; the largest one for velocities without inertia."""
    pattern, M, unit = memory.saddle.pattern, memory.saddle.M, memory.active.v_unit
    M_row, M_col = pattern.M_row, pattern.M_col
    clear(unit)
    smallest = 0.0
    for e in range(M.size):
        if M_row[e] == M_col[e]:
            unit[M_row[e]] += M[e]
    for j in range(unit.size):
        if unit[j] > 0.0 and (smallest == 0.0 or unit[j] < smallest):
            smallest = unit[j]
    for j in range(unit.size):
        unit[j] = 1.0 / sqrt(unit[j] if unit[j] > 0.0 else smallest if smallest > 0.0 else 1.0)


@inner
def _scaled_rows(memory):
    """G at the present state in units of V_UNIT, dense, its rows scaled to length 1, in ROW_BASIS.

    ROW_LENGTH: their lengths. Angles between rows would depend on the unit of length otherwise.
    """
    active = memory.active
    basis, length, unit = active.basis, active.length, active.v_unit
    pattern, G = memory.saddle.pattern, memory.saddle.G
    G_row, G_col = pattern.G_row, pattern.G_col
    _unit_velocities(memory)
    for i in range(basis.shape[0]):
        clear(active.basis[i])
    for e in range(G.size):
        basis[G_row[e], G_col[e]] += G[e] * unit[G_col[e]]
    for i in range(basis.shape[0]):
        square = 0.0
        for j in range(basis.shape[1]):
            square += basis[i, j] * basis[i, j]
        length[i] = sqrt(square)
        scale = 1.0 / length[i] if length[i] > 0.0 else 0.0
        for j in range(basis.shape[1]):
            basis[i, j] *= scale


@inner
def _dot(a, b):
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@inner
def _pick(memory, least):
    """Select rows while their pivot exceeds `least`; returns their number, and the largest remaining pivot.

    ROW_PICKED: the rows in order. ROW_BASIS: their orthonormal basis. ROW_TRIANGLE[k, i]: share of the k-th basis
    vector in row i.
    """
    active = memory.active
    off, order, triangle = (
        active.off,
        active.picked,
        active.triangle,
    )
    m = off.size
    for i in range(m):
        order[i] = i
    for k in range(m):
        best, score, pivot = k, -1.0, 0.0
        for n in range(k, m):
            candidate = active.basis[order[n]]
            square = _dot(candidate, candidate)
            weighed = square * (PREFERENCE if off[order[n]] == 1 else 1.0)
            if weighed > score:
                best, score, pivot = n, weighed, sqrt(square)
        if pivot <= least:
            return k, pivot
        order[k], order[best] = order[best], order[k]
        direction = active.basis[order[k]]
        for j in range(direction.size):
            direction[j] /= pivot
        triangle[k, order[k]] = pivot
        for n in range(k + 1, m):
            other = active.basis[order[n]]
            share = _dot(direction, other)
            triangle[k, order[n]] = share
            for j in range(direction.size):
                other[j] -= share * direction[j]
    return m, 0.0


@inner
def _convert(memory, lam, picked):
    """Convert `lam` in place to multipliers of the selected rows whose force is closest to G^T lam."""
    active = memory.active
    pattern, G, force, unit = memory.saddle.pattern, memory.saddle.G, memory.found.v_kept, active.v_unit
    G_row, G_col = pattern.G_row, pattern.G_col
    order, length = active.picked, active.length
    triangle = active.triangle
    clear(force)
    for e in range(G.size):
        force[G_col[e]] += G[e] * unit[G_col[e]] * lam[G_row[e]]
    clear(lam)
    for k in range(picked - 1, -1, -1):
        i = order[k]
        value = _dot(active.basis[i], force)
        for n in range(k + 1, picked):
            value -= triangle[k, order[n]] * lam[order[n]] * length[order[n]]
        lam[i] = value / (triangle[k, i] * length[i])


@inner
def suspect_weak_rows(memory):
    """After a divergence with new matrices: let the next selection drop weak rows, with a higher bound each time."""
    active = memory.active
    if memory.m == 0:
        return
    least = WEAKEST * sqrt(memory.plan.rtol)
    if active.selecting == STRONG or memory.step.after_rejection == 1:
        least = max(least, ESCALATION * active.weakness)
    active.weakness = min(least, STRONGEST)
    active.selecting, memory.newton.fresh = STRONG, 0


@procedure(DaeMemory, "Radau integrator", 0.3)
def select_rows(memory, t, unused):
    """Choose the rows at the present state; `lam_now` and `step.stage_lam` follow. Returns 1 if the choice changed.

    `active.selecting` returns to its initial value once no weak row is dropped.
    """
    active = memory.active
    off, order = active.off, active.picked
    set_time(memory.clock, t)
    set_state(memory, memory.x)
    call(memory.mass)
    _scaled_rows(memory)
    least = max(DEPENDENT, active.weakness) if active.selecting == STRONG else DEPENDENT
    picked, left = _pick(memory, least)
    if left <= DEPENDENT:
        active.selecting = INDEPENDENT if active.redundant == 1 else ALL
    changed = 0
    for k in range(off.size):
        now = 0 if k < picked else 1
        if off[order[k]] != now:
            off[order[k]] = now
            changed = 1
    if changed == 1:
        _convert(memory, memory.lam_now, picked)
        for i in range(3):
            _convert(memory, memory.step.stage_lam[i], picked)
    return changed
