// One run as objects of three.js: a group for each track, moved to its pose; links, arrows and traces between them.

const THEMED = { steel: "steel", path: "path", mark: "background", sheet: "path" };
const FORCE_COLOR = "#d1495b";
const TORQUE_COLOR = "#8a63c9";

class Actor {
  constructor(run, size) {
    this.run = run;
    this.size = size;
    this.root = new L.Group();
    this.ground = new L.Group();
    this.groups = run.tracks.map(() => new L.Group());
    this.root.add(this.ground, ...this.groups);
    this.materials = new Map();
    this.items = new Map(); // "group/name" -> { group, name, track, color, objects, visible }
    this.links = [];
    this.arrows = [];
    this.traces = new Map();
    this.pose = new Float64Array(7);
    run.parts.forEach((part) => this.addPart(part));
    run.links.forEach((link) => this.addLink(link));
    run.arrows.forEach((arrow) => this.addArrow(arrow));
    this.time = run.times[0];
  }

  material(color, opacity = 1, side = 0) {
    const key = `${color}|${opacity}|${side}`;
    if (!this.materials.has(key)) {
      const material = new L.MeshLambertMaterial({ transparent: opacity < 1, opacity });
      if (side) material.side = L.DoubleSide;
      if (color === "sheet") Object.assign(material, { polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 4 }); // objects on it remain visible
      material.userData = { color, opacity };
      this.materials.set(key, material);
    }
    return this.materials.get(key);
  }

  item(group, name, track, color, visible = true) {
    const key = `${group}/${name}`;
    if (!this.items.has(key)) this.items.set(key, { key, group, name, track, color, objects: [], visible });
    return this.items.get(key);
  }

  colorOf(part) {
    return bodyColor(part.color, part.track < 0 ? 0 : part.track);
  }

  addPart(part) {
    const own = this.colorOf(part);
    const pieces = piecesOf(part, this.run.bar);
    if (!pieces.length) return;
    const item = this.item(part.group, part.name, part.track, part.group === "joints" ? "steel" : part.group === "paths" ? "path" : own);
    const holder = new L.Group();
    const [x, y, z, w, qx, qy, qz] = part.pose || [0, 0, 0, 1, 0, 0, 0];
    holder.position.set(x, y, z);
    holder.quaternion.set(qx, qy, qz, w);
    for (const [geometry, color] of pieces) {
      const sheet = color === "sheet";
      const opacity = sheet ? 0.45 : part.opacity === undefined ? 1 : part.opacity;
      const mesh = new L.Mesh(geometry, this.material(color || own, opacity, part.kind === "surface" || part.kind === "mesh" ? 1 : 0));
      mesh.castShadow = !sheet && opacity > 0.5;
      mesh.receiveShadow = part.group === "bodies";
      holder.add(mesh);
      if (part.kind === "box" || part.kind === "cylinder") holder.add(this.edges(geometry));
    }
    if (part.kind === "surface" && !part.lines) {
      holder.add(new L.LineSegments(sheetLines(part), this.lineMaterial("path")));
    }
    item.objects.push(holder);
    (part.track < 0 ? this.ground : this.groups[part.track]).add(holder);
  }

  edges(geometry) {
    if (!this.edgeMaterial) {
      this.edgeMaterial = new L.LineBasicMaterial({ color: 0x000000, transparent: true, opacity: 0.22 });
      this.edgeMaterial.userData = { fixed: true, opacity: 0.22 };
      this.materials.set("edges", this.edgeMaterial);
    }
    return new L.LineSegments(new L.EdgesGeometry(geometry, 40), this.edgeMaterial);
  }

  lineMaterial(color) {
    const key = `line|${color}`;
    if (!this.materials.has(key)) {
      const material = new L.LineBasicMaterial({ transparent: true, opacity: 0.6 });
      material.userData = { color, opacity: 0.6 };
      this.materials.set(key, material);
    }
    return this.materials.get(key);
  }

