/* ---- FMI 3.0 ---- */
#include <stdbool.h>
#include <stdint.h>
#ifdef _WIN32
#define API __declspec(dllexport)
#else
#define API __attribute__((visibility("default")))
#endif
#ifdef FMI3_FUNCTION_PREFIX
#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)
#define F(name) GLUE(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define F(name) fmi3##name
#endif
typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } Status;
typedef const char *String;
typedef unsigned int Reference;
typedef void (*Logger)(void *, Status, String, String);
typedef struct { Course c; Logger logger; void *environment; } Instance;

static Status told(Instance *i, Status status) {
    if (i->logger && i->c.message[0]) i->logger(i->environment, status, "logStatusError", i->c.message);
    i->c.message[0] = 0;
    return status;
}

static Instance *made(int kind, String token, void *environment, Logger logger) {
    if (kind != KIND || !token || strcmp(token, GUID)) {
        if (logger)
            logger(environment, ERROR, "logStatusError",
                   kind != KIND ? "this FMU is not of that kind" : "the instantiation token is that of another FMU");
        return NULL;
    }
    Instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    i->logger = logger;
    i->environment = environment;
    i->c.kind = kind;
    defaults(&i->c);
    return i;
}

API String F(GetVersion)(void) { return "3.0"; }
API Status F(SetDebugLogging)(void *c, bool on, size_t n, const String *names) { (void)c; (void)on; (void)n; (void)names; return OK; }
API void *F(InstantiateModelExchange)(String name, String token, String resources, bool visible, bool logging, void *environment, Logger logger) {
    (void)name; (void)resources; (void)visible; (void)logging;
    return made(MODEL_EXCHANGE, token, environment, logger);
}
API void *F(InstantiateCoSimulation)(String name, String token, String resources, bool visible, bool logging, bool events, bool early,
                                     const Reference *required, size_t n, void *environment, Logger logger, void *update) {
    (void)name; (void)resources; (void)visible; (void)logging; (void)early; (void)required; (void)n; (void)update;
    if (events) {
        if (logger) logger(environment, ERROR, "logStatusError", "this FMU has no event mode in co-simulation");
        return NULL;
    }
    return made(CO_SIMULATION, token, environment, logger);
}
API void *F(InstantiateScheduledExecution)(String name, String token, String resources, bool visible, bool logging, void *environment,
                                           Logger logger, void *clock, void *lock, void *unlock) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)clock; (void)lock; (void)unlock;
    if (logger) logger(environment, ERROR, "logStatusError", "this FMU has no scheduled execution");
    return NULL;
}
API void F(FreeInstance)(void *c) { free(c); }
API Status F(EnterInitializationMode)(void *c, bool has_tolerance, double tolerance, double start, bool has_stop, double stop) {
    Instance *i = c;
    (void)has_stop; (void)stop;
    i->c.s.m.t = start;
    if (has_tolerance && tolerance > 0) i->c.s.m.rtol = tolerance;
    i->c.s.start_stale = 1;
    touched(&i->c);
    i->c.s.mode = INITIALIZATION;
    return OK;
}
API Status F(ExitInitializationMode)(void *c) {
    Instance *i = c;
    if (refresh_rates(&i->c)) return told(i, ERROR);
    i->c.s.mode = KIND == CO_SIMULATION ? STEP_MODE : EVENT;
    return OK;
}
API Status F(EnterEventMode)(void *c) { ((Instance *)c)->c.s.mode = EVENT; return OK; }
API Status F(Terminate)(void *c) { ((Instance *)c)->c.s.mode = TERMINATED; return OK; }
API Status F(Reset)(void *c) { defaults(&((Instance *)c)->c); return OK; }

