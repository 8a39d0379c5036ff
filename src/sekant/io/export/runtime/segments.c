/* ---- Time between switches: the equations are evaluated strictly inside one segment. ---- */

static real near_time(real t) { return SNAP * R(fabs)(t); }

/* The first time after t at which a signal switches; infinite if there is none. */
static real next_switch(const real *p, real t) {
    real found = INFINITY;
#if SWITCHES > 0
    real start[SWITCHES], scale[SWITCHES];
    switch_times(p, start, scale);
    const real after = t + near_time(t);
    for (int i = 0; i < SWITCHES; i++) {
        if (switch_knots[i] < 0) { /* start + k scale for every whole k */
            const real period = R(fabs)(scale[i]);
            if (!(period > 0) || !(R(fabs)(start[i]) < LARGEST)) continue;
            real k = R(floor)((t - start[i]) / period);
            while (!(start[i] + k * period > after)) k += 1;
            if (start[i] + k * period < found) found = start[i] + k * period;
        } else {
            for (int j = 0; j < switch_knots[i]; j++) {
                const real time = start[i] + scale[i] * switch_knot[switch_first[i] + j];
                if (time > after && time < found) found = time;
            }
        }
    }
#else
    (void)p; (void)t;
#endif
    return found;
}

/* t, limited to the inside of the current segment. */
static real inside(const MODEL *m, real t) {
    if (t > m->segment && t < m->next) return t; /* nearly always */
    const real low = R(nextafter)(m->segment, INFINITY), high = R(nextafter)(m->next, -INFINITY);
    t = t > low ? t : low;
    return t < high ? t : high;
}

/* ---- Constraints and unit quaternions. ---- */

static void normalize(real *x) {
#if UNIT_BLOCKS > 0
    for (int b = 0; b < UNIT_BLOCKS; b++) {
        real square = 0;
        for (int j = unit_blocks[b][0]; j < unit_blocks[b][0] + unit_blocks[b][1]; j++) square += x[j] * x[j];
        const real scale = 1 / R(sqrt)(square);
        for (int j = unit_blocks[b][0]; j < unit_blocks[b][0] + unit_blocks[b][1]; j++) x[j] *= scale;
    }
#else
    (void)x;
#endif
}

/* A start whose blocks have unit norm, up to round-off, is unchanged. */
static void normalize_start(real *x) {
#if UNIT_BLOCKS > 0
    int off = 0;
    for (int b = 0; b < UNIT_BLOCKS; b++) {
        real square = 0;
        for (int j = unit_blocks[b][0]; j < unit_blocks[b][0] + unit_blocks[b][1]; j++) square += x[j] * x[j];
        off |= !(R(fabs)(square - 1) <= 16 * ROUND);
    }
    if (off) normalize(x);
#else
    (void)x;
#endif
}

/* Newton's method onto the constraints, in place; returns 0, or STOPPED_CONSTRAINTS if x cannot satisfy them. */
static int project(const MODEL *m, real *x, real t, int iterations) {
#if CONSTRAINED
    real given[NX], moved[NX], residual = 0;
    t = inside(m, t);
    for (int i = 0; i < iterations; i++) {
        for (int j = 0; j < NX; j++) given[j] = x[j];
        projection(&t, given, m->p, moved, &residual);
        if (residual <= TOLERANCE || !(residual < LARGEST)) break;
        for (int j = 0; j < NX; j++) x[j] = moved[j];
        normalize(x);
    }
    return residual <= 10 * TOLERANCE ? 0 : STOPPED_CONSTRAINTS;
#else
    (void)m; (void)x; (void)t; (void)iterations;
    return 0;
#endif
}

/* Complete a step: returns 0, or the reason why the motion cannot continue. */
static int settle(const MODEL *m, real *x, real t) {
    for (int j = 0; j < NX; j++) if (!(R(fabs)(x[j]) < LARGEST)) return STOPPED_NOT_FINITE;
    normalize(x);
    return project(m, x, t, 6);
}
