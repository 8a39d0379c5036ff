// Eigenvalues of small motions about the equilibrium, for the values of the page, and as a function of one of them:
// the root locus. lambda solves det(M lambda^2 + C lambda + K) = 0.

const STEPS = 40; // of a locus
const ROUNDS = 80;
const CONVERGED = 1e-13;

// tr(A^-1 B) of complex matrices (n, n) as rows of [re, im], by Gauss's elimination; null where A is singular.
function traceOfQuotient(A, B, n) {
  const rows = A.map((row, i) => [...row.map((x) => [...x]), ...B[i].map((x) => [...x])]);
  const size = ([re, im]) => Math.abs(re) + Math.abs(im);
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (size(rows[i][k]) > size(rows[pivot][k])) pivot = i;
    if (!size(rows[pivot][k])) return null;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    const [a, b] = rows[k][k];
    const square = a * a + b * b;
    for (let j = 2 * n - 1; j >= k; j--) {
      const [x, y] = rows[k][j];
      rows[k][j] = [(x * a + y * b) / square, (y * a - x * b) / square];
    }
    for (let i = 0; i < n; i++) {
      if (i === k) continue;
      const [c, d] = rows[i][k];
      if (!c && !d) continue;
      for (let j = k; j < 2 * n; j++) {
        const [x, y] = rows[k][j];
        rows[i][j] = [rows[i][j][0] - (c * x - d * y), rows[i][j][1] - (c * y + d * x)];
      }
    }
  }
  return rows.reduce(([re, im], row, i) => [re + row[n + i][0], im + row[n + i][1]], [0, 0]);
}

// All 2n eigenvalues [re, im] at once (Aberth's iteration); `guess`: those nearby, if there are any.
function eigenvalues({ M, C, K, n }, guess) {
  const norm = (A) => Math.sqrt(A.reduce((sum, row) => sum + row.reduce((own, x) => own + x * x, 0), 0));
  const radius = Math.sqrt(norm(K) / norm(M)) + norm(C) / norm(M) + 1e-9;
  const found = guess
    ? guess.map(([re, im], i) => [re + 1e-6 * radius * Math.cos(i), im + 1e-6 * radius * Math.sin(3 * i + 1)])
    : Array.from({ length: 2 * n }, (_, i) => [radius * Math.cos((Math.PI * (i + 0.4)) / n), radius * Math.sin((Math.PI * (i + 0.4)) / n)]);
  for (let round = 0; round < ROUNDS; round++) {
    let largest = 0;
    found.forEach(([re, im], k) => {
      const square = [re * re - im * im, 2 * re * im];
      const T = M.map((row, i) => Array.from(row, (m, j) => [m * square[0] + C[i][j] * re + K[i][j], m * square[1] + C[i][j] * im]));
      const slope = M.map((row, i) => Array.from(row, (m, j) => [2 * m * re + C[i][j], 2 * m * im]));
      const quotient = traceOfQuotient(T, slope, n);
      if (!quotient) return; // on an eigenvalue
      found.forEach(([x, y], j) => {
        if (j === k) return;
        const [a, b] = [re - x, im - y];
        const apart = a * a + b * b || 1e-300;
        quotient[0] -= a / apart;
        quotient[1] += b / apart;
      });
      const square2 = quotient[0] ** 2 + quotient[1] ** 2 || 1e-300;
      const step = [quotient[0] / square2, -quotient[1] / square2];
      found[k] = [re - step[0], im - step[1]];
      largest = Math.max(largest, Math.hypot(...step) / (Math.hypot(re, im) + 1e-6 * radius));
    });
    if (largest < CONVERGED) break;
  }
  return found;
}

class Modes {
  constructor(module, told) {
    Object.assign(this, { module, told, rest: Float64Array.from(told.rest) });
  }

  matrices(q, p) {
    const { nv } = this.told;
    const { M, C, K } = this.module.ask(this.told.tangent, { q, p });
    const square = (flat) => Array.from({ length: nv }, (_, i) => Float64Array.from({ length: nv }, (_, j) => flat[j * nv + i]));
    return { M: square(M), C: square(C), K: square(K), n: nv };
  }

  // The equilibrium near q with parameters p, by Newton's method; null if there is none.
  equilibrium(q, p) {
    let at = q;
    for (let step = 0; step < 40; step++) {
      const R = this.module.ask(this.told.residual, { q: at, p }).R.slice();
      const { K, n } = this.matrices(at, p);
      const move = leastSquares(K, R.map((x) => -x), n);
      if (!move.every(Number.isFinite)) return null;
      at = this.module.ask(this.told.retract, { q: at, s: move }).q.slice();
      if (largestOf(move) < 1e-11 * Math.max(1, largestOf(at))) return at;
    }
    return null;
  }

  // Eigenvalues at parameters p, and the equilibrium; null if there is none.
  at(p, near = null) {
    const q = this.equilibrium(near ? near.q : this.rest, p);
    return q && { q, values: eigenvalues(this.matrices(q, p), near && near.values) };
  }

  // Eigenvalues as parameter `index` changes from low to high, from the current point to both sides.
  locus(p, index, low, high, present) {
    const found = [];
    for (const sign of [1, -1]) {
      let near = present;
      for (let k = 1; k <= STEPS && near; k++) {
        const value = p[index] + (sign * k * (high - low)) / STEPS;
        if (value > high || value < low) break;
        const other = p.slice();
        other[index] = value;
        near = this.at(other, near);
        if (near) found.push(...near.values);
      }
    }
    return found;
  }
}
