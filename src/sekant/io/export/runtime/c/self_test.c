
#ifdef NAME_SELF_TEST
/* ---- Self-test: compare with Sekant's motion, and measure the time of a step (argument: number of steps). ---- */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static real deviation(const real *found, const real *expected, const real *scale, int n, int *worst) {
    real most = 0;
    for (int j = 0; j < n; j++) {
        const real d = R(fabs)(found[j] - expected[j]) / scale[j];
        if (!(d <= most)) { most = d; *worst = j; }
    }
    return most;
}

int main(int count, char **argument) {
    static MODEL m;
    real y[NY + 1], xdot[NX];
    int worst = 0, code, row = 0, failed = 0;
    NAME_defaults(&m);
    if ((code = NAME_start(&m, 0))) { printf("cannot start: code %d\n", code); return 1; }
    NAME_rates(&m, xdot);
    const real d0 = deviation(xdot, expected_rates, rate_scale, NX, &worst);
    printf("rates at the start: off by %.1e of their size at most (rate %d), allowed %.1e\n", (double)d0, worst,
           (double)RATE_ALLOWED);
    failed |= !(d0 <= RATE_ALLOWED);
    for (unsigned long i = 1; i <= EXPECTED_STEPS; i++) {
        if ((code = NAME_step(&m))) { printf("step %lu: code %d\n", i, code); return 1; }
        if (i % EXPECTED_EVERY) continue;
        const real d = deviation(m.x, expected_states[row++], state_scale, NX, &worst);
        printf("t = %g s: off by %.1e at most (state %d), allowed %.1e\n", (double)m.t, (double)d, worst, (double)STATE_ALLOWED);
        failed |= !(d <= STATE_ALLOWED);
    }
    NAME_outputs(&m, y);
    const real d1 = deviation(y, expected_outputs, output_scale, NY, &worst);
    printf("outputs at the end: off by %.1e at most (output %d), allowed %.1e\n", (double)d1, worst, (double)OUTPUT_ALLOWED);
    failed |= !(d1 <= OUTPUT_ALLOWED);
    if (count > 1) {
        const unsigned long steps = strtoul(argument[1], NULL, 10);
        NAME_defaults(&m);
        code = NAME_start(&m, 0);
        const clock_t began = clock();
        for (unsigned long i = 0; i < steps && !code; i++) code = NAME_step(&m);
        const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
        printf("%lu steps: %.1f ns a step\n", m.steps, 1e9 * seconds / (double)m.steps);
    }
    puts(failed ? "FAILED" : "passed");
    return failed;
}
#endif
