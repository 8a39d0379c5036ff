// The mechanism of the program: begins a design, walks over positions and asks the compiled functions for curves and
// places. Nothing here knows what a curve means.

const REACHED = 1;
const SINGULAR_START = 2;
const TOLERANCE_OF_WALK = 1e-12;
const BISECTIONS = 60;

class Solver {
  constructor(engine) {
    this.engine = engine;
    this.told = engine.program;
    engine.bytes.set(engine.image, engine.program.base);
    this.closing = new Assembly(engine);
    const { drives, nv, curves } = this.told;
    this.size = { w: drives * nv, row: nv, curves };
  }

  // A design: coordinates q at which its loops are closed, the values of its drives there, those that travel and rack
  // count from, and the start of its wheel; or a message.
  begin(p) {
    const { engine, told } = this;
    engine.view(...told.values).set(p);
    const nq = told.drawn.length;
    const x = new Float64Array(nq + told.nv);
    x.set(told.drawn);
    let message;
    try {
      message = this.closing.close(x);
    } catch (error) {
      message = String(error.message || error);
    }
    const q = x.slice(0, nq);
    const [d, zero, start] = this.ask("begin", { q });
    if (!message && !(d.every(Number.isFinite) && zero.every(Number.isFinite))) message = "The points of this design make no mechanism.";
    return { p, q, d, zero, start, message };
  }

  ask(name, given) {
    const call = this.told.calls[name];
    for (const [key, values] of Object.entries(given)) this.engine.view(call.arguments[key], values.length).set(values);
    this.engine.call(call);
    return call.results.map(([address, count]) => this.engine.view(address, count).slice());
  }

  // Places (3 n,) of what is drawn, and lengths of links, at q.
  places(design, q) {
    this.engine.view(...this.told.values).set(design.p);
    return this.ask("places", { q })[0];
  }

  lengths(design) {
    this.engine.view(...this.told.values).set(design.p);
    return this.ask("lengths", { q: design.q })[0];
  }

  // Walk over `targets`, rows of values of the drives, from a point (q, d) of the design; which were reached.
  walk(name, design, targets, from = design) {
    const sweep = this.told.sweeps[name];
    const { drives } = this.told;
    const points = targets.flat();
    const order = targets.map((row, k) => [Math.hypot(...row.map((value, j) => value - from.d[j])), k]);
    order.sort((a, b) => a[0] - b[0]);
    let status = 0;
    for (const [, first] of order.slice(0, 4)) {
      this.lay(sweep, design, from, points, first);
      status = Number(this.engine.table.get(this.told.spread)(sweep.at, 0, 0));
      if (status !== SINGULAR_START) break;
    }
    const reached = targets.map((_, k) => this.word(sweep, "reached", k) === REACHED && status === REACHED);
    const failed = [];
    for (let k = 0; k < this.word(sweep, "counts", 0); k++) failed.push([this.word(sweep, "failed", 2 * k), this.word(sweep, "failed", 2 * k + 1)]);
    return { sweep, design, targets, reached, failed, began: status === REACHED, from, drives };
  }

  lay(sweep, design, from, points, first) {
    const { engine, told } = this;
    const { fields } = sweep;
    const offset = sweep.at - told.base;
    engine.bytes.fill(0, sweep.at, sweep.at + sweep.size).set(engine.image.subarray(offset, offset + sweep.size), sweep.at);
    engine.view(sweep.values, design.p.length).set(design.p);
    engine.view(fields.q[1], from.q.length).set(from.q);
    engine.view(fields.start[1], from.d.length).set(from.d);
    engine.view(fields.points[1], points.length).set(points);
    engine.words[fields.first[0] / 8] = BigInt(first);
    const largest = Math.max(1, ...points.map(Math.abs), ...from.q.map(Math.abs));
    engine.reals[fields.tolerance[0] / 8] = TOLERANCE_OF_WALK * largest;
  }

  word(sweep, field, k) {
    return Number(this.engine.words[sweep.fields[field][1] / 8 + k]);
  }

  position(walked, k) {
    const n = this.told.drawn.length;
    return this.engine.view(walked.sweep.fields.Q[1] + 8 * n * k, n);
  }

  // All curves (c,) at the k-th position, SI; NaN where it was not reached. `ways`: how far the wheels go.
  curves(walked, k, ways) {
    if (!walked.reached[k]) return new Float64Array(this.size.curves).fill(NaN);
    const { engine, told, size } = this;
    const call = told.calls.curves;
    const { wheels, drives } = told;
    const { W, WW } = walked.sweep.fields;
    engine.view(call.arguments.q, told.drawn.length).set(this.position(walked, k));
    engine.view(call.arguments.w, size.w).set(engine.view(W[1] + 8 * size.w * k, size.w));
    for (let i = 0; i < wheels; i++) {
      for (let j = 0; j < wheels; j++) {
        const from = WW[1] + 8 * size.row * (drives * (drives * k + i) + j);
        engine.view(call.arguments.ww + 8 * size.row * (wheels * i + j), size.row).set(engine.view(from, size.row));
      }
    }
    if (call.arguments.ways) engine.view(call.arguments.ways, 2).set(ways);
    else engine.view(call.arguments.start, walked.design.start.length).set(walked.design.start);
    engine.view(...told.values).set(walked.design.p);
    engine.call(call);
    return engine.view(call.results[0][0], size.curves).slice();
  }

  // Where the travel ends on the ways that were lost: values of the drives there, the coordinate that goes on, and
  // whether it is a dead point, near which displacements by the drives grow beyond all bounds.
  ends(walked) {
    const found = [];
    for (const [a, b] of walked.failed.slice(0, 4)) {
      if (walked.reached[b]) continue;
      const from = a < 0 ? walked.from : { q: this.position(walked, a).slice(), d: walked.targets[a] };
      found.push(this.end(walked.design, from, walked.targets[b]));
    }
    return found;
  }

  end(design, from, goal) {
    const way = goal.map((value, j) => value - from.d[j]);
    const at = (share) => from.d.map((value, j) => value + share * way[j]);
    let [low, high, here] = [0, 1, from];
    let [first, last] = [null, null];
    for (let k = 0; k < BISECTIONS && high - low > 1e-13; k++) {
      const middle = (low + high) / 2;
      const walked = this.walk("place", design, [at(middle)], here);
      if (!walked.reached[0]) {
        high = middle;
        continue;
      }
      low = middle;
      here = { q: this.position(walked, 0).slice(), d: at(middle) };
      last = this.along(walked, way);
      first ??= last;
    }
    const size = (w) => Math.max(...w.map(Math.abs));
    const steep = last && size(last) > 30 * size(first);
    const going = last ? last.reduce((most, value, i) => (Math.abs(value) > Math.abs(last[most]) ? i : most), 0) : -1;
    return { d: here.d, dead: Boolean(steep), going };
  }

  // Displacements (nv,) along a change of the drives.
  along(walked, way) {
    const { nv } = this.told;
    const w = this.engine.view(walked.sweep.fields.W[1], this.size.w);
    return Float64Array.from({ length: nv }, (_, i) => way.reduce((sum, part, j) => sum + part * w[nv * j + i], 0));
  }
}
