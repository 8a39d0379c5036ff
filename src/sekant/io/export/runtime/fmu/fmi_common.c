/* ---- Common functions of both versions of FMI. ---- */
#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
typedef unsigned int Reference;
typedef struct { Course c; Logger logger; void *environment; char name[64]; } Instance;
#define FN(name) F(name) /* expands the names of a version first */

static Status told(Instance *i, Status status) {
    if (i->logger && i->c.message[0]) LOG(i->logger, i->environment, i->name, status, i->c.message);
    i->c.message[0] = 0;
    return status;
}

static Instance *made(String name, int kind, String token, void *environment, Logger logger) {
    if (kind != KIND || !token || strcmp(token, GUID)) {
        const char *why = kind != KIND ? "this FMU was exported for the other interface (model exchange or co-simulation)"
                                       : "the GUID or instantiation token belongs to another FMU";
        if (logger) LOG(logger, environment, name ? name : "", ERROR, why);
        return NULL;
    }
    Instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    i->logger = logger;
    i->environment = environment;
    snprintf(i->name, sizeof i->name, "%s", name ? name : "");
    defaults(&i->c);
    return i;
}
API void F(FreeInstance)(void *c) { free(c); }
API Status F(SetDebugLogging)(void *c, Boolean on, size_t n, const String *names) { (void)c; (void)on; (void)n; (void)names; return OK; }

static void set_up(Instance *i, int has_tolerance, double tolerance, double start) {
    i->c.s.m.t = start;
    if (has_tolerance && tolerance > 0) i->c.s.m.rtol = tolerance;
    i->c.s.start_stale = 1;
    touched(&i->c);
}
API Status F(ExitInitializationMode)(void *c) {
    Instance *i = c;
    if (refresh_rates(&i->c)) return told(i, ERROR);
    i->c.s.mode = KIND == CO_SIMULATION ? STEP_MODE : EVENT;
    return OK;
}
API Status F(Terminate)(void *c) { ((Instance *)c)->c.s.mode = TERMINATED; return OK; }
API Status F(Reset)(void *c) { defaults(&((Instance *)c)->c); return OK; }

static Status get_values(Instance *i, const Reference *r, size_t n, double *values) {
    for (size_t k = 0; k < n; k++) if (get_value(&i->c, r[k], &values[k])) return told(i, ERROR);
    return OK;
}
static Status set_values(Instance *i, const Reference *r, size_t n, const double *values) {
    for (size_t k = 0; k < n; k++) if (set_value(&i->c, r[k], values[k])) return told(i, ERROR);
    return OK;
}

API Status FN(GetFMUState)(void *c, void **state) {
    if (!*state) *state = malloc(sizeof(Saved));
    if (!*state) return ERROR;
    memcpy(*state, &((Instance *)c)->c.s, sizeof(Saved));
    move_memory(*state, 1);
    return OK;
}
API Status FN(SetFMUState)(void *c, void *state) {
    Instance *i = c;
    memcpy(&i->c.s, state, sizeof(Saved));
    move_memory(&i->c.s, 0);
    i->c.rates_stale = i->c.outputs_stale = 1;
    return OK;
}
API Status FN(FreeFMUState)(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
API Status FN(SerializedFMUStateSize)(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Saved); return OK; }
API Status FN(SerializeFMUState)(void *c, void *state, Byte *bytes, size_t size) {
    (void)c;
    if (size < sizeof(Saved)) return ERROR;
    memcpy(bytes, state, sizeof(Saved));
    return OK;
}
API Status FN(DeserializeFMUState)(void *c, const Byte *bytes, size_t size, void **state) {
    Instance *i = c;
    unsigned long long fingerprint = 0;
    if (size >= sizeof fingerprint) memcpy(&fingerprint, bytes, sizeof fingerprint);
    if (size != sizeof(Saved) || fingerprint != FINGERPRINT) {
        snprintf(i->c.message, sizeof i->c.message, "the serialized state belongs to another FMU");
        return told(i, ERROR);
    }
    if (!*state) *state = malloc(sizeof(Saved));
    if (!*state) return ERROR;
    memcpy(*state, bytes, sizeof(Saved));
    return OK;
}

#if KIND == MODEL_EXCHANGE || FMI == 3
API Status F(EnterEventMode)(void *c) { enter_event_mode(&((Instance *)c)->c); return OK; }
API Status F(EnterContinuousTimeMode)(void *c) { ((Instance *)c)->c.s.mode = CONTINUOUS; return OK; }
API Status F(CompletedIntegratorStep)(void *c, Boolean no_set_before, Boolean *event, Boolean *terminate) {
    Instance *i = c;
    int changed = 0;
    (void)no_set_before;
    *terminate = *event = 0;
    if (completed_step(&i->c, &changed)) return told(i, ERROR);
    *event = changed != 0;
    return OK;
}
API Status F(SetTime)(void *c, double t) { Instance *i = c; if (i->c.s.m.t != t) { i->c.s.m.t = t; touched(&i->c); } return OK; }
API Status F(SetContinuousStates)(void *c, const double *x, size_t n) {
    Instance *i = c;
    if (n != NX) return ERROR;
    memcpy(i->c.s.m.x, x, n * sizeof *x);
    touched(&i->c);
    return OK;
}
API Status FN(GetContinuousStateDerivatives)(void *c, double *xdot, size_t n) {
    Instance *i = c;
    if (n != NX) return ERROR;
    if (refresh_rates(&i->c)) return told(i, DISCARD);
    memcpy(xdot, i->c.xdot, n * sizeof *xdot);
    return OK;
}
API Status F(GetEventIndicators)(void *c, double *z, size_t n) {
    Instance *i = c;
    if (n != INDICATED) return ERROR;
    return event_indicators(&i->c, z) ? told(i, ERROR) : OK;
}
API Status F(GetContinuousStates)(void *c, double *x, size_t n) {
    Instance *i = c;
    if (n != NX || (is_starting(&i->c) && prepare_start(&i->c))) return told(i, ERROR);
    memcpy(x, i->c.s.m.x, n * sizeof *x);
    return OK;
}
API Status F(GetNominalsOfContinuousStates)(void *c, double *x, size_t n) {
    (void)c;
    for (size_t k = 0; k < n; k++) x[k] = 1;
    return n == NX ? OK : ERROR;
}
#endif
