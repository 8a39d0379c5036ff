/* ---- FMI 2.0: its own functions. ---- */
API String F(GetTypesPlatform)(void) { return "default"; }
API String F(GetVersion)(void) { return "2.0"; }

API void *F(Instantiate)(String name, int kind, String guid, String resources, const Callbacks *functions, Boolean visible, Boolean logging) {
    (void)resources; (void)visible; (void)logging;
    return made(name, kind, guid, functions ? functions->environment : NULL, functions ? functions->logger : NULL);
}
API Status F(SetupExperiment)(void *c, Boolean has_tolerance, double tolerance, double start, Boolean has_stop, double stop) {
    (void)has_stop; (void)stop;
    set_up(c, has_tolerance, tolerance, start);
    return OK;
}
API Status F(EnterInitializationMode)(void *c) { ((Instance *)c)->c.s.mode = INITIALIZATION; return OK; }
API Status F(GetReal)(void *c, const Reference *r, size_t n, double *values) { return get_values(c, r, n, values); }
API Status F(SetReal)(void *c, const Reference *r, size_t n, const double *values) { return set_values(c, r, n, values); }
#define NONE_OF(kind, type) \
    API Status F(Get##kind)(void *c, const Reference *r, size_t n, type *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; } \
    API Status F(Set##kind)(void *c, const Reference *r, size_t n, const type *v) { (void)c; (void)r; (void)v; return n ? ERROR : OK; }
NONE_OF(Integer, int)
NONE_OF(Boolean, Boolean)
NONE_OF(String, String)

API Status F(GetDirectionalDerivative)(void *c, const Reference *z, size_t nz, const Reference *v, size_t nv, const double *dv, double *dz) {
    Instance *i = c;
    return directional_derivative(&i->c, z, nz, v, nv, dv, dz) ? told(i, ERROR) : OK;
}

#if KIND == MODEL_EXCHANGE
API Status F(NewDiscreteStates)(void *c, EventInfo *e) {
    Instance *i = c;
    memset(e, 0, sizeof *e);
    const int code = update_discrete(&i->c, &e->states_changed, &e->terminate);
    e->time = landing_time(&i->c.s.m);
    e->time_defined = isfinite(e->time) ? 1 : 0;
    if (!e->time_defined) e->time = 0;
    return code ? told(i, ERROR) : OK;
}
#else /* co-simulation */
API Status F(DoStep)(void *c, double t, double length, Boolean no_set_before) {
    Instance *i = c;
    (void)no_set_before;
    return !do_step(&i->c, t, length) ? OK : told(i, has_ended(&i->c) ? DISCARD : ERROR);
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
API Status F(GetBooleanStatus)(void *c, int kind, Boolean *v) { if (kind != 3) return DISCARD; *v = has_ended(&((Instance *)c)->c); return OK; }
API Status F(GetStringStatus)(void *c, int kind, String *v) { (void)c; (void)kind; (void)v; return DISCARD; }
#endif
