/* ---- Actions of events. ---- */

/* Event `number`, and all others with the same guard, happen at the current state, just beyond the crossing. */
static int react(MODEL *m, int number) {
    int sign[EVENTS];
    const real t = m->t, at = inside(m, t);
#if DELAYS > 0
    const int ended = end_at_once(m);
    if (ended) return ended;
#endif
    guard_signs(m, t, m->sign, sign);
    real x[NX], p[NP + HELD], e[EVENTS];
    guards(&at, m->x, m->p, e);
    for (int j = 0; j < NX; j++) x[j] = m->x[j];
    for (int j = 0; j < NP + HELD; j++) p[j] = m->p[j];
    for (int i = 0; i < EVENTS; i++) {
        if (i != number && !(e[i] == e[number] && event_direction[i] == event_direction[number])) continue;
        happen(m, t, x, p, i);
        if (event_direction[i]) sign[i] = event_direction[i];
    }
    const int code = cascade(m, t, sign, 0);
    look_again(m, t);
    for (int i = 0; i < EVENTS; i++) /* still at zero: it may return to its old side */
        if (e[i] == e[number] && m->guard[i] == e[i]) m->guard[i] = 0;
    m->unsure = 1;
#if DELAYS > 0
    m->next = next_stop(m, m->segment > t ? m->segment : t);
    begin_stretch(m, t);
#endif
    return code;
}
