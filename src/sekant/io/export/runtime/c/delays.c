/* ---- Delays: inputs are stored as polynomials through Chebyshev points of each stretch, and evaluated later. ---- */

#define NODES (DEGREE + 5)
#define SMOOTH 3 /* passages through delays after which a kink is negligible */

static real next_cut(const MODEL *m, int l) { return m->began + m->line[l].cut * delay_time[l] / delay_pieces[l]; }
static real next_piece(const MODEL *m, int l) { return m->line[l].ended + delay_time[l]; }
static int delay_due(int l, real when, real t) { return when <= t + ON_TIME * delay_time[l] / delay_pieces[l]; }

static void start_delays(MODEL *m, real t) {
    m->began = t;
    for (int l = 0; l < DELAYS; l++) {
        m->line[l].cut = 1;
        m->line[l].from = m->line[l].ended = t;
        m->line[l].last_kink = m->line[l].first = m->line[l].count = m->line[l].rows = 0;
    }
}

static void delay_inputs(const MODEL *m, real t, const real *x, real *u) {
    const real at = inside(m, t);
    delayed(&at, x, m->p, u);
}

static void begin_stretch(MODEL *m, real t) {
    m->stretch = t;
    m->node = 0;
    for (int j = 0; j < NX; j++) m->stretch_x[j] = m->x[j];
}

/* Store the parameters and inputs before a possible jump. */
static void note_left(MODEL *m) { for (int j = 0; j < NP; j++) m->left_p[j] = m->p[j]; }

static int parameters_jumped(const MODEL *m) {
    int jumped = 0;
    for (int j = 0; j < NP; j++) jumped |= m->p[j] != m->left_p[j];
    return jumped;
}

static real place_of_node(int i, real begin, real end) {
    return (begin + end) / 2 - (end - begin) / 2 * R(cos)((real)3.14159265358979323846 * (i + (real)0.5) / NODES);
}

static real node_time(const MODEL *m, int i) { return place_of_node(i, m->stretch, m->next); }

/* Inputs of all delays at t, a node. */
static void record(MODEL *m, real t, const real *x) {
    real u[DELAYS];
    delay_inputs(m, t, x, u);
    for (int l = 0; l < DELAYS; l++) {
        m->line[l].t[m->line[l].rows] = t;
        m->line[l].u[m->line[l].rows++] = u[l];
    }
}

/* Least squares in Chebyshev polynomials by Householder reflections, of the degree that n values allow; c: coefficients
   of powers of s in [-1, 1]. */
static void fit(int n, const real *t, const real *u, real begin, real end, real *c) {
    const int degree = n > DEGREE ? DEGREE : n - 1;
    real a[ROWS][DEGREE + 2], b[DEGREE + 1], low[DEGREE + 1] = {0}, high[DEGREE + 1] = {0};
    for (int i = 0; i < n; i++) {
        const real s = (2 * t[i] - begin - end) / (end - begin);
        a[i][0] = 1;
        a[i][1] = s;
        for (int k = 2; k <= degree; k++) a[i][k] = 2 * s * a[i][k - 1] - a[i][k - 2];
        a[i][degree + 1] = u[i];
    }
    for (int j = 0; j <= degree; j++) {
        real square = 0;
        for (int i = j; i < n; i++) square += a[i][j] * a[i][j];
        const real size = a[j][j] > 0 ? -R(sqrt)(square) : R(sqrt)(square);
        a[j][j] -= size;
        const real half = -size * a[j][j];
        for (int k = j + 1; k <= degree + 1; k++) {
            real dot = 0;
            for (int i = j; i < n; i++) dot += a[i][j] * a[i][k];
            for (int i = j; i < n; i++) a[i][k] -= dot / half * a[i][j];
        }
        a[j][j] = size;
    }
    for (int j = degree; j >= 0; j--) {
        b[j] = a[j][degree + 1];
        for (int k = j + 1; k <= degree; k++) b[j] -= a[j][k] * b[k];
        b[j] /= a[j][j];
    }
    for (int k = 0; k <= DEGREE; k++) c[k] = 0;
    low[0] = high[1] = 1;
    c[0] = b[0];
    for (int k = 1; k <= degree; k++) {
        real above[DEGREE + 1];
        for (int j = 0; j <= DEGREE; j++) {
            c[j] += b[k] * high[j];
            above[j] = (j ? 2 * high[j - 1] : 0) - low[j];
        }
        for (int j = 0; j <= DEGREE; j++) { low[j] = high[j]; high[j] = above[j]; }
    }
}

/* End a stretch at t, at a kink with this number of passages; pieces end at kinks and at their grid. */
static int end_stretch(MODEL *m, real t, int kink) {
    m->node = NODES;
    for (int l = 0; l < DELAYS; l++) {
        real end = t;
        if (delay_due(l, next_cut(m, l), t)) {
            end = next_cut(m, l);
            m->line[l].cut += 1;
        } else if (kink >= SMOOTH && m->line[l].rows + NODES <= ROWS) continue;
        if (m->line[l].rows < 2) continue; /* an empty piece */
        if (m->line[l].count == KEPT) return STOPPED_MEMORY;
        const int k = (m->line[l].first + m->line[l].count++) % KEPT;
        fit(m->line[l].rows, m->line[l].t, m->line[l].u, m->line[l].from, end, m->line[l].kept[k].c);
        m->line[l].kept[k].begin = m->line[l].from;
        m->line[l].kept[k].end = m->line[l].from = end;
        m->line[l].kept[k].kink = kink;
        m->line[l].rows = 0;
    }
    return 0;
}

/* Whether there is room to store another jump of inputs; otherwise delays replace it by a steep slope. */
static int room_for_jump(const MODEL *m) {
    for (int l = 0; l < DELAYS; l++) if (m->line[l].count >= JUMPS) return 0;
    return 1;
}

/* Passages through delays of the kink at the stop at t that ends the stretch. */
static int kink_at(const MODEL *m, real t) {
    int kink = parameters_jumped(m) ? 0 : SMOOTH;
    if (next_switch(m->p, m->segment) <= t + near_time(t)) kink = 0;
#if SAMPLES > 0
    for (int i = 0; i < SAMPLES; i++) if (sample_due(m, i, t)) kink = 0;
#endif
    for (int l = 0; l < DELAYS; l++)
        if (delay_due(l, next_piece(m, l), t) && m->line[l].last_kink + 1 < kink) kink = m->line[l].last_kink + 1;
    return kink;
}

/* Switch delays to their next pieces, if their time has come. */
static void turn_delays(MODEL *m, real t) {
    for (int l = 0; l < DELAYS; l++) {
        if (!delay_due(l, next_piece(m, l), t) || !m->line[l].count) continue;
        const int k = m->line[l].first;
        const real begin = m->line[l].kept[k].begin, end = m->line[l].kept[k].end;
        real *const held = m->p + NP;
        for (int j = 0; j <= DEGREE; j++) held[delay_target[l][j]] = m->line[l].kept[k].c[j];
        held[delay_target[l][DEGREE + 1]] = (begin + end) / 2 + delay_time[l];
        held[delay_target[l][DEGREE + 2]] = (end - begin) / 2;
        m->line[l].ended = end;
        m->line[l].last_kink = m->line[l].kept[k].kink;
        m->line[l].first = (k + 1) % KEPT;
        m->line[l].count--;
    }
}
