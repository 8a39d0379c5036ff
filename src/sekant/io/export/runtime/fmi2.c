/* ---- FMI 2.0 ---- */
#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
#ifdef FMI2_FUNCTION_PREFIX
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define F(name) GLUE(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define F(name) fmi2##name
#endif
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } Status;
typedef int Boolean;
typedef const char *String;
typedef unsigned int Reference;
typedef void (*Logger)(void *, String, Status, String, String, ...);
typedef struct {
    Logger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, Status);
    void *environment;
} Callbacks;
typedef struct { Boolean update_again, terminate, nominals_changed, states_changed, time_defined; double time; } EventInfo;
typedef struct { Course c; Logger logger; void *environment; char name[64]; } Instance;

static Status told(Instance *i, Status status) {
    if (i->logger && i->c.message[0]) i->logger(i->environment, i->name, status, "logStatusError", "%s", i->c.message);
    i->c.message[0] = 0;
    return status;
}

API String F(GetTypesPlatform)(void) { return "default"; }
API String F(GetVersion)(void) { return "2.0"; }
API Status F(SetDebugLogging)(void *c, Boolean on, size_t n, const String *names) { (void)c; (void)on; (void)n; (void)names; return OK; }

API void *F(Instantiate)(String name, int kind, String guid, String resources, const Callbacks *functions, Boolean visible, Boolean logging) {
    (void)resources; (void)visible; (void)logging;
    if (kind != KIND || !guid || strcmp(guid, GUID)) {
        if (functions && functions->logger)
            functions->logger(functions->environment, name ? name : "", ERROR, "logStatusError", "%s",
                              kind != KIND ? "this FMU is not of that kind" : "the GUID is that of another FMU");
        return NULL;
    }
    Instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    if (functions) { i->logger = functions->logger; i->environment = functions->environment; }
    snprintf(i->name, sizeof i->name, "%s", name ? name : "");
    i->c.kind = kind;
    defaults(&i->c);
    return i;
}
API void F(FreeInstance)(void *c) { free(c); }
API Status F(SetupExperiment)(void *c, Boolean has_tolerance, double tolerance, double start, Boolean has_stop, double stop) {
    Instance *i = c;
    (void)has_stop; (void)stop;
    i->c.s.m.t = start;
    if (has_tolerance && tolerance > 0) i->c.s.m.rtol = tolerance;
    i->c.s.start_stale = 1;
    touched(&i->c);
    return OK;
}
API Status F(EnterInitializationMode)(void *c) { ((Instance *)c)->c.s.mode = INITIALIZATION; return OK; }
API Status F(ExitInitializationMode)(void *c) {
    Instance *i = c;
    if (refresh_rates(&i->c)) return told(i, ERROR);
    i->c.s.mode = KIND == CO_SIMULATION ? STEP_MODE : EVENT;
    return OK;
}
API Status F(Terminate)(void *c) { ((Instance *)c)->c.s.mode = TERMINATED; return OK; }
API Status F(Reset)(void *c) { defaults(&((Instance *)c)->c); return OK; }

