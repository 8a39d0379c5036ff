/* ---- Friction and contacts: at events, and where something has jumped, Sekant's own procedures decide what sticks, slides,
   touches and parts, on an image of their memory. ---- */

typedef long long Procedure(void *decision, double a, double b);
extern Procedure AT_BEGIN, AT_DECIDE, AT_FOLLOW, AT_REACT;
enum { DECIDED, JAMMED, STARTS_INSIDE };

/* Velocities and held values become those that the procedure decides on. */
static int decided(MODEL *m, real t, Procedure *procedure, double a, double b) {
    Word *const w = laid_out(&decision_image);
    if (!w) return STOPPED_MEMORY;
    w[POINT_T].number = inside(m, t);
    for (int j = 0; j < NQ; j++) w[POINT_Q + j].number = m->x[j];
    for (int j = 0; j < NV; j++) w[POINT_V + j].number = m->x[NQ + j];
    for (int j = NQ + NV; j < NX; j++) w[POINT_Z + j - NQ - NV].number = m->x[j];
    for (int j = 0; j < NP + HELD; j++) w[POINT_P + j].number = m->p[j];
    const int code = (int)procedure(w, a, b);
    for (int j = 0; j < NV; j++) m->x[NQ + j] = w[POINT_V + j].number;
    for (int j = NP; j < NP + HELD; j++) m->p[j] = w[POINT_P + j].number;
    free(w);
    return code == DECIDED ? 0 : code == JAMMED ? STOPPED_JAMMED : STOPPED_INSIDE;
}

static int begin_frictions(MODEL *m, real t) { return decided(m, t, AT_BEGIN, 0, 0); }

static int decide_frictions(MODEL *m, real t) { return decided(m, t, AT_DECIDE, BEYOND, 0); }

/* Guards of friction and contacts fall through zero: they count as positive where the motion goes on. */
static void friction_signs(MODEL *m) {
    for (int g = DECLARED; g < EVENTS; g++) m->sign[g] = 1;
    m->unsure = 1;
}

/* Guard `number` among those of friction and contacts has passed zero; at the same time again, round-off gets more room. */
static int react_friction(MODEL *m, real t, int number) {
    m->again = m->last_guard == number && t == m->last_time ? m->again + 1 : 0;
    m->last_guard = number;
    m->last_time = t;
    return decided(m, t, AT_REACT, number, m->again > 1);
}

/* Inputs or parameters have changed, or an importer has found a crossing: all whose guards are below zero, each once. */
static int follow_frictions(MODEL *m, real t) {
    real e[EVENTS];
    int code = 0;
    for (int g = DECLARED; g < EVENTS && !code; g++) {
        watched(m, t, m->x, e);
        if (e[g] < 0) code = decided(m, t, AT_FOLLOW, g - DECLARED, 0);
    }
    return code;
}
