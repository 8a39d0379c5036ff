// The player: time, keys, buttons. `window.sekant` is this object, for scripts and tests.

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const COMPARE = ["ghost", "side", "first", "second"];
const COMPARE_TEXT = { ghost: "Ghost", side: "Side by side", first: "First only", second: "Second only" };

// The series on the horizontal axis of plots instead of time: its column, unit and label.
function overOf(figure, run) {
  const channel = figure.over && run.series.get(figure.over);
  if (!channel) return null;
  const unit = formatUnit([].concat(channel.unit)[0]);
  return { column: channel.columns[0], unit, label: `${figure.over.replace(/_/g, " ")} [${unit}]` };
}

class Player {
  constructor(figure, runs) {
    this.figure = figure;
    this.runs = runs;
    this.modes = figure.modes || [];
    this.stage = new Stage(byId("canvas"), runs);
    this.actors = runs.map((run) => new Actor(run, this.stage.near));
    this.actors.forEach((actor) => this.stage.scene.add(actor.root));
    this.begin = Math.min(...runs.map((run) => run.times[0]));
    this.end = Math.max(...runs.map((run) => run.times[run.times.length - 1]));
    this.time = this.begin;
    this.playing = false;
    this.speed = 1;
    this.compare = runs.length > 1 && !figure.live ? "ghost" : "first";
    this.traced = new Set();
    this.followed = -1;
    this.frames = 0;
    this.fps = 0;
    this.themeName = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    this.over = overOf(figure, runs[0]);
    this.stages = figure.stages || [];
    this.plots = new Plots(this);
    this.panel = new Panel(this);
    this.labels = new Labels(this);
    this.ride = new Ride(this);
    this.setUpBar();
    this.setUpKeys();
    this.setTheme(this.themeName);
    this.fit();
    this.lookAtFirst();
    for (const name of figure.plots) this.plots.add(name);
    new ResizeObserver(() => this.fit()).observe(byId("view"));
    this.setTime(this.begin);
    this.tick(performance.now()); // the first frame immediately: a print may happen before the browser requests one
    this.keepStill();
    window.addEventListener("beforeprint", () => this.keepStill());
  }

  get theme() {
    return THEMES[this.themeName];
  }

  setUpBar() {
    byId("title").textContent = this.figure.title;
    document.title = `${this.figure.title} · Sekant`;
    this.slider = byId("slider");
    Object.assign(this.slider, { min: this.begin, max: this.end, step: "any", value: this.begin });
    this.slider.addEventListener("input", () => {
      this.stage.hurry();
      this.setTime(Number(this.slider.value));
    });
    byId("play").addEventListener("click", () => this.toggle());
    byId("speed").append(...SPEEDS.map((speed) => element("option", { value: speed, text: `${speed}×` })));
    byId("speed").value = String(this.speed);
    byId("speed").addEventListener("change", (event) => this.setSpeed(Number(event.target.value)));
    for (const button of document.querySelectorAll("[data-view]")) {
      button.addEventListener("click", () => this.look(button.dataset.view));
    }
    byId("theme").addEventListener("click", () => this.setTheme(this.themeName === "dark" ? "light" : "dark"));
    byId("names").addEventListener("click", () => this.labels.toggle());
    byId("sidebar").addEventListener("click", () => this.togglePanel());
    byId("keys").addEventListener("click", () => byId("help").showModal());
    byId("note").textContent = this.figure.note;
    this.setUpCompare();
    this.setUpModes();
  }

  setUpCompare() {
    const chooser = byId("compare");
    chooser.hidden = this.runs.length < 2;
    chooser.append(...COMPARE.map((mode) => element("option", { value: mode, text: COMPARE_TEXT[mode] })));
    chooser.addEventListener("change", () => this.setCompare(chooser.value));
    chooser.value = this.compare;
    byId("view").dataset.compare = this.compare;
    byId("legend").hidden = this.runs.length < 2;
    byId("first").textContent = this.runs[0].label;
    if (this.runs.length > 1) byId("second").textContent = this.runs[1].label;
  }

  setUpModes() {
    const chooser = byId("modes");
    chooser.hidden = !this.modes.length;
    byId("chooser").hidden = this.modes.length > 0;
    if (!this.modes.length) return;
    chooser.append(...this.modes.map((mode, i) => element("option", { value: i, text: mode.label })));
    chooser.addEventListener("change", () => this.setMode(Number(chooser.value)));
    this.setMode(0);
    this.play();
  }

  setMode(number) {
    this.mode = number;
    byId("modes").value = String(number);
    this.runs[0].poses = this.modes[number].poses;
    byId("note").textContent = this.modes[number].about;
    const traced = [...this.traced];
    traced.forEach((track) => this.actors[0].setTrace(track, true));
    this.setTime(this.time);
  }

