/* ---- Stretches of delays that end early: the motion up to the end is repeated for its nodes. ---- */

/* At an event. */
static int end_at_once(MODEL *m) {
    const real end = m->t, begin = m->stretch;
    real x[NX];
    int event, code = 0;
    for (int j = 0; j < NX; j++) { x[j] = m->x[j]; m->x[j] = m->stretch_x[j]; }
    for (int l = 0; l < DELAYS; l++) m->line[l].rows -= m->node;
    m->t = begin;
    m->blind = 1;
    const int any = end - begin > ON_TIME * (m->next - begin);
    for (int i = 0; any && i < NODES && !code; i++) {
        code = run_to(m, place_of_node(i, begin, end), &event);
        if (!code) record(m, m->t, m->x);
    }
    m->blind = 0;
    m->t = end;
    for (int j = 0; j < NX; j++) m->x[j] = x[j];
    return code ? code : any ? end_stretch(m, end, 0) : 0;
}

/* At a change of an input or a parameter since the last step: with the values before. */
static int end_at_jump(MODEL *m) {
    real p[NP + 1];
    for (int j = 0; j < NP; j++) { p[j] = m->p[j]; m->p[j] = m->left_p[j]; }
    int code = end_at_once(m);
    for (int j = 0; j < NP; j++) m->p[j] = p[j];
    if (!code) code = end_stretch(m, m->t, 0); /* ends an unfinished stretch */
    return code;
}
