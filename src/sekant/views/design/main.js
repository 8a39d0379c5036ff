// The page: inputs change the design, and its results update picture, charts and tables.

const SLIDERS = { travel: "Travel", roll: "Roll", rack: "Rack" };
const PERIOD = 4; // s of a bounce, as played
const REST_MS = 250;
const fileStem = (told) => told.title.replaceAll(/[^\w-]+/g, "_").slice(0, 60) || "design";

class Page {
  constructor(told, solver) {
    this.told = told;
    const sign = told.side !== "axle" && told.side !== told.drawnSide ? -1 : 1;
    for (const point of told.points) point.signs = [sign, -1];
    this.design = new Design(told, solver);
    this.ghostOn = true;
    this.times = []; // ms of the last recomputations, and including their display
    byId("title").textContent = told.title;
    byId("file").textContent = `${told.file}${told.side === "axle" ? ", axle" : `, ${told.side} corner`}`;
    this.picture = new Picture(byId("canvas"), told, {
      choose: (point, side) => this.choose(point, side),
      values: (point) => told.points[point].parameters.map((i) => this.design.p[i]),
      move: (point, values) => this.set(Object.fromEntries(told.points[point].parameters.map((i, k) => [i, values[k]])), false),
      dropped: () => this.changed(true),
    });
    this.design.compute();
    if (!this.design.places) throw new Error(this.design.begun.own.message || "the design position cannot be reached");
    this.picture.begin(this.design.places);
    this.dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    this.charts = new Charts(this.design, byId("charts"), this.theme);
    this.panels = { points: new PointsPanel(this, byId("points")), setup: new SetUpPanel(this, byId("setup")), targets: new TargetsPanel(this, byId("targets")) };
    this.makeSliders();
    this.makeButtons();
    this.makeEditor();
    this.setTheme();
    new ResizeObserver(() => this.resize()).observe(byId("view"));
    this.resize();
    this.picture.stage.lookFrom("iso");
    this.refresh();
    const frame = () => {
      this.tick();
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  get theme() {
    return THEMES[this.dark ? "dark" : "light"];
  }

  // -- changes ---------------------------------------------------------------------------------------

  // Parameters by index, SI; `last`: the change is complete, and undo reverts it.
  set(values, last) {
    for (const [index, value] of Object.entries(values)) this.design.p[index] = value;
    this.changed(last);
  }

  changed(last) {
    this.stale = true;
    if (last) {
      this.design.sort();
      this.design.keep();
    }
    this.rest();
  }

  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.tell(), REST_MS);
  }

  choose(point, side = 0) {
    this.picture.choose(point, side);
    this.moved = true;
    this.updateEditor();
    this.panels.points.update();
  }

  // -- frames ----------------------------------------------------------------------------------------

  tick() {
    if (this.playing) {
      const t = (performance.now() - this.playing.from) / 1e3;
      const { name, amplitude, middle } = this.playing;
      this.design.at[name] = middle + amplitude * Math.sin((2 * Math.PI * t) / PERIOD);
      this.slid();
    }
    if (this.stale) {
      this.stale = false;
      this.moved = false;
      this.refresh();
    } else if (this.moved) {
      this.moved = false;
      this.show();
    }
    this.picture.draw();
  }

  refresh() {
    const began = performance.now();
    this.design.compute();
    this.took = performance.now() - began;
    this.number = (this.number || 0) + 1;
    this.show();
    this.times.push([this.took, performance.now() - began]);
    if (this.times.length > 500) this.times.shift();
    this.rest();
  }

