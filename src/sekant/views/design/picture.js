// The mechanism in 3-D: bars, springs and wheels at the computed positions, the first design as gray lines, and hard
// points as handles to be dragged, in the plane that faces the camera or along an axis.

const HANDLE_PX = 7;
const NEAR_PX = { mouse: 14, pen: 18, touch: 26 };
const AXES = [["x", 0xd1495b], ["y", 0x2fa38c], ["z", 0x3b7dd8]];
const ARROW = 0.14; // m, of an axis at the selected point
const SNAP = 1e-4; // m
const COILS = 7;

class Picture {
  constructor(canvas, told, hooks) {
    this.canvas = canvas;
    this.told = told;
    this.hooks = hooks;
    this.chosen = null; // { point, side }
  }

  // Created once positions are known, which determine the scale.
  begin(places) {
    const inner = new L.Box3();
    const outside = new Set(this.told.wheels.map(({ ends }) => ends[1]));
    for (let k = 0; k < places.length / 3; k++) if (!outside.has(k)) inner.expandByPoint(at(places, k));
    for (const { ends } of this.told.wheels) {
      const [center, , contact] = ends.map((k) => at(places, k));
      const r = center.distanceTo(contact);
      for (const sign of [-1, 1]) inner.expandByPoint(center.clone().add(new L.Vector3(sign * r, 0, sign * r)));
    }
    const run = { bounds: [inner.min.toArray(), inner.max.toArray()], gravity: [0, 0, -9.81], near: 0 };
    this.stage = new Stage(this.canvas, [run]);
    this.stage.renderer.shadowMap.enabled = !this.stage.software;
    this.make();
    this.listen();
  }

  make() {
    const { told } = this;
    const bodies = [...new Set(told.bars.map(({ body }) => body.replace(/^(left|right)\./, "")))];
    const cylinder = new L.CylinderGeometry(1, 1, 1, 16, 1);
    const ball = new L.SphereGeometry(1, 20, 14);
    this.group = new L.Group();
    this.bars = told.bars.flatMap(({ body, ends, radius }) => {
      const index = bodies.indexOf(body.replace(/^(left|right)\./, ""));
      const material = new L.MeshLambertMaterial({ color: /upright|beam$/.test(body) ? "#8b939c" : bodyColor(null, index) });
      return ends.slice(1).map((end, k) => {
        const mesh = new L.Mesh(cylinder, material);
        mesh.castShadow = true;
        this.group.add(mesh);
        return { mesh, ends: [ends[k], end], radius };
      });
    });
    const coil = new L.TubeGeometry(new Helix(), 24 * COILS, 0.007, 6);
    this.springs = told.springs.map(({ ends }) => {
      const mesh = new L.Mesh(coil, new L.MeshLambertMaterial({ color: "#d9b53a" }));
      mesh.castShadow = true;
      this.group.add(mesh);
      return { mesh, ends };
    });
    this.wheels = told.wheels.map(({ ends, width }) => {
      const look = { color: "#56606c", transparent: true, opacity: 0.16, depthWrite: false, side: L.DoubleSide };
      const tire = new L.Mesh(new L.CylinderGeometry(1, 1, 1, 56, 1, true), new L.MeshLambertMaterial(look));
      const rims = [-0.5, 0.5].map((place) => {
        const rim = new L.Mesh(new L.TorusGeometry(1, 0.012, 8, 72), new L.MeshLambertMaterial({ color: "#56606c" }));
        rim.rotation.x = Math.PI / 2;
        rim.position.y = place;
        tire.add(rim);
        return rim;
      });
      this.group.add(tire);
      return { tire, rims, ends, width };
    });
    const lines = told.bars.flatMap(({ ends }) => ends.slice(1).map((end, k) => [ends[k], end]));
    const rings = told.wheels.length * RING;
    this.ghostPairs = lines;
    this.ghost = lineSegments(lines.length + rings);
    this.guide = lineSegments(2 * told.wheels.length + 3);
    this.guide.material.depthTest = false;
    this.ghost.material.depthTest = false;
    this.ghost.renderOrder = 6;
    this.rollCenter = new L.Mesh(ball, new L.MeshBasicMaterial({ color: "#d1495b", depthTest: false }));
    this.rollCenter.renderOrder = 8;
    this.handles = told.points.flatMap(({ name, places }, point) =>
      places.map((place, side) => {
        const mesh = new L.Mesh(ball, new L.MeshBasicMaterial({ color: "#ffffff", depthTest: false, transparent: true }));
        mesh.renderOrder = 10;
        const before = new L.Mesh(ball, new L.MeshBasicMaterial({ color: "#888888", depthTest: false, transparent: true, opacity: 0.7 }));
        before.renderOrder = 9;
        this.group.add(mesh, before);
        return { mesh, before, point, side, place, name };
      }),
    );
    this.arrows = AXES.map(([name, color], axis) => {
      const group = new L.Group();
      const material = new L.MeshBasicMaterial({ color, depthTest: false });
      const shaft = new L.Mesh(cylinder, material);
      const head = new L.Mesh(new L.ConeGeometry(1, 1, 16), material);
      for (const mesh of [shaft, head]) {
        mesh.renderOrder = 11;
        group.add(mesh);
      }
      this.group.add(group);
      return { group, shaft, head, axis, name };
    });
    this.stage.scene.add(this.group, this.ghost, this.guide, this.rollCenter);
  }

