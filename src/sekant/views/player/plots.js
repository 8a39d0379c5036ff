// Curves over time, or over another series, beside the picture: a line at the current time, its values, and a click
// to change the time.

const LINES = ["#3b7dd8", "#e8883a", "#2fa38c", "#d1495b", "#8a63c9", "#b5892e"];
const PLOT_HEIGHT = 140;

class Plot {
  constructor(name, runs, player, over = "") {
    this.name = name;
    this.over = over;
    this.runs = runs;
    this.player = player;
    const channel = (runs.find((run) => run.series.has(name)) || runs[0]).series.get(name);
    this.parts = channel.parts.length ? channel.parts : [""];
    this.units = channel.unit;
    this.readout = element("div", { class: "readout" });
    this.holder = element("div", { class: "chart" });
    this.now = element("div", { class: "now" });
    const unit = [...new Set(channel.unit)].map(formatUnit).filter(Boolean).join(", ");
    const close = element("button", { class: "icon", text: "×", title: "Remove this plot", onclick: () => player.plots.remove(this) });
    const title = element("span", { class: "plot-name", text: name, title: channel.about || name });
    const head = element("div", { class: "plot-head" }, title, element("span", { class: "unit", text: unit }), this.choice(), close);
    this.root = element("section", { class: "plot" }, head, this.readout, this.holder);
    this.values = this.collect();
  }

  get key() {
    return this.over ? `${this.name} over ${this.over}` : this.name;
  }

  // The horizontal axis of the plot: time, or any other output.
  choice() {
    if (this.player.over || this.player.modes.length) return "";
    const offer = (name) => element("option", { value: name, text: name ? `over ${name}` : "over time", selected: name === this.over });
    const made = element("select", { class: "over", title: "Over time, or over another output (a phase plot)" }, ...[...new Set(["", this.over])].map(offer));
    const all = () => made.replaceChildren(...["", ...columnNames(this.runs[0])].map(offer));
    made.addEventListener("pointerdown", all, { once: true });
    made.addEventListener("focus", all, { once: true });
    made.addEventListener("change", () => this.player.plots.turn(this, made.value));
    return made;
  }

  // Columns over the times of the first run; columns of a second run are interpolated.
  collect() {
    const times = this.runs[0].times;
    return this.runs.flatMap((run, r) => {
      const channel = run.series.get(this.name);
      if (!channel) return [];
      return channel.columns.slice(0, this.parts.length).map((column, k) => ({
        column: r === 0 ? column : Float64Array.from(times, (t) => valueAt(run.times, column, t)),
        run,
        source: column,
        color: LINES[k % LINES.length],
        dashed: r > 0,
        label: this.parts[k],
      }));
    });
  }

  draw(theme) {
    if (this.chart) this.chart.destroy();
    const ink = theme.ink;
    const over = this.player.over;
    const x = over ? over.column : this.runs[0].times;
    const axis = { stroke: ink, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const paths = over ? L.uPlot.paths.spline() : undefined; // few positions, on smooth curves
    const options = {
      width: Math.max(120, this.holder.clientWidth || 300),
      height: PLOT_HEIGHT + (over ? 14 : 0),
      hooks: { ready: [() => this.setTime(this.player.time)] }, // positions on the axes are known only then
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false } },
      padding: [8, 10, 0, 0],
      axes: [
        over
          ? { ...axis, size: 20, gap: 2, label: over.label, labelSize: 14, labelGap: 0, labelFont: axis.font }
          : { ...axis, size: 20, gap: 2 },
        { ...axis, size: 52, gap: 4, values: (_, ticks) => formatTicks(ticks) },
      ],
      series: [
        {},
        ...this.values.map(({ color, dashed }) => ({ stroke: color, width: 1.6, dash: dashed ? [6, 5] : undefined, pxAlign: 0, paths, points: { show: false } })),
      ],
    };
    this.holder.replaceChildren();
    this.chart = new L.uPlot(options, [Array.from(x), ...this.values.map((v) => clean(v.column))], this.holder);
    this.listen((left) => {
      const place = this.chart.posToVal(left, "x");
      return over ? valueAt(over.column, this.runs[0].times, place) : place;
    });
  }

  // A click or a drag in the chart sets the time; `timeAt(left, top)`: the time at a point of the chart, px.
  listen(timeAt) {
    const { over } = this.chart;
    over.append(this.now);
    const go = (event) => {
      const box = over.getBoundingClientRect();
      this.player.setTime(timeAt(event.clientX - box.left, event.clientY - box.top));
    };
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      go(event);
    });
    over.addEventListener("pointermove", (event) => event.buttons && go(event));
    this.setTime(this.player.time);
  }

  // Replace the columns of a run in the same chart.
  replaced() {
    const before = this.values.length;
    this.values = this.collect();
    if (!this.chart) return;
    if (this.values.length !== before) {
      this.draw(this.player.theme); // the number of runs with this column has changed
      return;
    }
    const over = this.player.over;
    this.chart.setData([Array.from(over ? over.column : this.runs[0].times), ...this.values.map((v) => clean(v.column))]);
  }

  mark(t) {
    this.now.style.transform = `translateX(${this.chart.valToPos(this.player.place(t), "x")}px)`;
  }

  setTime(t) {
    this.time = t;
    if (this.chart) this.mark(t);
    this.current = this.values.map(({ run, source }) => valueAt(run.times, source, t));
    if (this.readout.children.length !== this.values.length) {
      this.readout.replaceChildren(
        ...this.values.map(({ color, dashed }) => {
          const made = element("span", { class: dashed ? "value dashed" : "value" });
          made.style.setProperty("--line", color);
          return made;
        }),
      );
    }
    this.values.forEach(({ label }, i) => {
      this.readout.children[i].textContent = `${label ? `${label} ` : ""}${formatNumber(this.current[i])}`;
    });
  }
}