  show() {
    const { design } = this;
    const deviations = this.deviations();
    this.charts.update(deviations);
    this.panels.points.update();
    this.panels.setup.update();
    this.panels.targets.update(deviations);
    this.updateEditor();
    this.picture.show(design.places, design.firstPlaces, { ghostOn: this.ghostOn && design.changed, moved: (point) => this.isMoved(point), ...this.centers() });
    byId("undo").disabled = design.done.length < 2;
    byId("redo").disabled = !design.undone.length;
    const held = design.overs.filter((name) => design.held[name]).map((name) => `${name} ${formatNumber(mm(design.at[name]))} mm`);
    byId("held").textContent = held.length ? `mm, at ${held.join(", ")}` : "mm";
    byId("speed").textContent = `${design.grid.length} positions in ${this.took.toFixed(1)} ms`;
    byId("lost").hidden = !design.lost;
    byId("lost").textContent = design.begun.own.message || "Out of reach: the picture shows the position with the sliders at zero.";
    byId("ghost").hidden = !design.changed;
  }

  isMoved(point) {
    return this.told.points[point].parameters.some((i) => this.design.p[i] !== this.design.first[i]);
  }

  // The slower part: where the travel ends, and warnings.
  tell() {
    const { design } = this;
    const lines = [...(design.unsure ? design.limits() : []), ...design.warnings()];
    byId("notes").replaceChildren(...lines.map((text) => element("p", { text })));
    byId("notes").hidden = !lines.length;
    this.told.said = lines;
  }

  deviations() {
    const found = new Map();
    for (const target of this.design.targets) {
      const worst = this.design.deviation(target);
      const curve = this.told.curves.find(({ name }) => name === target.curve);
      if (!worst || !curve) continue;
      const inside = worst.known && Math.abs(worst.gap) <= target.band * (1 + 1e-9) + 1e-15;
      const sign = worst.gap > 0 ? "+" : "−";
      const size = String(Number((Math.abs(worst.gap) * curve.factor).toPrecision(3)));
      const mark = target.band ? `${inside ? "✓" : "✗"} ` : "";
      const text = worst.known ? `${mark}${sign}${size} at ${formatNumber(mm(worst.travel))} mm` : `✗ not reached at ${formatNumber(mm(worst.travel))} mm`;
      found.set(target, { ...worst, inside: inside || !target.band, banded: target.band > 0, text });
    }
    return found;
  }

  // Lines from the contacts to the instant centers in the front view, and the roll center, from the curves.
  centers() {
    const { design, told } = this;
    const names = told_names(told);
    const guide = [];
    let center = null;
    const value = (name) => (design.here && names.has(name) ? design.here[names.get(name)] : NaN);
    if (design.lost || !design.here) return { guide, center };
    const contacts = told.wheels.map(({ ends }) => at(design.places, ends[2]));
    const hubs = told.wheels.map(({ ends }) => at(design.places, ends[0]));
    told.wheels.forEach((_, k) => {
      const prefix = told.side === "axle" ? `${k ? "right" : "left"}.` : "";
      const [y, z] = [value(`${prefix}front_view_center_y`), value(`${prefix}front_view_center_z`)];
      if (Number.isFinite(y) && Number.isFinite(z) && Math.abs(y) < 4) guide.push([contacts[k], new L.Vector3(hubs[k].x, y, z)]);
    });
    const height = value("roll_center_height");
    if (Number.isFinite(height) && Math.abs(height) < 1) {
      const road = contacts.reduce((sum, { z }) => sum + z, 0) / contacts.length;
      const y = value("roll_center_y");
      center = new L.Vector3(hubs[0].x, Number.isFinite(y) && Math.abs(y) < 3 ? y : 0, road + height);
    }
    return { guide, center };
  }

  // -- sliders ---------------------------------------------------------------------------------------

