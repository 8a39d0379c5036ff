// Charts of the report: hover for values in all charts of a section, drag to zoom, designs and positions of the rack on and off.

const LINES = ["#3b7dd8", "#e8883a", "#2fa38c", "#d1495b", "#8a63c9", "#b5892e"];
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 4]];
const HEIGHT = 190;
const several = DATA.designs.length > 1;
const drawnRack = DATA.racks.findIndex((rack) => Math.abs(rack) === Math.min(...DATA.racks.map(Math.abs)));
// For several designs, only the design position of the rack is shown first, so that the designs can be distinguished.
const shown = { designs: DATA.designs.map(() => true), racks: DATA.racks.map((_, r) => !several || r === drawnRack), sides: { left: true, right: true } };
const made = [];

const visible = ({ d, r, side }) => shown.designs[d] && (r === undefined || shown.racks[r]) && (!side || shown.sides[side]);
// Each design has a color; for a single design, each position of the rack, or each wheel.
function look({ d, r, side }) {
  if (several) return { color: LINES[d % LINES.length], dash: r === undefined ? (side === "right" ? DASHES[1] : []) : DASHES[(r - drawnRack + DATA.racks.length) % DATA.racks.length % DASHES.length] };
  if (r !== undefined) return { color: LINES[r % LINES.length], dash: [] };
  return side === "right" ? { color: LINES[1], dash: DASHES[1] } : { color: LINES[0], dash: [] };
}

function label({ d, r, side }) {
  const parts = [];
  if (several) parts.push(DATA.designs[d]);
  if (r !== undefined && DATA.racks.length > 1) parts.push(`rack ${formatNumber(DATA.racks[r])} mm`);
  if (side) parts.push(side);
  return parts.join(", ");
}

const colors = () => {
  const style = getComputedStyle(document.documentElement);
  return { ink: style.getPropertyValue("--ink"), grid: style.getPropertyValue("--line"), soft: style.getPropertyValue("--soft") };
};

class Chart {
  constructor(data, section) {
    this.data = data;
    this.section = section;
    this.readout = element("div", { class: "readout" });
    this.holder = element("div");
    const title = element("div", { class: "chart-title", title: data.about }, data.title, element("small", { text: data.unit }));
    this.root = element("div", { class: "chart" }, title, this.readout, this.holder);
    this.root.chart = this;
  }

  draw() {
    if (this.plot) this.plot.destroy();
    const { x, lines, target } = this.data;
    const theme = colors();
    const font = "11px system-ui, sans-serif";
    const axis = { stroke: theme.soft, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font };
    const smooth = uPlot.paths.spline();
    const series = lines.map((line) => {
      const { color, dash } = look(line);
      return { stroke: color, width: 1.8, dash, show: visible(line), paths: smooth, pxAlign: 0, points: { show: false } };
    });
    const columns = lines.map((line) => line.y);
    if (target) {
      for (const gap of target.give ? [-target.give, 0, target.give] : [0]) {
        columns.push(target.y.map((y) => (y === null ? null : y + gap)));
        const single = target.y.filter((y) => y !== null).length < 2;
        series.push({ stroke: theme.soft, width: gap ? 1 : 1.4, dash: gap ? [2, 3] : [6, 3], points: { show: single, size: 7, stroke: theme.soft } });
      }
    }
    const options = {
      width: Math.max(200, this.holder.clientWidth || 340),
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      cursor: { sync: { key: this.section, setSeries: false }, drag: { x: true, y: false, dist: 5 }, points: { size: 6 } },
      scales: { x: { time: false }, y: { range: (_, low, high) => flat(low, high) } },
      axes: [
        { ...axis, size: 18, gap: 2, label: DATA.axes[this.section], labelSize: 15, labelGap: 0, labelFont: font },
        { ...axis, size: 58, gap: 4, values: (_, ticks) => formatTicks(ticks) },
      ],
      series: [{}, ...series],
      hooks: { setCursor: [() => this.tell()], draw: [(plot) => this.mark(plot)], setScale: [(plot, key) => key === "x" && this.zoomed(plot)] },
    };
    this.holder.replaceChildren();
    this.plot = new uPlot(options, [x, ...columns], this.holder);
    this.tell();
  }

  // A triangle where a line leaves the chart toward a pole.
  mark(plot) {
    const { ctx, bbox } = plot;
    const size = 4 * devicePixelRatio;
    this.data.lines.forEach((line) => {
      if (!visible(line)) return;
      ctx.fillStyle = look(line).color;
      for (const [at, sign] of line.cuts) {
        const px = plot.valToPos(at, "x", true);
        if (px < bbox.left || px > bbox.left + bbox.width) continue;
        const tip = sign > 0 ? bbox.top : bbox.top + bbox.height;
        ctx.beginPath();
        ctx.moveTo(px, tip);
        ctx.lineTo(px - size, tip + sign * 1.8 * size);
        ctx.lineTo(px + size, tip + sign * 1.8 * size);
        ctx.fill();
      }
    });
  }

