/* ---- An instance: the model, what was asked of it, and where it is in the course of FMI. ---- */

#define VR_STATES 1u
#define VR_RATES (VR_STATES + NX)
#define VR_PARAMETERS (VR_RATES + NX)
#define VR_OUTPUTS (VR_PARAMETERS + NP)
#define VR_SETTINGS (VR_OUTPUTS + NY)
#define VR_INDICATORS (VR_SETTINGS + SETTINGS)
#if KIND == 0 /* model exchange: switches of the equations, then guards of events */
#define INDICATED (INDICATORS + EVENTS)
#else
#define INDICATED 0
#endif
#define VR_END (VR_INDICATORS + INDICATED)

enum { MODEL_EXCHANGE, CO_SIMULATION };
enum { INSTANTIATED, INITIALIZATION, EVENT, CONTINUOUS, STEP_MODE, TERMINATED };

/* What is saved and restored: no pointer is in it. */
typedef struct {
    unsigned long long fingerprint;
    MODEL m;
    real given[NX];      /* start values that the importer set */
    int is_given[NX];
    int mode, start_stale, corrected;
} Saved;

typedef struct {
    Saved s;
    real xdot[NX], y[NY + 1];
    int rates_stale, outputs_stale, kind;
    char message[300];
} Course;

static void touched(Course *c) { c->rates_stale = c->outputs_stale = 1; }

static void defaults(Course *c) {
    MODEL *m = &c->s.m;
    memset(&c->s, 0, sizeof c->s);
    c->s.fingerprint = FINGERPRINT;
    for (int j = 0; j < NP; j++) m->p[j] = default_parameters[j];
    m->next = INFINITY;
    m->step = DEFAULT_STEP; m->rtol = DEFAULT_RTOL; m->atol = DEFAULT_ATOL; m->drift = DEFAULT_DRIFT;
    c->s.start_stale = 1;
    c->message[0] = 0;
    touched(c);
}

static int failed(Course *c, int code) {
    const char *why = code == STOPPED_NOT_FINITE ? "a number is not finite: the motion leaves the range of a table or is singular"
        : code == STOPPED_CONSTRAINTS ? "the constraints cannot be satisfied"
        : code == STOPPED_CHATTERING ? "a switch or an event goes back and forth without end; smooth it"
        : code == STOPPED_JAMMED ? "friction jams: the reaction that presses grows with the friction that it causes, and Coulomb's law "
                                   "has no solution or several; lower the coefficient, or give the joint some compliance"
        : code == STOPPED_INSIDE ? "a contact starts inside; change the start values"
        : code == STOPPED_MEMORY ? "a delay has more kinks to remember than its memory holds" : "the step became too small";
#if DECLARED > 0
    if (code == STOPPED_EVENT) why = event_text[c->s.m.stopped - 1];
#endif
    snprintf(c->message, sizeof c->message, "t = %.9g s: %s", (double)c->s.m.t, why);
    return code;
}

/* The start: what was given, else what the model describes at the present parameters; then onto the constraints. */
static int prepare_start(Course *c) {
    MODEL *m = &c->s.m;
    if (!c->s.start_stale) return 0;
    m->segment = m->t;
    m->next = INFINITY;
    initial(m->p, m->x);
    for (int j = 0; j < NX; j++) if (c->s.is_given[j]) m->x[j] = c->s.given[j];
    normalize_start(m->x);
    int code = project(m, m->x, m->t, 50);
    if (!code) code = begin_motion(m, m->t);
    c->s.start_stale = 0;
    touched(c);
    return code ? failed(c, code) : 0;
}

static int is_starting(const Course *c) { return c->s.mode == INSTANTIATED || c->s.mode == INITIALIZATION; }

static int refresh_rates(Course *c) {
    if (is_starting(c)) { const int code = prepare_start(c); if (code) return code; }
    if (!c->rates_stale) return 0;
    const real t = inside(&c->s.m, c->s.m.t);
    rates(&t, c->s.m.x, c->s.m.p, c->xdot);
    c->rates_stale = 0;
    for (int j = 0; j < NX; j++) if (!isfinite(c->xdot[j])) return failed(c, STOPPED_NOT_FINITE);
    return 0;
}

static int refresh_outputs(Course *c) {
    if (is_starting(c)) { const int code = prepare_start(c); if (code) return code; }
    if (!c->outputs_stale) return 0;
    const real t = inside(&c->s.m, c->s.m.t);
    outputs(&t, c->s.m.x, c->s.m.p, c->y);
    c->outputs_stale = 0;
    return 0;
}

