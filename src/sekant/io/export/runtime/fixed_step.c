/* ---- Fixed steps. ---- */

/* One step of length h from time t; m->x holds the result. Gives 0, or why it failed; then m->x is as before. */
static int take_step(MODEL *m, real t, real h) {
    real x[NX], k[NX];
    real now = inside(m, t);
    rates(&now, m->x, m->p, k);
#if METHOD == EULER
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h * k[j];
#elif METHOD == SEMI_IMPLICIT_EULER /* velocities first, then positions with the new velocities */
    real qdot[NQ > 0 ? NQ : 1];
    for (int j = 0; j < NQ; j++) x[j] = m->x[j];
    for (int j = NQ; j < NX; j++) x[j] = m->x[j] + h * k[j];
    kinematics(&now, x, m->p, qdot);
    for (int j = 0; j < NQ; j++) x[j] += h * qdot[j];
#else /* RK4 */
    real k2[NX], k3[NX], k4[NX];
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h / 2 * k[j];
    now = inside(m, t + h / 2);
    rates(&now, x, m->p, k2);
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h / 2 * k2[j];
    rates(&now, x, m->p, k3);
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h * k3[j];
    now = inside(m, t + h);
    rates(&now, x, m->p, k4);
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h / 6 * (k[j] + 2 * (k2[j] + k3[j]) + k4[j]);
#endif
    const int code = settle(m, x, t + h);
    if (code) return code;
    for (int j = 0; j < NX; j++) m->x[j] = x[j];
    return 0;
}

/* Steps of m->step from m->t to `end`; they are shortened to land on switching times and on `end`. */
static int advance(MODEL *m, real end) {
    while (end - m->t > near_time(end)) {
        const int at_switch = end >= m->next - near_time(m->next);
        const real base = m->t, landing = at_switch ? m->next : end, span = landing - base;
        real h = m->step, rest = 0;
        const real ratio = span / h, nearest = R(floor)(ratio + (real)0.5);
        real whole = R(floor)(ratio);
        if (nearest >= 1 && R(fabs)(ratio - nearest) <= MULTIPLE) { /* no sliver of a step from rounding errors */
            whole = nearest;
            h = span / nearest;
        } else {
            rest = span - whole * h;
        }
        for (real i = 0; i < whole; i += 1) {
            const int code = take_step(m, base + i * h, h);
            if (code) return code;
            m->t = base + (i + 1) * h;
        }
        if (rest > 0) {
            const int code = take_step(m, base + whole * h, rest);
            if (code) return code;
        }
        m->t = landing;
        if (at_switch) open_segment(m, landing);
    }
    return 0;
}
