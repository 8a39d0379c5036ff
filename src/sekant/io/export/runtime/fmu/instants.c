/* ---- Events, samples, delays, friction and contacts: Sekant's own procedures compute them, with their memory in the
   model. ---- */

extern Procedure AT_START, AT_NOTE, AT_STOP, AT_EVENT, AT_CATCH_UP, AT_LOOK, AT_KEEP, AT_KINK, AT_END;
static const int why_undecided[] = {0, STOPPED_JAMMED, STOPPED_INSIDE, STOPPED_CHATTERING, STOPPED_MEMORY};

/* Whether two times on the way to `end` count as equal; as in `analyses/simulation/events.py`. */
static real apart_at(const MODEL *m, real end) {
    const real span = KIND == CO_SIMULATION ? end - m->t : fmax(1, fabs(end));
    return fmax(1e-12 * span, 8 * (nextafter(fabs(end), INFINITY) - fabs(end)));
}

/* Pass the motion x at time t to the procedures. */
static void show(MODEL *m, real t, const real *x) {
    Word *const w = m->memory;
    w[INSTANT_APART].number = m->apart;
    w[INSTANT_T].number = t;
    for (int j = 0; j < NQ; j++) w[INSTANT_Q + j].number = x[j];
    for (int j = 0; j < NV; j++) w[INSTANT_V + j].number = x[NQ + j];
    for (int j = NQ + NV; j < NX; j++) w[INSTANT_Z + j - NQ - NV].number = x[j];
    for (int j = 0; j < NP + HELD; j++) w[INSTANT_P + j].number = m->p[j];
}

/* Take over the state and the held values from a procedure at time t. */
static int decided(MODEL *m, real t, Procedure *procedure, double a) {
    Word *const w = m->memory;
    show(m, t, m->x);
    const int code = (int)procedure(w, a, 0);
    for (int j = 0; j < NV; j++) m->x[NQ + j] = w[INSTANT_V + j].number;
    for (int j = NQ + NV; j < NX; j++) m->x[j] = w[INSTANT_Z + j - NQ - NV].number;
    for (int j = NP; j < NP + HELD; j++) m->p[j] = w[INSTANT_P + j].number;
#if DECLARED > 0
    m->stopped = (int)w[INSTANT_STOPPED].whole + 1;
    if (m->stopped) return STOPPED_EVENT;
#endif
    return why_undecided[code];
}

/* Pass the signs of guards that the importer has seen to the procedures. */
static void recall_signs(MODEL *m) {
#if DECLARED > 0
    for (int i = 0; i < DECLARED; i++) m->memory[DECLARED_SIGN + i].whole = m->sign[i];
#endif
    (void)m;
}

/* Store the parameters and inputs before a possible jump. */
static void note_left(MODEL *m) { for (int j = 0; j < NP; j++) m->left_p[j] = m->p[j]; }

static int parameters_jumped(const MODEL *m) {
    int jumped = 0;
    for (int j = 0; j < NP; j++) jumped |= m->p[j] != m->left_p[j];
    return jumped;
}

#if DELAYS > 0
/* A stretch of the motion lies between ends of pieces of delays; at nodes within it their inputs are known. */
static real node_time(const MODEL *m, int i) {
    return (real)0.5 * (m->stretch + m->next) + (real)0.5 * (m->next - m->stretch) * m->memory[DELAY_NODES + i].number;
}

static void look_at_inputs(MODEL *m, real t, const real *x) {
    show(m, inside(m, t), x);
    AT_LOOK(m->memory, 0, 0);
}

static void record(MODEL *m, real t, const real *x) {
    look_at_inputs(m, t, x);
    AT_KEEP(m->memory, t, 0);
}

static void keep_inputs(MODEL *m, real t, const real *u) {
    for (int l = 0; l < DELAYS; l++) m->memory[DELAY_INPUT + l].number = u[l];
    AT_KEEP(m->memory, t, 0);
}

static int end_stretch(MODEL *m, real t, int kink) {
    m->node = NODES;
    return why_undecided[AT_END(m->memory, t, kink)];
}

/* Whether there is room to store another jump of inputs; otherwise delays replace it by a steep slope. */
static int room_for_jump(const MODEL *m) {
    for (int l = 0; l < DELAYS; l++) if (m->memory[DELAY_COUNT + l].whole >= JUMPS) return 0;
    return 1;
}

/* Passages through delays of the kink at the stop at t that ends the stretch. */
static int kink_here(MODEL *m, real t) {
    const int fresh = parameters_jumped(m) || next_switch(m->p, m->segment) <= t + near_time(t);
    return fresh ? 0 : (int)AT_KINK(m->memory, t, 0);
}
#endif