  setTheme(theme, dark) {
    this.theme = theme;
    this.ghost.material.color.set(theme.ghost);
    for (const { before } of this.handles) before.material.color.set(theme.ghost);
    this.guide.material.color.set(dark ? "#ff8ba0" : "#d1495b");
    for (const { tire, rims } of this.wheels) for (const mesh of [tire, ...rims]) mesh.material.color.set(dark ? "#9aa6b4" : "#56606c");
    this.stage.setTheme(theme);
  }

  // Places (3 n,) of the design and of the first one; guide: pairs of points, and the roll center.
  show(places, ghost, { ghostOn, moved, guide, center }) {
    this.places = places;
    for (const { mesh, ends, radius } of this.bars) lay(mesh, at(places, ends[0]), at(places, ends[1]), radius);
    for (const { mesh, ends } of this.springs) {
      const [a, b] = ends.map((k) => at(places, k));
      lay(mesh, a, b, 1);
      mesh.scale.set(1, a.distanceTo(b), 1);
    }
    for (const { tire, ends, width } of this.wheels) {
      const [center, beside, contact] = ends.map((k) => at(places, k));
      const axis = beside.sub(center).normalize();
      const radius = center.distanceTo(contact);
      tire.position.copy(center);
      tire.quaternion.setFromUnitVectors(new L.Vector3(0, 1, 0), axis);
      tire.scale.set(radius, width, radius);
    }
    const segments = ghost && ghostOn ? this.ghostLines(ghost) : [];
    fill(this.ghost, segments);
    fill(this.guide, guide);
    this.rollCenter.visible = Boolean(center);
    if (center) this.rollCenter.position.copy(center);
    for (const { mesh, before, point, place } of this.handles) {
      mesh.position.copy(at(places, place));
      before.visible = Boolean(ghost) && ghostOn && moved(point);
      if (before.visible) before.position.copy(at(ghost, place));
    }
    this.stage.dirty = true;
  }

  ghostLines(places) {
    const found = this.ghostPairs.map((pair) => pair.map((k) => at(places, k)));
    for (const { ends } of this.told.wheels) {
      const [center, beside, contact] = ends.map((k) => at(places, k));
      const turn = new L.Quaternion().setFromUnitVectors(new L.Vector3(0, 1, 0), beside.clone().sub(center).normalize());
      const radius = center.distanceTo(contact);
      const point = (k) => new L.Vector3(radius * Math.cos((2 * Math.PI * k) / RING), 0, radius * Math.sin((2 * Math.PI * k) / RING)).applyQuaternion(turn).add(center);
      for (let k = 0; k < RING; k++) found.push([point(k), point(k + 1)]);
    }
    return found;
  }

  choose(point, side = 0) {
    this.chosen = point === null ? null : { point, side };
    this.stage.dirty = true;
  }

