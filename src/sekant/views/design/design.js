// The current design and the first one: parameters, undo and redo, and curves over one of the drives.

const OVERS = { travel: "travel", roll: "roll", rack: "rack" };
const MOST_STEPS = 200;

class Design {
  constructor(told, solver) {
    this.told = told;
    this.solver = solver;
    this.axle = told.side === "axle";
    this.first = Float64Array.from(told.first);
    this.p = this.first.slice();
    this.targets = told.targets.map((target) => ({ ...target }));
    this.over = "travel";
    this.at = { travel: 0, roll: 0, rack: 0 }; // m, of the sliders
    this.done = [this.snapshot()];
    this.undone = [];
    this.begun = { first: solver.begin(this.first), own: solver.begin(this.p) };
    this.kept = {};
  }

  get overs() {
    return Object.keys(OVERS).filter((name) => (name !== "roll" || this.axle) && (name !== "rack" || this.told.steered));
  }

  // Positions (m) of the drive on the horizontal axis.
  get grid() {
    return this.over === "rack" ? this.told.steering : this.told.travel;
  }

  get changed() {
    return this.p.some((value, i) => value !== this.first[i]);
  }

  // -- steps -----------------------------------------------------------------------------------------

  snapshot() {
    return JSON.stringify({ p: Array.from(this.p), targets: this.targets });
  }

  // Save the state for undo.
  keep() {
    const state = this.snapshot();
    if (state === this.done.at(-1)) return;
    this.done.push(state);
    if (this.done.length > MOST_STEPS) this.done.shift();
    this.undone = [];
  }

  undo() {
    if (this.done.length < 2) return;
    this.undone.push(this.done.pop());
    this.restore(this.done.at(-1));
  }

  redo() {
    if (!this.undone.length) return;
    this.done.push(this.undone.pop());
    this.restore(this.done.at(-1));
  }

  restore(state) {
    const { p, targets } = JSON.parse(state);
    this.p.set(p);
    this.targets = targets;
  }

  // -- positions and curves --------------------------------------------------------------------------

  // Values of the drives of a design, `moves` above their zero positions.
  goal(begun, { travel, roll, rack }) {
    const heights = this.axle ? [travel + roll, travel - roll] : [travel];
    return Array.from(begun.zero, (zero, k) => zero + (k < heights.length ? heights[k] : rack));
  }

  get ways() {
    return this.over === "roll" ? [1, -1] : [1, 1];
  }

  // Curves by column, (n,) each, over positions of one drive, with the others at the values of `held`.
  curves(begun, over, grid, held) {
    const { solver, told } = this;
    const columns = told.curves.map(() => new Float64Array(grid.length).fill(NaN));
    if (begun.message) return { columns, walked: null };
    const walked = solver.walk("path", begun, grid.map((value) => this.goal(begun, { ...held, [over]: value })));
    const ways = over === "roll" ? [1, -1] : [1, 1];
    for (let k = 0; k < grid.length; k++) {
      solver.curves(walked, k, ways)?.forEach((value, c) => (columns[c][k] = value));
    }
    return { columns, walked };
  }

  // Values of the sliders of the other drives, by which curves are distinguished.
  get held() {
    return { ...this.at, [this.over]: 0 };
  }

  // Recompute everything for the parameters and the sliders.
  compute() {
    this.begun.own = this.solver.begin(this.p);
    const key = `${this.over} ${JSON.stringify(this.held)}`;
    if (this.kept.key !== key) this.kept = { key, ...this.curves(this.begun.first, this.over, this.grid, this.held) };
    this.before = this.kept.columns;
    const { columns, walked } = this.curves(this.begun.own, this.over, this.grid, this.held);
    this.columns = columns;
    this.reached = walked ? walked.reached : this.grid.map(() => false);
    this.unsure = this.reached.includes(false);
    this.lengths = this.solver.lengths(this.begun.own);
    this.firstLengths ??= this.solver.lengths(this.begun.first);
    this.place();
  }

  // Positions of both designs and curves at the sliders; out of reach, the last position remains.
  place() {
    const { solver, begun } = this;
    const where = (own) => {
      if (own.message) return null;
      const walked = solver.walk("place", own, [this.goal(own, this.at)]);
      if (!walked.reached[0]) return null;
      const values = solver.curves(walked, 0, this.ways).slice();
      return { q: solver.position(walked, 0).slice(), values };
    };
    const [own, first] = [where(begun.own), where(begun.first)];
    this.lost = !own;
    if (own) {
      this.here = own.values;
      this.places = solver.places(begun.own, own.q);
    } else if (!begun.own.message) this.places = solver.places(begun.own, begun.own.q);
    if (first) {
      this.firstHere = first.values;
      this.firstPlaces = solver.places(begun.first, first.q);
    }
  }