  addLink(link) {
    const bar = this.run.bar;
    const isRod = link.kind === "rod";
    const own = isRod ? bodyColor(null, this.links.filter((l) => l.kind === "rod").length) : link.kind === "damper" ? "#5f6b78" : "#2fa38c";
    const sameName = this.items.get(`links/${link.name}`);
    const item = this.item(isRod ? "bodies" : "forces", link.name, -1, sameName ? sameName.color : own);
    const color = item.color;
    const holder = new L.Group();
    const add = (geometry, kind, paint) => {
      const mesh = new L.Mesh(geometry, this.material(paint || color));
      mesh.castShadow = true;
      mesh.userData.kind = kind;
      holder.add(mesh);
    };
    const unit = (radius) => segment([0, 0, 0], [0, 0, 1], radius, 12);
    const length = Math.max(this.distance(link), 2 * bar);
    if (link.kind === "spring") {
      const radius = Math.min(2.4 * bar, 0.22 * length);
      add(coilGeometry(7, radius, 0.32 * bar, length), "stretch");
    } else if (link.kind === "damper") {
      add(unit(0.45 * bar), "stretch", "steel");
      add(segment([0, 0, 0], [0, 0, 0.5], 1.2 * bar, 16), "stretch");
    } else if (link.kind === "stop" || link.kind === "rebound_stop") {
      const size = Math.min(4 * bar, 0.16 * length);
      const rubber = along(new L.CylinderGeometry(1.7 * bar, 1.2 * bar, size, 18), [0, 0, 1]).translate(0, 0, 0.5 * size);
      add(link.kind === "stop" ? rubber : rubber.translate(0, 0, -size), link.kind === "stop" ? "keep" : "far", "#39424d");
    } else if (link.kind === "bushing") {
      add(along(new L.CylinderGeometry(2 * bar, 2 * bar, 2.4 * bar, 18), [0, 0, 1]), "keep");
    } else {
      add(unit(0.8 * bar), "stretch");
    }
    item.objects.push(holder);
    this.root.add(holder);
    this.links.push({ ...link, holder, from: new L.Vector3(), to: new L.Vector3() });
  }

  distance(link) {
    const [a, b] = link.ends.map(([track, at]) => this.pointAt(track, at, this.run.times[0], new L.Vector3()));
    return a.distanceTo(b);
  }

  addArrow(arrow) {
    const channel = this.run.series.get(arrow.channel);
    if (!channel) return;
    const columns = channel.columns.slice(0, 3);
    let largest = 0;
    for (let i = 0; i < this.run.times.length; i++) {
      const size = Math.hypot(columns[0][i], columns[1][i], columns[2][i]);
      if (size > largest) largest = size;
    }
    if (!(largest > 0)) return;
    const color = arrow.kind === "torque" ? TORQUE_COLOR : FORCE_COLOR;
    const item = this.item(arrow.hidden ? "reactions" : "forces", arrow.name, -1, color, !arrow.hidden);
    const r = Math.max(0.5 * this.run.bar, 0.003 * this.size);
    const shaft = new L.Mesh(segment([0, 0, 0], [0, 0, 1], 0.6 * r, 10), this.material(color));
    const head = new L.Mesh(along(new L.ConeGeometry(1.9 * r, 5 * r, 16), [0, 0, 1]).translate(0, 0, -2.5 * r), this.material(color));
    const holder = new L.Group();
    holder.add(shaft, head);
    if (arrow.kind === "torque") {
      const second = head.clone();
      holder.add(second);
    }
    item.objects.push(holder);
    this.root.add(holder);
    this.arrows.push({ ...arrow, columns, holder, item, headLength: 5 * r, scale: (0.22 * this.size) / largest });
  }

  pointAt(track, at, t, out) {
    out.set(at[0], at[1], at[2]);
    if (track < 0) return out;
    const [x, y, z, w, qx, qy, qz] = poseAt(this.run, track, t, this.pose);
    return out.applyQuaternion(Actor.turn.set(qx, qy, qz, w)).add(Actor.shift.set(x, y, z));
  }

  setTime(t) {
    this.time = t;
    this.groups.forEach((group, track) => {
      const [x, y, z, w, qx, qy, qz] = poseAt(this.run, track, t, this.pose);
      group.position.set(x, y, z);
      group.quaternion.set(qx, qy, qz, w);
    });
    for (const link of this.links) this.placeLink(link, t);
    for (const arrow of this.arrows) if (arrow.item.visible) this.placeArrow(arrow, t);
    const [row] = locate(this.run.times, t);
    for (const mesh of this.traces.values()) mesh.geometry.setDrawRange(0, row * TRACE_SIDES * 6);
  }

  placeLink(link, t) {
    this.pointAt(...link.ends[0], t, link.from);
    this.pointAt(...link.ends[1], t, link.to);
    const span = link.to.clone().sub(link.from);
    const length = Math.max(span.length(), 1e-9 * this.size);
    link.holder.position.copy(link.from);
    if (length > 1e-6 * this.size) link.holder.quaternion.setFromUnitVectors(Z, span.divideScalar(length));
    for (const mesh of link.holder.children) {
      if (mesh.userData.kind === "stretch") mesh.scale.set(1, 1, length);
      if (mesh.userData.kind === "far") mesh.position.set(0, 0, length);
    }
  }

  placeArrow(arrow, t) {
    const [i, f] = locate(this.run.times, t);
    const value = (k) => (f ? (1 - f) * arrow.columns[k][i] + f * arrow.columns[k][i + 1] : arrow.columns[k][i]);
    const force = new L.Vector3(value(0), value(1), value(2));
    const size = force.length();
    arrow.holder.visible = size * arrow.scale > 1e-3 * this.size;
    if (!arrow.holder.visible) return;
    this.pointAt(arrow.track, arrow.at, t, arrow.holder.position);
    arrow.holder.quaternion.setFromUnitVectors(Z, force.divideScalar(size));
    const length = size * arrow.scale;
    const [shaft, head, second] = arrow.holder.children;
    shaft.scale.set(1, 1, Math.max(length - arrow.headLength, 1e-6));
    head.position.set(0, 0, length);
    if (second) second.position.set(0, 0, length - 0.8 * arrow.headLength);
  }

