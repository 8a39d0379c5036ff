// Columns of outputs -> poses of drawn parts, as `_pose` of player/tracks.py: seven columns x, y, z, w, qx, qy, qz.

// Unit quaternion, scalar first, of the rotation with these columns; the largest component is found first.
function quaternionOf(x, y, z) {
  const [a, b, c] = [x[0], y[1], z[2]];
  const squares = [1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c];
  const k = squares.indexOf(Math.max(...squares));
  const skew = [y[2] - z[1], z[0] - x[2], x[1] - y[0]];
  const even = [x[1] + y[0], z[0] + x[2], y[2] + z[1]];
  const rows = [
    [squares[0], skew[0], skew[1], skew[2]],
    [skew[0], squares[1], even[0], even[1]],
    [skew[1], even[0], squares[2], even[2]],
    [skew[2], even[1], even[2], squares[3]],
  ];
  const size = Math.hypot(...rows[k]);
  return rows[k].map((value) => value / size);
}

const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => {
  const size = Math.hypot(...a);
  return a.map((value) => value / size);
};

// First column and number of columns of each output, by its name.
function placesOf(channels) {
  const found = new Map();
  let next = 0;
  for (const { name, parts } of channels) {
    const width = Math.max(1, parts.length);
    found.set(name, [next, width]);
    next += width;
  }
  return found;
}

// `columns(channel)`: columns of an output, (count,) each. Parts that follow a point do not turn.
function posesOf(track, columns, rows, count) {
  const made = Array.from({ length: 7 }, () => new Float64Array(count));
  const space = (channel) => {
    const found = columns(channel);
    while (found.length < 3) found.push(new Float64Array(count)); // plane mechanisms lie in the xy plane
    return found;
  };
  made[3].fill(1);
  if (track.kind === "body") {
    made.splice(0, 3, ...space(track.position));
    if (track.orientation !== null) made.splice(3, 4, ...columns(track.orientation));
  } else if (track.kind === "point") {
    for (const [channel, weight] of track.sum) {
      space(channel).forEach((column, k) => {
        for (let i = 0; i < rows; i++) made[k][i] += weight * column[i];
      });
    }
  } else {
    const points = track.points.map(space);
    const along = (i, k) => [0, 1, 2].map((part) => points.reduce((sum, point, j) => sum + point[part][i] * track.U[j][k], 0));
    made.splice(0, 3, ...points[0].map((column) => column.slice()));
    for (let i = 0; i < rows; i++) {
      const x = unit(along(i, 0));
      const z = track.U[0].length > 1 ? unit(cross(x, along(i, 1))) : [0, 0, 1];
      quaternionOf(x, cross(z, x), z).forEach((value, k) => (made[3 + k][i] = value));
    }
  }
  for (let i = 1; i < rows; i++) {
    let dot = 0;
    for (let k = 3; k < 7; k++) dot += made[k][i] * made[k][i - 1];
    if (dot < 0) for (let k = 3; k < 7; k++) made[k][i] *= -1;
  }
  for (const one of made) one.fill(one[rows - 1], rows);
  return made;
}
