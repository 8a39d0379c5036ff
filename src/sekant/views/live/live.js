// Sliders of a live page: values, runs on the page or in a worker, and their display.

const FRAMED = location.protocol === "about:"; // in a notebook: the page has no address
const PATIENCE_MS = 50; // longest run on the page; longer ones go to the worker
const WORKER_TAIL = `
let simulation = null, wanted = null, running = false;
async function work() {
  running = true;
  while (wanted) {
    const { number, values, start } = wanted;
    const job = wanted;
    const pieces = simulation.pieces(values, start);
    let step = pieces.next();
    while (!step.done && wanted === job) {
      postMessage({ number, done: step.value });
      await new Promise((go) => setTimeout(go, 0));
      step = pieces.next();
    }
    if (wanted !== job) continue;
    wanted = null;
    const { width, values: y } = simulation.outputs;
    const copy = y.slice(0, width * step.value.row);
    postMessage({ number, result: step.value, outputs: copy }, [copy.buffer]);
  }
  running = false;
}
onmessage = async ({ data }) => {
  try {
    if (data.program) simulation = await Simulation.load(data.program);
    else { wanted = data; if (simulation && !running) await work(); return; }
    if (wanted && !running) await work();
  } catch (error) {
    const number = wanted?.number;
    running = false;
    wanted = null;
    postMessage({ number, failed: String(error.message || error), lost: !simulation });
  }
};`;

class Live {
  static async start(player) {
    const live = new Live(player, player.figure.live);
    player.live = live;
    await live.begin();
  }

  constructor(player, told) {
    Object.assign(this, { player, told, holder: byId("live"), changed: false, number: 0, times: [] });
    this.holder.hidden = false;
    this.values = Float64Array.from(told.program.first);
    this.first = Float64Array.from(told.program.first);
    this.run = player.runs[0];
    this.rows = told.sliders.map((slider) => this.slider(slider));
    this.bar = element("progress", { max: 1, value: 0, hidden: true, "aria-label": "Computing" });
    this.message = element("p", { class: "live-message", role: "status" });
    const buttons = element(
      "div",
      { class: "live-buttons" },
      element("button", { text: "Reset", title: "Reset all values", onclick: () => this.resetAll() }),
      element("button", { text: "Link", title: "Copy the address of this page with these values", hidden: FRAMED, onclick: () => this.offer("Link", this.link()) }),
      element("button", { text: "YAML", title: "Copy these values for a model file", onclick: () => this.offer("YAML", this.yaml()) }),
      element("button", { text: "Python", title: "Copy this run as a script", onclick: () => this.offer("Python", this.python()) }),
    );
    const about = element("details", { class: "live-message" }, element("summary", { text: "About this page" }), element("p", { text: told.about }));
    this.holder.append(...this.rows.map((row) => row.root), this.bar, this.message, buttons, about);
  }

  async begin() {
    if (typeof WebAssembly !== "object") {
      this.message.textContent = "This browser has no WebAssembly: the page plays the recorded motion, and the sliders do nothing.";
      for (const row of this.rows) row.range.disabled = row.box.disabled = true;
      return;
    }
    this.engine = await Simulation.load(this.told.program);
    if (this.engine.told.modes) {
      this.locus = new Locus(this.engine);
      this.message.after(this.locus.root);
    }
    this.take(location.hash);
    // `schedule` may have written the address again since it changed: only the event has the requested one.
    addEventListener("hashchange", ({ newURL }) => this.take(new URL(newURL).hash));
    this.compute();
  }

