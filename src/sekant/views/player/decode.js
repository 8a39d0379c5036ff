// The reverse of pack.py: base64, zlib, bytes sorted by significance, second differences, quanta.

// Columns of an array, each a Float64Array of `rows` values; gaps are NaN.
function unpack(packed) {
  const rows = packed.rows;
  const count = rows * packed.offset.length;
  const bytes = inflate(floatsOf(packed.data, Uint8Array), 4 * count);
  const columns = packed.offset.map((offset, k) => {
    const column = new Float64Array(rows);
    let step = 0;
    let difference = 0;
    for (let i = 0; i < rows; i++) {
      const at = k * rows + i;
      difference +=
        bytes[at] | (bytes[count + at] << 8) | (bytes[2 * count + at] << 16) | (bytes[3 * count + at] << 24);
      step += difference;
      column[i] = offset + step * packed.quantum[k];
    }
    return column;
  });
  for (const gap of packed.gaps) columns[Math.floor(gap / rows)][gap % rows] = NaN;
  return columns;
}

function floatsOf(text, ArrayType) {
  return new ArrayType(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}

// A run of the figure, decoded: times, poses[track] = seven columns, series by name.
function decodeRun(run) {
  const [times] = unpack(run.times);
  const poseColumns = unpack(run.poses);
  const seriesColumns = unpack(run.series.values);
  const poses = run.tracks.map((_, i) => poseColumns.slice(7 * i, 7 * i + 7));
  const series = positionSeries(run.tracks, poses);
  let next = 0;
  for (const channel of run.series.channels) {
    const width = Math.max(1, channel.parts.length);
    const unit = Array.isArray(channel.unit) ? channel.unit : Array(width).fill(channel.unit);
    series.set(channel.name, { ...channel, unit, columns: seriesColumns.slice(next, next + width) });
    next += width;
  }
  return { ...run, times, poses, series };
}

// Positions of the visible tracks as series by name.
function positionSeries(tracks, poses) {
  const series = new Map();
  tracks.forEach((track, i) => {
    if (track.hidden) return;
    const name = `${track.name}.position`;
    series.set(name, { name, unit: ["m", "m", "m"], parts: ["x", "y", "z"], columns: poses[i].slice(0, 3) });
  });
  return series;
}

// Where t lies among increasing times: index i and fraction f with t = (1 - f) times[i] + f times[i + 1].
function locate(times, t) {
  let low = 0;
  let high = times.length - 1;
  if (t <= times[0]) return [0, 0];
  if (t >= times[high]) return [high, 0];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle;
    else high = middle;
  }
  const step = times[high] - times[low];
  return [low, step > 0 ? (t - times[low]) / step : 0];
}

// The pose [x, y, z, w, qx, qy, qz] of a track at time t, interpolated between the rows.
function poseAt(run, track, t, out) {
  const [i, f] = locate(run.times, t);
  const columns = run.poses[track];
  if (f === 0) {
    for (let k = 0; k < 7; k++) out[k] = columns[k][i];
    return out;
  }
  for (let k = 0; k < 7; k++) out[k] = (1 - f) * columns[k][i] + f * columns[k][i + 1];
  const length = Math.hypot(out[3], out[4], out[5], out[6]) || 1;
  for (let k = 3; k < 7; k++) out[k] /= length;
  return out;
}
