// Where the usual steps are too long, as for wheels that spin several times as fast as the car rolls, steps are a
// quarter or a sixteenth as long. A comparison at regular times decides.
const FINER = [1, 4, 16];
const COMPARE_EVERY = 0.2; // s of simulated time
const ALIKE = 0.01; // relative difference of states allowed at the end of a stretch; near zero, ALIKE^2 is allowed

// The car: state, parameters and inputs; steps of the compiled loop; current outputs by name.

class DrivenCar {
  static async load(told) {
    return new DrivenCar(await Module.load(told.program), told);
  }

  constructor(module, told) {
    const { program } = told;
    Object.assign(this, { module, told, program });
    this.stretches = new Stretches(module, program.loop);
    this.p = Float64Array.from(program.first);
    this.offsets = placesOf(program.channels);
    this.reset();
  }

  // Back to the start, with the present set-up and inputs.
  reset() {
    const { module, program } = this;
    module.array(program.values).set(this.p);
    const start = module.ask(program.begin);
    this.x = new Float64Array(program.loop.width);
    this.x.set(start.x);
    if (program.held) this.p.set(start.held, this.p.length - program.held);
    this.count = 0; // steps since then
    this.lost = "";
    this.finer = 0; // place in FINER
    this.compared = 0; // number of steps at which they are compared next
    this.read();
  }

  get t() {
    return this.count * this.told.step;
  }

  set(name, value) {
    const place = this.told.inputs[name];
    if (place !== undefined) this.p[place] = value;
  }

  // The present value of an input; 0 if the car does not have it, such as a brake.
  given(name) {
    return this.p[this.told.inputs[name]] ?? 0;
  }

  // `steps` of the integrator with the current inputs; false if the motion cannot continue.
  advance(steps) {
    if (this.lost) return false;
    const times = [this.t, (this.count + steps) * this.told.step];
    let found = this.count < this.compared ? this.over(times) : this.compare(times);
    if (!found.moves) found = this.compare(times);
    if (!found.moves) {
      this.lost = `The motion stops at t = ${found.t.toFixed(2)} s: the car leaves the range of its model, such as the travel of its suspension. Press Again (R) to start again.`;
      return false;
    }
    this.x.set(found.x);
    this.count += steps;
    return true;
  }

  // The end of a stretch by the longest steps that agree with finer ones, which the next stretches take, too.
  compare(times) {
    this.compared = this.count + COMPARE_EVERY / this.told.step;
    this.finer = 0;
    let found = this.over(times);
    while (this.finer + 1 < FINER.length) {
      this.finer += 1;
      const other = this.over(times);
      const alike = found.moves && other.moves && found.x.every((x, i) => Math.abs(x - other.x[i]) <= ALIKE * (ALIKE + Math.abs(x)));
      if (alike) {
        this.finer -= 1;
        return found;
      }
      found = other;
    }
    return found;
  }

  // The end of a stretch by the present steps; `moves`: whether the motion continues.
  over(times) {
    const stretch = this.stretches.over(times, times, this.x, this.p, 0, this.told.step / FINER[this.finer]);
    let part = stretch.next();
    while (!part.done) part = stretch.next();
    const found = part.value;
    return { ...found, moves: found.code === FINISHED && found.x.every(Number.isFinite) };
  }

  // Outputs of the current state, into `y`.
  read() {
    const { module, program } = this;
    const { report } = program;
    module.array([report.x[0], this.x.length]).set(this.x);
    module.array([report.p[0], this.p.length]).set(this.p);
    module.array([report.t[0], 1])[0] = this.t;
    module.restart(report.run);
    module.setInteger(report.run, "count", 1);
    module.proceed(report.run, "all");
    this.y = module.array([report.y[0], report.width]);
  }

  // The components of an output, or its value; of a recorded row, if one is given.
  values(name, row = this.y) {
    const place = this.offsets.get(name);
    return place ? Array.from(row.subarray(place[0], place[0] + place[1])) : [];
  }

  value(name, row = this.y) {
    const place = this.offsets.get(name);
    return place ? row[place[0]] : NaN;
  }
}
