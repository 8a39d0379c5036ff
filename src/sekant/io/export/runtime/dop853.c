/* ---- DOP853: order 8 with error estimates of order 5 and 3. Hairer, Norsett, Wanner: Solving ODEs I, II.4 to II.10. ---- */

static int evaluate(const MODEL *m, real t, const real *x, real *k) {
    t = inside(m, t);
    rates(&t, x, m->p, k);
    for (int j = 0; j < NX; j++) if (!isfinite(k[j])) return STOPPED_NOT_FINITE;
    return 0;
}

/* Section II.4: the first step to try; m->slope holds the slope at (m->t, m->x). */
static real first_step(const MODEL *m, real longest) {
    real slope = 0, size = 0, curvature = 0, x[NX], k[NX];
    for (int j = 0; j < NX; j++) {
        const real scale = m->atol + m->rtol * fabs(m->x[j]), a = m->slope[j] / scale, b = m->x[j] / scale;
        slope += a * a;
        size += b * b;
    }
    real h = slope <= 1e-10 || size <= 1e-10 ? 1e-6 : 0.01 * sqrt(size / slope);
    h = h < longest ? h : longest;
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h * m->slope[j];
    if (evaluate(m, m->t + h, x, k)) return h < 1e-6 ? h : 1e-6;
    for (int j = 0; j < NX; j++) {
        const real d = (k[j] - m->slope[j]) / (m->atol + m->rtol * fabs(m->x[j]));
        curvature += d * d;
    }
    const real strongest = fmax(sqrt(curvature) / h, sqrt(slope));
    const real high = strongest <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / strongest, 1.0 / 8.0);
    return fmin(fmin(100 * h, high), longest);
}

/* A trial step from (m->t, m->x): its end in `x`, the slope there in `end_slope`, the error norm in *error. */
static int try_step(const MODEL *m, real h, real *x, real *end_slope, real *error) {
    real k[12][NX];
    for (int j = 0; j < NX; j++) k[0][j] = m->slope[j];
    *error = INFINITY;
    for (int s = 1; s <= 12; s++) {
        for (int j = 0; j < NX; j++) x[j] = 0;
        for (int r = 0; r < s; r++) {
            const real a = dop_a[s][r];
            if (a != 0) for (int j = 0; j < NX; j++) x[j] += a * k[r][j];
        }
        for (int j = 0; j < NX; j++) x[j] = m->x[j] + h * x[j];
        if (s < 12) {
            const int code = evaluate(m, m->t + dop_c[s] * h, x, k[s]);
            if (code) return code;
        }
    }
    real square5 = 0, square3 = 0;
    for (int j = 0; j < NX; j++) {
        real e5 = 0, e3 = 0;
        if (!(fabs(x[j]) < LARGEST)) return STOPPED_NOT_FINITE;
        for (int s = 0; s < 12; s++) {
            e5 += dop_e5[s] * k[s][j];
            e3 += dop_e3[s] * k[s][j];
        }
        const real scale = m->atol + m->rtol * fmax(fabs(m->x[j]), fabs(x[j]));
        square5 += e5 / scale * (e5 / scale);
        square3 += e3 / scale * (e3 / scale);
    }
    const real sum = square5 + 0.01 * square3;
    *error = sum <= 0 ? 0 : h * square5 / sqrt(sum * NX);
    if (!isfinite(*error)) *error = INFINITY;
    if (*error > 1) return 0;
    const int code = settle(m, x, m->t + h);
    return code ? code : evaluate(m, m->t + h, x, end_slope);
}

/* Steps as long as the tolerances allow from m->t to `end`, which is landed on as switching times are. */
static int advance(MODEL *m, real end) {
    long tries = 0;
    while (end - m->t > near_time(end)) {
        const int at_switch = end >= m->next - near_time(m->next);
        const real landing = at_switch ? m->next : end;
        if (m->fresh) {
            const int code = evaluate(m, m->t, m->x, m->slope);
            if (code) return code;
            m->fresh = 0;
            if (m->h <= 0) m->h = first_step(m, landing - m->t);
        }
        const real smallest = fmax(10 * (nextafter(m->t, INFINITY) - m->t), 1e-20 * (end - m->t));
        const real offered = fmax(m->h, smallest);
        const int last = m->t + 1.01 * offered >= landing;
        const real h = last ? landing - m->t : offered;
        real x[NX], slope[NX], error;
        const int code = try_step(m, h, x, slope, &error);
        const real wanted = error > 0 ? 0.9 * pow(error, -1.0 / 8.0) : 6;
        if (!code && error <= 1) {
            real factor = wanted < 1.0 / 3.0 ? 1.0 / 3.0 : wanted > 6 ? 6 : wanted;
            if (m->rejected && factor > 1) factor = 1;
            for (int j = 0; j < NX; j++) { m->x[j] = x[j]; m->slope[j] = slope[j]; }
            m->h = last ? fmax(h * factor, offered) : h * factor;
            m->t = last ? landing : m->t + h;
            m->rejected = 0;
            m->steps++;
            if (last && at_switch) {
                open_segment(m, landing);
                m->fresh = 1;
            }
        } else {
            m->rejected = 1;
            m->h = h * (code ? 0.25 : fmax(1.0 / 3.0, wanted));
            if (m->h < smallest) return code ? code : STOPPED_STEP;
        }
        if (++tries >= 10000000) return STOPPED_STEP;
    }
    return 0;
}
