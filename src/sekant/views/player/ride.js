// Riding along: the camera moves with a body, and a dash shows the rider's accelerations. A sensor
// at the rider's eyes would measure them: f = R^T (a - g), in multiples of 9.81 m/s^2: forward, to the left, up.

const LAG = 0.25; // s, delay of the rotation of the camera behind a body
const HELD_BACK = 0.7; // fraction of the body's rotation that the camera follows
const MOTION = ["velocity", "acceleration", "angular_velocity", "angular_acceleration"];
const FELT = ["forward", "left", "up"];

// Over the rows of a run: heights (m) of a point with axes, `eyes` (7,) in a body; if the page contains the channels
// for them, also speed (m/s) and felt accelerations (g).
function ridden(run, track, eyes, up) {
  const name = run.tracks[track].name;
  const channels = MOTION.map((what) => run.series.get(`${name}.${what}`)?.columns);
  const known = channels.every((columns) => columns?.length === 3);
  const [height, speed, ...felt] = Array.from({ length: 5 }, () => new Float64Array(run.times.length));
  const [p, v, a, w, alpha, r, f, t] = Array.from({ length: 8 }, () => new L.Vector3());
  const turn = new L.Quaternion();
  const [x, y, z, ...own] = eyes;
  const back = new L.Quaternion(own[1], own[2], own[3], own[0]).conjugate();
  const gravity = new L.Vector3(...run.gravity);
  const pose = run.poses[track];
  const at = (vector, columns, i) => vector.set(columns[0][i], columns[1][i], columns[2][i]);
  for (let i = 0; i < height.length; i++) {
    turn.set(pose[4][i], pose[5][i], pose[6][i], pose[3][i]);
    r.set(x, y, z).applyQuaternion(turn);
    height[i] = at(p, pose, i).add(r).dot(up);
    if (!known) continue;
    [v, a, w, alpha].forEach((vector, k) => at(vector, channels[k], i));
    speed[i] = v.add(t.crossVectors(w, r)).length();
    f.crossVectors(w, t).add(a).add(t.crossVectors(alpha, r)).sub(gravity);
    f.applyQuaternion(turn.conjugate()).applyQuaternion(back).divideScalar(G);
    felt[0][i] = f.x;
    felt[1][i] = f.y;
    felt[2][i] = f.z;
  }
  return { height, lowest: height.reduce((low, h) => Math.min(low, h), Infinity), speed: known ? speed : null, felt: known ? felt : null };
}

// Times at which a coordinate has grown by another period.
function lapTimes(run, { channel, period }) {
  const column = run.series.get(channel)?.columns[0] || [];
  const found = [];
  for (let i = 1; i < column.length; i++) {
    const [before, after] = [column[i - 1] - column[0], column[i] - column[0]];
    const next = (found.length + 1) * period;
    if (before < next && after >= next) found.push(run.times[i - 1] + ((next - before) / (after - before)) * (run.times[i] - run.times[i - 1]));
  }
  return found;
}

class Ride {
  constructor(player) {
    this.player = player;
    this.camera = "";
    this.own = player.runs[0].ride; // from the model: track, and pose of the eyes if it has one
    this.chooser = byId("ride");
    this.chooser.hidden = !this.own || player.modes.length > 0;
    this.chooser.append(...["", ...CAMERAS].map((name) => element("option", { value: name, text: name ? `Ride: ${name}` : "Free camera" })));
    this.chooser.addEventListener("change", () => {
      this.take(this.chooser.value);
      this.chooser.blur(); // so that keys reach the player again
    });
    if (this.own) this.board(this.own.track);
  }

  get on() {
    return this.camera !== "";
  }