  // Meters per pixel at a position.
  scaleAt(place) {
    const { camera, height } = this.stage;
    return (2 * Math.tan((camera.fov * Math.PI) / 360) * camera.position.distanceTo(place)) / Math.max(height, 1);
  }

  draw() {
    if (!this.stage || !this.stage.dirty) return;
    for (const { mesh, before, point, side } of this.handles) {
      if (before.visible) before.scale.setScalar(this.scaleAt(before.position) * 0.6 * HANDLE_PX);
      const chosen = this.chosen && this.chosen.point === point;
      const own = chosen && this.chosen.side === side;
      mesh.material.color.set(chosen ? "#f4a424" : this.theme.ink);
      mesh.material.opacity = chosen ? 1 : 0.85;
      mesh.scale.setScalar(this.scaleAt(mesh.position) * (own ? 1.25 * HANDLE_PX : chosen ? HANDLE_PX : 0.72 * HANDLE_PX));
    }
    this.rollCenter.scale.setScalar(this.scaleAt(this.rollCenter.position) * 5);
    const handle = this.chosenHandle;
    for (const { group, shaft, head, axis } of this.arrows) {
      group.visible = Boolean(handle) && !this.endOn(axis) && !this.told.points[handle.point].held[axis];
      if (!group.visible) continue;
      const size = this.scaleAt(handle.mesh.position);
      const length = this.arrowLength(handle);
      const tip = this.tip(handle, axis);
      const from = handle.mesh.position;
      lay(shaft, from, from.clone().lerp(tip, (length - 12 * size) / length), 1.2 * size);
      lay(head, from.clone().lerp(tip, (length - 13 * size) / length), tip, 5 * size);
    }
    this.stage.render([[]]);
  }

  get chosenHandle() {
    if (!this.chosen) return null;
    return this.handles.find(({ point, side }) => point === this.chosen.point && side === this.chosen.side) || null;
  }

  arrowLength(handle) {
    return Math.min(62 * this.scaleAt(handle.mesh.position), 4 * ARROW);
  }

  // An axis that points at the camera cannot be used for dragging.
  endOn(axis) {
    const { camera, controls } = this.stage;
    const toward = camera.position.clone().sub(controls.target).normalize();
    return Math.abs(toward.getComponent(axis)) > 0.94;
  }

  tip(handle, axis) {
    const place = handle.mesh.position.clone();
    place.setComponent(axis, place.getComponent(axis) + this.arrowLength(handle));
    return place;
  }

  pixel(place) {
    const seen = place.clone().project(this.stage.camera);
    return [((seen.x + 1) / 2) * this.stage.width, ((1 - seen.y) / 2) * this.stage.height, seen.z];
  }