/* An indicator of an event lies off its guard a little, to the side from which the guard came: so the guard has passed
   zero where an importer that has searched for the zero of the indicator stops. */
static int event_indicators(Course *c, real *z) {
    if (is_starting(c)) { const int code = prepare_start(c); if (code) return code; }
#if INDICATED > 0
    const real t = inside(&c->s.m, c->s.m.t);
#endif
#if INDICATORS > 0 && KIND == 0
    indicators(&t, c->s.m.x, c->s.m.p, z);
#endif
#if EVENTS > 0 && KIND == 0
    guards(&t, c->s.m.x, c->s.m.p, z + INDICATORS);
    for (int i = 0; i < EVENTS; i++) {
        const int side = c->s.m.sign[i] ? c->s.m.sign[i] : 1;
        z[INDICATORS + i] += side * 1e-12 * fmax(1, fabs(c->s.m.guard[i]));
    }
#endif
    (void)z;
    return 0;
}

static real *setting(MODEL *m, unsigned int k) {
    real *const all[] = SETTINGS_LIST;
    return all[k];
}

static int get_value(Course *c, unsigned int r, real *value) {
    MODEL *m = &c->s.m;
    if (r == 0) *value = m->t;
    else if (r < VR_RATES) { if (is_starting(c) && prepare_start(c)) return 1; *value = m->x[r - VR_STATES]; }
    else if (r < VR_PARAMETERS) { if (refresh_rates(c)) return 1; *value = c->xdot[r - VR_RATES]; }
    else if (r < VR_OUTPUTS) *value = m->p[r - VR_PARAMETERS];
    else if (r < VR_SETTINGS) { if (refresh_outputs(c)) return 1; *value = c->y[r - VR_OUTPUTS]; }
    else if (r < VR_INDICATORS) *value = *setting(m, r - VR_SETTINGS);
    else if (r < VR_END) { real z[INDICATED + 1]; if (event_indicators(c, z)) return 1; *value = z[r - VR_INDICATORS]; }
    else { snprintf(c->message, sizeof c->message, "value reference %u does not exist", r); return 1; }
    return 0;
}

static int set_value(Course *c, unsigned int r, real value) {
    MODEL *m = &c->s.m;
    if (!isfinite(value)) {
        snprintf(c->message, sizeof c->message, "value reference %u: %g is not a finite number", r, (double)value);
        return 1;
    }
    if (r >= VR_STATES && r < VR_RATES && is_starting(c)) {
        c->s.given[r - VR_STATES] = value;
        c->s.is_given[r - VR_STATES] = c->s.start_stale = 1;
    } else if (r >= VR_PARAMETERS && r < VR_OUTPUTS) {
        if (m->p[r - VR_PARAMETERS] == value) return 0;
        m->p[r - VR_PARAMETERS] = value;
        if (is_starting(c)) c->s.start_stale = 1;
        else if (c->s.mode != CONTINUOUS) m->next = next_stop(m, m->segment > m->t ? m->segment : m->t);
    } else if (r >= VR_SETTINGS && r < VR_INDICATORS && value > 0) {
        *setting(m, r - VR_SETTINGS) = value;
    } else {
        snprintf(c->message, sizeof c->message, "value reference %u cannot be set to %g now", r, (double)value);
        return 1;
    }
    touched(c);
    return 0;
}

static int directional_derivative(Course *c, const unsigned int *z, size_t nz, const unsigned int *v, size_t nv,
                                  const real *dv, real *dz) {
    real dx[NX], dp[NP + HELD + 1], dxdot[NX], dy[NY + 1];
    if (is_starting(c) && prepare_start(c)) return 1;
    for (int j = 0; j < NX; j++) dx[j] = 0;
    for (int j = 0; j < NP + HELD; j++) dp[j] = 0;
    for (size_t i = 0; i < nv; i++) {
        if (v[i] >= VR_STATES && v[i] < VR_RATES) dx[v[i] - VR_STATES] = dv[i];
        else if (v[i] >= VR_PARAMETERS && v[i] < VR_OUTPUTS) dp[v[i] - VR_PARAMETERS] = dv[i];
        else { snprintf(c->message, sizeof c->message, "no derivatives by value reference %u", v[i]); return 1; }
    }
    const real t = inside(&c->s.m, c->s.m.t);
    directional(&t, c->s.m.x, c->s.m.p, dx, dp, dxdot, dy);
    for (size_t i = 0; i < nz; i++) {
        if (z[i] >= VR_RATES && z[i] < VR_PARAMETERS) dz[i] = dxdot[z[i] - VR_RATES];
        else if (z[i] >= VR_OUTPUTS && z[i] < VR_SETTINGS) dz[i] = dy[z[i] - VR_OUTPUTS];
        else { snprintf(c->message, sizeof c->message, "no derivatives of value reference %u", z[i]); return 1; }
    }
    return 0;
}

