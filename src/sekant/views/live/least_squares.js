const RANK = 1e-9; // singular values below this, relative to the largest, count as zero

// Singular values and vectors of A (m, n), given by rows: A = U diag(s) V^T, by one-sided Jacobi rotations of the
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

// The smallest x with A x nearest to b.
function leastSquares(A, b, n) {
  const x = new Float64Array(n);
  if (!A.length || !n) return x;
  const { sizes, left, right } = singular(A, A.length, n);
  const largest = Math.max(...sizes);
  sizes.forEach((size, k) => {
    if (!(size > RANK * largest)) return;
    const share = left[k].reduce((sum, value, i) => sum + value * b[i], 0) / size;
    for (let i = 0; i < n; i++) x[i] += share * right[k][i];
  });
  return x;
}

const largestOf = (row) => row.reduce((most, value) => (Math.abs(value) > most || value !== value ? Math.abs(value) : most), 0);