  makeSliders() {
    const { told, design } = this;
    const ends = (values) => [Math.min(...values), Math.max(...values)];
    const ranges = { travel: ends(told.travel), roll: ends(told.travel), rack: ends(told.steering) };
    this.sliders = design.overs.map((name) => {
      const [low, high] = ranges[name];
      const slider = element("input", { type: "range", min: mm(low), max: mm(high), step: 0.1, "aria-label": `${SLIDERS[name]} in mm`, id: `slide-${name}` });
      const set = (value) => {
        this.design.at[name] = Math.min(high, Math.max(low, value));
        this.playing = null;
        this.slid(name);
      };
      slider.addEventListener("input", () => set(slider.value / 1e3));
      slider.addEventListener("dblclick", () => set(0));
      const { field, show } = numberField({ label: `${SLIDERS[name]} in mm`, get: () => design.at[name], set, digits: 2 });
      const play = element("button", { class: "icon", text: "▶", title: "Move up and down", "aria-label": `Play ${name}`, onclick: () => {
        this.playing = this.playing?.name === name ? null : { name, from: performance.now(), amplitude: (high - low) / 2, middle: (high + low) / 2 };
        this.updateSliders();
      } });
      const row = element("div", { class: "slide" }, play, element("label", { for: `slide-${name}` }, SLIDERS[name], element("small", { text: " mm" })), slider, field);
      byId("sliders").append(row);
      return { name, slider, show, play };
    });
    this.updateSliders();
  }

  // The slider of the drive on the horizontal axis changes only the picture; other sliders also change the curves.
  slid(name = this.playing?.name) {
    this.updateSliders();
    if (name === this.design.over) {
      this.design.place();
      this.charts.all.forEach((chart) => (chart.stale = true));
      this.moved = true;
    } else {
      this.stale = true;
      this.rest();
    }
  }

  updateSliders() {
    for (const { name, slider, show, play } of this.sliders) {
      if (document.activeElement !== slider || this.playing) slider.value = mm(this.design.at[name]);
      show();
      play.textContent = this.playing?.name === name ? "❚❚" : "▶";
    }
  }

  // -- buttons ---------------------------------------------------------------------------------------

