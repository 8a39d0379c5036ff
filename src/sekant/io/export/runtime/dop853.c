/* ---- DOP853: order 8 with error estimates of order 5, 3 and 6. Hairer, Norsett, Wanner: Solving ODEs I, II.4 to II.10. ---- */

static void restart(MODEL *m, int anew) {
    m->fresh = 1;
    if (anew) m->h = 0;
}

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

/* x = m->x + h sum_r a_sr k_r */
static void set_stage(const MODEL *m, real h, int s, real k[][NX], real *x) {
    for (int j = 0; j < NX; j++) x[j] = 0;
    for (int r = 0; r < s; r++) {
        const real a = dop_a[s][r];
        if (a != 0) for (int j = 0; j < NX; j++) x[j] += a * k[r][j];
    }
    for (int j = 0; j < NX; j++) x[j] = m->x[j] + h * x[j];
}

/* A trial step from (m->t, m->x): its end in `x`, the slope there in k[12], the error norm in *error. */
static int try_step(const MODEL *m, real h, real *x, real k[][NX], real *error) {
    for (int j = 0; j < NX; j++) k[0][j] = m->slope[j];
    *error = INFINITY;
    for (int s = 1; s <= 12; s++) {
        set_stage(m, h, s, k, x);
        if (s < 12) {
            const int code = evaluate(m, m->t + dop_c[s] * h, x, k[s]);
            if (code) return code;
        }
    }
    real square5 = 0, square3 = 0, square6 = 0;
    for (int j = 0; j < NX; j++) {
        real e5 = 0, e3 = 0, e6 = 0;
        if (!(fabs(x[j]) < LARGEST)) return STOPPED_NOT_FINITE;
        for (int s = 0; s < 12; s++) {
            e5 += dop_e5[s] * k[s][j];
            e3 += dop_e3[s] * k[s][j];
            e6 += dop_e6[s] * k[s][j];
        }
        const real scale = m->atol + m->rtol * fmax(fabs(m->x[j]), fabs(x[j]));
        square5 += e5 / scale * (e5 / scale);
        square3 += e3 / scale * (e3 / scale);
        square6 += e6 / scale * (e6 / scale);
    }
    const real sum = square5 + 0.01 * square3, usual = sum > 0 ? square5 / sqrt(sum) : 0;
    /* of order 6, for where that of order 5 passes through zero */
    const real guard = square3 > 0 ? GUARD * sqrt(square6) * pow(fmin(square6 / square3, 1.0), 1.0 / 6.0) : 0;
    *error = h * fmax(usual, guard) / sqrt(NX);
    if (!isfinite(*error)) *error = INFINITY;
    if (*error > 1) return 0;
    const int code = settle(m, x, m->t + h);
    return code ? code : evaluate(m, m->t + h, x, k[12]);
}

#if STAGES > 13
/* Section II.6: coefficients of the dense output of the trial step that ends in `end`. */
static int prepare_dense(const MODEL *m, real h, const real *end, real k[][NX], real dense[7][NX]) {
    for (int j = 0; j < NX; j++) {
        const real rise = end[j] - m->x[j];
        dense[0][j] = rise;
        dense[1][j] = h * k[0][j] - rise;
        dense[2][j] = 2 * rise - h * (k[12][j] + k[0][j]);
    }
    for (int s = 13; s < STAGES; s++) {
        real x[NX];
        set_stage(m, h, s, k, x);
        const int code = evaluate(m, m->t + dop_c[s] * h, x, k[s]);
        if (code) return code;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < NX; j++) {
            real sum = 0;
            for (int s = 0; s < STAGES; s++) sum += dop_d[i][s] * k[s][j];
            dense[3 + i][j] = h * sum;
        }
    return 0;
}

static void interpolate(const MODEL *m, real theta, real dense[7][NX], real *x) {
    for (int j = 0; j < NX; j++) {
        real value = 0;
        for (int i = 6; i >= 0; i--) value = (value + dense[i][j]) * (i % 2 ? 1 - theta : theta);
        x[j] = m->x[j] + value;
    }
    normalize(x);
}
#endif

#if DELAYS > 0
#define WATCHING(m) (!(m)->blind)
#else
#define WATCHING(m) 1
#endif

#if WATCHED > 0
#define CLOSE 0.95   /* part of a step beyond which the dense output is as good as its end */
#define BEYOND 1.02  /* how far a step goes that is to land, over the way to the crossing */
#define PURE 0.9999  /* the same where the equations change beyond the crossing */
#define LOOKS 8      /* points of a step at which crossings are looked for, and the most of them where joints are dense */
#define MOST_LOOKS 1000
enum { NOTHING, CROSSED, REPEAT };

/* Whether a function with these three values may leave its sign between them and come back, by a parabola. */
static int turns(real start, real middle, real end, int sign) {
    const real rise = end - start, bend = end - 2 * middle + start;
    if (bend == 0 || fabs(rise) >= 2 * fabs(bend)) return 0;
    const real extreme = sign * (middle - 0.125 * rise * rise / bend);
    return extreme <= 0.2 * (fmax(sign * start, sign * end) - extreme);
}

