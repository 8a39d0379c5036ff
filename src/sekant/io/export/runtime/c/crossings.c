/* ---- Crossings: their definition and their search. ---- */

/* Whether guard i has passed zero at this value, in a direction that counts. */
static int counts(const MODEL *m, int i, real value) {
    const int before = m->sign[i];
    if (event_direction[i] && event_direction[i] != -before) return 0;
    return before != 0 && before * value <= 0;
}

static int happened(const MODEL *m, const real *e) {
    for (int i = 0; i < EVENTS; i++) if (counts(m, i, e[i])) return i;
    return -1;
}

/* Continue with these values; guards that have crossed, even exactly to zero, change their sign. */
static void pass_on(MODEL *m, const real *e) {
    for (int i = 0; i < EVENTS; i++) {
        m->guard[i] = e[i];
        m->sign[i] = e[i] != 0 ? sign_of(e[i]) : counts(m, i, e[i]) ? -m->sign[i] : m->sign[i];
    }
}

/* A guard that started at zero, up to round-off, has left it without an event. */
static void leave_zero(MODEL *m, const real *e) {
    for (int i = 0; i < EVENTS && m->unsure; i++)
        if (R(fabs)(m->guard[i]) <= ON_ZERO * R(fabs)(e[i] - m->guard[i])) m->sign[i] = sign_of(e[i]);
    m->unsure = 0;
}

/* Between a, before the crossing, and b: regula falsi (Illinois variant), at least `finest` from both ends. */
static real next_guess(const MODEL *m, real a, real b, const real *at_a, const real *at_b, real finest, real weight_a,
                       real weight_b, int last) {
    real guess = b;
    for (int i = 0; i < EVENTS; i++) {
        if (!counts(m, i, at_b[i])) continue;
        const real before = weight_a * R(fabs)(at_a[i]), beyond = weight_b * R(fabs)(at_b[i]);
        const real place = before > 0 ? a + (b - a) * before / (before + beyond) : a;
        if (place < guess) guess = place;
    }
    if (guess - a < finest / 4 || b - guess < finest / 4)
        guess = last == 0 ? a + (b - a) / 2 : last > 0 ? (a + finest / 2 < b ? a + finest / 2 : b) : b - finest / 2;
    if (!(a < guess && guess < b)) guess = a + (b - a) / 2;
    return a < guess && guess < b ? guess : a;
}
