// Numbers and charts beside the road: speed, pedals, g-g diagram, tires, laps, curves of the drive.

const TRACE = 240; // points of the accelerations that remain visible
const [REACH, RINGS] = [2.1, [0.5, 1, 1.5, 2]]; // g: of the g-g diagram
const LINE_HALF = 8; // m: half the width of the starting line
const AWAY = 20; // m from the line, until the next crossing counts
// label, color, smallest range, value
const CURVES = [
  ["speed [km/h]", "#3b7dd8", [0, 30], (car, row) => 3.6 * car.value("speed", row)],
  ["steering wheel [deg]", "#e8883a", [-45, 45], (car, row) => (180 / Math.PI) * car.value("steering_wheel", row)],
  ["lateral acceleration [m/s²]", "#2fa38c", [-5, 5], (car, row) => accelerations(car, row)[1]],
];

// Along and across the car, m/s^2, in the plane of the road.
function accelerations(car, row) {
  const [ax, ay] = car.values("chassis.acceleration", row);
  const heading = headingOf(car, row);
  const [c, s] = [Math.cos(heading), Math.sin(heading)];
  return [c * ax + s * ay, -s * ax + c * ay];
}

function headingOf(car, row) {
  const [w, x, y, z] = car.values("chassis.orientation", row);
  return Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

const clock = (t) => `${Math.floor(t / 60)}:${(t % 60).toFixed(2).padStart(5, "0")}`;

// Laps over the line at the origin, along x; the first crossing starts the clock.
class Laps {
  constructor() {
    this.restart();
  }

  restart() {
    Object.assign(this, { before: null, began: null, ready: true, last: null, best: null, count: 0 });
  }

  see(t, x, y) {
    const before = this.before;
    this.before = [t, x, y];
    if (Math.hypot(x, y) > AWAY) this.ready = true;
    if (!before || !this.ready || before[1] >= 0 || x < 0 || Math.abs(y) > LINE_HALF) return;
    const share = -before[1] / (x - before[1]);
    const crossed = before[0] + share * (t - before[0]);
    this.ready = false;
    if (this.began !== null) {
      this.last = crossed - this.began;
      this.best = this.best === null ? this.last : Math.min(this.best, this.last);
      this.count += 1;
    }
    this.began = crossed;
  }
}

class Gauges {
  constructor(car) {
    this.car = car;
    this.laps = new Laps();
    this.trace = [];
    this.tires = [...car.offsets.keys()].filter((name) => name.endsWith(".tire.load")).map((name) => name.slice(0, -5));
    this.round = byId("round").getContext("2d");
    const tire = (name) => element("div", { class: "tire", title: name }, element("i"), element("span", { text: name.replace(".tire", "").replace(".", " ") }));
    this.tireBoxes = this.tires.map(tire);
    byId("tires").append(...this.tireBoxes);
    this.laid = 0;
  }

  restart() {
    this.laps.restart();
    this.trace = [];
  }

  show(row, controls, live) {
    const { car } = this;
    byId("speed").textContent = Math.round(3.6 * Math.abs(car.value("speed", row)));
    if (live) {
      const [x, y] = car.values("chassis.position", row);
      this.laps.see(car.t, x, y);
    }
    const { began, last, best, count } = this.laps;
    byId("lap").textContent = began === null ? "–" : clock(car.t - began);
    byId("last").textContent = last === null ? "–" : clock(last);
    byId("best").textContent = best === null ? "–" : `${clock(best)} (${count})`;
    byId("throttle").style.transform = `scaleY(${controls.throttle})`;
    byId("brake").style.transform = `scaleY(${controls.brake})`;
    byId("wheel").style.transform = `rotate(${-controls.wheel}rad)`;
    this.showTires(row);
    this.trace.push(accelerations(car, row));
    if (this.trace.length > TRACE) this.trace.shift();
    this.showRound();
  }

  // Load as size, use of the tire's slip as color.
  showTires(row) {
    const loads = this.tires.map((name) => Math.max(0, this.car.value(`${name}.load`, row)));
    const mean = loads.reduce((sum, load) => sum + load, 0) / loads.length || 1;
    this.tires.forEach((name, i) => {
      const slip = Math.hypot(this.car.value(`${name}.kappa`, row), Math.tan(this.car.value(`${name}.alpha`, row)));
      const used = Math.min(1, slip / 0.16);
      const mark = this.tireBoxes[i].firstChild;
      mark.style.transform = `scale(${Math.min(1.5, 0.25 + 0.6 * (loads[i] / mean))})`;
      mark.style.background = `hsl(${Math.round(140 - 140 * used)} 60% 48%)`;
    });
  }

  showRound() {
    const { round } = this;
    const { width, height } = round.canvas;
    const [cx, cy, scale] = [width / 2, height / 2, width / 2 / REACH];
    const ink = getComputedStyle(document.body).color;
    round.clearRect(0, 0, width, height);
    round.strokeStyle = ink;
    round.fillStyle = ink;
    round.globalAlpha = 0.25;
    for (const ring of RINGS) {
      round.beginPath();
      round.arc(cx, cy, ring * scale, 0, 2 * Math.PI);
      round.stroke();
    }
    round.globalAlpha = 0.6;
    round.font = "18px system-ui, sans-serif";
    round.fillText("1 g", cx + scale + 3, cy - 4);
    const at = ([along, across]) => [cx - (across / G) * scale, cy - (along / G) * scale];
    round.strokeStyle = "#3b7dd8";
    round.globalAlpha = 0.7;
    round.lineWidth = 2;
    round.beginPath();
    this.trace.forEach((one, i) => (i ? round.lineTo(...at(one)) : round.moveTo(...at(one))));
    round.stroke();
    round.lineWidth = 1;
    round.globalAlpha = 1;
    round.fillStyle = "#e8883a";
    round.beginPath();
    round.arc(...at(this.trace.at(-1)), 7, 0, 2 * Math.PI);
    round.fill();
  }
}

// Curves of the recorded drive, and a line at the displayed moment.
class Curves {
  constructor(car, holder) {
    this.car = car;
    this.plots = CURVES.map(([label, color, least]) => {
      const made = element("div", { class: "curve" });
      holder.append(element("p", { class: "curve-name", text: label }), made);
      const axis = { stroke: () => getComputedStyle(document.body).color, grid: { stroke: "rgba(128,128,128,0.2)" }, ticks: { show: false }, size: 44 };
      const options = {
        width: Math.max(240, holder.clientWidth - 4),
        height: 96,
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(least[0], 1.05 * low), Math.max(least[1], 1.05 * high)] } },
        axes: [{ ...axis, size: 26 }, axis],
        series: [{}, { stroke: color, width: 1.6, points: { show: false } }],
      };
      return new L.uPlot(options, [[], []], made);
    });
  }

  draw(rows, times) {
    CURVES.forEach(([, , , value], i) => this.plots[i].setData([times, rows.map((row) => value(this.car, row))]));
  }
}