  // Move the rider to another body.
  board(track) {
    const { actors, runs } = this.player;
    this.track = track;
    const box = boxOf(actors[0].groups[track]);
    this.length = Math.max(box.max.x - box.min.x, 2 * runs[0].bar);
    const middle = box.getCenter(new L.Vector3());
    const above = [middle.x, middle.y, box.max.z + 0.1 * this.length, 1, 0, 0, 0];
    this.seat = (track === this.own.track && this.own.eyes) || above;
    const [x, y, z, w, qx, qy, qz] = this.seat;
    this.eyes = { position: new L.Vector3(x, y, z), turn: new L.Quaternion(qx, qy, qz, w) };
    runs.forEach((_, i) => this.measure(i));
    if (this.on) this.look();
  }

  // The rider's accelerations in a run, also as a series for plots; computed again when the motion changes.
  measure(number) {
    if (!this.own) return;
    const run = this.player.runs[number];
    const { name } = this.player.runs[0].tracks[this.track];
    const track = run.tracks.findIndex((other) => other.name === name);
    if (track < 0) return;
    const found = ridden(run, track, this.seat, this.player.stage.up);
    if (found.felt) {
      const about = "acceleration that a sensor at the rider's eyes would measure";
      run.series.set(`${name}.g_force`, { name: `${name}.g_force`, unit: ["g", "g", "g"], parts: FELT, about, columns: found.felt });
    }
    if (number > 0) return;
    const { lap } = run.tracks[track];
    this.found = { ...found, laps: lap ? lapTimes(run, lap) : null };
  }

  next() {
    const names = ["", ...CAMERAS];
    if (!this.chooser.hidden) this.take(names[(names.indexOf(this.camera) + 1) % names.length]);
  }

  // Select the camera with this name; empty: the free camera.
  take(camera) {
    const { player } = this;
    const { stage } = player;
    const begins = !this.on && camera !== "";
    const ends = this.on && camera === "";
    if (begins) player.follow(-1);
    this.camera = this.chooser.value = camera;
    document.body.classList.toggle("riding", this.on);
    stage.controls.enabled = !this.on;
    byId("dash").hidden = !this.on;
    if (ends) {
      stage.freeLens();
      player.lookAtFirst();
    }
    if (begins) player.play();
    if (this.on) this.look();
  }

  look() {
    const { player, length } = this;
    setLens(player.stage.camera, this.camera, length, 4 * player.stage.size + 40 * length);
    player.setTime(player.time);
  }

  show(t) {
    const { actors, runs, stage } = this.player;
    const { position, quaternion: turn } = actors[0].groups[this.track];
    const [, , , w, x, y, z] = poseAt(runs[0], this.track, Math.max(runs[0].times[0], t - LAG), new Float64Array(7));
    const behind = turn.clone().slerp(new L.Quaternion(x, y, z, w), HELD_BACK);
    goAlong(stage.camera, this.camera, { position, turn, behind, length: this.length, eyes: this.eyes }, stage.up);
    stage.light(position);
    this.tell(runs[0].times, t);
  }

  tell(times, t) {
    const { height, lowest, speed, felt, laps } = this.found;
    const value = (column, digits, factor = 1) => {
      const text = column ? (factor * valueAt(times, column, t)).toFixed(digits) : "–";
      return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
    };
    byId("speed-now").textContent = value(speed, 0, 3.6);
    byId("height").textContent = `${(valueAt(times, height, t) - lowest).toFixed(1)} m`;
    FELT.forEach((name, k) => (byId(`g-${name}`).textContent = value(felt?.[k], 2)));
    byId("laps").hidden = !laps;
    if (!laps) return;
    const done = laps.filter((time) => time <= t);
    byId("lap").textContent = done.length + 1;
    byId("lap-time").textContent = `${(t - (done.at(-1) ?? times[0])).toFixed(1)} s`;
  }
}

// The drawn parts of a body, in its axes.
function boxOf(group) {
  const { position, quaternion } = group;
  const [p, q] = [position.clone(), quaternion.clone()];
  position.set(0, 0, 0);
  quaternion.identity();
  group.updateMatrixWorld(true);
  const box = new L.Box3().setFromObject(group);
  position.copy(p);
  quaternion.copy(q);
  group.updateMatrixWorld(true);
  return box.isEmpty() ? new L.Box3(new L.Vector3(), new L.Vector3()) : box;
}