API Status F(GetReal)(void *c, const Reference *r, size_t n, double *values) {
    Instance *i = c;
    for (size_t k = 0; k < n; k++) if (get_value(&i->c, r[k], &values[k])) return told(i, ERROR);
    return OK;
}
API Status F(SetReal)(void *c, const Reference *r, size_t n, const double *values) {
    Instance *i = c;
    for (size_t k = 0; k < n; k++) if (set_value(&i->c, r[k], values[k])) return told(i, ERROR);
    return OK;
}
#define NONE_OF(kind, type) \
    API Status F(Get##kind)(void *c, const Reference *r, size_t n, type *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; } \
    API Status F(Set##kind)(void *c, const Reference *r, size_t n, const type *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }
NONE_OF(Integer, int)
NONE_OF(Boolean, Boolean)
NONE_OF(String, String)

API Status F(GetFMUstate)(void *c, void **state) {
    if (!*state) *state = malloc(sizeof(Saved));
    if (!*state) return ERROR;
    memcpy(*state, &((Instance *)c)->c.s, sizeof(Saved));
    return OK;
}
API Status F(SetFMUstate)(void *c, void *state) {
    Instance *i = c;
    memcpy(&i->c.s, state, sizeof(Saved));
    i->c.rates_stale = i->c.outputs_stale = 1;
    return OK;
}
API Status F(FreeFMUstate)(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
API Status F(SerializedFMUstateSize)(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Saved); return OK; }
API Status F(SerializeFMUstate)(void *c, void *state, char *bytes, size_t size) {
    (void)c;
    if (size < sizeof(Saved)) return ERROR;
    memcpy(bytes, state, sizeof(Saved));
    return OK;
}
API Status F(DeSerializeFMUstate)(void *c, const char *bytes, size_t size, void **state) {
    Instance *i = c;
    unsigned long long fingerprint;
    memcpy(&fingerprint, bytes, size < sizeof fingerprint ? 0 : sizeof fingerprint);
    if (size != sizeof(Saved) || fingerprint != FINGERPRINT) {
        snprintf(i->c.message, sizeof i->c.message, "the serialized state is not one of this FMU");
        return told(i, ERROR);
    }
    if (!*state) *state = malloc(sizeof(Saved));
    if (!*state) return ERROR;
    memcpy(*state, bytes, sizeof(Saved));
    return OK;
}
API Status F(GetDirectionalDerivative)(void *c, const Reference *z, size_t nz, const Reference *v, size_t nv, const double *dv, double *dz) {
    Instance *i = c;
    return directional_derivative(&i->c, z, nz, v, nv, dv, dz) ? told(i, ERROR) : OK;
}

#if KIND == 0 /* model exchange */
API Status F(EnterEventMode)(void *c) { ((Instance *)c)->c.s.mode = EVENT; return OK; }
API Status F(NewDiscreteStates)(void *c, EventInfo *e) {
    Instance *i = c;
    memset(e, 0, sizeof *e);
    update_discrete(&i->c, &e->states_changed);
    e->time_defined = isfinite(i->c.s.m.next) ? 1 : 0;
    e->time = e->time_defined ? i->c.s.m.next : 0;
    return OK;
}
API Status F(EnterContinuousTimeMode)(void *c) { ((Instance *)c)->c.s.mode = CONTINUOUS; return OK; }
API Status F(CompletedIntegratorStep)(void *c, Boolean no_set_before, Boolean *event, Boolean *terminate) {
    Instance *i = c;
    (void)no_set_before;
    *terminate = 0;
    return completed_step(&i->c, event) ? told(i, ERROR) : OK;
}
API Status F(SetTime)(void *c, double t) { Instance *i = c; if (i->c.s.m.t != t) { i->c.s.m.t = t; touched(&i->c); } return OK; }
API Status F(SetContinuousStates)(void *c, const double *x, size_t n) {
    Instance *i = c;
    if (n != NX) return ERROR;
    memcpy(i->c.s.m.x, x, n * sizeof *x);
    touched(&i->c);
    return OK;
}
API Status F(GetDerivatives)(void *c, double *xdot, size_t n) {
    Instance *i = c;
    if (n != NX) return ERROR;
    if (refresh_rates(&i->c)) return told(i, DISCARD);
    memcpy(xdot, i->c.xdot, n * sizeof *xdot);
    return OK;
}
API Status F(GetEventIndicators)(void *c, double *z, size_t n) {
    Instance *i = c;
    if (n != INDICATORS) return ERROR;
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
#else /* co-simulation */
API Status F(DoStep)(void *c, double t, double length, Boolean no_set_before) {
    Instance *i = c;
    (void)no_set_before;
    return do_step(&i->c, t, length) ? told(i, DISCARD) : OK;
}
API Status F(CancelStep)(void *c) { (void)c; return ERROR; }
API Status F(SetRealInputDerivatives)(void *c, const Reference *r, size_t n, const int *o, const double *v) { (void)c; (void)r; (void)o; (void)v; return n ? ERROR : OK; }
API Status F(GetRealOutputDerivatives)(void *c, const Reference *r, size_t n, const int *o, double *v) { (void)c; (void)r; (void)o; (void)v; return n ? ERROR : OK; }
API Status F(GetStatus)(void *c, int kind, Status *s) { (void)c; (void)kind; *s = OK; return DISCARD; }
API Status F(GetRealStatus)(void *c, int kind, double *v) {
    if (kind != 2) return DISCARD; /* the last time to which a step succeeded */
    *v = ((Instance *)c)->c.s.m.t;
    return OK;
}
API Status F(GetIntegerStatus)(void *c, int kind, int *v) { (void)c; (void)kind; (void)v; return DISCARD; }
API Status F(GetBooleanStatus)(void *c, int kind, Boolean *v) { if (kind != 3) return DISCARD; (void)c; *v = 0; return OK; }
API Status F(GetStringStatus)(void *c, int kind, String *v) { (void)c; (void)kind; (void)v; return DISCARD; }
#endif
