// Loops are closed with the first methods of `LoopGeometry`: Newton's method in the coordinates without start values, then
// in all of them, and the nearest such point. If that fails, the page reports it; it never continues with an open loop.

const RANK = 1e-9;
const NOTHING = 1e-12;
const CLOSED = 1e-6;
const TOLERANCE = 1e-12;

// Singular values and vectors of A (m, n), rows of numbers: A = U diag(s) V^T, by one-sided Jacobi rotations of the
// shorter side.
function singular(A, m, n) {
  const wide = n > m;
  const [rows, count] = wide ? [n, m] : [m, n];
  const U = Array.from({ length: count }, (_, j) => Float64Array.from({ length: rows }, (_, i) => (wide ? A[j][i] : A[i][j])));
  const V = Array.from({ length: count }, (_, j) => Float64Array.from({ length: count }, (_, i) => (i === j ? 1 : 0)));
  const dot = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  for (let sweep = 0; sweep < 60; sweep++) {
    let turned = 0;
    for (let p = 0; p < count; p++) {
      for (let q = p + 1; q < count; q++) {
        const [a, b, c] = [dot(U[p], U[p]), dot(U[q], U[q]), dot(U[p], U[q])];
        if (c === 0 || Math.abs(c) <= 1e-16 * Math.sqrt(a * b)) continue;
        turned = Math.max(turned, Math.abs(c) / Math.sqrt(a * b));
        const zeta = (b - a) / (2 * c);
        const t = Math.sign(zeta || 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
        const cosine = 1 / Math.hypot(1, t);
        const sine = cosine * t;
        for (const pair of [[U[p], U[q]], [V[p], V[q]]]) {
          const [x, y] = pair;
          for (let i = 0; i < x.length; i++) [x[i], y[i]] = [cosine * x[i] - sine * y[i], sine * x[i] + cosine * y[i]];
        }
      }
    }
    if (turned < 1e-15) break;
  }
  const sizes = U.map((x) => Math.sqrt(dot(x, x)));
  const unit = U.map((x, j) => (sizes[j] > 0 ? x.map((value) => value / sizes[j]) : x));
  return wide ? { sizes, left: V, right: unit } : { sizes, left: unit, right: V };
}

// The smallest x with A x nearest to b; `rank`: share of the largest singular value below which one counts as zero.
function leastSquares(A, b, n, rank = RANK) {
  const x = new Float64Array(n);
  if (!A.length || !n) return x;
  const { sizes, left, right } = singular(A, A.length, n);
  const largest = Math.max(...sizes);
  sizes.forEach((size, k) => {
    if (!(size > rank * largest)) return;
    const share = left[k].reduce((sum, value, i) => sum + value * b[i], 0) / size;
    for (let i = 0; i < n; i++) x[i] += share * right[k][i];
  });
  return x;
}

const largestOf = (row) => row.reduce((most, value) => (Math.abs(value) > most || value !== value ? Math.abs(value) : most), 0);
const lengthOf = (row) => Math.sqrt(row.reduce((sum, value) => sum + value * value, 0));

class Assembly {
  constructor(module, told) {
    this.module = module;
    this.told = told;
    this.free = told.free.slice();
  }

  // Phi (m_h,), rows of G (m, nv), and the rates (m,) at zero velocity.
  terms(q) {
    const { phi, G, drift } = this.module.ask(this.told.terms, { q });
    const { nv } = this.told;
    const rows = Array.from(drift, (_, i) => Float64Array.from({ length: nv }, (_, j) => G[j * drift.length + i]));
    return { phi: phi.slice(), drift: drift.slice(), G: rows.map((row) => (lengthOf(row) > NOTHING ? row : row.fill(0))) };
  }

  move(q, delta) {
    const moved = this.module.ask(this.told.retract, { q, delta }).q.slice();
    for (const [first, length] of this.told.unitBlocks) {
      const size = lengthOf(moved.subarray(first, first + length));
      for (let i = first; i < first + length; i++) moved[i] /= size;
    }
    return moved;
  }

  wrongSide(q) {
    const { poses } = this.module.ask(this.told.gaps, { q });
    return this.told.joints.findIndex((_, k) => {
      const [x, y, z, xx, yx, zx, xy, yy, zy, xz, yz, zz] = poses.subarray(12 * k, 12 * k + 12);
      const sine = Math.hypot(zy - yz, xz - zx, yx - xy);
      return !(Math.max(Math.hypot(x, y, z), Math.atan2(sine, xx + yy + zz - 1)) <= CLOSED);
    });
  }

  least(G, rhs, free, scale) {
    const columns = [...free.keys()].filter((i) => free[i]);
    const A = G.map((row) => Float64Array.from(columns, (i) => row[i] * scale[i]));
    const x = leastSquares(A, rhs, columns.length);
    const delta = new Float64Array(this.told.nv);
    columns.forEach((i, k) => (delta[i] = scale[i] * x[k]));
    return delta;
  }

  newton(start, most = 60) {
    let q = start;
    let { phi, G } = this.terms(q);
    for (let step = 0; ; step++) {
      if (!phi.every(Number.isFinite)) return null;
      if (largestOf(phi) <= TOLERANCE) return q;
      if (step >= most) return null;
      const delta = this.least(G.slice(0, phi.length), phi.map((x) => -x), this.free, this.told.scale);
      const before = lengthOf(phi);
      let share = 1;
      for (; share > 1e-6; share *= 0.5) {
        const ahead = this.move(q, delta.map((x) => share * x));
        const there = this.terms(ahead);
        if (lengthOf(there.phi) < (1 - 1e-4 * share) * before) {
          [q, phi, G] = [ahead, there.phi, there.G];
          break;
        }
      }
      if (share <= 1e-6) return largestOf(phi) <= 1e3 * TOLERANCE ? q : null;
    }
  }

  distance(q, q0) {
    return q.reduce((sum, value, i) => sum + ((value - q0[i]) / this.told.scale[i]) ** 2, 0);
  }

  // Slide along the constraints toward q0 while that reduces the weighted distance.
  nearest(q0, found) {
    let q = found;
    if (this.told.nq !== this.told.nv) return q;
    for (let k = 0; k < 30; k++) {
      const { phi, G } = this.terms(q);
      const rows = G.slice(0, phi.length);
      const back = q0.map((value, i) => value - q[i]);
      const across = this.least(rows, rows.map((row) => row.reduce((sum, value, i) => sum + value * back[i], 0)), this.free, this.told.scale);
      const tangent = back.map((value, i) => (this.free[i] ? value - across[i] : 0));
      if (largestOf(tangent) < 1e-10) return q;
      const next = this.newton(this.move(q, tangent), 8);
      if (!next || this.distance(next, q0) >= this.distance(q, q0) || this.wrongSide(next) >= 0) return q;
      q = next;
    }
    return q;
  }

  keepingStated(q0) {
    const all = this.free;
    const { stated } = this.told;
    if (!all.some((free, i) => free && stated[i]) || !all.some((free, i) => free && !stated[i])) return null;
    this.free = all.map((free, i) => free && !stated[i]);
    const found = this.newton(q0, 25);
    const near = found && this.nearest(q0, found);
    this.free = all;
    return near;
  }

  unwound(q0, given) {
    let q = given;
    for (const i of this.told.turning) {
      const turns = Math.round((q[i] - q0[i]) / (2 * Math.PI));
      if (!turns) continue;
      const fewer = q.slice();
      fewer[i] -= 2 * Math.PI * turns;
      if (largestOf(this.terms(fewer).phi) <= 1e3 * TOLERANCE) q = fewer;
    }
    return q;
  }

  // Make coordinates and velocities at the start of x consistent; returns a message if that fails.
  close(x) {
    const { nq, nv } = this.told;
    const q0 = x.slice(0, nq);
    const { phi } = this.terms(q0);
    let q = q0;
    if (phi.length && (!(largestOf(phi) <= TOLERANCE) || this.wrongSide(q0) >= 0)) {
      q = this.keepingStated(q0);
      if (q && this.wrongSide(q) < 0) q = this.unwound(q0, q);
      else {
        q = this.newton(q0);
        if (q && this.wrongSide(q) < 0) q = this.nearest(q0, this.unwound(q0, q));
        else return this.cannot(q);
      }
    }
    for (const i of this.told.counts) q[i] = q0[i];
    const v = this.velocities(q, x.slice(nq, nq + nv));
    if (!v) return "No velocities satisfy all constraints with these values. Choose others.";
    x.set(q);
    x.set(this.told.fills ? this.filled(q, v) : v, nq);
    return "";
  }

  cannot(q) {
    const joint = q ? this.told.joints[this.wrongSide(q)] : "";
    return `The mechanism cannot be assembled with these values${joint ? ` (joint '${joint}')` : ""}. Choose others.`;
  }

  velocities(q, given) {
    const { G, drift } = this.terms(q);
    const { rateScale, statedRates } = this.told;
    const v = given.slice();
    const missing = () => drift.map((rate, i) => -rate - G[i].reduce((sum, value, k) => sum + value * v[k], 0));
    for (let k = 0; k < 2; k++) {
      const rhs = missing();
      if (!rhs.some((value) => value !== 0)) break;
      let delta = this.least(G, rhs, statedRates.map((stated) => !stated), rateScale);
      const off = G.map((row, i) => row.reduce((sum, value, j) => sum + value * delta[j], 0) - rhs[i]);
      if (largestOf(off) > 1e-10 * Math.max(1, largestOf(rhs))) delta = this.least(G, rhs, statedRates.map(() => true), rateScale);
      delta.forEach((value, i) => (v[i] += value));
    }
    return largestOf(missing()) > 1e-8 * Math.max(1, largestOf(v), largestOf(drift)) ? null : v;
  }

  // Undetermined velocities minimize the kinetic energy.
  filled(q, v) {
    const { nv, givenRates } = this.told;
    const open = [...givenRates.keys()].filter((i) => !givenRates[i]);
    if (!open.length) return v;
    const { G } = this.terms(q);
    const N = nullSpace(G.map((row) => Float64Array.from(open, (i) => row[i])), open.length);
    if (!N.length) return v;
    const { M, momentum } = this.module.ask(this.told.kinetic, { q, v });
    const columns = N.map((column) => {
      const whole = new Float64Array(nv);
      open.forEach((i, k) => (whole[i] = column[k]));
      return whole;
    });
    const times = columns.map((column) => Float64Array.from({ length: nv }, (_, i) => column.reduce((sum, value, j) => sum + M[j * nv + i] * value, 0)));
    const A = columns.map((a) => Float64Array.from(times, (b) => a.reduce((sum, value, i) => sum + value * b[i], 0)));
    const rhs = columns.map((a) => a.reduce((sum, value, i) => sum + value * momentum[i], 0));
    const change = leastSquares(A, rhs, columns.length);
    const made = v.map((value, i) => value - columns.reduce((sum, column, k) => sum + column[i] * change[k], 0));
    const largest = largestOf(made);
    return made.map((value) => (Math.abs(value) > 1e-14 * largest ? value : 0));
  }
}

// Orthonormal columns x (n,) with A x = 0.
function nullSpace(A, n) {
  const basis = [];
  if (A.length) {
    const { sizes, right } = singular(A, A.length, n);
    const largest = Math.max(1, ...sizes);
    sizes.forEach((size, k) => size > RANK * largest && basis.push(right[k]));
  }
  const rank = basis.length;
  for (let i = 0; i < n && basis.length < n; i++) {
    const column = new Float64Array(n);
    column[i] = 1;
    for (let twice = 0; twice < 2; twice++) {
      for (const other of basis) {
        const along = column.reduce((sum, value, k) => sum + value * other[k], 0);
        for (let k = 0; k < n; k++) column[k] -= along * other[k];
      }
    }
    const size = lengthOf(column);
    if (size > 1e-6) basis.push(column.map((value) => value / size));
  }
  return basis.slice(rank);
}
