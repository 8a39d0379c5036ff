// Loops are closed by `close` of solvers/newton/closing.py. If that fails, the page reports it; it never continues with
// an open loop.

const OPEN = 1;
const NO_RATES = 2;

class Assembly {
  constructor(module, told) {
    Object.assign(this, { module, told });
  }

  // Make coordinates and velocities at the start of x consistent; returns a message if that fails.
  close(x) {
    const { module } = this;
    const { run, joints } = this.told;
    const [q0, q, v] = ["q0", "q", "v"].map((name) => module.field(run, name));
    q0.set(x.subarray(0, q0.length));
    v.set(x.subarray(q0.length, q0.length + v.length));
    const code = module.proceed(run, "close");
    const joint = joints[module.integer(run, "wrong") >> 1]; // a joint has two gaps
    if (code === OPEN) return `The mechanism cannot be assembled with these values${joint ? ` (joint '${joint}')` : ""}. Choose other values.`;
    if (code === NO_RATES) return "No velocities satisfy all constraints with these values. Choose other values.";
    x.set(q);
    x.set(v, q.length);
    return "";
  }
}
