// Geometry of every kind of part, in the frame of the part. `L` is the library bundle (three.js and uPlot).

const L = SekantLibraries;
const Z = new L.Vector3(0, 0, 1);

function along(geometry, axis) {
  // three.js creates cylinders along y; turn them to `axis`
  const direction = new L.Vector3(...axis).normalize();
  const turn = new L.Quaternion().setFromUnitVectors(new L.Vector3(0, 1, 0), direction);
  return geometry.applyMatrix4(new L.Matrix4().makeRotationFromQuaternion(turn));
}

function segment(from, to, radius, sides = 14) {
  const a = new L.Vector3(...from);
  const b = new L.Vector3(...to);
  const span = b.clone().sub(a);
  const geometry = along(new L.CylinderGeometry(radius, radius, span.length(), sides), span.toArray());
  const middle = a.add(b).multiplyScalar(0.5);
  return geometry.translate(middle.x, middle.y, middle.z);
}

function ball(center, radius, sides = 18) {
  return new L.SphereGeometry(radius, sides, Math.ceil(sides * 0.7)).translate(...center);
}

const TURN = 0.12; // rad: of a tube, from one of its rings to the next where it bends most

function smoothTube(points, radius, closed) {
  const places = points.map((p) => new L.Vector3(...p));
  const spans = places.slice(1).map((p, i) => p.clone().sub(places[i])).filter((span) => span.lengthSq() > 0);
  const length = spans.reduce((sum, span) => sum + span.length(), 0);
  const bend = spans.slice(1).reduce((most, span, i) => Math.max(most, span.angleTo(spans[i]) / Math.min(span.length(), spans[i].length())), 0);
  const rings = Math.ceil(Math.min(1200, Math.max(60, (bend * length) / TURN)));
  return new L.TubeGeometry(new L.CatmullRomCurve3(places, closed, "centripetal"), rings, radius, 7, closed);
}

function sheet(part) {
  const [rows, columns] = part.size;
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(new Float32Array(part.points.flat()), 3));
  const index = [];
  for (let i = 0; i + 1 < rows; i++) {
    for (let j = 0; j + 1 < columns; j++) {
      const a = i * columns + j;
      index.push(a, a + columns, a + 1, a + 1, a + columns, a + columns + 1);
    }
  }
  geometry.setIndex(index);
  geometry.computeVertexNormals();
  return geometry;
}

const LINE_WIDTH = 0.12; // m: of the lines of a road
const [DASH, DASHES] = [3, 9]; // m: a dash, and from one to the next

// Lines along the edges of a road, and dashes along its middle.
function roadLines({ size: [rows, columns], points }) {
  const mix = (a, b, share) => a.map((value, k) => value + share * (b[k] - value));
  const distance = (a, b) => Math.hypot(...a.map((value, k) => value - b[k]));
  // the point at a fraction of the width, and of the way from row i to the next
  const across = (i, share) => {
    const j = Math.min(columns - 2, Math.floor(share * (columns - 1)));
    return mix(points[i * columns + j], points[i * columns + j + 1], share * (columns - 1) - j);
  };
  const place = (i, way, share) => (way ? mix(across(i, share), across(i + 1, share), way) : across(i, share));
  const position = [];
  const stripe = (i, from, to, low, high) => {
    const [a, b, c, d] = [place(i, from, low), place(i, from, high), place(i, to, low), place(i, to, high)];
    position.push(...a, ...b, ...c, ...b, ...d, ...c);
  };
  const width = LINE_WIDTH / distance(across(0, 0), across(0, 1));
  for (let i = 0, s = 0; i + 1 < rows; i++) {
    stripe(i, 0, 1, 0, width);
    stripe(i, 0, 1, 1 - width, 1);
    const length = distance(across(i, 0.5), across(i + 1, 0.5));
    for (let at = Math.floor(s / DASHES) * DASHES; at < s + length; at += DASHES) {
      const [from, to] = [Math.max(s, at), Math.min(s + length, at + DASH)].map((end) => (end - s) / length);
      if (from < to) stripe(i, from, to, 0.5 - width / 2, 0.5 + width / 2);
    }
    s += length;
  }
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(new Float32Array(position), 3));
  geometry.computeVertexNormals();
  return geometry;
}