#if COUNTED > 0
/* Joints of tables below their arguments: signs do not tell of two that are passed at once. */
static void count_joints(const MODEL *m, real t, const real *x, real *n) {
    const real at = inside(m, t);
    joints(&at, x, m->p, n);
}

static int several_passed(const real *before, const real *after) {
    for (int i = 0; i < COUNTED; i++) if (fabs(after[i] - before[i]) > 1.5) return 1;
    return 0;
}
#endif

static int suspicious(MODEL *m, real h, const real *end, real k[][NX], real *e) {
    real x[NX], middle[WATCHED];
#if COUNTED > 0
    real before[COUNTED], after[COUNTED];
    count_joints(m, m->t, m->x, before);
    count_joints(m, m->t + h, end, after);
    if (several_passed(before, after)) return 1;
#endif
    watched(m, m->t + h, end, e);
    for (int j = 0; j < NX; j++) x[j] = (m->x[j] + end[j]) / 2 + h / 8 * (k[0][j] - k[12][j]);
    normalize(x);
    watched(m, m->t + h / 2, x, middle);
    leave_zero(m, middle);
    for (int i = 0; i < WATCHED; i++) {
        const int s = m->sign[i];
        if (s && (s * middle[i] <= 0 || s * e[i] <= 0 || turns(m->guard[i], middle[i], e[i], s))) return 1;
    }
    return 0;
}

#if LANDINGS > 0
/* h times the norm of the difference of the slopes on both sides of a crossing between a and b: what all of the step
   would be off by having been made with the equations of one side, in tolerances. */
static real jump_at(const MODEL *m, real h, real a, real b, real dense[7][NX]) {
    real x[NX], before[NX], after[NX], square = 0;
    interpolate(m, a, dense, x);
    if (evaluate(m, m->t + a * h, x, before)) return INFINITY;
    interpolate(m, b, dense, x);
    if (evaluate(m, m->t + b * h, x, after)) return INFINITY;
    for (int j = 0; j < NX; j++) {
        const real d = (after[j] - before[j]) / (m->atol + m->rtol * fabs(m->x[j]));
        square += d * d;
    }
    return h * sqrt(square / NX);
}
#endif

/* Looks for the first crossing on a trial step that passed. CROSSED: at the part *theta of the step; `x` is the state
   just beyond, and *number what has crossed. REPEAT: the step is to be repeated with the part *theta of its length. */
static int watch_step(MODEL *m, real h, real smallest, real *x, real k[][NX], real dense[7][NX], real *theta, int *number) {
    real e[WATCHED], at_a[WATCHED], at_b[WATCHED], a = 0, b = 0, y[NX];
    int looks = 0, any = 0;
    *number = -1;
    if (!suspicious(m, h, x, k, e)) { pass_on(m, e); return NOTHING; }
    if (prepare_dense(m, h, x, k, dense)) { *theta = 0.25; return REPEAT; }
    int sign[WATCHED];
    for (int i = 0; i < WATCHED; i++) { at_a[i] = m->guard[i]; sign[i] = m->sign[i]; }
#if COUNTED > 0
    real before[COUNTED], after[COUNTED];
    count_joints(m, m->t, m->x, before);
#endif
    while (a < 1 && looks++ < MOST_LOOKS) {
        b = fmin(1, a + (real)1 / LOOKS);
        interpolate(m, b, dense, y);
#if COUNTED > 0
        count_joints(m, m->t + b * h, y, after);
        while (several_passed(before, after) && b - a > 1e-9) {
            b = a + (b - a) / 2;
            interpolate(m, b, dense, y);
            count_joints(m, m->t + b * h, y, after);
        }
        for (int i = 0; i < COUNTED; i++) before[i] = after[i];
#endif
        watched(m, m->t + b * h, y, e);
        if ((any = happened(m, e) >= 0)) break;
        for (int i = 0; i < WATCHED; i++) { at_a[i] = e[i]; if (e[i] != 0) m->sign[i] = sign_of(e[i]); }
        a = b;
    }
    if (!any) { pass_on(m, e); return NOTHING; }
    for (int i = 0; i < WATCHED; i++) at_b[i] = e[i];
    const real finest = fmax(4 * ROUND * fabs(m->t) / h, 9 * ROUND);
    real weight_a = 1, weight_b = 1;
    for (int n = 0, last = 0; n < 80 && b - a > finest; n++) {
        const real guess = next_guess(m, a, b, at_a, at_b, finest, weight_a, weight_b, last);
        if (guess == a) break;
        interpolate(m, guess, dense, y);
        watched(m, m->t + guess * h, y, e);
        const int beyond = happened(m, e) >= 0;
        for (int i = 0; i < WATCHED; i++) (beyond ? at_b : at_a)[i] = e[i];
        if (beyond) { b = guess; weight_a = last > 0 ? weight_a / 2 : 1; weight_b = 1; last = 1; }
        else { a = guess; weight_b = last < 0 ? weight_b / 2 : 1; weight_a = 1; last = -1; }
    }
    *theta = b;
    *number = happened(m, at_b);
    real least = CLOSE, ahead = BEYOND;
#if LANDINGS > 0
    if (*number >= EVENTS) {
        const real part = 1e-3 / jump_at(m, h, a, b, dense); /* of the step that may lie beyond */
        least = 1 - fmin(1 - PURE, part);
        ahead = 1 + fmin(1 - PURE, part) / 2;
        if (b <= fmax(1e-12, 2 * finest)) {
            /* left at once, or within the last digits of the time: the other side from here on, or, where both lead
               back, none until it is left */
            const int which = *number;
            pass_on(m, at_b);
            if (++m->flips[which] >= 3) m->sign[which] = 0;
            *number = -1;
            *theta = 0;
            return REPEAT;
        }
    }
#endif
    if (b < least && h > smallest) {
        for (int i = 0; i < WATCHED; i++) m->sign[i] = sign[i];
        *theta = fmin(b * ahead, 1 - (1 - least) / 100);
        return REPEAT;
    }
    interpolate(m, b, dense, x);
    if (settle(m, x, m->t + b * h)) {
        for (int i = 0; i < WATCHED; i++) m->sign[i] = sign[i];
        *theta = 0.25;
        return REPEAT;
    }
    pass_on(m, at_b);
    return CROSSED;
}
#endif

