// The stage: renderer, light, ground, camera. Actors are only objects to show.

class Stage {
  constructor(canvas, runs) {
    this.canvas = canvas;
    this.software = isSoftware();
    this.renderer = new L.WebGLRenderer({ canvas, antialias: !this.software, preserveDrawingBuffer: true }); // for prints and pictures
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = L.PCFShadowMap;
    this.ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.scene = new L.Scene();
    this.bounds = new L.Box3();
    for (const run of runs) for (const corner of run.bounds) this.bounds.expandByPoint(new L.Vector3(...corner));
    this.up = upOf(runs[0].gravity);
    this.center = this.bounds.getCenter(new L.Vector3());
    this.size = Math.max(this.bounds.getSize(new L.Vector3()).length(), 1e-6);
    this.near = runs[0].near > 0 ? runs[0].near : this.size; // size of the moving parts, if they travel far
    this.camera = new L.PerspectiveCamera();
    this.freeLens();
    this.controls = new L.OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("change", () => (this.dirty = true));
    this.controls.addEventListener("start", () => this.hurry());
    this.dirty = true;
    this.addLights();
    this.slow = 0;
    this.frameTimes = [];
  }

  addLights() {
    this.sky = new L.HemisphereLight(0xffffff, 0x888888, 1.7);
    this.sky.position.copy(this.up);
    this.sun = new L.DirectionalLight(0xffffff, 2.1);
    const side = new L.Vector3().crossVectors(new L.Vector3(1, 0, 0), this.up);
    const direction = this.up.clone().multiplyScalar(1.5).addScaledVector(side, 0.55).add(new L.Vector3(0.6, 0, 0));
    const lit = this.near < this.size ? 2.5 * this.near : this.size;
    this.sun.position.copy(this.center).addScaledVector(direction.normalize(), lit * 1.6);
    this.sun.target.position.copy(this.center);
    this.sun.castShadow = true;
    const shadow = this.sun.shadow;
    const reach = lit * 0.75;
    Object.assign(shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: lit * 0.05, far: lit * 4 });
    shadow.camera.updateProjectionMatrix();
    shadow.mapSize.set(1024, 1024);
    shadow.bias = -0.0008;
    shadow.normalBias = lit * 0.0012;
    shadow.radius = 3;
    this.scene.add(this.sky, this.sun, this.sun.target);
  }

  // The ground lies at zero if everything is above it, otherwise a little below the lowest point.
  get groundLevel() {
    const corners = [this.bounds.min, this.bounds.max].map((corner) => corner.dot(this.up));
    const low = Math.min(...corners);
    const margin = 0.04 * this.size;
    if (low >= -1e-3 * this.size && low < 0.5 * this.size) return 0;
    return low - margin;
  }

  addGround(theme) {
    if (this.floor) this.scene.remove(this.floor);
    this.floor = new L.Group();
    const turn = new L.Quaternion().setFromUnitVectors(Z, this.up);
    const flat = this.center.clone().addScaledVector(this.up, this.groundLevel - this.center.dot(this.up));
    const shade = new L.Mesh(new L.PlaneGeometry(this.size * 8, this.size * 8), new L.ShadowMaterial({ opacity: theme.shadow }));
    shade.receiveShadow = true;
    shade.quaternion.copy(turn);
    shade.position.copy(flat);
    const grid = gridLines(this.size, Math.min(this.size / 14, Math.max(this.near, this.size / 60)), theme, flat, turn);
    grid.position.copy(flat).addScaledVector(this.up, -0.0004 * this.size);
    grid.quaternion.copy(turn);
    shade.visible = this.renderer.shadowMap.enabled;
    this.shade = shade;
    this.floor.add(shade, grid);
    this.scene.add(this.floor);
  }

  setTheme(theme) {
    this.scene.background = new L.Color(theme.background);
    this.sky.color.set(theme.sky);
    this.sky.groundColor.set(theme.earth);
    this.addGround(theme);
    this.dirty = true;
  }

  // The camera that the reader moves around.
  freeLens() {
    Object.assign(this.camera, { fov: 32, near: Math.min(this.size / 500, this.near / 40), far: this.size * 60 });
    this.camera.up.copy(this.up);
    this.camera.updateProjectionMatrix();
  }

  // The view onto a plane with the normal (3,), by its name.
  viewOnto(normal) {
    const n = new L.Vector3(...normal);
    if (Math.abs(n.dot(this.up)) > 0.9) return "top";
    return Math.abs(n.x) > 0.9 ? "front" : "side";
  }

  // Place the camera at a point in W, m; without a target it looks at the middle of the scene.
  standAt(place, target) {
    this.controls.target.copy(target ? new L.Vector3(...target) : this.center);
    this.camera.position.set(...place);
    this.controls.update();
    this.dirty = true;
  }

  // `name`: iso, front (from +x), side (x to the right), top (x to the right), or auto
  lookFrom(name) {
    const x = new L.Vector3(1, 0, 0);
    const toward = new L.Vector3().crossVectors(x, this.up); // seen so that x points to the right
    const directions = {
      iso: () => toward.clone().add(x.clone().multiplyScalar(0.75)).addScaledVector(this.up, 0.62),
      slight: () => toward.clone().add(x.clone().multiplyScalar(0.32)).addScaledVector(this.up, 0.24),
      front: () => x.clone(),
      side: () => toward.clone(),
      top: () => this.up.clone().addScaledVector(toward, 1e-4),
    };
    const extent = this.bounds.getSize(new L.Vector3());
    const depth = Math.abs(extent.dot(toward));
    const chosen = name === "auto" ? (depth < 0.12 * this.size ? "slight" : "iso") : name;
    const direction = directions[chosen]().normalize();
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).addScaledVector(direction, this.fitDistance(direction));
    this.controls.update();
    this.dirty = true;
  }

  // The distance from which the corners of the bounds, and the parts drawn around them, fill the view.
  fitDistance(direction) {
    const half = Math.tan((this.camera.fov * Math.PI) / 360);
    const aspect = this.camera.aspect || 1;
    const right = new L.Vector3().crossVectors(this.up, direction);
    if (right.length() < 1e-3) right.set(1, 0, 0);
    right.normalize();
    const upward = new L.Vector3().crossVectors(direction, right);
    let distance = 0;
    for (let corner = 0; corner < 8; corner++) {
      const p = new L.Vector3(
        corner & 1 ? this.bounds.max.x : this.bounds.min.x,
        corner & 2 ? this.bounds.max.y : this.bounds.min.y,
        corner & 4 ? this.bounds.max.z : this.bounds.min.z,
      ).sub(this.center);
      const near = p.dot(direction);
      distance = Math.max(distance, Math.abs(p.dot(right)) / (half * aspect) + near, Math.abs(p.dot(upward)) / half + near);
    }
    return distance * 1.12 + 0.12 * this.size;
  }

  // Fit everything into the picture, from the same side.
  reframe() {
    const direction = this.camera.position.clone().sub(this.controls.target).normalize();
    this.controls.target.copy(this.center);
    this.camera.position.copy(this.center).addScaledVector(direction, this.fitDistance(direction));
    this.controls.update();
    this.dirty = true;
  }

  // Behind a body that travels, a little to its left and above it.
  chase(position, forward) {
    const left = new L.Vector3().crossVectors(this.up, forward);
    const offset = forward.clone().multiplyScalar(-1).addScaledVector(left, -0.55).addScaledVector(this.up, 0.42);
    const narrow = Math.max(1, 0.9 / (this.camera.aspect || 1));
    offset.setLength(3.5 * this.near * narrow);
    this.controls.target.copy(position);
    this.camera.position.copy(position).add(offset);
    this.followed = position.clone();
    this.light(position);
    this.controls.update();
  }

  light(position) {
    if (this.near === this.size) return;
    const from = this.sun.position.clone().sub(this.sun.target.position);
    this.sun.target.position.copy(position);
    this.sun.position.copy(position).add(from);
  }

  // Keep a body of the given radius in the middle; at first approach it, if it is far away. With `turn` (rad) the
  // camera turns with it.
  follow(position, radius, turn = 0) {
    if (!this.followed) {
      this.followed = position.clone();
      const offset = this.camera.position.clone().sub(this.controls.target);
      offset.setLength(Math.min(offset.length(), Math.max(18 * radius, 0.04 * this.size)));
      this.controls.target.copy(position);
      this.camera.position.copy(position).add(offset);
    }
    const move = position.clone().sub(this.followed);
    this.camera.position.add(move);
    this.controls.target.add(move);
    if (turn) this.camera.position.sub(position).applyAxisAngle(this.up, turn).add(position);
    this.followed.copy(position);
    this.light(position);
    this.controls.update();
  }

  resize(width, height, halves) {
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(width, height, false);
    this.width = width;
    this.height = height;
    this.camera.aspect = width / halves / height;
    this.camera.updateProjectionMatrix();
    this.dirty = true;
  }

  // `halves`: lists of [object, visible] to set before each part of the picture, from left to right
  render(halves) {
    const renderer = this.renderer;
    renderer.setScissorTest(halves.length > 1);
    halves.forEach((visible, i) => {
      for (const [object, on] of visible) object.visible = on;
      const width = this.width / halves.length;
      renderer.setViewport(i * width, 0, width, this.height);
      renderer.setScissor(i * width, 0, width, this.height);
      renderer.render(this.scene, this.camera);
    });
    this.dirty = false;
  }

  // If frames take too long, reduce the resolution, then disable shadows.
  adapt(milliseconds) {
    this.frameTimes.push(milliseconds);
    if (this.frameTimes.length < 12) return;
    const typical = [...this.frameTimes].sort((a, b) => a - b)[6];
    this.frameTimes = [];
    if (typical < 30 || this.slow > 3) return;
    this.slow += 1;
    if (this.slow === 1) this.ratio = Math.min(this.ratio, 1);
    if (this.slow === 2) this.dropShadows();
    if (this.slow > 2) this.ratio *= 0.75;
    this.renderer.setPixelRatio(this.ratio);
    this.renderer.setSize(this.width, this.height, false);
    this.dirty = true;
  }

  // Without a graphics card shadows take most of the time: only still pictures have them.
  hurry() {
    if (!this.software || !this.renderer.shadowMap.enabled) return;
    this.dropShadows();
    this.slow = Math.max(this.slow, 2); // reduce the resolution next
  }

  dropShadows() {
    this.sun.castShadow = false;
    this.renderer.shadowMap.enabled = false;
    if (this.shade) this.shade.visible = false;
  }
}