  setUpKeys() {
    const keys = {
      " ": () => this.toggle(),
      ArrowRight: (event) => this.step(event.shiftKey ? 10 : 1),
      ArrowLeft: (event) => this.step(event.shiftKey ? -10 : -1),
      ArrowUp: () => this.changeSpeed(1),
      ArrowDown: () => this.changeSpeed(-1),
      Home: () => this.setTime(this.begin),
      End: () => this.setTime(this.end),
      1: () => this.look("iso"),
      2: () => this.look("front"),
      3: () => this.look("side"),
      4: () => this.look("top"),
      0: () => this.look("auto"),
      f: () => this.followNext(),
      r: () => this.ride.next(),
      t: () => this.traceAll(),
      c: () => this.setCompare(COMPARE[(COMPARE.indexOf(this.compare) + 1) % COMPARE.length]),
      m: () => this.modes.length && this.setMode((this.mode + 1) % this.modes.length),
      n: () => this.labels.toggle(),
      d: () => this.setTheme(this.themeName === "dark" ? "light" : "dark"),
      p: () => this.togglePanel(),
      "?": () => byId("help").showModal(),
    };
    document.addEventListener("keydown", (event) => {
      const typing = event.target.matches("input:not([type=checkbox], [type=range]), select, textarea");
      const sliding = event.target.matches("[type=range]:not(#slider)") && /^(Arrow|Home|End|Page)/.test(event.key);
      const action = keys[event.key];
      if (!action || typing || sliding || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action(event);
    });
  }

  setTime(t) {
    this.time = Math.min(this.end, Math.max(this.begin, t));
    for (const actor of this.actors) actor.setTime(this.time);
    this.slider.value = this.time;
    this.slider.style.setProperty("--done", `${(100 * (this.time - this.begin)) / (this.end - this.begin || 1)}%`);
    byId("time").textContent = this.readout();
    this.plots.setTime(this.time);
    if (this.ride.on) this.ride.show(this.time);
    else if (this.followed >= 0) this.keepFollowing();
    this.stage.dirty = true;
  }

  // The position of time t on the axis of the plots: itself, or the value of the series on the axis.
  place(t) {
    return this.over ? valueAt(this.runs[0].times, this.over.column, t) : t;
  }

  readout() {
    if (this.modes.length) return `${((100 * this.time) / (this.end || 1)).toFixed(0)} %`;
    if (this.stages.length) return this.stages.findLast(([start]) => start <= this.time + 1e-9)[1];
    if (this.over) return `${this.over.label.replace(/ \[.*/, "")} ${this.place(this.time).toFixed(1)} ${this.over.unit}`;
    return `${this.time.toFixed(this.end > 100 ? 1 : 3)} s`;
  }

  step(count) {
    this.pause();
    const times = this.runs[0].times;
    const [i, f] = locate(times, this.time);
    const from = count < 0 && f > 0 ? i + 1 : i;
    this.setTime(times[Math.min(times.length - 1, Math.max(0, from + count))]);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (this.time >= this.end) this.setTime(this.begin);
    this.playing = true;
    this.stage.hurry();
    this.last = undefined;
    byId("play").classList.add("on");
  }

  pause() {
    this.playing = false;
    byId("play").classList.remove("on");
  }

  setSpeed(speed) {
    this.speed = speed;
    byId("speed").value = String(speed);
  }

  changeSpeed(by) {
    const i = SPEEDS.indexOf(this.speed) + by;
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, i))]);
  }

  // The view that the model sets; otherwise the camera follows bodies that travel far, and shows all of other scenes.
  lookAtFirst() {
    const { plane, camera, target } = this.runs[0];
    if (camera) {
      this.stage.standAt(camera, target);
      return;
    }
    this.stage.lookFrom(plane ? this.stage.viewOnto(plane) : "auto");
    const track = this.runs[0].follow;
    if (!(track >= 0)) return;
    this.actors[0].setTime(this.begin);
    this.followed = track;
    this.chasing = true;
    this.heading = this.headingOf(track);
    const group = this.actors[0].groups[track];
    const forward = new L.Vector3(1, 0, 0).applyQuaternion(group.quaternion).projectOnPlane(this.stage.up).normalize();
    this.stage.chase(group.position, forward);
  }

  // Angle (rad) of a body's x axis about the vertical.
  headingOf(track) {
    const up = this.stage.up;
    const forward = new L.Vector3(1, 0, 0).applyQuaternion(this.actors[0].groups[track].quaternion);
    const zero = new L.Vector3(1, 0, 0).projectOnPlane(up);
    return Math.atan2(new L.Vector3().crossVectors(up, zero).dot(forward), zero.dot(forward));
  }

  look(view) {
    this.ride.take("");
    this.follow(-1);
    if (view === "auto") this.lookAtFirst();
    else this.stage.lookFrom(view);
  }

  // Follow a body with the camera; while riding, ride with it instead.
  follow(track) {
    if (this.ride.on) {
      if (track >= 0) this.ride.board(track);
      return;
    }
    this.followed = track;
    this.chasing = false;
    this.stage.followed = null;
    if (track >= 0) this.keepFollowing();
    this.panel.update();
  }

  keepFollowing() {
    const actor = this.actors[0];
    const before = this.heading;
    this.heading = this.headingOf(this.followed);
    const turn = this.chasing ? Math.atan2(Math.sin(this.heading - before), Math.cos(this.heading - before)) : 0;
    const radius = this.stage.followed ? 0 : actor.radiusOf(this.followed);
    this.stage.follow(actor.groups[this.followed].position, radius, turn);
  }

  get bodies() {
    const drawn = this.runs[0].tracks.map((track, i) => [track, i]).filter(([track]) => !track.hidden);
    const bodies = drawn.filter(([track]) => track.kind === "body");
    return (bodies.length ? bodies : drawn).map(([, i]) => i);
  }

  followNext() {
    const at = this.bodies.indexOf(this.followed) + 1;
    this.follow(at < this.bodies.length ? this.bodies[at] : -1);
    if (this.followed < 0) this.stage.lookFrom("auto");
  }

  toggleTrace(track) {
    if (this.traced.has(track)) this.traced.delete(track);
    else this.traced.add(track);
    const name = this.runs[0].tracks[track].name;
    this.actors.forEach((actor, i) => {
      const own = i === 0 ? track : actor.run.tracks.findIndex((other) => other.name === name);
      if (own >= 0) actor.setTrace(own, this.traced.has(track));
    });
    this.repaint();
    this.panel.update();
  }

  traceAll() {
    const on = this.traced.size === 0;
    for (const track of on ? this.bodies : [...this.traced]) this.toggleTrace(track);
  }

  setCompare(mode) {
    if (this.runs.length < 2) return;
    this.compare = mode;
    byId("compare").value = mode;
    byId("view").dataset.compare = mode;
    this.repaint();
    this.fit();
    if (this.followed < 0) this.stage.reframe();
  }

  setTheme(name) {
    this.themeName = name;
    document.documentElement.dataset.theme = name;
    this.stage.setTheme(this.theme);
    this.repaint();
    this.plots.redraw();
  }

  repaint() {
    this.actors.forEach((actor, i) => actor.paint(this.theme, i === 1 && this.compare === "ghost"));
    this.stage.dirty = true;
  }

  togglePanel() {
    document.body.classList.toggle("wide");
  }

  fit() {
    const view = byId("view");
    this.stage.resize(view.clientWidth, view.clientHeight, this.compare === "side" ? 2 : 1);
  }

  draw() {
    const roots = this.actors.map((actor) => actor.root);
    const showing = {
      ghost: [[true, true]],
      first: [[true, false]],
      second: [[false, true]],
      side: [[true, false], [false, true]],
    }[this.compare];
    this.stage.render(showing.map((half) => roots.map((root, i) => [root, half[i]])));
    this.labels.place();
    drawAxes(byId("axes"), this.stage.camera, this.theme);
    this.frames += 1;
  }

  tick(now) {
    if (this.playing) {
      const passed = this.last === undefined ? 0 : Math.min(0.25, (now - this.last) / 1000);
      if (this.last !== undefined) {
        this.fps = 0.9 * (this.fps || 30) + 0.1 / Math.max(passed, 1e-3);
        this.stage.adapt(now - this.last);
      }
      const next = this.time + passed * this.speed * (this.modes.length ? 0.6 : 1);
      if (next <= this.end) this.setTime(next);
      else this.setTime(this.begin + (this.modes.length ? next - this.end : 0));
    }
    this.last = now;
    if (this.stage.dirty) this.draw();
    requestAnimationFrame((later) => this.tick(later));
  }

  // The frame as an image below the canvas: browsers display graphics with a delay, for which prints do not wait.
  keepStill() {
    const still = byId("still");
    const { canvas } = this.stage;
    Object.assign(still, { width: canvas.width, height: canvas.height });
    if (canvas.width && canvas.height) still.getContext("2d").drawImage(canvas, 0, 0);
  }

  // The motion of a run has been replaced, with the same or other times.
  replaced(number) {
    const run = this.runs[number];
    this.end = Math.max(...this.runs.map((other) => other.times[other.times.length - 1]));
    this.slider.max = this.end;
    this.actors[number].replaced();
    this.ride.measure(number);
    this.over = overOf(this.figure, this.runs[0]);
    this.plots.replaced();
    this.setTime(Math.min(this.time, run.times[run.times.length - 1]));
  }

  // For scripts: the pose [x, y, z, w, qx, qy, qz] of a body as drawn, and the state of the page.
  poseOf(name, run = 0) {
    const track = this.runs[run].tracks.findIndex((other) => other.name === name);
    const { position: p, quaternion: q } = this.actors[run].groups[track];
    return [p.x, p.y, p.z, q.w, q.x, q.y, q.z];
  }
}

