// The drive: frames in real time, record and replay, set-up while the car is stationary. `window.sekant` is this object, for
// scripts and tests.

const STANDS = 0.3; // m/s, below which the set-up may change
const RECORD_EVERY = 1 / 30; // s
const MOST_ROWS = 18000; // recorded rows, ten minutes
const CURVES_EVERY = 200; // ms
const AIDS_EVERY = 0.004; // s of simulated time
const INPUTS = ["steering_wheel_angle", "throttle", "brake_pedal"]; // of the car
const KEPT = 200; // number of stored frame times
const KEYS = "Arrow keys or W A S D: drive; Space: brake; C: camera; R: start again; P: pause; V: tire forces; G: driving aids; T: light or dark. Mouse or finger: drag to the side to steer, up to drive, down to brake. Game pad: left stick, right and left trigger.";
const FIRST = matchMedia("(pointer: coarse)").matches
  ? "Drag a finger: up to drive, down to brake, to the side to steer."
  : "Arrow keys or W A S D: drive and steer. Space: brake.";

class Cockpit {
  constructor(car, told) {
    Object.assign(this, { car, told, running: true, replaying: false, rest: 0, last: null });
    this.scene = new DriveScene(byId("canvas"), told);
    this.controls = new Controls(byId("canvas"), told.lock);
    this.gauges = new Gauges(car);
    this.curves = new Curves(car, byId("curves"));
    this.frames = [];
    this.computing = { spent: 0, simulated: 0 };
    this.aids = new Aids(car);
    this.curvesAt = 0;
    byId("title").textContent = told.title;
    byId("course").textContent = told.course.name;
    byId("about").textContent = told.about;
    byId("help").textContent = KEYS;
    byId("first").textContent = FIRST;
    this.setUpButtons();
    this.setUpSliders();
    new ResizeObserver(() => this.fit()).observe(byId("view"));
    this.fit();
    this.restart();
  }

  setUpButtons() {
    const on = (id, key, action) => {
      byId(id).addEventListener("click", (event) => {
        action();
        event.currentTarget.blur();
      });
      if (key) this.controls.actions.set(key, action);
    };
    on("again", "r", () => this.restart());
    on("pause", "p", () => this.pause(this.running));
    on("view-next", "c", () => this.nextCamera());
    on("forces", "v", () => this.scene.showArrows(!this.scene.arrows));
    on("aids-on", "g", () => this.useAids(!this.aids.on));
    on("theme", "t", () => this.scene.setTheme(this.scene.themeName === "dark" ? "light" : "dark"));
    on("replay", "", () => this.replay());
    on("csv", "", () => this.download());
    byId("place").addEventListener("input", () => this.showRow(Number(byId("place").value)));
  }

  setUpSliders() {
    this.sliders = this.told.setUp.map((one) => {
      const input = element("input", { type: "range", min: 0.4, max: 2, step: 0.01, value: 1, "aria-label": one.label });
      const shown = element("output", { text: `${formatNumber(one.value)} ${formatUnit(one.unit)}` });
      input.addEventListener("input", () => {
        for (const place of one.places) this.car.p[place] = one.value * Number(input.value);
        shown.textContent = `${formatNumber(one.value * Number(input.value))} ${formatUnit(one.unit)}`;
      });
      byId("setup").append(element("label", {}, element("span", { text: one.label }), input, shown));
      return input;
    });
    byId("setup-box").hidden = !this.sliders.length;
  }

  fit() {
    const { clientWidth, clientHeight } = byId("view");
    this.scene.resize(Math.max(1, clientWidth), Math.max(1, clientHeight));
  }

  nextCamera() {
    byId("view-next").textContent = `Camera: ${this.scene.nextCamera()}`;
    this.fit();
  }

  restart() {
    this.controls.still();
    for (const name of Object.keys(this.told.inputs)) this.car.set(name, 0);
    this.car.reset();
    this.gauges.restart();
    this.aids.restart();
    this.rows = [];
    this.times = [];
    this.given = [];
    this.replaying = false;
    this.say("");
    this.pause(false);
    this.scene.place(this.car, this.car.y, true);
  }

  pause(still) {
    this.running = !still;
    this.rest = 0;
    byId("pause").textContent = still ? "Resume" : "Pause";
    byId("place").hidden = !still || this.rows.length < 2;
    byId("place").max = this.rows.length - 1;
    byId("place").value = this.rows.length - 1;
    if (!still) this.replaying = false;
  }

  say(text) {
    byId("message").textContent = text;
    byId("message").hidden = !text;
  }

  frame(now) {
    const dt = this.last === null ? 0 : Math.min(0.1, (now - this.last) / 1000);
    if (this.last !== null) {
      this.frames.push(now - this.last);
      if (this.frames.length > KEPT) this.frames.shift();
    }
    this.last = now;
    if (this.replaying) this.playOn(dt);
    else if (this.running) this.drive(dt);
    if (this.curvesAt < now - CURVES_EVERY && !this.replaying) {
      this.curvesAt = now;
      const from = Math.max(0, this.rows.length - 900); // half a minute
      this.curves.draw(this.rows.slice(from), this.times.slice(from));
    }
    this.scene.draw(1000 * dt);
    requestAnimationFrame((next) => this.frame(next));
  }