/* Steps as long as the tolerances allow from m->t to `landing`, or to the first event. */
static int run_to(MODEL *m, real landing, int *event) {
    long tries = 0;
    real kept = 0;
#if LANDINGS > 0
    real window = m->t;
    long landings = 0;
#endif
    *event = -1;
    while (landing - m->t > near_time(landing)) {
        if (m->fresh) {
            const int code = evaluate(m, m->t, m->x, m->slope);
            if (code) return code;
            m->fresh = 0;
            if (m->h <= 0) m->h = first_step(m, landing - m->t);
        }
        const real smallest = fmax(10 * (nextafter(m->t, INFINITY) - m->t), 1e-20 * (landing - m->t));
        const real offered = fmax(m->h, smallest);
        const int last = m->t + (kept > 0 ? 1 : 1.01) * offered >= landing; /* a repeated one ends at its crossing */
        const real h = last ? landing - m->t : offered;
        real x[NX], k[STAGES][NX], error, theta = 1;
        int crossed = -1, ready = 0;
        const int code = try_step(m, h, x, k, &error);
        const real wanted = error > 0 ? 0.9 * pow(error, -1.0 / 8.0) : 6;
        if (++tries >= 10000000) return STOPPED_STEP;
        if (code || error > 1) {
            m->rejected = 1;
            kept = 0;
            m->h = h * (code ? 0.25 : fmax(1.0 / 3.0, wanted));
            if (m->h < smallest) return code ? code : STOPPED_STEP;
            continue;
        }
#if STAGES > 13
        real dense[7][NX];
#endif
#if WATCHED > 0
        const int watching = WATCHING(m);
        const int verdict = watching ? watch_step(m, h, smallest, x, k, dense, &theta, &crossed) : NOTHING;
        if (verdict == REPEAT) {
            kept = fmax(kept, offered);
            m->h = h * theta;
            if (theta <= 1e-12) m->h = offered;
            continue;
        }
        ready = verdict == CROSSED;
        if (ready && crossed < 0) return STOPPED_CHATTERING;
#endif
        const real reached = theta < 1 ? m->t + theta * h : last ? landing : m->t + h;
#if DELAYS > 0
        while (WATCHING(m) && m->node < NODES && node_time(m, m->node) <= reached) {
            real y[NX];
            if (!ready && prepare_dense(m, h, x, k, dense)) break;
            ready = 1;
            interpolate(m, (node_time(m, m->node) - m->t) / h, dense, y);
            record(m, node_time(m, m->node), y);
            m->node++;
        }
#endif
        (void)ready;
        real factor = wanted < 1.0 / 3.0 ? 1.0 / 3.0 : wanted > 6 ? 6 : wanted;
        if (m->rejected && factor > 1) factor = 1;
        m->h = last ? fmax(h * factor, offered) : h * factor;
        if (crossed >= 0 || kept > 0) m->h = fmax(h * factor, fmin(fmax(offered, kept), 4 * (reached - m->t)));
        kept = 0;
        for (int j = 0; j < NX; j++) { m->x[j] = x[j]; m->slope[j] = k[12][j]; }
        m->t = reached;
        m->rejected = 0;
        m->steps++;
        if (crossed >= 0) {
            m->fresh = 1;
            if (crossed < EVENTS) { *event = crossed; return 0; }
#if LANDINGS > 0
            landings++;
        } else {
            for (int i = 0; i < WATCHED; i++) m->flips[i] = 0;
        }
        if (tries % 1000 == 0) { /* does a switch go back and forth so fast that the motion would not end? */
            if (3 * landings > 1000 && (landing - m->t) * 1000 > 1e6 * (m->t - window)) return STOPPED_CHATTERING;
            window = m->t;
            landings = 0;
#endif
        }
    }
    return 0;
}