// Names beside the bodies, as text over the picture.
class Labels {
  constructor(player) {
    this.player = player;
    this.on = false;
    this.holder = byId("labels");
    this.made = [];
    const bodies = player.bodies;
    if (bodies.length <= 6) this.toggle();
  }

  toggle() {
    this.on = !this.on;
    this.holder.hidden = !this.on;
    byId("names").classList.toggle("on", this.on);
    if (this.on && !this.made.length) {
      const { tracks, poses } = this.player.runs[0];
      this.made = this.player.bodies.map((track) => ({ track, label: element("span", { text: tracks[track].name }), poses: poses[track] }));
      this.holder.append(...this.made.map(({ label }) => label));
    }
    this.player.stage.dirty = true;
  }

  place() {
    if (!this.on) return;
    const { stage, actors, compare } = this.player;
    const width = stage.width / (compare === "side" ? 2 : 1);
    for (const { track, label } of this.made) {
      const at = this.anchor(actors[0], track).project(stage.camera);
      const seen = at.z < 1 && Math.abs(at.x) < 1 && Math.abs(at.y) < 1;
      label.hidden = !seen;
      if (seen) label.style.transform = `translate(${(0.5 + at.x / 2) * width + 10}px, ${(0.5 - at.y / 2) * stage.height - 22}px)`;
    }
  }