#if KIND == 0 || FMI == 3
/* After a step of the importer's solver: back onto the constraints where it left them by more than m->drift.
   *changed: the state is another one, which an event must tell. */
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
#endif

#if KIND == 0
/* The time on which the importer must land next: a stop, or before it a node at which delays record their inputs. */
static real landing_time(const MODEL *m) {
#if DELAYS > 0
    if (m->node < NODES) return node_time(m, m->node);
#endif
    return m->next;
}

/* What is due at a landing time: 0, or why the motion cannot go on. */
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
    const int code = pass_stop(m, m->next);
    touched(c);
    return code ? failed(c, code) : 0;
}

#if DELAYS > 0
/* Something jumps at m->t, before points of the stretch at which it would have been recorded: its pieces end with what
   is known of them, the inputs at both ends included. */
static int cut_stretch(MODEL *m) {
    if (m->t - m->stretch > ON_TIME * (m->next - m->stretch)) {
        keep_inputs(m, m->stretch, m->stretch_u);
        keep_inputs(m, m->t, m->left_u);
    }
    return end_stretch(m, m->t, 0);
}
#endif

static void enter_event_mode(Course *c) {
    c->s.mode = EVENT;
#if DELAYS > 0
    note_left(&c->s.m);
#endif
}

/* Event mode: past a stop the next segment begins, and events happen. Importers come within 1e-9 of the time, not always
   to it. *ends: the model ends its run. */
static int update_discrete(Course *c, int *changed, int *ends) {
    MODEL *m = &c->s.m;
    int code = is_starting(c) ? prepare_start(c) : 0;
    real before[NX];
    for (int j = 0; j < NX; j++) before[j] = m->x[j];
    while (!code && m->t >= landing_time(m) - 1e-9 * fabs(landing_time(m))) code = land(c);
#if DELAYS > 0
    for (int j = 0; j < HELD; j++) m->left_p[NP + j] = m->p[NP + j];
#endif
#if EVENTS > 0
    if (!code && (code = follow_jumps(m))) failed(c, code);
    touched(c);
    *ends = m->stopped != 0;
#endif
    *changed = 0;
    for (int j = 0; j < NX; j++) *changed |= before[j] != m->x[j];
#if DELAYS > 0
    int happened_here = *changed;
    for (int j = 0; j < HELD; j++) happened_here |= m->left_p[NP + j] != m->p[NP + j];
    if (!code && (happened_here || (parameters_jumped(m) && room_for_jump(m)))) {
        if ((code = cut_stretch(m))) failed(c, code);
        m->next = next_stop(m, m->segment > m->t ? m->segment : m->t);
        begin_stretch(m, m->t);
    }
    note_left(m);
#endif
    *changed |= c->s.corrected;
    c->s.corrected = 0;
    if (!code || !*ends) return code;
    c->message[0] = 0;
    return 0;
}
#elif FMI == 3
static void enter_event_mode(Course *c) { c->s.mode = EVENT; }
static real landing_time(const MODEL *m) { (void)m; return INFINITY; }
static int update_discrete(Course *c, int *changed, int *ends) { (void)c; (void)changed; (void)ends; return 0; }
#endif

#if KIND == 1
static int has_ended(const Course *c) {
#if EVENTS > 0
    return c->s.m.stopped != 0;
#else
    (void)c;
    return 0;
#endif
}

static int do_step(Course *c, real t, real length) {
    MODEL *m = &c->s.m;
    if (fabs(t - m->t) > 1e-9 * fmax(1, fabs(t)) || !(length > 0)) {
        snprintf(c->message, sizeof c->message, "a step of %g s from t = %.9g s, but the model is at t = %.9g s", (double)length,
                 (double)t, (double)m->t);
        return STOPPED_STEP;
    }
    const int code = advance(m, t + length);
    c->rates_stale = c->outputs_stale = 1;
    if (code) return failed(c, code);
    m->t = t + length;
    return 0;
}
#elif FMI == 3
static int has_ended(const Course *c) { (void)c; return 0; }
static int do_step(Course *c, real t, real length) { (void)c; (void)t; (void)length; return STOPPED_STEP; }
#endif
