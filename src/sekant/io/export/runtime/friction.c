/* ---- Dry friction: at events, and where something has jumped, it is decided which joints stick. The states of all that
   is at rest are changed until the motion which follows contradicts none of them: all that do, or the first alone. ---- */

#define AT_REST 1e-6 /* slip, against the width of a friction, up to which it counts as at rest */
#define STARTS 1e-3  /* slip of a driven joint from which on its friction has a direction */
#define BEYOND 1e-9  /* part of a limit, or of the rate of slip that it would cause, which round-off may take */
#define UNDECIDED 2
enum { STICKS = 0 };

typedef struct { real slip[FRICTIONS], rate[FRICTIONS], force[FRICTIONS], limit[FRICTIONS], mobility[FRICTIONS], width[FRICTIONS]; } Bound;

static void bound_forces(const MODEL *m, real t, Bound *b) {
    const real at = inside(m, t);
    frictions(&at, m->x, m->p, b->slip, b->rate, b->force, b->limit, b->mobility, b->width);
}

static int friction_state(const MODEL *m, int i) {
    return m->p[NP + friction_stuck[i]] != 0 ? STICKS : (int)m->p[NP + friction_direction[i]];
}

static void set_friction(MODEL *m, int i, int state) {
    m->p[NP + friction_stuck[i]] = state == STICKS && !friction_driven[i];
    m->p[NP + friction_direction[i]] = state;
}

static int against(real force) { return force > 0 ? -1 : 1; }

/* The state that the motion suggests for friction i, which is at rest, instead of its own. */
static int contradicted(const MODEL *m, const Bound *b, int i, real slack) {
    const int state = friction_state(m, i);
    if (state == STICKS) return fabs(b->force[i]) <= b->limit[i] * (1 + slack) ? UNDECIDED : against(b->force[i]);
    return state * b->rate[i] < -slack * fmax(b->limit[i], fabs(b->force[i])) * b->mobility[i] ? STICKS : UNDECIDED;
}

/* wanted: the states from which to start, where an event suggests one. */
static int decide_frictions(MODEL *m, real t, const int *wanted, real slack) {
    int resting[FRICTIONS], fewest = FRICTIONS + 1, patience = 5;
    Bound b;
    bound_forces(m, t, &b);
    for (int i = 0; i < FRICTIONS; i++) {
        const int still = !friction_driven[i] && fabs(b.slip[i]) <= AT_REST * b.width[i];
        const int chosen = wanted && wanted[i] != UNDECIDED;
        resting[i] = !friction_driven[i] && (still || chosen);
        const int slides = !still && (!friction_driven[i] || fabs(b.slip[i]) > STARTS * b.width[i]);
        set_friction(m, i, chosen ? wanted[i] : slides ? sign_of(b.slip[i]) : friction_state(m, i));
        if (resting[i]) m->x[friction_velocity[i]] = 0;
    }
    for (int round = 0; round < 200; round++) {
        int wrong = 0, first = -1, better[FRICTIONS];
        bound_forces(m, t, &b);
        for (int i = 0; i < FRICTIONS; i++) {
            better[i] = resting[i] ? contradicted(m, &b, i, slack) : UNDECIDED;
            if (better[i] == UNDECIDED) continue;
            wrong++;
            if (first < 0) first = i;
        }
        if (!wrong) return 0;
        if (wrong < fewest) { fewest = wrong; patience = 5; } else patience--;
        for (int i = 0; i < FRICTIONS; i++)
            if (better[i] != UNDECIDED && (patience > 0 || i == first)) set_friction(m, i, better[i]);
    }
    return STOPPED_CHATTERING;
}

/* What suggests itself where guard `number` of friction i has passed zero. */
static int friction_after(const MODEL *m, const Bound *b, int i, int number) {
    const int state = friction_state(m, i);
    if (friction_driven[i]) return state ? 0 : 1 - 2 * number;
    return state == STICKS ? against(b->force[i]) : STICKS;
}

/* Guards of friction fall through zero: they count as positive where the motion goes on. */
static void friction_signs(MODEL *m) {
    for (int g = DECLARED; g < EVENTS; g++) m->sign[g] = 1;
    m->unsure = 1;
}

/* Guard `number` among those of friction has passed zero; at the same time again, round-off gets more room. */
static int react_friction(MODEL *m, real t, int number) {
    const int i = guard_friction[number];
    int wanted[FRICTIONS];
    Bound b;
    bound_forces(m, t, &b);
    m->again = m->last_guard == number && t - m->last_time <= 1e-12 * fmax(1, fabs(t)) ? m->again + 1 : 0;
    m->last_guard = number;
    m->last_time = t;
    for (int k = 0; k < FRICTIONS; k++) wanted[k] = UNDECIDED;
    wanted[i] = friction_after(m, &b, i, number > 0 && guard_friction[number - 1] == i);
    return decide_frictions(m, t, wanted, m->again > 1 ? 1e3 * BEYOND : BEYOND);
}

/* Inputs or parameters have changed, or an importer has found a crossing: all whose guards are below zero. */
static int follow_frictions(MODEL *m, real t) {
    const real at = inside(m, t);
    real e[EVENTS];
    int wanted[FRICTIONS], any = 0;
    Bound b;
    guards(&at, m->x, m->p, e);
    bound_forces(m, t, &b);
    for (int k = 0; k < FRICTIONS; k++) wanted[k] = UNDECIDED;
    for (int g = DECLARED; g < EVENTS; g++) {
        if (e[g] >= 0) continue;
        const int number = g - DECLARED, i = guard_friction[number];
        wanted[i] = friction_after(m, &b, i, number > 0 && guard_friction[number - 1] == i);
        any = 1;
    }
    return any ? decide_frictions(m, t, wanted, BEYOND) : 0;
}