  // The middle of the drawn parts of a body.
  anchor(actor, track) {
    const group = actor.groups[track];
    if (!group.userData.middle) {
      const box = new L.Box3().setFromObject(group);
      group.userData.middle = box.isEmpty() ? new L.Vector3() : group.worldToLocal(box.getCenter(new L.Vector3()));
    }
    return group.userData.middle.clone().applyQuaternion(group.quaternion).add(group.position);
  }
}

// The axes of the world in the corner of the picture.
function drawAxes(canvas, camera, theme) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  const size = 64;
  if (canvas.width !== size * scale) canvas.width = canvas.height = size * scale;
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, size, size);
  const inverse = camera.quaternion.clone().invert();
  const axes = [["x", "#d1495b", 1, 0, 0], ["y", "#2fa38c", 0, 1, 0], ["z", "#3b7dd8", 0, 0, 1]].map(([name, color, x, y, z]) => ({
    name,
    color,
    v: new L.Vector3(x, y, z).applyQuaternion(inverse),
  }));
  axes.sort((a, b) => a.v.z - b.v.z);
  pen.lineWidth = 2;
  pen.lineCap = "round";
  pen.font = "600 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  for (const { name, color, v } of axes) {
    pen.strokeStyle = pen.fillStyle = color;
    pen.globalAlpha = v.z < -0.3 ? 0.55 : 1;
    pen.beginPath();
    pen.moveTo(size / 2, size / 2);
    pen.lineTo(size / 2 + 19 * v.x, size / 2 - 19 * v.y);
    pen.stroke();
    if (Math.hypot(v.x, v.y) > 0.2) pen.fillText(name, size / 2 + 27 * v.x, size / 2 - 27 * v.y);
  }
  pen.globalAlpha = 1;
}

const PICTURE_AT = 0.35; // fraction of the motion

// For the gallery, which shows this page in a frame: a still picture, sent to the page around.
function sendPicture(player) {
  document.body.classList.add("picture");
  player.labels.holder.hidden = true;
  player.fit();
  player.lookAtFirst();
  player.setTime(player.begin + PICTURE_AT * (player.end - player.begin));
  player.draw();
  parent.postMessage(byId("canvas").toDataURL("image/jpeg", 0.9), "*");
}

// All pages except live ones are complete when their load event fires.
async function start() {
  const figure = JSON.parse(byId("figure").textContent);
  const runs = figure.runs.map(decodeRun);
  for (const mode of figure.modes || []) {
    const columns = unpack(mode.poses);
    mode.poses = runs[0].tracks.map((_, i) => columns.slice(7 * i, 7 * i + 7));
  }
  if (figure.live) runs.push({ ...runs[0], label: "first run" });
  window.sekant = new Player(figure, runs);
  if (figure.live) await Live.start(window.sekant);
  document.body.classList.add("ready");
  if (location.hash === "#picture" && parent !== window) sendPicture(window.sekant);
}

// Other kinds of pages may use this code for its libraries.
if (byId("figure")) start().catch((error) => {
  const message = byId("trouble");
  message.hidden = false;
  message.textContent = `The page cannot be shown: ${error.message}. It needs a browser with WebGL 2 from 2023 or later.`;
  throw error;
});
