// The mechanism of the program: starts a design, sweeps over positions and computes curves and drawn points with the
// compiled functions. This code does not depend on the meaning of curves.

const REACHED = 1;
const REGULAR = 1;
const SINGULAR = 2;
const TOLERANCE_OF_WALK = 1e-12;
const BISECTIONS = 60;
const STEEP = 30; // growth of displacements toward a dead point

const largestOf = (row) => Math.max(...row.map(Math.abs));

class Solver {
  constructor(module) {
    this.module = module;
    this.told = module.program;
    this.closing = new Assembly(module, this.told.assembly);
    const { drives, nv } = this.told;
    this.size = drives * nv;
  }

  // A design: coordinates q with closed loops, the values of its drives there, the zero positions of travel and
  // rack, and the start of its wheel; or a message.
  begin(given) {
    const p = given.slice();
    const { told } = this;
    this.set(p);
    const nq = told.drawn.length;
    const x = new Float64Array(nq + told.nv);
    x.set(told.drawn);
    let message = this.closing.close(x);
    const q = x.slice(0, nq);
    const { d, zero, start } = this.ask("begin", { q });
    if (!message && !(d.every(Number.isFinite) && zero.every(Number.isFinite))) message = "No mechanism can be built from the points of this design.";
    return { p, q, d: d.slice(), zero: zero.slice(), start: start.slice(), message };
  }

  set(p) {
    this.module.array(this.told.values).set(p);
  }

  // Results are not copies.
  ask(name, given) {
    return this.module.ask(this.told.calls[name], given);
  }

  // Positions (3 n,) of drawn points, and lengths of links, at q.
  places(design, q) {
    this.set(design.p);
    return this.ask("places", { q }).places.slice();
  }

  lengths(design) {
    this.set(design.p);
    return this.ask("lengths", { q: design.q }).lengths.slice();
  }

  // Sweep over `targets`, rows of values of the drives, from a point (q, d) of the design; returns which were reached. As in
  // `sekant.solvers.sweep`, the first position is the nearest one, unless it is singular.
  walk(name, design, targets, from = design) {
    const { module } = this;
    const run = this.told.sweeps[name];
    const points = targets.flat();
    const order = targets.map((row, k) => [Math.hypot(...row.map((value, j) => value - from.d[j])), k]);
    order.sort((a, b) => a[0] - b[0]);
    let status = SINGULAR;
    for (const [, first] of order.slice(0, 4)) {
      module.restart(run);
      module.array(run.values).set(design.p);
      module.field(run, "q").set(from.q);
      module.field(run, "start").set(from.d);
      module.field(run, "points").set(points);
      module.setInteger(run, "first", first);
      const largest = points.reduce((most, value) => Math.max(most, Math.abs(value)), 1);
      module.setNumber(run, "tolerance", TOLERANCE_OF_WALK * largest);
      status = module.proceed(run, "walk");
      if (status !== SINGULAR) break;
    }
    const word = (field, k) => Number(module.words[run.fields[field][1] / 8 + k]);
    const reached = targets.map((_, k) => status === REGULAR && word("reached", k) === REACHED);
    const failed = Array.from({ length: word("counts", 0) }, (_, k) => [word("failed", 2 * k), word("failed", 2 * k + 1)]);
    return { run, design, targets, reached, failed, began: status === REGULAR, from };
  }

  // The `size` values of the k-th position in a field of a walk.
  part(walked, field, k, size) {
    return this.module.array([walked.run.fields[field][1] + 8 * size * k, size]);
  }

  position(walked, k) {
    return this.part(walked, "Q", k, this.told.drawn.length);
  }

  // All curves (c,) at the k-th position, SI; null where it was not reached. `ways`: displacements of the wheels.
  curves(walked, k, ways) {
    if (!walked.reached[k]) return null;
    const { told, module, size } = this;
    const { wheels, drives, nv } = told;
    const ww = module.array(told.calls.curves.given.ww);
    const bends = this.part(walked, "WW", k, drives * size);
    for (let i = 0; i < wheels; i++) {
      const from = drives * i * nv;
      ww.set(bends.subarray(from, from + wheels * nv), wheels * i * nv);
    }
    this.set(walked.design.p);
    const { start } = walked.design;
    return this.ask("curves", { q: this.position(walked, k), w: this.part(walked, "W", k, size), ways, start }).values;
  }

  // The ends of the travel in directions that were lost: values of the drives, the coordinate that continues, and
  // whether it is a dead point, near which displacements by the drives grow without bound.
  ends(walked) {
    const froms = walked.failed.slice(0, 4).filter(([, b]) => !walked.reached[b]).map(([a, b]) => [
      a < 0 ? walked.from : { q: this.position(walked, a).slice(), d: walked.targets[a] },
      walked.targets[b],
    ]);
    return froms.map(([from, goal]) => this.end(walked.design, from, goal));
  }

  end(design, from, goal) {
    const way = goal.map((value, j) => value - from.d[j]);
    const at = (share) => Array.from(from.d, (value, j) => value + share * way[j]);
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
    const steep = last !== null && largestOf(last) > STEEP * largestOf(first);
    const going = last ? last.reduce((most, value, i) => (Math.abs(value) > Math.abs(last[most]) ? i : most), 0) : -1;
    return { d: here.d, dead: steep, going };
  }

  // Displacements (nv,) along a change of the drives.
  along(walked, way) {
    const { nv } = this.told;
    const w = this.part(walked, "W", 0, this.size);
    return Float64Array.from({ length: nv }, (_, i) => way.reduce((sum, part, j) => sum + part * w[nv * j + i], 0));
  }
}
