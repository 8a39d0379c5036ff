/* ---- Stops: times at which signals switch, samples are taken, and delays switch to their next piece. ---- */

static real next_stop(const MODEL *m, real t) {
    const real found = next_switch(m->p, t);
#if INSTANTS
    if (m->memory[INSTANT_NEXT].number < found) return m->memory[INSTANT_NEXT].number;
#endif
    return found;
}

#if KIND == MODEL_EXCHANGE
/* Signs and values of guards at the current state; a guard at zero keeps its sign, at the start it has none. */
static void look_again(MODEL *m, int starting) {
#if EVENTS > 0
    const real at = inside(m, m->t);
    guards(&at, m->x, m->p, m->guard);
    for (int i = 0; i < DECLARED; i++) {
        const real e = m->guard[BOUND + i];
        if (e != 0 || starting) m->sign[i] = (e > 0) - (e < 0);
    }
#endif
    (void)m; (void)starting;
}
#endif

/* Find the next stop after t, and the nodes of a new stretch before it. */
static void look_ahead(MODEL *m, real t) {
    m->next = next_stop(m, t);
#if DELAYS > 0
    m->stretch = t;
    m->node = 0;
#if KIND == MODEL_EXCHANGE
    look_at_inputs(m, t, m->x);
    for (int l = 0; l < DELAYS; l++) m->stretch_u[l] = m->memory[DELAY_INPUT + l].number;
#else
    for (int j = 0; j < NX; j++) m->stretch_x[j] = m->x[j];
#endif
#endif
}

/* The start at time t; the state is set already. */
static int begin_motion(MODEL *m, real t) {
    m->segment = t;
    m->next = INFINITY;
    m->h = m->h_kept = m->usual = 0;
    m->after_rejection = m->stiff = 0;
    m->last_event = -1;
#if HELD > 0
    real held[HELD];
    held_start(m->p, held);
    for (int j = 0; j < HELD; j++) m->p[NP + j] = held[j];
#endif
#if INSTANTS
    lay_out(&instant_image, m->memory);
    m->apart = apart_at(m, t);
    const int code = decided(m, t, AT_START, 0);
    if (code) return code;
    note_left(m);
#endif
    look_ahead(m, t);
#if KIND == MODEL_EXCHANGE
    look_again(m, 1);
#endif
    return 0;
}

/* Process the stop at time t, and begin the next segment. `noted`: the state before the stop
   is stored already. */
static int pass_stop(MODEL *m, real t, int noted) {
    int code = 0;
#if DELAYS > 0
    if ((code = end_stretch(m, t, kink_here(m, t)))) return code;
#endif
    m->segment = t;
    m->next = INFINITY;
#if INSTANTS
    recall_signs(m);
    code = decided(m, t, AT_STOP, noted);
#endif
    (void)noted;
    look_ahead(m, t);
    return code;
}