  // The object under a pointer: an arrow of the selected point, or a handle.
  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const reach = NEAR_PX[event.pointerType] || NEAR_PX.mouse;
    const chosen = this.chosenHandle;
    let best = null;
    const offer = (place, found, bonus) => {
      const [px, py] = this.pixel(place);
      const distance = Math.hypot(px - x, py - y) - bonus;
      if (distance <= reach && (!best || distance < best.distance)) best = { ...found, distance };
    };
    if (chosen) {
      for (const { group, axis } of this.arrows) if (group.visible) offer(this.tip(chosen, axis), { handle: chosen, axis }, 0);
    }
    for (const handle of this.handles) offer(handle.mesh.position, { handle, axis: null }, handle === chosen ? 4 : 0);
    return best;
  }

  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const pointer = new L.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const caster = new L.Raycaster();
    caster.setFromCamera(pointer, this.stage.camera);
    return caster.ray;
  }

  // Position of the pointer in the plane through `origin` perpendicular to `normal`.
  inPlane(event, origin, normal) {
    const { origin: from, direction } = this.ray(event);
    const slope = direction.dot(normal);
    if (Math.abs(slope) < 1e-6) return null;
    return from.clone().addScaledVector(direction, origin.clone().sub(from).dot(normal) / slope);
  }

  listen() {
    const { canvas, stage } = this;
    canvas.addEventListener("pointermove", (event) => {
      if (this.drag) this.move(event);
      else if (!event.buttons) canvas.style.cursor = this.under(event) ? "grab" : "";
    });
    canvas.addEventListener("pointerdown", (event) => {
      if (this.drag || event.button > 0) return;
      const found = this.under(event);
      this.pressed = found ? null : [event.clientX, event.clientY];
      if (!found) return;
      event.stopImmediatePropagation();
      stage.controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
      canvas.style.cursor = "grabbing";
      const { handle, axis } = found;
      this.hooks.choose(handle.point, handle.side);
      this.startDrag(event, handle, axis);
    }, { capture: true });
    const stop = (event) => {
      if (!this.drag || event.pointerId !== this.drag.pointer) {
        if (this.pressed && Math.hypot(event.clientX - this.pressed[0], event.clientY - this.pressed[1]) < 4 && event.type === "pointerup") this.hooks.choose(null);
        this.pressed = null;
        return;
      }
      this.drag = null;
      stage.controls.enabled = true;
      canvas.style.cursor = "";
      this.hooks.dropped();
    };
    for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, stop);
  }

  startDrag(event, handle, axis) {
    const origin = handle.mesh.position.clone();
    const normal = this.stage.camera.getWorldDirection(new L.Vector3());
    if (axis !== null) {
      normal.setComponent(axis, 0);
      if (normal.length() < 1e-3) normal.setComponent((axis + 1) % 3, 1);
    } else {
      const largest = [0, 1, 2].find((i) => Math.abs(normal.getComponent(i)) > 0.995); // a view along an axis: its plane
      if (largest !== undefined) [0, 1, 2].forEach((i) => normal.setComponent(i, i === largest ? 1 : 0));
    }
    normal.normalize();
    const from = this.inPlane(event, origin, normal);
    if (!from) return;
    this.drag = { pointer: event.pointerId, handle, axis, origin, normal, from, before: this.hooks.values(handle.point) };
  }

  move(event) {
    const { handle, axis, origin, normal, from, before, pointer } = this.drag;
    if (event.pointerId !== pointer) return;
    const now = this.inPlane(event, origin, normal);
    if (!now) return;
    const change = now.sub(from);
    const { signs, held } = this.told.points[handle.point];
    const sign = signs[handle.side];
    const values = before.map((value, i) => {
      const moved = !held[i] && (axis === null || axis === i) ? change.getComponent(i) * (i === 1 ? sign : 1) : 0;
      return Math.abs(moved) < SNAP / 2 ? value : Math.round((value + moved) / SNAP) / Math.round(1 / SNAP);
    });
    this.hooks.move(handle.point, values);
  }
}

const RING = 48;

class Helix extends L.CatmullRomCurve3 {
  constructor() {
    const points = Array.from({ length: 12 * COILS + 1 }, (_, k) => {
      const turn = (2 * Math.PI * k) / 12;
      return new L.Vector3(0.038 * Math.cos(turn), k / (12 * COILS) - 0.5, 0.038 * Math.sin(turn));
    });
    super(points);
  }
}

const at = (places, k) => new L.Vector3(places[3 * k], places[3 * k + 1], places[3 * k + 2]);

// A cylinder of height 1 along y between two points.
function lay(mesh, a, b, radius) {
  const way = b.clone().sub(a);
  const length = way.length();
  mesh.position.copy(a).addScaledVector(way, 0.5);
  if (length > 1e-9) mesh.quaternion.setFromUnitVectors(new L.Vector3(0, 1, 0), way.divideScalar(length));
  mesh.scale.set(radius, Math.max(length, 1e-9), radius);
}

function lineSegments(count) {
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(new Float32Array(6 * count), 3));
  const made = new L.LineSegments(geometry, new L.LineBasicMaterial({ transparent: true, opacity: 0.75 }));
  made.frustumCulled = false;
  return made;
}

function fill(lines, segments) {
  const { position } = lines.geometry.attributes;
  position.array.fill(0);
  segments.slice(0, position.array.length / 6).forEach(([a, b], k) => position.array.set([a.x, a.y, a.z, b.x, b.y, b.z], 6 * k));
  position.needsUpdate = true;
  lines.visible = segments.length > 0;
}