  show(key, visible) {
    const item = this.items.get(key);
    if (!item) return;
    item.visible = visible;
    for (const object of item.objects) object.visible = visible;
    this.setTime(this.time);
  }

  // Replace the motion of the run; arrows and traces follow it.
  replaced() {
    for (const arrow of this.arrows) {
      const channel = this.run.series.get(arrow.channel);
      if (channel) arrow.columns = channel.columns.slice(0, 3);
    }
    for (const track of [...this.traces.keys()]) this.setTrace(track, true);
  }

  setTrace(track, on) {
    const old = this.traces.get(track);
    if (old) {
      this.root.remove(old);
      old.geometry.dispose();
      this.traces.delete(track);
    }
    if (!on) return;
    const material = this.material(bodyColor(null, track), 0.85);
    const mesh = new L.Mesh(traceGeometry(this.run.poses[track], Math.max(0.3 * this.run.bar, 0.0012 * this.size)), material);
    mesh.frustumCulled = false;
    this.traces.set(track, mesh);
    this.root.add(mesh);
    this.setTime(this.time);
  }

  paint(theme, ghost) {
    for (const material of this.materials.values()) {
      const { color, opacity, fixed } = material.userData;
      if (!fixed) material.color.set(THEMED[color] ? theme[THEMED[color]] : color);
      if (ghost && !fixed) material.color.lerp(new L.Color(theme.ghost), 0.55);
      material.opacity = ghost ? 0.38 * opacity : opacity;
      material.transparent = material.opacity < 1;
      material.depthWrite = !ghost;
      material.needsUpdate = true;
    }
    this.root.traverse((object) => {
      if (object.isMesh && object.userData.casts === undefined) object.userData.casts = object.castShadow;
      if (object.isMesh) object.castShadow = !ghost && object.userData.casts;
    });
    for (const item of this.items.values()) for (const object of item.objects) object.visible = item.visible;
  }

  // Half the extent of the parts drawn on a track.
  radiusOf(track) {
    const box = new L.Box3().setFromObject(this.groups[track]);
    return box.isEmpty() ? this.run.bar : box.getSize(new L.Vector3()).length() / 2;
  }
}

Actor.turn = new L.Quaternion();
Actor.shift = new L.Vector3();

const TRACE_SIDES = 5;

// A tube with a ring for each row of the result, so that it can be drawn up to any row.
function traceGeometry([xs, ys, zs], radius) {
  const n = xs.length;
  const position = new Float32Array(n * TRACE_SIDES * 3);
  const normals = new Float32Array(n * TRACE_SIDES * 3);
  const index = new Uint32Array(Math.max(0, n - 1) * TRACE_SIDES * 6);
  const tangent = new L.Vector3(1, 0, 0);
  const across = new L.Vector3(0, 0, 1);
  const third = new L.Vector3();
  const step = new L.Vector3();
  for (let i = 0; i < n; i++) {
    const a = Math.max(0, i - 1);
    const b = Math.min(n - 1, i + 1);
    step.set(xs[b] - xs[a], ys[b] - ys[a], zs[b] - zs[a]);
    if (step.length() > 1e-9) tangent.copy(step).normalize();
    across.addScaledVector(tangent, -across.dot(tangent));
    if (across.length() < 1e-3) across.set(tangent.y, tangent.z, tangent.x).addScaledVector(tangent, -0.5);
    across.normalize();
    third.crossVectors(tangent, across);
    for (let k = 0; k < TRACE_SIDES; k++) {
      const angle = (2 * Math.PI * k) / TRACE_SIDES;
      step.copy(across).multiplyScalar(Math.cos(angle)).addScaledVector(third, Math.sin(angle));
      const at = (i * TRACE_SIDES + k) * 3;
      normals.set([step.x, step.y, step.z], at);
      position.set([xs[i] + radius * step.x, ys[i] + radius * step.y, zs[i] + radius * step.z], at);
    }
  }
  for (let i = 0, next = 0; i + 1 < n; i++) {
    for (let k = 0; k < TRACE_SIDES; k++) {
      const a = i * TRACE_SIDES + k;
      const b = i * TRACE_SIDES + ((k + 1) % TRACE_SIDES);
      for (const corner of [a, b, a + TRACE_SIDES, b, b + TRACE_SIDES, a + TRACE_SIDES]) index[next++] = corner;
    }
  }
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(position, 3));
  geometry.setAttribute("normal", new L.BufferAttribute(normals, 3));
  geometry.setIndex(new L.BufferAttribute(index, 1));
  return geometry;
}
