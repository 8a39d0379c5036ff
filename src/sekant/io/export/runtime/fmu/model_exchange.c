/* ---- Model exchange: the importer integrates; this part processes events and reports them. ---- */

/* An event indicator is offset from its guard, to the side from which the guard came. The guard has then passed
   zero at the zero of the indicator, where the importer stops. */
static int event_indicators(Course *c, real *z) {
    if (is_starting(c)) { const int code = prepare_start(c); if (code) return code; }
#if INDICATED > 0
    const real t = inside(&c->s.m, c->s.m.t);
#endif
#if INDICATORS > 0
    indicators(&t, c->s.m.x, c->s.m.p, z);
#endif
#if EVENTS > 0
    guards(&t, c->s.m.x, c->s.m.p, z + INDICATORS);
    for (int i = 0; i < EVENTS; i++) {
        const int side = i >= BOUND && c->s.m.sign[i - BOUND] < 0 ? -1 : 1;
        z[INDICATORS + i] += side * 1e-12 * fmax(1, fabs(c->s.m.guard[i]));
    }
#endif
    (void)z;
    return 0;
}

/* After a step of the importer's solver: project onto the constraints if it left them by more than m->drift.
   *changed: the state has changed, which requires an event. */
static int completed_step(Course *c, int *changed) {
    MODEL *m = &c->s.m;
    real off = 0, x[NX];
    for (int j = 0; j < NX; j++) x[j] = m->x[j];
#if UNIT_BLOCKS > 0
    for (int b = 0; b < UNIT_BLOCKS; b++) {
        real square = 0;
        for (int j = unit_blocks[b][0]; j < unit_blocks[b][0] + unit_blocks[b][1]; j++) square += x[j] * x[j];
        off = fmax(off, fabs(sqrt(square) - 1));
    }
#endif
#if CONSTRAINED
    real moved[NX], residual;
    const real t = inside(m, m->t);
    projection(&t, x, m->p, moved, &residual);
    off = fmax(off, residual);
#endif
    *changed = 0;
    if (off <= m->drift) return 0;
    const int code = settle(m, x, m->t);
    if (code) return failed(c, code);
    for (int j = 0; j < NX; j++) m->x[j] = x[j];
    touched(c);
    c->s.corrected = *changed = 1;
    return 0;
}

/* The time at which the importer must stop next: a stop, or before it a node at which delays record their inputs. */
static real landing_time(const MODEL *m) {
#if DELAYS > 0
    if (m->node < NODES) return node_time(m, m->node);
#endif
    return m->next;
}

/* Process a time of `landing_time`: returns 0, or the reason why the motion cannot continue. */
static int land(Course *c) {
    MODEL *m = &c->s.m;
#if DELAYS > 0
    if (m->node < NODES) {
        const real node = node_time(m, m->node);
        if (m->t > node + 1e-9 * fabs(node)) {
            snprintf(c->message, sizeof c->message, "t = %.9g s: the importer stepped over the time event at %.9g s, at which a "
                     "delay records its input", (double)m->t, (double)node);
            return STOPPED_STEP;
        }
        keep_inputs(m, m->t, m->left_u);
        m->node++;
        return 0;
    }
#endif
    const int code = pass_stop(m, m->next, 1);
    look_again(m, 0);
    touched(c);
    return code ? failed(c, code) : 0;
}

#if DELAYS > 0
/* A jump at m->t, before further nodes of the stretch: its pieces end with the
   known values, including the inputs at both ends. */
static int cut_stretch(MODEL *m) {
    if (m->t - m->stretch > 1e-9 * (m->next - m->stretch)) {
        keep_inputs(m, m->stretch, m->stretch_u);
        keep_inputs(m, m->t, m->left_u);
    }
    return end_stretch(m, m->t, 0);
}
#endif

/* Store the values before a jump in event mode. */
static void note_all(MODEL *m) {
#if INSTANTS
    note_left(m);
#endif
#if DELAYS > 0
    look_at_inputs(m, m->t, m->x);
    for (int l = 0; l < DELAYS; l++) m->left_u[l] = m->memory[DELAY_INPUT + l].number;
#endif
    (void)m;
}

static void enter_event_mode(Course *c) {
    c->s.mode = EVENT;
    note_all(&c->s.m);
}

/* Events of guards that have passed zero: found by the importer, or caused by jumps of inputs. */
static int catch_up(MODEL *m) {
    int code = 0;
#if INSTANTS
    m->apart = apart_at(m, m->t);
#endif
#if DECLARED > 0
    recall_signs(m);
    code = decided(m, inside(m, m->t), AT_CATCH_UP, -1);
#endif
#if BOUND > 0
    for (int g = 0; g < BOUND && !code; g++) {
        const real at = inside(m, m->t);
        guards(&at, m->x, m->p, m->guard);
        if (m->guard[g] < 0) code = decided(m, at, AT_CATCH_UP, g);
    }
#endif
    look_again(m, 0);
    return code;
}

/* Event mode: past a stop the next segment begins, and events happen. Importers reach the time within 1e-9, not always
   exactly. *ends: the model ends its run. */
static int update_discrete(Course *c, int *changed, int *ends) {
    MODEL *m = &c->s.m;
    int code = is_starting(c) ? prepare_start(c) : 0;
    real before[NX];
    for (int j = 0; j < NX; j++) before[j] = m->x[j];
    while (!code && m->t >= landing_time(m) - 1e-9 * fabs(landing_time(m))) code = land(c);
#if DELAYS > 0
    real held[HELD];
    for (int j = 0; j < HELD; j++) held[j] = m->p[NP + j];
#endif
    if (!code && (code = catch_up(m))) failed(c, code);
    touched(c);
#if INSTANTS
    *ends = m->stopped != 0;
#endif
    *changed = 0;
    for (int j = 0; j < NX; j++) *changed |= before[j] != m->x[j];
#if DELAYS > 0
    int happened_here = *changed;
    for (int j = 0; j < HELD; j++) happened_here |= held[j] != m->p[NP + j];
    if (!code && (happened_here || (parameters_jumped(m) && room_for_jump(m)))) {
        if ((code = cut_stretch(m))) failed(c, code);
        look_ahead(m, m->segment > m->t ? m->segment : m->t);
    }
#endif
    note_all(m);
    *changed |= c->s.corrected;
    c->s.corrected = 0;
    if (!code || !*ends) return code;
    c->message[0] = 0;
    return 0;
}

#if FMI == 3
static int has_ended(const Course *c) { (void)c; return 0; }
static int do_step(Course *c, real t, real length) { (void)c; (void)t; (void)length; return STOPPED_STEP; }
#endif