  // Set the same range in all charts of the section.
  zoomed(plot) {
    if (Chart.quiet) return;
    Chart.quiet = true;
    const { min, max } = plot.scales.x;
    for (const other of made) if (other !== this && other.section === this.section && other.plot) other.plot.setScale("x", { min, max });
    Chart.quiet = false;
  }

  tell() {
    const { x, lines } = this.data;
    const at = this.plot && this.plot.cursor.idx;
    const index = at === null || at === undefined ? x.reduce((best, v, i) => (Math.abs(v) < Math.abs(x[best]) ? i : best), 0) : at;
    const place = element("span", { text: `at ${formatNumber(x[index])}` });
    const values = lines.filter(visible).map((line) => {
      const { color, dash } = look(line);
      const key = element("i", { class: dash.length ? "key dashed" : "key" });
      key.style.setProperty("--color", color);
      const cut = line.y[index] === null && line.cuts.length;
      return element("span", { title: label(line) }, key, element("b", { text: cut ? "beyond" : formatNumber(line.y[index] ?? NaN) }));
    });
    this.readout.replaceChildren(place, ...values);
  }

  refresh() {
    if (!this.plot) return;
    this.plot.batch(() => this.data.lines.forEach((line, i) => this.plot.setSeries(i + 1, { show: visible(line) })));
    this.tell();
  }
}

// Draw a constant as constant, not its rounding errors.
function flat(low, high) {
  if (low === null || high === null) return [0, 1];
  const least = Math.max(1e-6, 1e-4 * Math.max(Math.abs(low), Math.abs(high)));
  if (high - low < least) return [(low + high) / 2 - 10 * least, (low + high) / 2 + 10 * least];
  return uPlot.rangeNum(low, high, 0.08, false);
}

function toggle(text, on, look, change) {
  const key = element("i", { class: look.dash.length ? "key dashed" : "key" });
  key.style.setProperty("--color", look.color);
  const button = element("button", { "aria-pressed": String(on), title: "On or off in all charts" }, key, text);
  button.addEventListener("click", () => {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(pressed));
    change(pressed);
    made.forEach((chart) => chart.refresh());
  });
  return button;
}

function bar() {
  const parts = [];
  if (several) parts.push(...DATA.designs.map((name, d) => toggle(name, true, { color: LINES[d % LINES.length], dash: [] }, (on) => { shown.designs[d] = on; })));
  if (DATA.racks.length > 1) {
    parts.push(element("span", { text: "rack [mm]" }));
    DATA.racks.forEach((rack, r) => {
      const style = look({ d: 0, r });
      parts.push(toggle(formatNumber(rack), shown.racks[r], several ? { ...style, color: "var(--soft)" } : style, (on) => { shown.racks[r] = on; }));
    });
  }
  if (DATA.sections.steering || DATA.sections.roll) {
    parts.push(element("span", { text: "wheel" }));
    for (const side of ["left", "right"]) {
      const style = look({ d: 0, side });
      parts.push(toggle(side, true, several ? { ...style, color: "var(--soft)" } : style, (on) => { shown.sides[side] = on; }));
    }
  }
  parts.push(element("button", { text: "whole range", title: "Undo zoom", onclick: whole }));
  parts.push(element("span", { text: "drag to zoom" }));
  byId("bar").append(...parts);
}

function whole() {
  Chart.quiet = true;
  for (const { plot, data } of made) if (plot) plot.setScale("x", { min: Math.min(...data.x), max: Math.max(...data.x) });
  Chart.quiet = false;
}

function start() {
  bar();
  for (const holder of document.querySelectorAll(".charts")) {
    const { section, part } = holder.dataset;
    const folded = section === "travel" && part === "rest";
    const wanted = DATA.sections[section].filter((chart) => section !== "travel" || chart.first !== folded);
    const charts = wanted.map((data) => new Chart(data, section));
    const open = () => {
      if (holder.children.length) return;
      holder.append(...charts.map((chart) => chart.root));
      charts.forEach((chart) => chart.draw());
      made.push(...charts);
    };
    if (folded) holder.parentElement.addEventListener("toggle", open);
    else open();
  }
  // Open the section that a link of the contents leads to.
  addEventListener("hashchange", () => document.querySelector(`${location.hash} > details:only-of-type`)?.setAttribute("open", ""));
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) made.forEach((chart) => chart.draw());
    width = innerWidth;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => made.forEach((chart) => chart.draw()));
}

start();
document.body.classList.add("ready");