function sheetLines(part) {
  const [rows, columns] = part.size;
  const at = [];
  const push = (i, j) => at.push(...part.points[i * columns + j]);
  for (let i = 0; i < rows; i += 4) for (let j = 0; j + 1 < columns; j++) push(i, j), push(i, j + 1);
  for (let j = 0; j < columns; j += 4) for (let i = 0; i + 1 < rows; i++) push(i, j), push(i + 1, j);
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(new Float32Array(at), 3));
  return geometry;
}

function meshGeometry(part) {
  const geometry = new L.BufferGeometry();
  geometry.setAttribute("position", new L.BufferAttribute(floatsOf(part.vertices, Float32Array), 3));
  geometry.setIndex(new L.BufferAttribute(floatsOf(part.triangles, Uint32Array), 1));
  const flat = geometry.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function wheelPieces(part) {
  const { radius: r, width: w, axis } = part;
  const tire = along(new L.TorusGeometry(r - w * 0.35, w * 0.35, 14, 44).rotateX(Math.PI / 2).scale(1, 1.4, 1), axis);
  const rim = along(new L.CylinderGeometry(r * 0.62, r * 0.62, w * 0.55, 40, 1, true), axis);
  const hub = along(new L.CylinderGeometry(r * 0.14, r * 0.14, w * 0.7, 20), axis);
  const pieces = [[tire, "#2b3037"], [rim, null], [hub, null]];
  for (let k = 0; k < 5; k++) {
    const spoke = new L.BoxGeometry(r * 0.62, w * 0.3, r * 0.13).translate(r * 0.33, 0, 0).rotateY((k * 2 * Math.PI) / 5);
    pieces.push([along(spoke, axis), null]);
  }
  return pieces;
}

function cylinderPieces(part) {
  const pieces = [[along(new L.CylinderGeometry(part.radius, part.radius, part.length, 40), part.axis), null]];
  if (part.marked) {
    // a bar across both faces, so that the rotation of a disc is visible
    const bar = new L.BoxGeometry(part.radius * 1.7, part.length * 1.06, part.radius * 0.16);
    pieces.push([along(bar, part.axis), "mark"]);
  }
  return pieces;
}

function polylinePieces(part, bar) {
  const radius = part.radius || bar * 0.5;
  const points = part.closed ? [...part.points, part.points[0]] : part.points;
  const pieces = [];
  points.forEach((p, i) => {
    pieces.push([ball(p, radius, 10), null]);
    if (i > 0) pieces.push([segment(points[i - 1], p, radius, 10), null]);
  });
  return pieces;
}

function railPieces(part) {
  const r = part.radius;
  const [low, high] = part.range;
  const margin = 5 * r + 0.06 * (high - low);
  const from = [0, 0, low - margin];
  const to = [0, 0, high + margin];
  return [[segment(from, to, r * 0.35, 10), "steel"], [ball(from, r * 0.6, 12), "steel"], [ball(to, r * 0.6, 12), "steel"]];
}

function hingePieces(part, sides) {
  const r = part.radius;
  return [
    [along(new L.CylinderGeometry(r * 1.7, r * 1.7, r * 3.6, sides), [0, 0, 1]), "steel"],
    [along(new L.CylinderGeometry(r * 0.8, r * 0.8, r * 4.4, sides), [0, 0, 1]), "mark"],
  ];
}

// A tube or, if frames along it give its bank, two rails on ties.
function pathPieces(part) {
  const r = part.radius;
  const ties = part.ties || [];
  if (!ties.length) return [[smoothTube(part.points, r * 0.4, part.closed), "path"]];
  const half = 1.1 * r;
  const beside = (side) => ties.map(([x, y, z, a, b, c]) => [x + side * half * a, y + side * half * b, z + side * half * c]);
  const [left, right] = [beside(1), beside(-1)];
  const bars = left.map((p, i) => segment(p, right[i], r * 0.12, 5));
  const closed = part.closed;
  const open = (points) => (closed ? points.slice(0, -1) : points);
  return [
    [smoothTube(open(left), r * 0.22, closed), "path"],
    [smoothTube(open(right), r * 0.22, closed), "path"],
    [mergedGeometry(bars), "path"],
  ];
}

// Merge geometries, so that they are drawn at once.
function mergedGeometry(geometries) {
  const made = new L.BufferGeometry();
  for (const name of ["position", "normal"]) {
    const arrays = geometries.map((geometry) => geometry.attributes[name].array);
    const all = new Float32Array(arrays.reduce((sum, array) => sum + array.length, 0));
    arrays.reduce((at, array) => (all.set(array, at), at + array.length), 0);
    made.setAttribute(name, new L.BufferAttribute(all, 3));
  }
  const index = [];
  let first = 0;
  for (const geometry of geometries) {
    const count = geometry.attributes.position.count;
    for (const i of geometry.index ? geometry.index.array : Array(count).keys()) index.push(first + i);
    first += count;
  }
  made.setIndex(index);
  return made;
}

const ball_joint = (part) => [[ball([0, 0, 0], part.radius * 1.9), "steel"]];

// kind -> list of [geometry, color]: null is the color of the body, otherwise a name of the theme or #rrggbb
const PIECES = {
  box: (part) => [[new L.BoxGeometry(...part.size), null]],
  cylinder: cylinderPieces,
  sphere: (part) => [[ball([0, 0, 0], part.radius, 24), null]],
  wheel: wheelPieces,
  polyline: (part, bar) => polylinePieces(part, bar),
  mesh: (part) => [[meshGeometry(part), null]],
  bar: (part) => [
    [segment(part.from, part.to, part.radius), null],
    [ball(part.from, part.radius), null],
    [ball(part.to, part.radius), null],
  ],
  pin: (part) => [[new L.BoxGeometry(part.radius * 2.4, part.radius * 2.4, part.radius * 2.4), "steel"]],
  path: pathPieces,
  surface: (part) => [[sheet(part), "sheet"], ...(part.lines ? [[roadLines(part), "#e6e9ed"]] : [])],
  cones: ({ points, radius, length }) => points.map(([x, y, z]) => [along(new L.ConeGeometry(radius, length, 8), [0, 0, 1]).translate(x, y, z + length / 2), null]),
  plane: () => [],
  joint_revolute: (part) => hingePieces(part, 24),
  joint_universal: ball_joint,
  joint_spherical: ball_joint,
  joint_prismatic: railPieces,
  joint_cylindrical: railPieces,
  joint_screw: railPieces,
};

// Pieces of one color are one geometry, which costs little more than one piece.
function piecesOf(part, bar) {
  const byColor = new Map();
  for (const [geometry, color] of PIECES[part.kind] ? PIECES[part.kind](part, bar) : []) {
    byColor.set(color, [...(byColor.get(color) || []), geometry]);
  }
  return [...byColor].map(([color, all]) => [all.length > 1 ? mergedGeometry(all) : all[0], color]);
}

// A coil of unit length along z, of radius one; it is stretched to the length of the spring.
function coilGeometry(turns, radius, wire, length) {
  const points = [];
  const ends = 0.08;
  const count = turns * 14;
  points.push(new L.Vector3(0, 0, 0), new L.Vector3(0, 0, ends * 0.7 * length));
  for (let i = 0; i <= count; i++) {
    const angle = (2 * Math.PI * turns * i) / count;
    const z = (ends + ((1 - 2 * ends) * i) / count) * length;
    points.push(new L.Vector3(radius * Math.cos(angle), radius * Math.sin(angle), z));
  }
  points.push(new L.Vector3(0, 0, (1 - ends * 0.7) * length), new L.Vector3(0, 0, length));
  const curve = new L.CatmullRomCurve3(points, false, "centripetal");
  return new L.TubeGeometry(curve, count + 12, wire, 6, false).scale(1, 1, 1 / length);
}
