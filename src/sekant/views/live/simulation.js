// A run of simulation.py: closed loops, from event to event as in `analyses/simulation/events.py`, and its outputs.
// The state x is [q; v; z; w] with w the work done.

const APART = 1e-12; // times closer than this, relative to the run, count as equal
const MOST_EVENTS = 100000;
const MOST_SWITCHES = 1e5;
const CHUNK_MS = 12;
const REFUSED = -1;
const STOPPED = -2;

function nextAfter(x, up) {
  if (x === 0) return up ? 5e-324 : -5e-324;
  const number = new Float64Array([x]);
  const word = new BigInt64Array(number.buffer);
  word[0] += x > 0 === up ? 1n : -1n;
  return number[0];
}

// Stretches of smooth motion, computed by the loop of the method.
class Stretches {
  constructor(module, told) {
    Object.assign(this, { module, told, budget: 256, steps: 0, rejected: 0 });
  }

  // From the state x at times[0] with parameters p to the last of `times`, or to the first event. `edges`: start, times
  // at which signals jump, end; `usual`: the previous step; `step`: of a fixed-step method, if it is not that of the
  // program. Yields the time reached; returns the outcome, with `rows` of states at `times`, which are valid until the
  // next stretch.
  *over(times, edges, x, p, usual = 0, step = 0) {
    const { module, told } = this;
    const { run } = told;
    const has = (name) => name in run.fields;
    const [start, end] = [times[0], times.at(-1)];
    module.restart(run);
    module.array([told.times[0], times.length]).set(times);
    for (const name of told.counted) module.setCount(run, name, times.length);
    for (const name of told.begins) module.setNumber(run, name, start);
    module.setNumber(run, "snap", 1e-14 * Math.max(Math.abs(start), Math.abs(end)));
    told.states.forEach((address, i) => {
      module.reals[address / 8] = x[i];
    });
    told.parameters.forEach((address, i) => {
      if (address) module.reals[address / 8] = p[i];
    });
    if (has("x_old")) module.field(run, "x_old", x.length).set(x);
    if (step) module.setNumber(run, "step", step);
    if (has("usual")) module.setNumber(run, "usual", usual);
    if (has("edges")) {
      this.setEdges(edges);
      module.array([told.rows[0], x.length]).set(x);
    }
    let code = MORE;
    let due = performance.now() + CHUNK_MS;
    while (code === MORE) {
      const began = performance.now();
      code = module.proceed(run, "advance", this.budget, told.kernel);
      const now = performance.now();
      this.budget = Math.min(1e9, Math.max(16, Math.round(this.budget * Math.min(8, CHUNK_MS / Math.max(now - began, 0.01)))));
      if (code === MORE && now > due) {
        due = now + CHUNK_MS;
        yield module.number(run, "t");
      }
    }
    this.steps += module.integer(run, "steps");
    this.rejected += module.integer(run, "rejected");
    const rows = module.integer(run, "row");
    const at = (i) => module.array([told.rows[0] + 8 * told.width * i, told.width]);
    const found = { code, rows, row: at, t: module.number(run, "t"), blamed: module.integer(run, "blamed") };
    found.x = code === FINISHED ? at(times.length - 1).slice() : Float64Array.from(told.states, (address) => module.reals[address / 8]);
    found.number = module.integer(run, "which");
    found.jumped = has("jumped") && module.integer(run, "jumped") !== 0;
    found.usual = has("next") ? module.number(run, "next") : 0;
    return found;
  }

  setEdges(edges) {
    const { module, told } = this;
    const { run } = told;
    const room = run.fields.edges[2];
    if (edges.length > room) throw new Error(`signals switch at ${edges.length - 2} times, but a page has room for ${room - 2} only`);
    const low = edges.slice(0, -1).map((t) => nextAfter(t, true));
    const high = edges.slice(1).map((t) => nextAfter(t, false));
    for (const [name, values] of [["edges", edges], ["low", low], ["high", high]]) {
      module.field(run, name, values.length).set(values);
      module.setCount(run, name, values.length);
    }
    if ("sampled" in run.fields) module.setCount(run, "sampled", low.length);
    module.setNumber(run, "earliest", low[0]);
    module.setNumber(run, "latest", high[0]);
  }
}

class Simulation {
  static async load(program) {
    return new Simulation(await Module.load(program), program);
  }

  constructor(module, told) {
    Object.assign(this, { module, told, grid: Simulation.grid(told.times) });
    const times = this.grid;
    [this.begin, this.end] = [times[0], times.at(-1)];
    this.apart = APART * (this.end - this.begin);
  }