  // One row: name, slider, number in the display unit, reset.
  slider({ name, index, low, high, factor, unit, about }) {
    const shown = (value) => String(Number((value / factor).toPrecision(6)));
    const ends = `${shown(low)} to ${shown(high)} ${formatUnit(unit)}`.trim();
    const range = element("input", { type: "range", min: 0, max: 1000, step: "any", "aria-label": name, title: ends });
    const box = element("input", { type: "text", inputmode: "decimal", class: "live-number", "aria-label": `${name} in ${unit || "its unit"}`, autocomplete: "off" });
    const reset = element("button", { class: "icon", text: "↺", title: "Reset this value", "aria-label": `Reset ${name}` });
    const title = element("span", { class: "live-name", text: name, title: about || name });
    const head = element("div", { class: "live-head" }, title, box, element("span", { class: "unit", text: formatUnit(unit) }), reset);
    const row = { name, index, low, high, factor, unit, range, box, root: element("div", { class: "live-row", "data-name": name }, head, range) };
    range.addEventListener("input", () => this.set(row, low + (Number(range.value) / 1000) * (high - low)));
    const typed = () => {
      const value = Number(box.value.trim().replace(",", ".").replace("−", "-")) * factor;
      const known = box.value.trim() && Number.isFinite(value);
      if (known) this.set(row, value);
      else this.show(row);
      if (known && low <= value && value <= high) return;
      box.setCustomValidity(`Type a number from ${ends}.`);
      box.reportValidity();
    };
    box.addEventListener("input", () => box.setCustomValidity(""));
    box.addEventListener("change", typed);
    box.addEventListener("keydown", (event) => event.key === "Enter" && typed());
    reset.addEventListener("click", () => this.set(row, this.first[index]));
    range.addEventListener("dblclick", () => this.set(row, this.first[index]));
    this.show(row);
    return row;
  }

  show(row) {
    const value = this.values[row.index];
    row.range.value = String((1000 * (value - row.low)) / (row.high - row.low));
    if (document.activeElement !== row.box || row.settled) row.box.value = String(Number((value / row.factor).toPrecision(6)));
    row.root.classList.toggle("changed", value !== this.first[row.index]);
  }

  // A value (SI) within its range.
  set(row, value) {
    this.last = row;
    this.values[row.index] = Math.min(row.high, Math.max(row.low, value));
    row.settled = true;
    this.show(row);
    row.settled = false;
    this.schedule();
  }

  setValue(name, value) {
    const row = this.rows.find((other) => other.name === name);
    if (row) this.set(row, value);
  }

  resetAll() {
    for (const row of this.rows) this.set(row, this.first[row.index]);
  }

