/* ---- Stops: times at which signals switch, samples are taken, and delays switch to their next piece. ---- */

static real next_stop(const MODEL *m, real t) {
    real found = next_switch(m->p, t);
#if SAMPLES > 0
    for (int i = 0; i < SAMPLES; i++) if (sample_time(m, i) < found) found = sample_time(m, i);
#endif
#if DELAYS > 0
    for (int l = 0; l < DELAYS; l++) {
        if (next_cut(m, l) < found) found = next_cut(m, l);
        if (next_piece(m, l) < found) found = next_piece(m, l);
    }
#endif
    return found;
}

/* The start at time t; the state is set already: held values, samples, events of levels. */
static int begin_motion(MODEL *m, real t) {
    m->segment = t;
    m->next = INFINITY;
#if HELD > 0
    real held[HELD];
    held_start(m->p, held);
    for (int j = 0; j < HELD; j++) m->p[NP + j] = held[j];
#endif
#if SAMPLES > 0
    for (int i = 0; i < SAMPLES; i++) {
        const real first = R(ceil)((t - sample_offset[i]) / sample_period[i] - ON_TIME);
        m->tick[i] = first > 0 ? first : 0;
    }
    take_samples(m, t);
#endif
#if DELAYS > 0
    start_delays(m, t);
#endif
#if EVENTS > 0
    m->stopped = 0;
    const int code = begin_events(m, t);
    if (code) return code;
#endif
    m->next = next_stop(m, t);
#if EVENTS > 0
    first_signs(m, t);
#endif
#if DELAYS > 0
    begin_stretch(m, t);
    note_left(m);
#endif
    return 0;
}

/* Process the stop at time t, and begin the next segment. */
static int pass_stop(MODEL *m, real t) {
    int code = 0;
#if EVENTS > 0
    int sign[EVENTS];
    guard_signs(m, t, m->sign, sign);
#endif
#if DELAYS > 0
    code = end_stretch(m, t, kink_at(m, t));
    if (code) return code;
#endif
    m->segment = t;
    m->next = INFINITY;
#if SAMPLES > 0
    take_samples(m, t);
#endif
#if DELAYS > 0
    turn_delays(m, t);
#endif
#if EVENTS > 0
    code = cascade(m, t, sign, 0);
#endif
    m->next = next_stop(m, t);
#if EVENTS > 0
    look_again(m, t);
#endif
#if DELAYS > 0
    begin_stretch(m, t);
#endif
    return code;
}
