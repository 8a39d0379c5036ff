// The root locus beside the sliders: the current eigenvalues, and their locus over the slider that moved last.

const NEUTRAL = 1e-9; // real parts below this, relative to the largest eigenvalue, count as zero
const [LOCUS_WIDTH, LOCUS_HEIGHT] = [300, 190];

class Locus {
  constructor(engine) {
    this.modes = new Modes(engine.module, engine.told.modes);
    this.canvas = element("canvas", { width: 2 * LOCUS_WIDTH, height: 2 * LOCUS_HEIGHT, class: "live-locus", role: "img" });
    this.told = element("p", { class: "live-message" });
    this.root = element("div", {}, element("div", { class: "live-name", text: "Eigenvalues at rest (1/s)" }), this.canvas, this.told);
  }

  show(p, row) {
    this.present = this.modes.at(p, this.present) || this.modes.at(p);
    if (!this.present) {
      this.told.textContent = "With these values there is no equilibrium near the equilibrium of the model.";
      return;
    }
    const key = JSON.stringify([row.name, p.map((x, i) => (i === row.index ? 0 : x)).join()]);
    if (key !== this.key) {
      this.key = key;
      this.way = this.modes.locus(p, row.index, row.low, row.high, this.present);
    }
    const { values } = this.present;
    const size = Math.max(...values.map(([re, im]) => Math.hypot(re, im)));
    const stability = values.some(([re]) => re > NEUTRAL * size) ? "Unstable" : values.some(([re]) => re > -NEUTRAL * size) ? "Neutral" : "Stable";
    const upper = values.filter(([, im]) => im > NEUTRAL * size).sort((x, y) => x[1] - y[1]);
    const modes = upper.slice(0, 4).map(([re, im]) => {
      const damping = Math.abs(re) > NEUTRAL * size ? (-100 * re) / Math.hypot(re, im) : 0;
      return `${(Math.hypot(re, im) / (2 * Math.PI)).toPrecision(4)} Hz with ${Number(damping.toPrecision(3))} % damping`;
    });
    this.told.textContent = `${[stability, modes.join(", ")].filter(Boolean).join(": ")}. Dots: eigenvalues over the range of ${row.name}.`;
    this.canvas.setAttribute("aria-label", this.told.textContent);
    this.draw();
  }

  draw() {
    const pen = this.canvas.getContext("2d");
    const style = getComputedStyle(this.canvas);
    const points = [...this.way, ...this.present.values].filter(([, im]) => im >= -1e-9);
    const bounds = (k) => [Math.min(0, ...points.map((x) => x[k])), Math.max(0, ...points.map((x) => x[k]))];
    const [[left, right], [, top]] = [bounds(0), bounds(1)];
    const room = 0.08 * Math.max(right - left, 0.2 * top, 1e-9);
    const [x0, x1, y1] = [left - room, right + room, 1.1 * top || 1];
    const [width, height] = [2 * LOCUS_WIDTH, 2 * LOCUS_HEIGHT];
    const place = ([re, im]) => [(width * (re - x0)) / (x1 - x0), height - 30 - ((height - 44) * im) / y1];
    pen.clearRect(0, 0, width, height);
    pen.lineWidth = 2;
    pen.strokeStyle = style.getPropertyValue("--line");
    const [axis, floor] = place([0, 0]);
    pen.strokeRect(1, 1, width - 2, height - 2);
    pen.beginPath();
    pen.moveTo(axis, 0);
    pen.lineTo(axis, height);
    pen.moveTo(0, floor);
    pen.lineTo(width, floor);
    pen.stroke();
    pen.fillStyle = style.getPropertyValue("--soft");
    pen.font = "20px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(x0.toPrecision(2), 6, height - 8);
    pen.textAlign = "right";
    pen.fillText(x1.toPrecision(2), width - 6, height - 8);
    pen.fillText(`${y1.toPrecision(2)} i`, axis - 6 > 70 ? axis - 6 : axis + 80, 22);
    pen.globalAlpha = 0.55;
    for (const point of this.way) {
      pen.beginPath();
      pen.arc(...place(point), 3.5, 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.lineWidth = 4;
    for (const point of this.present.values) {
      const [x, y] = place(point);
      pen.strokeStyle = point[0] > 1e-9 ? "#c2410c" : style.getPropertyValue("--accent");
      pen.beginPath();
      for (const s of [-1, 1]) {
        pen.moveTo(x - 8, y - 8 * s);
        pen.lineTo(x + 8, y + 8 * s);
      }
      pen.stroke();
    }
  }
}