// For uPlot, which takes null as a gap.
const clean = (column) => Array.from(column, (v) => (Number.isFinite(v) ? v : null));

// Least and largest value of columns; infinite without finite values.
function extremes(columns) {
  let [low, high] = [Infinity, -Infinity];
  for (const column of columns) {
    for (const v of column) {
      if (v < low) low = v;
      if (v > high) high = v;
    }
  }
  return [low, high];
}

function valueAt(times, column, t) {
  const [i, f] = locate(times, t);
  return f === 0 ? column[i] : (1 - f) * column[i] + f * column[i + 1];
}

class Plots {
  constructor(player) {
    this.player = player;
    this.shown = new Map();
    this.holder = byId("plots");
    this.search = byId("search");
    this.menu = byId("channels");
    this.search.addEventListener("input", () => this.fill());
    this.search.addEventListener("focus", () => this.open(true));
    byId("choose").addEventListener("click", () => this.open(this.menu.hidden));
    document.addEventListener("pointerdown", (event) => {
      if (!byId("chooser").contains(event.target)) this.open(false);
    });
    new ResizeObserver(() => this.redraw()).observe(this.holder);
  }

  get names() {
    return [...new Set(this.player.runs.flatMap((run) => [...run.series.keys()]))];
  }

  open(yes) {
    this.menu.hidden = !yes;
    if (yes) this.fill();
  }

  fill() {
    const wanted = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const names = this.names.filter((name) => wanted.every((word) => name.toLowerCase().includes(word)));
    this.menu.replaceChildren(
      ...names.slice(0, 400).map((name) => {
        const box = element("input", { type: "checkbox", onchange: () => this.toggle(name) });
        box.checked = this.plotOf(name) !== undefined;
        return element("label", { class: "channel" }, box, element("span", { text: name }));
      }),
    );
    if (!names.length) this.menu.replaceChildren(element("p", { class: "hint", text: "No output has this name." }));
  }

  toggle(name) {
    const plot = this.plotOf(name);
    if (plot) this.remove(plot);
    else this.add(name);
  }

  plotOf(name) {
    return [...this.shown.values()].find((plot) => plot.name === name);
  }

  // `hinge.v`, over time, or `hinge.v over hinge.q`.
  add(text) {
    const [name, over = ""] = text.split(" over ");
    if (!this.shown.has(text) && this.names.includes(name)) this.show(this.make(name, over));
  }

  make(name, over) {
    const { runs } = this.player;
    const phase = over && columnOf(runs[0], over);
    return phase ? new PhasePlot(name, over, runs, this.player) : new Plot(name, runs, this.player);
  }

  // Instead of another one, or at the end.
  show(plot, old = null) {
    if (old) old.root.replaceWith(plot.root);
    else this.holder.append(plot.root);
    this.shown.set(plot.key, plot);
    plot.draw(this.player.theme);
  }

  // The same output over another one.
  turn(plot, over) {
    const made = this.make(plot.name, over);
    this.shown.delete(plot.key);
    if (this.shown.has(made.key)) plot.root.remove();
    else this.show(made, plot);
  }

  remove(plot) {
    plot.root.remove();
    this.shown.delete(plot.key);
  }

  setTime(t) {
    for (const plot of this.shown.values()) plot.setTime(t);
  }

  replaced() {
    for (const plot of this.shown.values()) plot.replaced();
  }

  redraw() {
    for (const plot of this.shown.values()) plot.draw(this.player.theme);
  }
}