  static grid(times) {
    if (Array.isArray(times)) return Float64Array.from(times);
    const { first, step, last, count } = times;
    return Float64Array.from({ length: count }, (_, i) => (i === count - 1 ? last : first + step * i));
  }

  // One run in pieces: yields the finished share; returns the outcome. `changes`: of the state at the start.
  *pieces(values, changes) {
    const { module, told } = this;
    module.array(told.values).set(values);
    const start = module.ask(told.begin);
    const x = new Float64Array(told.loop.width);
    x.set(start.x);
    for (const [i, value] of changes || []) x[i] = value;
    const p = Float64Array.from(values);
    if (told.held) p.set(start.held, p.length - told.held);
    module.array(told.values).set(p);
    this.stretches = new Stretches(module, told.loop);
    this.warnings = [];
    const refused = told.assembly ? new Assembly(module, told.assembly).close(x) : "";
    if (refused) return { code: REFUSED, row: 0, steps: 0, rejected: 0, message: refused, times: [] };
    const stops = this.stops(start.starts.slice(), start.scales.slice());
    if (told.held === 0) module.array(told.report.p).set(p);
    this.times = this.grid.slice();
    this.done = 0;
    const now = { t: this.begin, x, p, stop: "" };
    let ended;
    try {
      if (told.reactors.length || told.samples || told.delays) {
        const loop = new EventLoop(this, stops);
        ended = yield* loop.run(now);
        if (loop.delays) this.warnings.push(...loop.delays.warnings);
      } else ended = yield* this.smooth(now, stops);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      ended = { code: REFUSED, message: error.message };
    }
    this.report();
    const { steps, rejected } = this.stretches;
    const row = this.done;
    return { message: "", ...ended, row, steps, rejected, times: this.times.slice(0, row), warnings: this.warnings };
  }

  // Without events there is one stretch over all jumps of signals.
  *smooth(now, stops) {
    const stretch = this.stretches.over(this.grid, [this.begin, ...stops, this.end], now.x, now.p);
    const found = yield* this.part(stretch);
    for (let i = 0; i < found.rows; i++) this.put(found.row(i), now.p);
    return { code: found.code, message: this.explain(found) };
  }

  *part(stretch) {
    for (;;) {
      const step = stretch.next();
      if (step.done) return step.value;
      yield (step.value - this.begin) / (this.end - this.begin);
    }
  }

  // The next row.
  put(x, p) {
    const { module, told } = this;
    const { report } = told;
    const width = told.loop.width;
    module.array([report.x[0] + 8 * width * this.done, width]).set(x);
    if (told.held) module.array([report.p[0] + 8 * p.length * this.done, p.length]).set(p);
    this.done += 1;
  }

  report() {
    const { module, told } = this;
    const { run, t } = told.report;
    module.array(t).set(this.times);
    module.restart(run);
    module.setInteger(run, "count", this.done);
    module.proceed(run, "all");
  }

  // Times within the run at which signals switch, as `merge_stops` makes them.
  stops(starts, scales) {
    const [first, last] = [this.begin, this.end];
    const snap = 1e-14 * Math.max(Math.abs(first), Math.abs(last));
    const stops = [];
    this.told.switches.forEach((knots, i) => {
      const [start, scale] = [starts[i], scales[i]];
      if (knots) for (const k of knots) stops.push(start + k * scale);
      else if (scale) {
        const [low, high] = [(first - start) / scale, (last - start) / scale].sort((x, y) => x - y);
        if (high - low > MOST_SWITCHES) throw new Error("a signal switches too often for a page");
        for (let k = Math.ceil(low); k <= high; k++) stops.push(start + k * scale);
      }
    });
    const found = [];
    for (const t of stops.sort((x, y) => x - y)) if (t - (found.at(-1) ?? first) > snap && last - t > snap) found.push(t);
    return found;
  }

  explain({ code, t, blamed }) {
    if (code === FINISHED) return "";
    const { statuses, stateNames, rowNames } = this.told;
    const status = statuses[code] || "stopped";
    const names = status === "constraints" ? rowNames : stateNames;
    const item = blamed >= 0 && names[blamed] ? ` (${names[blamed]})` : "";
    return `The run stops at t = ${Number(t.toPrecision(6))} s: ${status.replaceAll("_", " ")}${item}. Choose other values.`;
  }

  // Outputs row by row, as a view: copy the values to keep them.
  get outputs() {
    const { y, width } = this.told.report;
    return { width, values: this.module.array(y) };
  }
}
