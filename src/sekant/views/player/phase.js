// Phase plots: one output over another one, with a dot at the current time.

// A column of a run and its unit, by the name of an output or of one of its components (`arm.position.x`).
function columnOf(run, name) {
  const whole = run.series.get(name);
  if (whole) return whole.columns.length === 1 ? { column: whole.columns[0], unit: whole.unit[0] } : null;
  const dot = name.lastIndexOf(".");
  const channel = run.series.get(name.slice(0, dot));
  const k = channel ? channel.parts.indexOf(name.slice(dot + 1)) : -1;
  return k < 0 ? null : { column: channel.columns[k], unit: channel.unit[k] };
}

// Names that `columnOf` knows.
function columnNames(run) {
  return [...run.series.values()].flatMap(({ name, parts }) => (parts.length ? parts.map((part) => `${name}.${part}`) : [name]));
}

class PhasePlot extends Plot {
  constructor(name, over, runs, player) {
    super(name, runs, player, over);
    this.now.classList.add("dot");
  }

  // Unsorted columns, each with the horizontal axis of its own run.
  collect() {
    return this.runs.flatMap((run, r) => {
      const channel = run.series.get(this.name);
      const below = columnOf(run, this.over);
      if (!channel || !below) return [];
      return channel.columns.slice(0, this.parts.length).map((column, k) => ({
        column,
        below: below.column,
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
    const font = "11px system-ui, sans-serif";
    const axis = { stroke: theme.ink, grid: { stroke: theme.grid, width: 1 }, ticks: { show: false }, font };
    const unit = formatUnit(columnOf(this.runs[0], this.over)?.unit ?? "");
    const label = `${this.over.replace(/_/g, " ")}${unit ? ` [${unit}]` : ""}`;
    const wider = (_, low, high) => {
      const margin = 0.04 * (high - low) || 1e-3;
      return [low - margin, high + margin];
    };
    const options = {
      width: Math.max(120, this.holder.clientWidth || 300),
      height: PLOT_HEIGHT + 54,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false, range: wider }, y: { range: wider } },
      padding: [8, 10, 0, 0],
      axes: [
        { ...axis, size: 20, gap: 2, label, labelSize: 14, labelGap: 0, labelFont: font },
        { ...axis, size: 52, gap: 4, values: (_, ticks) => formatTicks(ticks) },
      ],
      series: [{}, { show: true, paths: () => null, points: { show: false } }],
      hooks: { draw: [(chart) => this.curves(chart)], ready: [() => this.setTime(this.player.time)] },
    };
    this.holder.replaceChildren();
    this.chart = new L.uPlot(options, this.corners(), this.holder);
    this.listen((left, top) => this.nearest(left, top));
  }

  // Least and largest values, which span the axes.
  corners() {
    const span = (columns) => {
      const [low, high] = extremes(columns);
      return low <= high ? [low, high] : [0, 1];
    };
    return [span(this.values.map((v) => v.below)), span(this.values.map((v) => v.column))];
  }

  curves(chart) {
    const pen = chart.ctx;
    const ratio = window.devicePixelRatio || 1;
    pen.save();
    pen.beginPath();
    pen.rect(chart.bbox.left, chart.bbox.top, chart.bbox.width, chart.bbox.height);
    pen.clip();
    for (const { column, below, color, dashed } of this.values) {
      pen.beginPath();
      let begun = false;
      for (let i = 0; i < column.length; i++) {
        const there = Number.isFinite(column[i]) && Number.isFinite(below[i]);
        if (there) {
          const place = [chart.valToPos(below[i], "x", true), chart.valToPos(column[i], "y", true)];
          if (begun) pen.lineTo(...place);
          else pen.moveTo(...place);
        }
        begun = there;
      }
      pen.strokeStyle = color;
      pen.lineWidth = 1.6 * ratio;
      pen.setLineDash(dashed ? [6 * ratio, 5 * ratio] : []);
      pen.stroke();
    }
    pen.restore();
  }

  // The time at which the first curve is closest to a point of the chart.
  nearest(x, y) {
    const [{ column, below, run }] = this.values;
    let best = 0;
    let least = Infinity;
    for (let i = 0; i < column.length; i++) {
      const far = Math.hypot(this.chart.valToPos(below[i], "x") - x, this.chart.valToPos(column[i], "y") - y);
      if (far < least) [least, best] = [far, i];
    }
    return run.times[best];
  }

  replaced() {
    this.values = this.collect();
    if (this.chart) this.chart.setData(this.corners());
  }

  mark(t) {
    if (!this.values.length) return;
    const [{ column, below, run }] = this.values;
    const x = this.chart.valToPos(valueAt(run.times, below, t), "x");
    const y = this.chart.valToPos(valueAt(run.times, column, t), "y");
    this.now.style.transform = `translate(${x}px, ${y}px)`;
  }
}
