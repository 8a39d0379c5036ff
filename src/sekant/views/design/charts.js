// The curves: one chart per quantity with both wheels, the first design dashed, targets as bands, and a line at the
// slider's position. Only visible charts are drawn.

const CHART_HEIGHT = 132;
const SPANS = { rad: 2e-3, m: 1e-3, "1": 0.02, "rad/m": 2e-3, "N/m": 500, N: 50, "N*m/rad": 500 };
const LEFT = "#3b7dd8";
const RIGHT = "#e8883a";

class Chart {
  // `columns`: [{ index, side }], indices of curves
  constructor(name, columns, design, theme) {
    this.name = name;
    this.columns = columns;
    this.design = design;
    this.told = design.told.curves[columns[0].index];
    this.holder = element("div", { class: "chart" });
    this.value = element("span", { class: "value" });
    this.before = element("span", { class: "before" });
    this.worst = element("span", { class: "worst" });
    const title = element("span", { class: "plot-name", text: spaced(name), title: this.told.about || name });
    const unit = element("span", { class: "unit", text: formatUnit(this.told.shown) });
    this.root = element("section", { class: "plot", "data-curve": name }, element("div", { class: "plot-head" }, title, unit, this.value, this.before, this.worst), this.holder);
    this.theme = theme;
  }

  get factor() {
    return this.told.factor;
  }

  make() {
    this.chart?.destroy();
    const { theme } = this;
    const axis = { stroke: theme.ink, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const line = (stroke, extra = {}) => ({ stroke, width: 1.9, points: { show: false }, ...extra });
    const dashed = { dash: [5, 4], width: 1.2 };
    const options = {
      width: Math.max(120, this.holder.clientWidth || 260),
      height: CHART_HEIGHT,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: (_, low, high) => [low, high] }, y: { range: (_, low, high) => this.range(low, high) } },
      padding: [6, 14, 0, 0],
      pxAlign: 0,
      axes: [{ ...axis, size: 18, gap: 2 }, { ...axis, size: 48, gap: 4, values: (_, ticks) => formatTicks(ticks) }],
      series: [
        {},
        ...this.drawn.map(() => line(theme.ghost, dashed)),
        ...this.drawn.map(({ side }) => line(side === "right" ? RIGHT : LEFT)),
      ],
      hooks: { drawClear: [(chart) => this.band(chart)], draw: [(chart) => this.place(chart)] },
    };
    this.holder.replaceChildren();
    this.chart = new L.uPlot(options, this.data(), this.holder);
    this.stale = false;
  }

  // The first wheel, whose values are displayed, is drawn last, over the other wheel.
  get drawn() {
    return [...this.columns].reverse();
  }

  data() {
    const { design, drawn: columns, factor } = this;
    const bound = this.told.bound ?? Infinity; // centers go to infinity and back
    const shown = (column) => Array.from(column, (value) => (Math.abs(value) <= bound ? value * factor : null));
    return [design.grid.map((value) => 1e3 * value), ...columns.map(({ index }) => shown(design.before[index])), ...columns.map(({ index }) => shown(design.columns[index]))];
  }

  // Wide enough that round-off is a straight line and targets are visible.
  range(low, high) {
    for (const { target } of this.targets) {
      for (const value of target.values) {
        low = Math.min(low ?? Infinity, (value - target.band) * this.factor);
        high = Math.max(high ?? -Infinity, (value + target.band) * this.factor);
      }
    }
    const cut = this.cut();
    [low, high] = [Math.max(low, -cut), Math.min(high, cut)];
    if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
    const least = (SPANS[this.told.unit] || 1e-3) * this.factor;
    const middle = (low + high) / 2;
    const half = Math.max(high - low, least) * 0.55;
    return [middle - half, middle + half];
  }

  // The cut of a chart, so that a pole does not flatten the rest, as in `sekant.vehicle.curves.poles`.
  cut() {
    const { bound } = this.told;
    if (!bound) return Infinity;
    const values = this.columns.flatMap(({ index }) => [...this.design.before[index], ...this.design.columns[index]]);
    const sizes = values.filter(Number.isFinite).map(Math.abs).sort((a, b) => a - b);
    const middle = sizes.length ? sizes[Math.floor(sizes.length / 2)] : 0;
    return Math.min(bound, Math.max(this.design.told.usual * middle, 0.05 * bound)) * this.factor;
  }

  get targets() {
    if (this.design.over !== "travel") return [];
    const names = new Set(this.columns.map(({ index }) => this.design.told.curves[index].name));
    return this.design.targets.filter((target) => names.has(target.curve)).map((target) => ({ target }));
  }

  band(chart) {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const { target } of this.targets) {
      const x = target.travel.map((value) => chart.valToPos(1e3 * value, "x", true));
      const y = (sign) => target.values.map((value) => chart.valToPos((value + sign * target.band) * this.factor, "y", true));
      const [high, low] = [y(1), y(-1)];
      const width = 4 * (window.devicePixelRatio || 1);
      if (x.length === 1) {
        x.unshift(x[0] - width);
        x[1] += width;
        for (const ends of [high, low]) ends.push(ends[0]);
      }
      ctx.beginPath();
      x.forEach((place, k) => ctx.lineTo(place, high[k]));
      for (let k = x.length - 1; k >= 0; k--) ctx.lineTo(x[k], low[k]);
      ctx.closePath();
      const off = this.off;
      ctx.fillStyle = off ? "rgba(209, 73, 91, 0.20)" : "rgba(47, 163, 140, 0.24)";
      ctx.strokeStyle = off ? "#d1495b" : "#2fa38c";
      ctx.lineWidth = 1.2 * (window.devicePixelRatio || 1);
      ctx.fill();
      ctx.stroke();
    }
    ctx.restore();
  }

  // The line at the slider's position.
  place(chart) {
    const { design } = this;
    const { ctx, bbox } = chart;
    const x = chart.valToPos(1e3 * design.at[design.over], "x", true);
    if (!(x >= bbox.left && x <= bbox.left + bbox.width)) return;
    ctx.save();
    ctx.strokeStyle = this.theme.ink;
    ctx.globalAlpha = 0.45;
    ctx.lineWidth = window.devicePixelRatio || 1;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }

  // Mark all charts as out of date; `visible` ones are drawn immediately.
  update(visible, deviations) {
    const { design, columns, factor } = this;
    const { index } = columns[0];
    const round = (SPANS[this.told.unit] || 1e-3) * 1e-6 * factor;
    const number = (values) => (values ? Math.round((values[index] * factor) / round) * round : NaN);
    const [here, before] = [number(design.here), number(design.firstHere)];
    this.value.textContent = formatNumber(here);
    this.before.textContent = here !== before && Number.isFinite(before) ? `was ${formatNumber(before)}` : "";
    const own = this.targets.map(({ target }) => deviations.get(target)).filter(Boolean);
    const worst = own.find(({ inside }) => !inside) || own[0];
    this.off = Boolean(worst) && !worst.inside;
    this.worst.textContent = worst ? worst.text : "";
    this.worst.classList.toggle("off", this.off);
    this.worst.classList.toggle("plain", Boolean(worst) && !worst.banded);
    if (!visible || !this.chart) this.stale = true;
    else this.chart.setData(this.data());
  }

  see() {
    if (!this.chart) this.make();
    else if (this.stale) this.chart.setData(this.data());
    this.stale = false;
  }
}

