"""Impacts of rigid contacts: velocities after a gap has closed.

Impulses of all constraints, of the contact and of the other closed ones: M (v+ - v-) = -G^T L + J^T P, with G v+ +
drift = 0. Newton's law: the gap opens with `restitution` times the rate at which it closed; other closed contacts
stay closed, unless that would require a pull. With friction, the tangential impulse stops the slip if it needs no
more than the coefficient times the normal one; else it has that size, against the slip before the impact. Dry
friction in joints has no impulse.
"""

from __future__ import annotations

from math import sqrt

from sekant.loops.declare.procedures import inner, procedure
from sekant.solvers.common.memory import call
from sekant.solvers.complementarity.elements import OPEN, state_of
from sekant.solvers.complementarity.memory import Decision
from sekant.solvers.complementarity.rows import set_constraints, set_slip, solve_rows


@inner
def _set_normals(m, hit, opening):
    """Set the rows of constraints and of the normals of participating contacts; returns their number."""
    rows, i = m.rows, m.elements.force[hit]
    count = rows.drift.size
    set_constraints(m)
    set_slip(m, count, i, opening - rows.slip[i])
    count += 1
    for e in range(m.elements.frictions, m.others.size):
        if m.others[e] == 1:
            set_slip(m, count, m.elements.force[e], -rows.slip[m.elements.force[e]])
            count += 1
    return count


@inner
def _impulses(m, hit, opening):
    """Compute the change of velocities and impulses in `rows.x`; friction at `hit` sticks, or slides if
    sticking needs too large an impulse."""
    rows, i, mu = m.rows, m.elements.force[hit], m.values.coefficient[hit - m.elements.frictions]
    first, nv = rows.drift.size, m.v.size
    count = _set_normals(m, hit, opening)
    if m.elements.rough[hit] == 0 or mu == 0.0:
        solve_rows(m, count)
        return
    slip_x, slip_y = rows.slip[i + 1], rows.slip[i + 2]
    set_slip(m, count, i + 1, -slip_x)
    set_slip(m, count + 1, i + 2, -slip_y)
    solve_rows(m, count + 2)
    x, y = rows.x[nv + count], rows.x[nv + count + 1]
    if sqrt(x * x + y * y) <= mu * rows.x[nv + first]:
        return
    if slip_x == 0.0 and slip_y == 0.0:
        slip_x, slip_y = -x, -y
    size = sqrt(slip_x * slip_x + slip_y * slip_y)
    x, y = slip_x / size, slip_y / size
    for j in range(nv):
        rows.push[first, j] -= mu * (x * rows.slope[j, i + 1] + y * rows.slope[j, i + 2])
    solve_rows(m, count)


@procedure(Decision, "contacts and friction", 0.6)
def collide(m, contact, unused):
    """Compute the impact of the contact with this element number, while others are closed; returns 1 if it
    stays closed."""
    rows, first, nv, hit = m.rows, m.rows.drift.size, m.v.size, int(contact)
    call(m.at_energy)
    before = m.energy[0]
    for e in range(m.elements.frictions, m.others.size):
        state, _, _ = state_of(m, e)
        m.others[e] = 1 if e != hit and state != OPEN else 0
    call(m.at_values)
    call(m.at_rows)
    opening = -m.values.restitution[hit - m.elements.frictions] * rows.slip[m.elements.force[hit]]
    stays = opening < m.values.rest_speed[hit - m.elements.frictions]
    pulls = True
    while pulls:
        _impulses(m, hit, 0.0 if stays else opening)
        pulls, k = False, nv + first + 1
        for e in range(m.elements.frictions, m.others.size):
            if m.others[e] == 1:
                if rows.x[k] < 0.0:
                    pulls, m.others[e] = True, 0
                k += 1
    for j in range(nv):
        m.v[j] += rows.x[j]
    call(m.at_energy)
    m.gained[hit] += m.energy[0] - before
    return 1 if stays else 0
