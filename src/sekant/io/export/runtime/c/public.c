/* ---- Functions of the header. ---- */

void NAME_defaults(MODEL *m) {
    for (int j = 0; j < NP; j++) m->p[j] = default_parameters[j];
    for (int j = 0; j < NX; j++) m->x[j] = 0;
    m->step = STEP;
    m->begin = m->t = m->segment = 0;
    m->next = INFINITY;
    m->steps = 0;
}

int NAME_start(MODEL *m, real t) {
    m->begin = m->t = m->segment = t;
    m->next = INFINITY;
    m->steps = 0;
    initial(m->p, m->x); /* the start of the model at the current parameters */
    normalize_start(m->x);
    const int code = project(m, m->x, m->t, 50);
    if (code) return code;
    for (int j = 0; j < NX; j++) if (!isfinite(m->x[j])) return STOPPED_NOT_FINITE;
    return begin_motion(m, t);
}

int NAME_step(MODEL *m) {
    const int code = advance(m, m->begin + (real)(m->steps + 1) * m->step);
    if (!code) m->steps++;
    return code;
}

void NAME_rates(const MODEL *m, real *xdot) {
    const real t = inside(m, m->t);
    rates(&t, m->x, m->p, xdot);
}

void NAME_outputs(const MODEL *m, real *y) {
    const real t = inside(m, m->t);
    outputs(&t, m->x, m->p, y);
}