API Status F(GetFloat64)(void *c, const Reference *r, size_t n, double *values, size_t m) {
    Instance *i = c;
    if (n != m) return ERROR;
    for (size_t k = 0; k < n; k++) if (get_value(&i->c, r[k], &values[k])) return told(i, ERROR);
    return OK;
}
API Status F(SetFloat64)(void *c, const Reference *r, size_t n, const double *values, size_t m) {
    Instance *i = c;
    if (n != m) return ERROR;
    for (size_t k = 0; k < n; k++) if (set_value(&i->c, r[k], values[k])) return told(i, ERROR);
    return OK;
}
#define NONE_OF(kind, type) \
    API Status F(Get##kind)(void *c, const Reference *r, size_t n, type *v, size_t m) { (void)c; (void)r; (void)v; (void)m; return n ? ERROR : OK; } \
    API Status F(Set##kind)(void *c, const Reference *r, size_t n, const type *v, size_t m) { (void)c; (void)r; (void)v; (void)m; return n ? ERROR : OK; }
NONE_OF(Float32, float)
NONE_OF(Int8, int8_t)
NONE_OF(UInt8, uint8_t)
NONE_OF(Int16, int16_t)
NONE_OF(UInt16, uint16_t)
NONE_OF(Int32, int32_t)
NONE_OF(UInt32, uint32_t)
NONE_OF(Int64, int64_t)
NONE_OF(UInt64, uint64_t)
NONE_OF(Boolean, bool)
NONE_OF(String, String)
API Status F(GetBinary)(void *c, const Reference *r, size_t n, size_t *s, const uint8_t **v, size_t m) { (void)c; (void)r; (void)s; (void)v; (void)m; return n ? ERROR : OK; }
API Status F(SetBinary)(void *c, const Reference *r, size_t n, const size_t *s, const uint8_t *const *v, size_t m) { (void)c; (void)r; (void)s; (void)v; (void)m; return n ? ERROR : OK; }
API Status F(GetClock)(void *c, const Reference *r, size_t n, bool *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }
API Status F(SetClock)(void *c, const Reference *r, size_t n, const bool *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }

/* Every unknown may depend on everything that is known: nothing is listed one by one. */
API Status F(GetNumberOfVariableDependencies)(void *c, Reference r, size_t *n) { (void)c; (void)r; *n = 0; return ERROR; }
API Status F(GetVariableDependencies)(void *c, Reference r, size_t *e, Reference *i, size_t *ei, int *k, size_t n) {
    (void)c; (void)r; (void)e; (void)i; (void)ei; (void)k; (void)n;
    return ERROR;
}

API Status F(GetFMUState)(void *c, void **state) {
    if (!*state) *state = malloc(sizeof(Saved));
    if (!*state) return ERROR;
    memcpy(*state, &((Instance *)c)->c.s, sizeof(Saved));
    return OK;
}
API Status F(SetFMUState)(void *c, void *state) {
    Instance *i = c;
    memcpy(&i->c.s, state, sizeof(Saved));
    i->c.rates_stale = i->c.outputs_stale = 1;
    return OK;
}
API Status F(FreeFMUState)(void *c, void **state) { (void)c; free(*state); *state = NULL; return OK; }
API Status F(SerializedFMUStateSize)(void *c, void *state, size_t *size) { (void)c; (void)state; *size = sizeof(Saved); return OK; }
API Status F(SerializeFMUState)(void *c, void *state, uint8_t *bytes, size_t size) {
    (void)c;
    if (size < sizeof(Saved)) return ERROR;
    memcpy(bytes, state, sizeof(Saved));
    return OK;
}
API Status F(DeserializeFMUState)(void *c, const uint8_t *bytes, size_t size, void **state) {
    Instance *i = c;
    unsigned long long fingerprint = 0;
    if (size >= sizeof fingerprint) memcpy(&fingerprint, bytes, sizeof fingerprint);
    if (size != sizeof(Saved) || fingerprint != FINGERPRINT) {
        snprintf(i->c.message, sizeof i->c.message, "the serialized state is not one of this FMU");
        return told(i, ERROR);
    }
    if (!*state) *state = malloc(sizeof(Saved));
    if (!*state) return ERROR;
    memcpy(*state, bytes, sizeof(Saved));
    return OK;
}
API Status F(GetDirectionalDerivative)(void *c, const Reference *z, size_t nz, const Reference *v, size_t nv, const double *dv, size_t mv,
                                       double *dz, size_t mz) {
    Instance *i = c;
    if (nv != mv || nz != mz) return ERROR;
    return directional_derivative(&i->c, z, nz, v, nv, dv, dz) ? told(i, ERROR) : OK;
}
API Status F(GetAdjointDerivative)(void *c, const Reference *z, size_t nz, const Reference *v, size_t nv, const double *dz, size_t mz,
                                   double *dv, size_t mv) {
    (void)c; (void)z; (void)nz; (void)v; (void)nv; (void)dz; (void)mz; (void)dv; (void)mv;
    return ERROR;
}
API Status F(EnterConfigurationMode)(void *c) { (void)c; return ERROR; }
API Status F(ExitConfigurationMode)(void *c) { (void)c; return ERROR; }
API Status F(GetIntervalDecimal)(void *c, const Reference *r, size_t n, double *v, int *q) { (void)c; (void)r; (void)v; (void)q; return n ? ERROR : OK; }
API Status F(GetIntervalFraction)(void *c, const Reference *r, size_t n, uint64_t *a, uint64_t *b, int *q) { (void)c; (void)r; (void)a; (void)b; (void)q; return n ? ERROR : OK; }
API Status F(GetShiftDecimal)(void *c, const Reference *r, size_t n, double *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }
API Status F(GetShiftFraction)(void *c, const Reference *r, size_t n, uint64_t *a, uint64_t *b) { (void)c; (void)r; (void)a; (void)b; return n ? ERROR : OK; }
API Status F(SetIntervalDecimal)(void *c, const Reference *r, size_t n, const double *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }
API Status F(SetIntervalFraction)(void *c, const Reference *r, size_t n, const uint64_t *a, const uint64_t *b) { (void)c; (void)r; (void)a; (void)b; return n ? ERROR : OK; }
API Status F(SetShiftDecimal)(void *c, const Reference *r, size_t n, const double *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }
API Status F(SetShiftFraction)(void *c, const Reference *r, size_t n, const uint64_t *a, const uint64_t *b) { (void)c; (void)r; (void)a; (void)b; return n ? ERROR : OK; }
API Status F(EvaluateDiscreteStates)(void *c) { (void)c; return OK; }
API Status F(UpdateDiscreteStates)(void *c, bool *again, bool *terminate, bool *nominals, bool *states, bool *time_defined, double *time) {
    Instance *i = c;
    int changed;
    update_discrete(&i->c, &changed);
    *again = *terminate = *nominals = false;
    *states = changed != 0;
    *time_defined = isfinite(i->c.s.m.next) != 0;
    *time = *time_defined ? i->c.s.m.next : 0;
    return OK;
}
API Status F(EnterContinuousTimeMode)(void *c) { ((Instance *)c)->c.s.mode = CONTINUOUS; return OK; }
API Status F(CompletedIntegratorStep)(void *c, bool no_set_before, bool *event, bool *terminate) {
    Instance *i = c;
    int changed;
    (void)no_set_before;
    *terminate = *event = false;
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
API Status F(GetContinuousStateDerivatives)(void *c, double *xdot, size_t n) {
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
API Status F(GetNumberOfEventIndicators)(void *c, size_t *n) { (void)c; *n = INDICATORS; return OK; }
API Status F(GetNumberOfContinuousStates)(void *c, size_t *n) { (void)c; *n = NX; return OK; }
API Status F(EnterStepMode)(void *c) { ((Instance *)c)->c.s.mode = STEP_MODE; return OK; }
API Status F(GetOutputDerivatives)(void *c, const Reference *r, size_t n, const int32_t *o, double *v, size_t m) { (void)c; (void)r; (void)o; (void)v; (void)m; return n ? ERROR : OK; }
API Status F(ActivateModelPartition)(void *c, Reference r, double t) { (void)c; (void)r; (void)t; return ERROR; }
API Status F(DoStep)(void *c, double t, double length, bool no_set_before, bool *event, bool *terminate, bool *early, double *reached) {
    Instance *i = c;
    (void)no_set_before;
    *event = *terminate = *early = false;
    const int code = KIND == CO_SIMULATION ? do_step(&i->c, t, length) : STOPPED_STEP;
    *reached = i->c.s.m.t;
    return code ? told(i, DISCARD) : OK;
}
