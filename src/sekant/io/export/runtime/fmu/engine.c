/* ---- The motion from one time to another by Sekant's own loop, on an image of its memory. ---- */

extern Procedure ADVANCE;
#define ALL_STEPS 1152921504606846976.0
enum { MORE, FINISHED, NOT_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS, NO_CONVERGENCE, UNSATISFIED, CHATTERING, HAPPENED };
static const int why_stopped[] = {STOPPED_STEP, 0, STOPPED_NOT_FINITE, STOPPED_STEP, STOPPED_STEP, STOPPED_STEP,
                                  STOPPED_CONSTRAINTS, STOPPED_CHATTERING, 0};

/* `anew`: the motion continues after a change, so only the length of steps is reused. */
static void restart(MODEL *m, int anew) {
    if (!anew) return;
    m->usual = m->h;
    m->h = m->h_kept = 0;
    m->after_rejection = m->stiff = 0;
}

#if DELAYS > 0
#define WATCHING(m) (!(m)->blind)
#else
#define WATCHING(m) 1
#endif

/* Set the inputs of a run over these stops. */
static void ask(const MODEL *m, Word *w, const real *stops, int count, real landing) {
    w[RUN_T].number = w[RUN_STEP_START].number = m->t;
    w[RUN_SNAP].number = SNAP * fmax(fabs(m->t), fabs(landing));
#if FORM == SERIES
    (void)stops; (void)count; /* it stops at all switches by itself */
    const real strict = m->rtol > 0 ? fmax(1e-3, fmin(1, 1e-15 / m->rtol)) : 1e-3; /* as in `taylor/run.py` */
    w[RUN_RTOL].number = strict * m->rtol;
    w[RUN_TOL].number = strict * fmin(m->rtol, 1e-3);
    w[RUN_ATOL_WORK].number = strict * m->atol;
    for (int j = NQ; j < NX; j++) w[RUN_ATOL + j - NQ].number = strict * m->atol;
#else
    double *const edges = &w[RUN_EDGES].number, *const low = &w[RUN_LOW].number, *const high = &w[RUN_HIGH].number;
    edges[0] = m->t;
    for (int i = 0; i < count; i++) edges[i + 1] = stops[i];
    edges[count + 1] = landing;
    for (int i = 0; i <= count; i++) {
        low[i] = nextafter(i ? edges[i] : fmax(m->t, m->segment), INFINITY);
        high[i] = nextafter(edges[i + 1], -INFINITY);
    }
    w[RUN_EDGES_COUNT].whole = count + 2;
    w[RUN_LOW_COUNT].whole = w[RUN_HIGH_COUNT].whole = count + 1;
    w[RUN_SPAN_START].number = w[RUN_WINDOW_START].number = m->t;
    w[RUN_STEP].number = m->step;
    w[RUN_RTOL].number = m->rtol;
    w[RUN_NEXT].number = m->h;
    for (int j = 0; j < RUN_WIDTH; j++) w[RUN_ATOL + j].number = m->atol;
    for (int j = 0; j < NX; j++) w[RUN_X_OLD + j].number = m->x[j];
#endif
#if FORM == EXPLICIT
    w[RUN_SAMPLED_COUNT].whole = count + 1;
    w[RUN_RATES_AT].number = m->t;
    w[RUN_EARLIEST].number = low[0];
    w[RUN_LATEST].number = high[0];
    w[RUN_USUAL].number = m->usual;
    w[RUN_KEPT].number = m->h_kept;
    w[RUN_AFTER_REJECTION].whole = m->after_rejection;
    w[RUN_STIFF].whole = m->stiff;
#endif
#if FORM != SERIES
    if (!WATCHING(m)) w[RUN_EVENTS].whole = 0;
#endif
    for (int j = 0; j < NX; j++) w[run_states[j]].number = m->x[j];
    for (int j = 0; j < NP + HELD; j++) if (run_parameters[j] >= 0) w[run_parameters[j]].number = m->p[j];
}

/* From m->t to `landing`, over the `count` stops between, at which the equations may jump; or to the first event. */
static int run_over(MODEL *m, const real *stops, int count, real landing, int *event) {
    Word *const w = malloc(run_image.words * sizeof *w);
    if (!w) return STOPPED_MEMORY;
    lay_out(&run_image, w);
    double *const times = &w[RUN_T_EVAL].number;
    int rows = 1;
    ask(m, w, stops, count, landing);
    times[0] = m->t;
#if DELAYS > 0
    int at_end = 0;
    for (int i = m->node; i < NODES && node_time(m, i) <= landing + near_time(landing); i++) {
        if (node_time(m, i) < landing - near_time(landing)) times[rows++] = node_time(m, i);
        else at_end++;
    }
#endif
    times[rows++] = landing;
    w[RUN_T_EVAL_COUNT].whole = w[RUN_ROWS_COUNT].whole = rows;
#if FORM == EXPLICIT
    w[RUN_HELD_ROWS_COUNT].whole = rows;
#else
    w[RUN_A_ROWS_COUNT].whole = w[RUN_LAM_ROWS_COUNT].whole = rows;
#endif
    const int code = (int)ADVANCE(w, ALL_STEPS, KERNEL);
    m->t = w[RUN_T].number;
    for (int j = 0; j < NX; j++) m->x[j] = w[run_states[j]].number;
#if FORM == SERIES /* whose outputs are projected onto the constraints again */
    if (code == FINISHED) for (int j = 0; j < NX; j++) m->x[j] = w[RUN_ROWS + (rows - 1) * RUN_WIDTH + j].number;
#endif
    m->steps += (unsigned long long)w[RUN_STEPS].whole;
    *event = code == HAPPENED ? (int)w[RUN_WHICH].whole : -1;
#if FORM == SERIES
    m->jumped = code == HAPPENED && w[RUN_JUMPED].whole;
#else
    m->h = w[RUN_NEXT].number;
#endif
#if FORM == EXPLICIT
    m->h_kept = w[RUN_KEPT].number;
    m->after_rejection = (int)w[RUN_AFTER_REJECTION].whole;
    m->stiff = (int)w[RUN_STIFF].whole;
#endif
#if DELAYS > 0
    const int reached = (int)w[RUN_ROW].whole < rows - 1 ? (int)w[RUN_ROW].whole : rows - 1;
    for (int i = 1; i < reached; i++, m->node++) record(m, times[i], &w[RUN_ROWS + i * RUN_WIDTH].number);
    for (int i = 0; i < at_end && code == FINISHED; i++, m->node++) record(m, landing, m->x);
#endif
    free(w);
    return why_stopped[code];
}

static int run_to(MODEL *m, real landing, int *event) { return run_over(m, 0, 0, landing, event); }
