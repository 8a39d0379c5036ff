/* ---- FMI 3.0: its own functions. ---- */
API String F(GetVersion)(void) { return "3.0"; }
API void *F(InstantiateModelExchange)(String name, String token, String resources, bool visible, bool logging, void *environment, Logger logger) {
    (void)resources; (void)visible; (void)logging;
    return made(name, MODEL_EXCHANGE, token, environment, logger);
}
API void *F(InstantiateCoSimulation)(String name, String token, String resources, bool visible, bool logging, bool events, bool early,
                                     const Reference *required, size_t n, void *environment, Logger logger, void *update) {
    (void)resources; (void)visible; (void)logging; (void)early; (void)required; (void)n; (void)update;
    if (events) {
        if (logger) LOG(logger, environment, name, ERROR, "this FMU has no event mode in co-simulation");
        return NULL;
    }
    return made(name, CO_SIMULATION, token, environment, logger);
}
API void *F(InstantiateScheduledExecution)(String name, String token, String resources, bool visible, bool logging, void *environment,
                                           Logger logger, void *clock, void *lock, void *unlock) {
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)clock; (void)lock; (void)unlock;
    if (logger) LOG(logger, environment, name, ERROR, "this FMU has no scheduled execution");
    return NULL;
}
API Status F(EnterInitializationMode)(void *c, bool has_tolerance, double tolerance, double start, bool has_stop, double stop) {
    (void)has_stop; (void)stop;
    set_up(c, has_tolerance, tolerance, start);
    ((Instance *)c)->c.s.mode = INITIALIZATION;
    return OK;
}
API Status F(GetFloat64)(void *c, const Reference *r, size_t n, double *values, size_t m) {
    return n == m ? get_values(c, r, n, values) : ERROR;
}
API Status F(SetFloat64)(void *c, const Reference *r, size_t n, const double *values, size_t m) {
    return n == m ? set_values(c, r, n, values) : ERROR;
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

/* Every unknown may depend on every known variable: dependencies are not listed. */
API Status F(GetNumberOfVariableDependencies)(void *c, Reference r, size_t *n) { (void)c; (void)r; *n = 0; return ERROR; }
API Status F(GetVariableDependencies)(void *c, Reference r, size_t *e, Reference *i, size_t *ei, int *k, size_t n) {
    (void)c; (void)r; (void)e; (void)i; (void)ei; (void)k; (void)n;
    return ERROR;
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
    int changed = 0, ends = 0;
    const int code = update_discrete(&i->c, &changed, &ends);
    *again = *nominals = false;
    *terminate = ends != 0;
    *states = changed != 0;
    *time = landing_time(&i->c.s.m);
    *time_defined = isfinite(*time) != 0;
    if (!*time_defined) *time = 0;
    return code ? told(i, ERROR) : OK;
}
API Status F(GetNumberOfEventIndicators)(void *c, size_t *n) { (void)c; *n = INDICATED; return OK; }
API Status F(GetNumberOfContinuousStates)(void *c, size_t *n) { (void)c; *n = NX; return OK; }
API Status F(EnterStepMode)(void *c) { ((Instance *)c)->c.s.mode = STEP_MODE; return OK; }
API Status F(GetOutputDerivatives)(void *c, const Reference *r, size_t n, const int32_t *o, double *v, size_t m) { (void)c; (void)r; (void)o; (void)v; (void)m; return n ? ERROR : OK; }
API Status F(ActivateModelPartition)(void *c, Reference r, double t) { (void)c; (void)r; (void)t; return ERROR; }
API Status F(DoStep)(void *c, double t, double length, bool no_set_before, bool *event, bool *terminate, bool *early, double *reached) {
    Instance *i = c;
    (void)no_set_before;
    *event = *terminate = *early = false;
    const int code = do_step(&i->c, t, length);
    *reached = i->c.s.m.t;
    *terminate = has_ended(&i->c) != 0;
    return !code || *terminate ? OK : told(i, ERROR);
}
