/* ---- The motion from stop to stop. ---- */

/* Steps from m->t to `end`; they end exactly at stops, at events, and at `end`. */
static int advance(MODEL *m, real end) {
    int code = 0;
#if DELAYS > 0
    const int jumped = parameters_jumped(m) && room_for_jump(m);
    if (jumped && (code = end_at_jump(m))) return code;
#endif
#if EVENTS > 0
    if (m->stopped) return STOPPED_EVENT;
    long events = 0;
    if ((code = follow_jumps(m))) return code; /* jumps of inputs since the last call */
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
#if DELAYS > 0
        const int at_node = m->node < NODES && node_time(m, m->node) < landing - near_time(landing);
        if (at_node) { landing = node_time(m, m->node); at_stop = 0; }
#endif
        if ((code = run_to(m, landing, &event))) return code;
#if DELAYS > 0
        if (at_node && event < 0) { record(m, m->t, m->x); m->node++; }
#endif
#if EVENTS > 0
        if (event >= 0) {
            if ((code = react(m, event))) return code;
            if (++events > MOST_EVENTS) return STOPPED_CHATTERING;
            continue;
        }
#endif
        if (at_stop && (code = pass_stop(m, landing))) return code;
    }
    return 0;
}