// Whether pictures are drawn without a graphics card: then antialiasing would take half of the time.
function isSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return true;
  const names = gl.getExtension("WEBGL_debug_renderer_info");
  const name = names ? String(gl.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|basic render/i.test(name);
}

// The axis of W that points up: against gravity if gravity is along an axis, otherwise z.
function upOf(gravity) {
  const size = Math.hypot(...gravity);
  const axis = gravity.findIndex((g) => Math.abs(g) > 0.999 * size);
  if (!(size > 0) || axis < 0) return new L.Vector3(0, 0, 1);
  const up = new L.Vector3();
  up.setComponent(axis, gravity[axis] > 0 ? -1 : 1);
  return axis === 0 ? new L.Vector3(0, 0, 1) : up;
}

const GRID_PIECES = 8;

// Lines 1, 2 or 5 times a power of ten apart, that fade into the background away from the middle.
function gridLines(size, rough, theme, flat, turn) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((m) => m * power >= rough) || 10);
  const count = Math.ceil((size * 1.6) / step);
  const local = flat.clone().applyQuaternion(turn.clone().invert());
  const shift = [local.x, local.y].map((v) => Math.round(v / step) * step - v);
  const weak = new L.Color(theme.grid);
  const strong = new L.Color(theme.gridStrong);
  const back = new L.Color(theme.background);
  const position = [];
  const color = [];
  const reach = count * step;
  const vertex = (x, y, ink) => {
    position.push(x + shift[0], y + shift[1], 0);
    const fade = Math.min(1, Math.hypot(x, y) / reach) ** 1.4;
    const mixed = ink.clone().lerp(back, fade);
    color.push(mixed.r, mixed.g, mixed.b);
  };
  for (let i = -count; i <= count; i++) {
    const line = (v) => (Math.round(v / step) % 5 === 0 ? strong : weak);
    const inkX = line(local.x + shift[0] + i * step);
    const inkY = line(local.y + shift[1] + i * step);
    // a chord of the circle, in a few pieces, as colors are linear along each
    const half = Math.sqrt(Math.max(0, reach * reach - (i * step) ** 2));
    for (let k = 0; k < GRID_PIECES; k++) {
      const [from, to] = [k, k + 1].map((end) => half * ((2 * end) / GRID_PIECES - 1));
      vertex(i * step, from, inkX);
      vertex(i * step, to, inkX);
      vertex(from, i * step, inkY);
      vertex(to, i * step, inkY);
    }
  }
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(new Float32Array(position), 3));
  geometry.setAttribute("color", new L.BufferAttribute(new Float32Array(color), 3));
  return new L.LineSegments(geometry, new L.LineBasicMaterial({ vertexColors: true }));
}
