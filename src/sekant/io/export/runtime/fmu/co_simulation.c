/* ---- Co-simulation: the motion from stop to stop, from event to event. ---- */

#if INSTANTS
/* A step beyond the event at the current time, so short that its error is negligible. */
static void go_beyond(MODEL *m) {
    const real at = inside(m, m->t);
    real k[NX];
    rates(&at, m->x, m->p, k);
    for (int j = 0; j < NX; j++) m->x[j] += m->apart * k[j];
    m->t += m->apart;
}

/* Whether the event is the previous one: the motion from `begin` started before it by round-off. */
static int again(const MODEL *m, int event, real begin) {
    return event == m->last_event && begin == m->last_event_time && m->t - begin <= m->apart;
}

#if DELAYS > 0
/* A stretch that ends early: repeat the motion up to here for its nodes. */
static int end_at_once(MODEL *m) {
    const real end = m->t, begin = m->stretch, next = m->next, h = m->h, kept = m->h_kept;
    const int any = end - begin > 1e-9 * (next - begin), after = m->after_rejection, stiff = m->stiff;
    real x[NX];
    int event, code = 0;
    for (int j = 0; j < NX; j++) { x[j] = m->x[j]; m->x[j] = m->stretch_x[j]; }
    for (int l = 0; l < DELAYS; l++) m->memory[DELAY_POINTS + l].whole -= m->node;
    m->t = begin;
    m->next = end; /* the end of the stretch with these nodes */
    m->node = any ? 0 : NODES;
    m->blind = 1;
    if (any) code = run_to(m, end, &event);
    m->blind = 0;
    m->next = next;
    m->h = h; m->h_kept = kept; m->after_rejection = after; m->stiff = stiff;
    m->t = end;
    for (int j = 0; j < NX; j++) m->x[j] = x[j];
    return code ? code : any ? end_stretch(m, end, 0) : 0;
}
#endif

/* Inputs or parameters have changed since the last step. */
static int take_jump(MODEL *m) {
    real fresh[NP + 1];
    int code = 0;
    for (int j = 0; j < NP; j++) { fresh[j] = m->p[j]; m->p[j] = m->left_p[j]; }
#if DELAYS > 0
    if (room_for_jump(m)) {
        code = end_at_once(m);
        if (!code) code = end_stretch(m, m->t, 0); /* ends an unfinished stretch */
    }
#endif
    show(m, m->t, m->x);
    AT_NOTE(m->memory, 0, 0);
    for (int j = 0; j < NP; j++) m->p[j] = fresh[j];
    if (!code) code = decided(m, m->t, AT_STOP, 1);
    look_ahead(m, m->segment > m->t ? m->segment : m->t);
    restart(m, DELAYS > 0);
    return code;
}

/* Event `number` happens at the current state, just beyond the crossing. */
static int react(MODEL *m, int number) {
    int code = 0;
#if DELAYS > 0
    if ((code = end_at_once(m))) return code;
#endif
    code = decided(m, m->t, AT_EVENT, number);
#if DELAYS > 0
    look_ahead(m, m->segment > m->t ? m->segment : m->t);
#endif
    restart(m, 1);
    m->last_event = number;
    m->last_event_time = m->t;
    return code;
}

/* Steps from m->t to `end`; they end exactly at stops, at events, and at `end`. */
static int advance(MODEL *m, real end) {
    int code = 0;
    long events = 0;
    if (m->stopped) return STOPPED_EVENT;
    m->apart = apart_at(m, end);
    if (parameters_jumped(m) && (code = take_jump(m))) return code;
    note_left(m);
    while (end - m->t > near_time(end)) {
        const int at_stop = end >= m->next - near_time(m->next);
        const real landing = at_stop ? m->next : end, begin = m->t;
        int event = -1;
        if ((code = run_to(m, landing, &event))) return code;
        if (event >= 0) {
            const int repeated = again(m, event, begin);
            if (repeated || m->jumped) go_beyond(m); /* guards that jumped over zero are evaluated beyond the switch */
            if (repeated) restart(m, 1);
            else if ((code = react(m, event))) return code;
            else if (++events > MOST_EVENTS) return STOPPED_CHATTERING;
        } else if (at_stop) {
            if ((code = pass_stop(m, landing, 0))) return code;
            restart(m, EVENTS > 0 || DELAYS > 0);
        }
    }
    return 0;
}
#else
/* Steps from m->t to `end`; they end exactly there, as at stops. */
static int advance(MODEL *m, real end) {
    while (end - m->t > near_time(end)) {
        real stops[MOST_STOPS], stop = m->next;
        int count = 0, event;
        while (count < MOST_STOPS && stop < end - near_time(end)) {
            if (stop - (count ? stops[count - 1] : m->t) > near_time(stop)) stops[count++] = stop;
            stop = next_stop(m, stop);
        }
        const int all = !(stop < end - near_time(end));
        const real landing = all ? end : stops[--count];
        const int code = run_over(m, stops, count, landing, &event);
        while (m->next <= m->t + near_time(m->t)) pass_stop(m, m->next, 0);
        if (code) return code;
    }
    return 0;
}
#endif

static int has_ended(const Course *c) {
#if INSTANTS
    return c->s.m.stopped != 0;
#else
    (void)c;
    return 0;
#endif
}

static int do_step(Course *c, real t, real length) {
    MODEL *m = &c->s.m;
    if (fabs(t - m->t) > 1e-9 * fmax(1, fabs(t)) || !(length > 0)) {
        snprintf(c->message, sizeof c->message, "a step of %g s starts at t = %.9g s, but the model is at t = %.9g s", (double)length,
                 (double)t, (double)m->t);
        return STOPPED_STEP;
    }
    const int code = advance(m, t + length);
    c->rates_stale = c->outputs_stale = 1;
    if (code) return failed(c, code);
    m->t = t + length;
    return 0;
}

static int event_indicators(Course *c, real *z) { (void)c; (void)z; return 0; }

#if FMI == 3
static int completed_step(Course *c, int *changed) { (void)c; *changed = 0; return 0; }
static void enter_event_mode(Course *c) { c->s.mode = EVENT; }
static real landing_time(const MODEL *m) { (void)m; return INFINITY; }
static int update_discrete(Course *c, int *changed, int *ends) { (void)c; (void)changed; (void)ends; return 0; }
#endif