  makeButtons() {
    const { design } = this;
    for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => this.look(button.dataset.view));
    byId("undo").addEventListener("click", () => this.step("undo"));
    byId("redo").addEventListener("click", () => this.step("redo"));
    byId("theme").addEventListener("click", () => {
      this.dark = !this.dark;
      this.setTheme();
    });
    byId("ghost-on").addEventListener("change", (event) => {
      this.ghostOn = event.target.checked;
      this.moved = true;
    });
    byId("reset").addEventListener("click", () => {
      design.p.set(design.first);
      this.changed(true);
    });
    const tabs = [...document.querySelectorAll("[data-tab]")];
    for (const tab of tabs) {
      tab.addEventListener("click", () => {
        for (const other of tabs) {
          other.setAttribute("aria-selected", String(other === tab));
          byId(`tab-${other.dataset.tab}`).hidden = other !== tab;
        }
        document.querySelector("aside").scrollTop = 0;
      });
    }
    const overs = design.overs.map((name) => element("button", { text: SLIDERS[name].toLowerCase(), "data-over": name, onclick: () => {
      design.over = name;
      this.pressOver();
      this.charts.laid = null;
      this.stale = true;
    } }));
    byId("overs").append(...overs);
    this.pressOver();
    if (design.axle) byId("sides").append(element("span", { class: "left", text: "left" }), element("span", { class: "right", text: "right" }));
    byId("sides").append(element("span", { class: "first", text: "first" }));
    const groups = { key: "key", wheel: "wheel", steering: "steering", centers: "centers", springs: "springs", support: "anti", road: "on road", all: "all" };
    const used = new Set(["key", "all", ...this.told.curves.map(({ group }) => group)]);
    byId("groups").append(...Object.entries(groups).filter(([group]) => used.has(group)).map(([group, text]) => element("button", { text, "data-group": group, "aria-pressed": String(group === "key"), onclick: (event) => {
      this.charts.group = group;
      for (const other of byId("groups").children) other.setAttribute("aria-pressed", String(other === event.target));
      this.moved = true;
    } })));
    const stem = fileStem(this.told);
    const say = (text) => {
      byId("saved").textContent = text;
    };
    const saves = {
      yaml: () => download(`${stem}.yaml`, yamlText(description(design)), "text/yaml"),
      points: () => {
        const { text, lost } = tableText(design);
        say(lost.length ? `The table cannot contain ${lost.join(", ")}. Use the YAML file instead.` : "");
        download(`${stem}.csv`, text, "text/csv");
      },
      curves: () => download(`${stem}_curves.csv`, curvesText(design), "text/csv"),
    };
    for (const [key, act] of Object.entries(saves)) byId(`save-${key}`).addEventListener("click", () => {
      byId("save").removeAttribute("open");
      act();
    });
    document.addEventListener("pointerdown", (event) => !byId("save").contains(event.target) && byId("save").removeAttribute("open"));
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input, select, textarea")) return;
      const key = event.key.toLowerCase();
      if ((event.ctrlKey || event.metaKey) && key === "z") this.step(event.shiftKey ? "redo" : "undo");
      else if ((event.ctrlKey || event.metaKey) && key === "y") this.step("redo");
      else if (key === "escape") this.choose(null);
      else if ("1234".includes(key)) this.look(["iso", "front", "side", "top"][Number(key) - 1]);
      else return;
      event.preventDefault();
    });
  }

  pressOver() {
    for (const button of byId("overs").children) button.setAttribute("aria-pressed", String(button.dataset.over === this.design.over));
  }

  look(name) {
    this.picture.stage.lookFrom(name);
  }

  step(what) {
    this.design[what]();
    this.stale = true;
    this.rest();
  }

  // -- the selected point ------------------------------------------------------------------------------

  makeEditor() {
    const { design, told } = this;
    this.fields = ["x", "y", "z"].map((axis, k) => {
      const index = () => told.points[this.picture.chosen?.point ?? 0].parameters[k];
      return numberField({ label: `${axis} in mm`, get: () => design.p[index()], set: (value, last) => this.picture.chosen && this.set({ [index()]: value }, last) });
    });
    byId("coordinates").append(...this.fields.flatMap(({ field }, k) => [element("label", {}, element("span", { class: `axis-${"xyz"[k]}`, text: "xyz"[k] }), field)]));
  }

  updateEditor() {
    const chosen = this.picture.chosen;
    byId("editor").hidden = !chosen;
    byId("hint").hidden = Boolean(chosen) || this.design.changed;
    if (!chosen) return;
    const { name, about, held } = this.told.points[chosen.point];
    this.fields.forEach(({ field }, axis) => (field.disabled = held[axis]));
    byId("chosen").textContent = spaced(name);
    byId("chosen").title = about;
    for (const { show } of this.fields) show();
  }

  // -- looks -----------------------------------------------------------------------------------------

  setTheme() {
    document.documentElement.dataset.theme = this.dark ? "dark" : "light";
    this.picture.setTheme(this.theme, this.dark);
    this.charts.setTheme(this.theme);
    this.moved = true;
  }

  resize() {
    const box = byId("view").getBoundingClientRect();
    if (box.width < 2 || box.height < 2) return;
    const first = !this.picture.stage.width;
    this.picture.stage.resize(box.width, box.height, 1);
    if (!first) this.picture.stage.reframe();
  }
}

function targetsText(design) {
  const { told } = design;
  const targets = {};
  for (const { curve, travel, values, band } of design.targets) {
    const { shown, factor } = told.curves.find(({ name }) => name === curve);
    const text = (value) => (shown ? `${numberText(tidy(value * factor))} ${shown}` : tidy(value));
    const tolerance = band ? { tolerance: text(band) } : {};
    if (travel.length === 1) targets[curve] = { design: text(values[0]), ...tolerance };
    else targets[curve] = { travel: travel.map((value) => `${numberText(tidy(1e3 * value))} mm`), values: values.map(text), ...tolerance };
  }
  return yamlText({ targets });
}

async function begin() {
  const told = JSON.parse(byId("design").textContent);
  byId("about").textContent = told.about;
  if (typeof WebAssembly !== "object") {
    byId("lost").hidden = false;
    byId("lost").textContent = "This browser has no WebAssembly, which the page needs. Open it in a current browser.";
    return;
  }
  const module = await Module.load(told.program);
  window.sekant = new Page(told, new Solver(module));
  document.body.classList.add("ready");
}

begin().catch((error) => {
  byId("lost").hidden = false;
  byId("lost").textContent = `The page cannot compute here: ${error.message}`;
  console.error(error);
});
