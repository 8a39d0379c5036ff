/* ---- Fixed steps. ---- */

/* One step of length h from time t; m->x is the result. Returns 0, or the reason of a failure; then m->x is unchanged. */
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

#if EVENTS > 0
/* Shorten the step of length *h from (t, old), so that it ends at the first event. */
static int end_step_at_event(MODEL *m, const real *old, real t, real *h, int *event) {
    real e[EVENTS], at_a[EVENTS], at_b[EVENTS], a = 0, b = *h, weight_a = 1, weight_b = 1;
    int last = 0, code = 0;
    watched(m, t + b, m->x, e);
    leave_zero(m, e);
    if (happened(m, e) >= 0) {
        const real finest = R(fmax)(4 * ROUND * R(fabs)(t), 9 * ROUND * b);
        for (int i = 0; i < EVENTS; i++) { at_a[i] = m->guard[i]; at_b[i] = e[i]; }
        for (int n = 0; n < 80 && b - a > finest; n++) {
            const real guess = next_guess(m, a, b, at_a, at_b, finest, weight_a, weight_b, last);
            if (guess == a) break;
            for (int j = 0; j < NX; j++) m->x[j] = old[j];
            if ((code = take_step(m, t, guess))) return code;
            watched(m, t + guess, m->x, e);
            const int beyond = happened(m, e) >= 0;
            for (int i = 0; i < EVENTS; i++) (beyond ? at_b : at_a)[i] = e[i];
            if (beyond) { b = guess; weight_a = last > 0 ? weight_a / 2 : 1; weight_b = 1; last = 1; }
            else { a = guess; weight_b = last < 0 ? weight_b / 2 : 1; weight_a = 1; last = -1; }
        }
        for (int j = 0; j < NX; j++) m->x[j] = old[j];
        if ((code = take_step(m, t, b))) return code;
        *h = b;
        *event = happened(m, at_b);
        pass_on(m, at_b);
        return 0;
    }
    pass_on(m, e);
    return 0;
}
#endif

/* One step as above, from the current time t; *h: its length, shortened if an event happens. */
static int step_or_event(MODEL *m, real t, real *h, int *event) {
#if EVENTS > 0
    real old[NX];
    for (int j = 0; j < NX; j++) old[j] = m->x[j];
    const int code = take_step(m, t, *h);
#if DELAYS > 0
    if (m->blind) return code;
#endif
    return code ? code : end_step_at_event(m, old, t, h, event);
#else
    (void)event;
    return take_step(m, t, *h);
#endif
}

/* Steps of m->step from m->t to `landing`, the last one shortened; or to the first event. */
static int run_to(MODEL *m, real landing, int *event) {
    const real base = m->t, span = landing - base;
    real h = m->step, rest = 0;
    *event = -1;
    if (R(fabs)(span - h) <= MULTIPLE * h) { /* one step, nearly always */
        real length = span;
        const int code = step_or_event(m, base, &length, event);
        if (!code) m->t = *event < 0 ? landing : base + length;
        return code;
    }
    const real ratio = span / h, nearest = R(floor)(ratio + (real)0.5);
    real whole = R(floor)(ratio);
    if (nearest >= 1 && R(fabs)(ratio - nearest) <= MULTIPLE) { /* avoid a tiny step from rounding errors */
        whole = nearest;
        h = span / nearest;
    } else {
        rest = span - whole * h;
    }
    for (real i = 0; i < whole; i += 1) {
        real length = h;
        const int code = step_or_event(m, base + i * h, &length, event);
        if (code) return code;
        m->t = *event < 0 ? base + (i + 1) * h : base + i * h + length;
        if (*event >= 0) return 0;
    }
    if (rest > 0) {
        const int code = step_or_event(m, base + whole * h, &rest, event);
        if (code) return code;
        if (*event >= 0) { m->t = base + whole * h + rest; return 0; }
    }
    m->t = landing;
    return 0;
}