class Charts {
  constructor(design, holder, theme) {
    this.design = design;
    this.holder = holder;
    this.theme = theme;
    this.group = "key";
    this.seen = new Set();
    this.watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const chart = this.all.get(target.dataset.curve);
        if (!chart) continue;
        if (isIntersecting) {
          this.seen.add(chart);
          chart.see();
        } else this.seen.delete(chart);
      }
    }, { root: null, rootMargin: "60px" });
    this.all = new Map();
    design.told.curves.forEach(({ name }, index) => {
      const side = /^(left|right)\./.exec(name)?.[1] || "";
      const own = side ? name.slice(side.length + 1) : name;
      if (!this.all.has(own)) this.all.set(own, []);
      const first = side === design.told.drawnSide;
      this.all.get(own)[first ? "unshift" : "push"]({ index, side });
    });
    for (const [name, columns] of this.all) this.all.set(name, new Chart(name, columns, design, theme));
    new ResizeObserver(() => {
      if (this.width === holder.clientWidth) return;
      this.width = holder.clientWidth;
      for (const chart of this.all.values()) chart.chart?.setSize({ width: chart.holder.clientWidth || 260, height: CHART_HEIGHT });
    }).observe(holder);
  }

  // Names of a group, without curves that have no values in this motion.
  names() {
    const { design } = this;
    const known = (chart) => chart.columns.some(({ index }) => design.columns[index].some(Number.isFinite));
    const key = KEY.filter((name) => this.all.has(name));
    const names = this.group === "key" ? key : [...this.all.keys()].filter((name) => this.group === "all" || this.all.get(name).told.group === this.group);
    const targeted = this.group === "key" ? [...this.all.keys()].filter((name) => this.all.get(name).targets.length && !names.includes(name)) : [];
    return [...targeted, ...names].filter((name) => known(this.all.get(name)));
  }

  lay() {
    const names = this.names();
    this.watch.disconnect();
    this.seen.clear();
    this.holder.replaceChildren(...names.map((name) => this.all.get(name).root));
    for (const name of names) this.watch.observe(this.all.get(name).root);
    this.laid = names.join();
  }

  update(deviations) {
    if (this.laid !== this.names().join()) this.lay();
    for (const name of this.laid ? this.laid.split(",") : []) {
      const chart = this.all.get(name);
      chart.update(this.seen.has(chart), deviations);
    }
  }

  setTheme(theme) {
    for (const chart of this.all.values()) {
      chart.theme = theme;
      if (chart.chart) chart.make();
    }
  }
}

const KEY = ["camber", "toe", "roll_center_height", "track_change", "motion_ratio", "wheel_rate", "caster", "kingpin_inclination", "scrub_radius", "mechanical_trail",
  "steer_angle", "ackermann_error", "ackermann_share", "turning_circle", "roll_stiffness", "anti_dive", "anti_squat", "anti_lift", "wheelbase_change"];