  schedule() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => {
      this.due = false;
      this.compute();
      if (FRAMED) return;
      clearTimeout(this.writing);
      this.writing = setTimeout(() => history.replaceState(null, "", this.fragment() || location.pathname), 250);
    });
  }

  compute() {
    const began = performance.now();
    this.started = began;
    this.number += 1;
    this.asked = this.values.slice();
    if (this.slow && this.worker) return this.ask();
    try {
      const pieces = this.engine.pieces(this.values);
      let step = pieces.next();
      while (!step.done) {
        if (performance.now() - began > PATIENCE_MS) {
          this.slow = true;
          return this.ask();
        }
        step = pieces.next();
      }
      this.took = performance.now() - began;
      this.apply(step.value, this.engine.outputs.values);
    } catch (error) {
      this.fail(error.message);
    }
  }

  fail(reason) {
    this.bar.hidden = true;
    this.message.textContent = `This run failed: ${reason}`;
    this.message.classList.add("bad");
    this.done = this.number;
  }

  ask() {
    this.bar.hidden = false;
    this.began = performance.now();
    if (!this.worker) {
      const text = `const { Simulation } = (${engine})();\n${WORKER_TAIL}`;
      this.worker = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      this.worker.onmessage = ({ data }) => this.hear(data);
      this.worker.postMessage({ program: this.told.program });
    }
    this.worker.postMessage({ number: this.number, values: this.values.slice() });
  }

  // `lost`: the worker could not begin, so the next run needs another worker.
  hear({ number, done, result, outputs, failed, lost }) {
    if (lost) {
      this.worker.terminate();
      this.worker = null;
    } else if (number !== undefined && number !== this.number) return;
    if (failed) {
      this.fail(failed);
      return;
    }
    if (!result) {
      this.bar.value = done;
      return;
    }
    this.bar.hidden = true;
    this.took = performance.now() - this.began;
    this.slow = this.took > PATIENCE_MS;
    this.apply(result, outputs);
  }

  // Outputs of a run, row by row, into the columns that the player draws.
  apply(result, y) {
    const { program, tracks } = this.told;
    const { channels } = program;
    const times = this.engine.grid;
    const { width } = program.report;
    const count = times.length;
    const { row } = result;
    this.result = result;
    this.done = this.number;
    if (row < 1) return this.tell(result);
    const column = (at) => {
      const found = new Float64Array(count);
      for (let i = 0; i < row; i++) found[i] = y[i * width + at];
      return found;
    };
    const places = placesOf(channels);
    const run = this.run;
    run.times = times;
    if (result.times[row - 1] !== times[row - 1]) {
      run.times = run.times.slice(); // the run ends between two rows
      run.times[row - 1] = result.times[row - 1];
    }
    const columnsOf = (name) => {
      const [first, width] = places.get(name);
      return Array.from({ length: width }, (_, k) => column(first + k));
    };
    run.poses = tracks.map((track) => posesOf(track, columnsOf, row, count));
    const series = positionSeries(run.tracks, run.poses);
    for (const channel of channels) {
      if (series.has(channel.name)) continue;
      const columns = columnsOf(channel.name);
      const unit = Array.isArray(channel.unit) ? channel.unit : Array(columns.length).fill(channel.unit);
      if (channel.name === "energy.balance") for (let i = row - 1; i >= 0; i--) columns[0][i] -= columns[0][0];
      for (const one of columns) one.fill(NaN, row);
      series.set(channel.name, { ...channel, unit, columns });
    }
    run.series = series;
    this.tell(result);
    const differs = this.values.some((value, i) => value !== this.first[i]);
    byId("compare").hidden = !differs;
    this.player.replaced(0);
    if (this.player.runs.length > 1 && differs !== this.changed) {
      this.changed = differs;
      this.player.setCompare(differs ? "ghost" : "first");
    }
    this.shown = this.asked; // the values of the drawn run
    if (this.locus) this.locus.show(this.values, this.last || this.rows[0]);
    queueMicrotask(() => this.times.push(performance.now() - this.started)); // when the plots are drawn, too
    if (this.times.length > 1000) this.times.shift();
  }

  tell(result) {
    const drift = result.row > 0 ? this.drift() : "";
    const ok = result.code === 1;
    const steps = ok ? `${result.steps} steps, ${result.rejected} rejected, ${(this.took || 0).toFixed(1)} ms.` : result.message;
    const warnings = [...this.told.warnings, ...(result.warnings || [])];
    this.message.textContent = [steps, drift, ...warnings].filter(Boolean).join(" ");
    this.message.classList.toggle("bad", !ok || warnings.length > 0 || drift.startsWith("Warning"));
  }

  // The energy balance, and a warning if it exceeds the tolerance, as in `EnergyWatch`.
  drift() {
    const { series } = this.run;
    const { rtol, adaptive } = this.told;
    const range = (name) => series.has(name) && extremes(series.get(name).columns.slice(0, 1));
    const [kinetic, potential, balance] = ["energy.kinetic", "energy.potential", "energy.balance"].map(range);
    if (!kinetic || !potential || !balance) return "";
    let work = 0;
    for (const name of series.keys()) {
      if (!name.endsWith(".work") || name === "energy.work") continue;
      const [low, high] = range(name);
      work = Math.max(work, high, -low);
    }
    const off = Math.max(balance[1], -balance[0]);
    const present = kinetic[1] + potential[1] - potential[0] + work;
    const unresolved = 1e-11 * (present + Math.max(Math.abs(potential[0]), Math.abs(potential[1])));
    const text = `energy error ${off.toExponential(1).replace("-", "\u2212")}\u00a0J of ${Number(present.toPrecision(3))}\u00a0J`;
    const bad = adaptive && present > 0 && off > 1000 * rtol * present + unresolved;
    return bad ? `Warning: ${text}, larger than the tolerance suggests. An element may be discontinuous, or the step may be too large.` : `${text[0].toUpperCase()}${text.slice(1)}.`;
  }

  // -- export of values -------------------------------------------------------------------------------------------

  get changes() {
    return this.rows.filter((row) => this.values[row.index] !== this.first[row.index]);
  }

  fragment() {
    const parts = this.changes.map((row) => `${encodeURIComponent(row.name)}=${this.values[row.index]}`);
    return parts.length ? `#${parts.join("&")}` : "";
  }

  link() {
    return location.href.split("#")[0] + this.fragment();
  }

  // Values from a fragment; parameters that it does not name get their first values. Unknown names, and values that are
  // not numbers, are ignored.
  take(fragment) {
    const given = new Map();
    for (const part of fragment.slice(1).split("&")) {
      const [name, text] = part.split("=");
      let known = "";
      try {
        known = decodeURIComponent(name);
      } catch {
        continue;
      }
      const row = this.rows.find((other) => other.name === known);
      const value = Number(text);
      if (row && text && Number.isFinite(value)) given.set(row, value);
    }
    if (fragment.length > 1 && !given.size) return; // not of this page
    for (const row of this.rows) this.set(row, given.get(row) ?? this.first[row.index]);
  }

  quantity(row) {
    return this.told.sliders.find((one) => one.name === row.name).si;
  }

  yaml() {
    const tree = {};
    for (const row of this.rows) {
      const { path } = this.told.sliders.find((one) => one.name === row.name);
      let at = tree;
      path.slice(0, -1).forEach((key) => (at = at[key] ??= {}));
      at[path.at(-1)] = this.quantity(row) ? `${this.values[row.index]} ${this.quantity(row)}` : `${this.values[row.index] / row.factor} ${row.unit}`.trim();
    }
    const write = (node, indent) =>
      Object.entries(node).map(([key, value]) => (typeof value === "string" ? `${indent}${key}: ${value}` : `${indent}${key}:\n${write(value, `${indent}  `)}`)).join("\n");
    return `${write(tree, "")}\n`;
  }

  python() {
    const pairs = this.rows.map((row) => `    ${JSON.stringify(row.name)}: ${this.values[row.index]},  # ${this.quantity(row) || "1"}`);
    const { given, driven } = this.told;
    pairs.push(...Object.entries(given).map(([name, value]) => `    ${JSON.stringify(name)}: ${JSON.stringify(value.length === 1 ? value[0] : value)},`));
    const names = JSON.stringify([...this.rows.map((row) => row.name), ...Object.keys(given)]);
    return [
      ...driven.map((name) => `# The input ${name} is a function of time, which this script does not contain: give it as inputs={...}.`),
      "import sekant as sk",
      "",
      `system = sk.compile(sk.load(${JSON.stringify(this.told.file)}), parameters=${names})`,
      `values = {\n${pairs.join("\n")}\n}`,
      `result = sk.simulate(system, ${this.told.options}, parameters=values)`,
      "",
    ].join("\n");
  }

  offer(title, text) {
    const area = element("textarea", { rows: 10, readonly: true, "aria-label": title });
    area.value = text;
    const copy = element("button", { text: "Copy", type: "button" });
    const dialog = element("dialog", { class: "live-offer" }, element("h2", { text: title }), area, copy, element("form", { method: "dialog" }, element("button", { text: "Close" })));
    copy.addEventListener("click", async () => {
      area.select();
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        document.execCommand("copy");
      }
      copy.textContent = "Copied";
    });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  }
}
