/* ---- Samples: held values that are set at regular times. ---- */

static real sample_time(const MODEL *m, int i) { return sample_offset[i] + m->tick[i] * sample_period[i]; }

static int sample_due(const MODEL *m, int i, real t) { return sample_time(m, i) <= t + ON_TIME * sample_period[i]; }

/* Set the values that are due, all from the values before. */
static void take_samples(MODEL *m, real t) {
    real fresh[SAMPLES];
    const real at = inside(m, t);
    int any = 0;
    for (int i = 0; i < SAMPLES; i++) any |= sample_due(m, i, t);
    if (!any) return;
    samples(&at, m->x, m->p, fresh);
    for (int i = 0; i < SAMPLES; i++) {
        if (!sample_due(m, i, t)) continue;
        m->p[NP + sample_target[i]] = fresh[i];
        m->tick[i] += 1;
    }
}