  // Messages about the ends of the travel, as the command prints them; slow, so computed when a drag pauses.
  limits() {
    const { begun, told } = this;
    if (begun.own.message) return [begun.own.message];
    const targets = this.grid.map((value) => this.goal(begun.own, { ...this.held, [this.over]: value }));
    const walked = this.solver.walk("path", begun.own, targets);
    if (!walked.began) return ["The joints of this design do not close at the design position."];
    const ends = this.solver.ends(walked);
    return ends.map(({ d, dead, going }) => {
      const shown = (value) => (Math.abs(value) < 1e-13 ? "0" : String(Number(value.toPrecision(6))));
      let moves = Array.from(d, (value, k) => [told.labels[k], value - begun.own.zero[k]]);
      const wheels = this.axle ? 2 : 1;
      if (wheels === 2 && Math.abs(moves[0][1] - moves[1][1]) < 1e-12) moves = [["travel", moves[0][1]], ...moves.slice(2)];
      const where = moves.map(([label, value]) => `${label} = ${shown(value)} m`).join(", ");
      if (!dead) return `limit: the travel ends at ${where}`;
      return `limit: dead point at ${where}, where '${told.displacements[going]}' can still move`;
    });
  }

  // Warnings of springs, from their columns over the grid.
  warnings() {
    const least = (name) => {
      const found = this.told.curves.flatMap(({ name: own }, k) => (own === name || own.endsWith(`.${name}`) ? [...this.columns[k]] : []));
      return found.reduce((low, value) => (value < low ? value : low), Infinity);
    };
    const [ratio, rate] = [least("motion_ratio"), least("wheel_rate")];
    if (ratio <= 0) return [`The motion ratio drops to ${formatNumber(ratio)}: the spring is past the dead point of its linkage.`];
    return rate < 0 ? [`The wheel rate drops to ${formatNumber(rate / 1e3)} N/mm: the load decreases in bump.`] : [];
  }

  // -- targets ---------------------------------------------------------------------------------------

  // Points of targets in order of travel; of two at one travel the later one counts.
  sort() {
    for (const target of this.targets) {
      const rows = [...new Map(target.travel.map((value, k) => [value, target.values[k]]))].sort((a, b) => a[0] - b[0]);
      target.travel = rows.map(([value]) => value);
      target.values = rows.map(([, value]) => value);
    }
  }

  // The largest deviation of a curve over travel from its target, with the other drives at zero, and its travel, SI.
  deviation(target) {
    const index = told_names(this.told).get(target.curve);
    if (index === undefined || !target.travel.length) return null;
    const still = this.over === "travel" && !this.at.roll && !this.at.rack;
    const columns = still ? this.columns : this.onTravel().columns;
    let worst = { gap: 0, travel: target.travel[0], known: true };
    for (const [travel, wanted] of pointsOf(target, this.told.travel)) {
      const value = valueOf(this.told.travel, columns[index], travel);
      if (!Number.isFinite(value)) return { gap: NaN, travel, known: false };
      if (Math.abs(value - wanted) >= Math.abs(worst.gap)) worst = { gap: value - wanted, travel, known: true };
    }
    return worst;
  }

  onTravel() {
    return this.curves(this.begun.own, "travel", this.told.travel, { travel: 0, roll: 0, rack: 0 });
  }
}

const told_names = (told) => (told.numbers ??= new Map(told.curves.map(({ name }, k) => [name, k])));

// Targets are linear between their points; curves are compared at these and at all positions between them.
function pointsOf(target, grid) {
  const [low, high] = [Math.min(...target.travel), Math.max(...target.travel)];
  const travels = [...target.travel, ...grid.filter((value) => value > low && value < high)];
  return travels.map((value) => [value, valueOf(target.travel, target.values, value)]);
}

// Linear interpolation between the points x (rising); NaN outside.
function valueOf(x, y, at) {
  if (x.length === 1) return at === x[0] ? y[0] : NaN;
  for (let k = 0; k + 1 < x.length; k++) {
    if (at >= x[k] && at <= x[k + 1]) {
      if (at === x[k]) return y[k];
      if (at === x[k + 1]) return y[k + 1];
      const share = (at - x[k]) / (x[k + 1] - x[k]);
      return (1 - share) * y[k] + share * y[k + 1];
    }
  }
  return NaN;
}