  // Advance real time by `dt` s.
  drive(dt) {
    const { car, controls, told } = this;
    const speed = Math.abs(car.value("speed"));
    controls.update(dt, speed);
    car.set("steering_wheel_angle", controls.wheel);
    if (controls.throttle > 0) byId("first").hidden = true;
    for (const slider of this.sliders) slider.disabled = speed > STANDS;
    this.rest += dt;
    const steps = Math.min(told.longest, Math.floor(this.rest / told.step));
    this.rest = Math.min(this.rest - steps * told.step, told.step);
    if (steps > 0 && !this.move(steps)) {
      this.say(car.lost);
      this.pause(true);
      return;
    }
    this.scene.place(car, car.y);
    this.gauges.show(car.y, controls, true);
  }

  useAids(on) {
    this.aids.on = on;
    byId("aids-on").textContent = on ? "Aids: on" : "Aids: off";
  }

  // Advance and record `steps` of the integrator, with driving aids in between; for the drive and for scripts.
  move(steps) {
    const { car, controls, aids } = this;
    const began = performance.now();
    const each = Math.max(1, Math.round(AIDS_EVERY / this.told.step));
    for (let done = 0; done < steps; done += each) {
      car.set("throttle", aids.throttle(controls.throttle));
      car.set("brake_pedal", aids.brake(controls.brake));
      if (!car.advance(Math.min(each, steps - done))) return false;
      car.read();
    }
    this.computing.spent += (performance.now() - began) / 1000;
    this.computing.simulated += steps * this.told.step;
    const { t } = this.car;
    if (!this.times.length || t - this.times.at(-1) >= RECORD_EVERY - 1e-9) this.record(t);
    return true;
  }

  record(t) {
    this.rows.push(Float32Array.from(this.car.y));
    this.times.push(t);
    this.given.push(INPUTS.map((name) => this.car.given(name)));
    if (this.rows.length > MOST_ROWS) for (const one of [this.rows, this.times, this.given]) one.shift();
  }

  // Speed of the computation relative to real time.
  get pace() {
    return this.computing.simulated / Math.max(this.computing.spent, 1e-9);
  }

  replay() {
    if (this.rows.length < 2) {
      this.say("There is nothing to replay yet. Drive first.");
      return;
    }
    this.pause(true);
    this.replaying = true;
    this.replayed = this.times[0];
    this.gauges.trace = [];
    this.curves.draw(this.rows, this.times);
  }

  playOn(dt) {
    this.replayed += dt;
    let row = Number(byId("place").value);
    if (this.replayed <= this.times[0] + dt) row = 0;
    while (row + 1 < this.rows.length && this.times[row + 1] <= this.replayed) row += 1;
    byId("place").value = row;
    this.showRow(row);
    if (row + 1 === this.rows.length) this.replaying = false;
  }

  showRow(number) {
    const row = this.rows[number];
    const [wheel, throttle, brake] = this.given[number];
    this.scene.place(this.car, row);
    this.gauges.show(row, { wheel, throttle, brake }, false);
  }

  // The recorded drive: time, inputs of the car, which aids may have reduced, all outputs of gauges and tires.
  csv() {
    const names = [...this.car.offsets.keys()];
    const units = new Map(this.told.program.channels.map((channel) => [channel.name, channel]));
    const columns = names.flatMap((name) => {
      const { parts, unit } = units.get(name);
      return (parts.length ? parts : [""]).map((part, i) => `${name}${part ? `.${part}` : ""} [${Array.isArray(unit) ? unit[i] : unit}]`);
    });
    const head = ["time [s]", `${INPUTS[0]} [rad]`, ...INPUTS.slice(1).map((name) => `${name} [1]`), ...columns];
    const lines = this.rows.map((row, i) => [this.times[i].toFixed(4), ...this.given[i], ...row].join(","));
    return [head.join(","), ...lines, ""].join("\n");
  }

  download() {
    if (this.rows.length) download("drive.csv", this.csv(), "text/csv");
    else this.say("There is nothing to save yet. Drive first.");
  }
}

async function startDrive() {
  const told = JSON.parse(byId("figure").textContent);
  if (typeof WebAssembly !== "object") throw new Error("this browser has no WebAssembly, which the page needs");
  window.sekant = new Cockpit(await DrivenCar.load(told), told);
  document.body.classList.add("ready");
  requestAnimationFrame((now) => window.sekant.frame(now));
}

startDrive().catch((error) => {
  byId("message").hidden = false;
  byId("message").textContent = `The page cannot be shown: ${error.message}. It needs a browser with WebGL 2 and WebAssembly from 2023 or later.`;
  throw error;
});
