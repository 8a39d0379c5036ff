/* ---- The motion from stop to stop. ---- */

#if METHOD == ENGINE && EVENTS == 0 && SAMPLES == 0 && DELAYS == 0
/* Steps from m->t to `end`, on which they land as on stops. */
static int advance(MODEL *m, real end) {
    while (end - m->t > near_time(end)) {
        real stops[MOST_STOPS], stop = m->next;
        int count = 0, event;
        while (count < MOST_STOPS && stop < end - near_time(end)) {
            if (stop - (count ? stops[count - 1] : m->t) > near_time(stop)) stops[count++] = stop;
            stop = next_stop(m, stop);
        }
        const int all = !(stop < end - near_time(end));
        const real landing = all ? end : stops[--count];
        const int code = run_over(m, stops, count, landing, &event);
        while (m->next <= m->t + near_time(m->t)) pass_stop(m, m->next);
        if (code) return code;
    }
    return 0;
}
#else
#if METHOD == ENGINE && EVENTS > 0
/* Times that are one, on the way to `end`; as in `analyses/simulation/events.py`. */
static real times_apart(const MODEL *m, real end) {
    return fmax(1e-12 * (end - m->t), 8 * (nextafter(fabs(end), INFINITY) - fabs(end)));
}

/* A step beyond the event on which the model stands, so short that its error is none. */
static void go_beyond(MODEL *m, real h) {
    const real at = inside(m, m->t);
    real k[NX];
    rates(&at, m->x, m->p, k);
    for (int j = 0; j < NX; j++) m->x[j] += h * k[j];
    m->t += h;
}

/* Whether the event is the last one again: the motion from `begin` on began short of it by round-off. */
static int again(const MODEL *m, int event, real begin, real apart) {
    return event == m->last_event && begin == m->last_event_time && m->t - begin <= apart;
}
#endif

/* Steps from m->t to `end`; they land on stops, on events, and on `end`. */
static int advance(MODEL *m, real end) {
    int code = 0;
#if DELAYS > 0
    const int jumped = parameters_jumped(m) && room_for_jump(m);
    if (jumped && (code = end_at_jump(m))) return code;
#endif
#if EVENTS > 0
    if (m->stopped) return STOPPED_EVENT;
    long events = 0;
    if ((code = follow_jumps(m))) return code; /* of inputs, since the last call */
#if METHOD == ENGINE
    const real apart = times_apart(m, end);
#endif
#endif
#if DELAYS > 0
    if (jumped) {
        m->next = next_stop(m, m->segment > m->t ? m->segment : m->t);
        begin_stretch(m, m->t);
    }
    note_left(m);
#endif
    while (end - m->t > near_time(end)) {
        int at_stop = end >= m->next - near_time(m->next), event = -1;
        real landing = at_stop ? m->next : end;
#if METHOD == ENGINE && EVENTS > 0
        const real begin = m->t;
#endif
#if DELAYS > 0 && METHOD != ENGINE
        const int at_node = m->node < NODES && node_time(m, m->node) < landing - near_time(landing);
        if (at_node) { landing = node_time(m, m->node); at_stop = 0; }
#endif
        if ((code = run_to(m, landing, &event))) return code;
#if DELAYS > 0 && METHOD != ENGINE
        if (at_node && event < 0) { record(m, m->t, m->x); m->node++; }
#endif
#if EVENTS > 0
        if (event >= 0) {
#if METHOD == ENGINE
            const int repeated = again(m, event, begin, apart);
            if (repeated || m->jumped) go_beyond(m, apart); /* what has jumped over zero is seen on the far side of the switch */
            if (repeated) { restart(m, 1); continue; }
#endif
            if ((code = react(m, event))) return code;
#if METHOD == ENGINE
            m->last_event = event;
            m->last_event_time = m->t;
#endif
            if (++events > MOST_EVENTS) return STOPPED_CHATTERING;
            continue;
        }
#endif
        if (at_stop) {
            if ((code = pass_stop(m, landing))) return code;
            restart(m, EVENTS > 0 || DELAYS > 0);
        }
    }
    return 0;
}
#endif
