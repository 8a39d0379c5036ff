/* ---- An instance: the model, its settings, and its state in FMI. ---- */

#define VR_STATES 1u
#define VR_RATES (VR_STATES + NX)
#define VR_PARAMETERS (VR_RATES + NX)
#define VR_OUTPUTS (VR_PARAMETERS + NP)
#define VR_SETTINGS (VR_OUTPUTS + NY)
#define VR_INDICATORS (VR_SETTINGS + SETTINGS)
#if KIND == MODEL_EXCHANGE /* switches of the equations, then guards of events */
#define INDICATED (INDICATORS + EVENTS)
#else
#define INDICATED 0
#endif
#define VR_END (VR_INDICATORS + INDICATED)

enum { INSTANTIATED, INITIALIZATION, EVENT, CONTINUOUS, STEP_MODE, TERMINATED };

/* The saved and restored part. */
typedef struct {
    unsigned long long fingerprint;
    MODEL m;
    real given[NX];      /* start values that the importer set */
    int is_given[NX];
    int mode, start_stale, corrected;
} Saved;

/* Set the addresses in the memory of procedures to its current location, or to none if it is `away`. */
static void move_memory(Saved *s, int away) {
#if INSTANTS
    set_addresses(&instant_image, s->m.memory, away);
#endif
    (void)s; (void)away;
}

typedef struct {
    Saved s;
    real xdot[NX], y[NY + 1];
    int rates_stale, outputs_stale;
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
        : code == STOPPED_CHATTERING ? "a switch or an event alternates endlessly; smooth its law"
        : code == STOPPED_JAMMED ? "friction jams: the reaction that presses grows with the friction that it causes, and Coulomb's law "
                                   "has no solution or several; lower the coefficient, or give the joint some compliance"
        : code == STOPPED_INSIDE ? "the bodies of a contact overlap at the start; change the start values"
        : code == STOPPED_MEMORY ? "the memory of a delay is too small for the kinks of its input" : "the step became too small";
#if INSTANTS && DECLARED > 0
    if (code == STOPPED_EVENT) why = event_text[c->s.m.stopped - 1];
#endif
    snprintf(c->message, sizeof c->message, "t = %.9g s: %s", (double)c->s.m.t, why);
    return code;
}

/* The start: the given values, otherwise those of the model at the current parameters; then projected. */
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

static int event_indicators(Course *c, real *z);

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
        else { snprintf(c->message, sizeof c->message, "derivatives with respect to value reference %u are not available", v[i]); return 1; }
    }
    const real t = inside(&c->s.m, c->s.m.t);
    directional(&t, c->s.m.x, c->s.m.p, dx, dp, dxdot, dy);
    for (size_t i = 0; i < nz; i++) {
        if (z[i] >= VR_RATES && z[i] < VR_PARAMETERS) dz[i] = dxdot[z[i] - VR_RATES];
        else if (z[i] >= VR_OUTPUTS && z[i] < VR_SETTINGS) dz[i] = dy[z[i] - VR_OUTPUTS];
        else { snprintf(c->message, sizeof c->message, "derivatives of value reference %u are not available", z[i]); return 1; }
    }
    return 0;
}
