/* ---- Events: when a guard passes zero, held values and states are set, or the motion ends. ---- */

static int sign_of(real value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

/* All guards at (t, x). */
static void watched(const MODEL *m, real t, const real *x, real *e) {
    const real at = inside(m, t);
    guards(&at, x, m->p, e);
}

/* Values and signs of guards at the current state; a guard at zero keeps its sign. */
static void look_again(MODEL *m, real t) {
    watched(m, t, m->x, m->guard);
    for (int i = 0; i < EVENTS; i++) if (m->guard[i] != 0) m->sign[i] = sign_of(m->guard[i]);
}

static void first_signs(MODEL *m, real t) {
    for (int i = 0; i < EVENTS; i++) m->sign[i] = 0;
    look_again(m, t);
    m->unsure = 1;
}

/* Signs of guards at the current state; a guard at zero has the sign `zero`. */
static void guard_signs(const MODEL *m, real t, const int *zero, int *sign) {
    real e[EVENTS];
    const real at = inside(m, t);
    guards(&at, m->x, m->p, e);
    for (int i = 0; i < EVENTS; i++) sign[i] = e[i] != 0 ? sign_of(e[i]) : zero ? zero[i] : 1;
}

/* The values that event `number` sets, computed from the state x and the parameters p. */
static void happen(MODEL *m, real t, const real *x, const real *p, int number) {
    real value[REACTIONS];
    const real at = inside(m, t);
    reactions(&at, x, p, value);
    for (int k = event_first[number]; k < event_first[number + 1]; k++) {
        if (event_target[k] < NX) m->x[event_target[k]] = value[k];
        else m->p[NP + event_target[k] - NX] = value[k];
    }
    if (event_stops[number]) m->stopped = number + 1;
}

/* Further events happen whose guards have changed their signs, until none is left; those that have crossed
   together happen at once, from the values before. */
static int cascade(MODEL *m, real t, int *sign, int level_only) {
    for (int round = 0; round < MOST_AT_ONCE; round++) {
        real x[NX], p[NP + HELD];
        int here[EVENTS], any = 0;
        guard_signs(m, t, level_only ? 0 : sign, here);
        for (int j = 0; j < NX; j++) x[j] = m->x[j];
        for (int j = 0; j < NP + HELD; j++) p[j] = m->p[j];
        if (m->stopped) return STOPPED_EVENT;
        for (int i = 0; i < EVENTS; i++) {
            const int crossed = sign[i] * here[i] < 0 && (event_direction[i] == 0 || event_direction[i] == here[i]);
            sign[i] = here[i];
            if (!crossed || (level_only && !event_level[i])) continue;
            happen(m, t, x, p, i);
            any = 1;
        }
        if (!any) return 0;
    }
    return STOPPED_CHATTERING;
}

/* At the start, events happen for levels that a quantity exceeds already. */
static int begin_events(MODEL *m, real t) {
    int sign[EVENTS];
    for (int i = 0; i < EVENTS; i++) sign[i] = event_level[i] ? -event_direction[i] : 0;
    return cascade(m, t, sign, 1);
}

/* Events of guards that jumped over zero since the last step, because of inputs or parameters. */
static int follow_jumps(MODEL *m) {
    int sign[EVENTS];
    for (int i = 0; i < EVENTS; i++) sign[i] = m->sign[i];
    const int code = cascade(m, m->t, sign, 0);
    look_again(m, m->t);
    return code;
}
