// Delays as a clock of the event loop, as `solvers/instants/delay_lines.py`: the input is stored as polynomials and
// evaluated later.

const FOLLOWS = 10; // times the tolerance: larger errors of the polynomials cause a warning

// Values of the Chebyshev polynomials up to `degree` at each s within (-1, 1).
function chebyshev(s, degree) {
  return s.map((x) => {
    const row = new Float64Array(degree + 1);
    for (let k = 0; k <= degree; k++) row[k] = k === 0 ? 1 : k === 1 ? x : 2 * x * row[k - 1] - row[k - 2];
    return row;
  });
}

const applied = (matrix, x) => matrix.map((row) => row.reduce((sum, value, i) => sum + value * x[i], 0));

class Delays {
  constructor(loop, told) {
    Object.assign(this, { loop, told });
    this.lines = told.lines.map((one) => new DelayLine(one, loop.begin, told.nodes));
  }

  get next() {
    return Math.min(...this.lines.map((line) => line.next));
  }

  kink(t) {
    return Math.min(...this.lines.map((line) => line.kink(t)));
  }

  struck(before, now) {
    return this.lines.reduce((reached, line) => line.struck(reached), now);
  }

  nodes(begin, end) {
    return this.told.nodes.map((s) => 0.5 * (begin + end) + 0.5 * (end - begin) * s);
  }

  passed(start, end, rows, kink) {
    const { module, works } = this.loop;
    const values = rows.map(({ t, x }) => module.ask(this.told.call, { t: [t], x: x.subarray(0, works), p: start.p }).u.slice());
    const times = rows.map(({ t }) => t);
    this.lines.forEach((line, k) => line.passed(end, times, values.map((u) => u[k]), kink));
  }

  get warnings() {
    const off = this.lines.filter(({ error, largest }) => error > FOLLOWS * this.loop.told.rtol * Math.max(largest, 1e-300));
    return off.map(
      ({ one, error, largest }) =>
        `Warning: signal '${one.owner}': the polynomials of the delayed input have errors up to ${error.toPrecision(2)} (the largest value of the input is ${largest.toPrecision(3)}); increase 'pieces' of the delay.`,
    );
  }
}

// One delay: the piece being stored, and the piece being played back. Ends of pieces are stops, also one delay later.
class DelayLine {
  constructor(one, begin, nodes) {
    Object.assign(this, { one, begin, usual: nodes, grid: one.time / one.pieces, cut: 1, t: [], u: [], from: begin, kept: [] });
    this.playing = { begin: begin - one.time, end: begin, kink: 0 };
    this.error = this.largest = 0;
  }

  get nextCut() {
    return this.begin + this.cut * this.grid;
  }

  get nextPiece() {
    return this.playing.end + this.one.time;
  }

  get next() {
    return Math.min(this.nextCut, this.nextPiece);
  }

  due(when, t) {
    return when <= t + ON_TIME * this.grid;
  }

  kink(t) {
    return this.due(this.nextPiece, t) ? this.playing.kink + 1 : SMOOTH;
  }

  // Switch to the next piece to play, if its time has come.
  struck(now) {
    if (!this.due(this.nextPiece, now.t)) return now;
    const piece = (this.playing = this.kept.shift());
    const p = now.p.slice();
    const values = [...piece.coefficients, 0.5 * (piece.begin + piece.end) + this.one.time, 0.5 * (piece.end - piece.begin)];
    this.one.place.forEach((place, k) => {
      p[place] = values[k];
    });
    return { ...now, p };
  }

  // Store values u of the input at times t; a piece ends at the grid and at kinks.
  passed(given, t, u, kink) {
    this.t.push(...t);
    this.u.push(...u);
    if (!this.t.length) return;
    let end = given;
    if (this.due(this.nextCut, end)) {
      end = this.nextCut;
      this.cut += 1;
    } else if (kink >= SMOOTH) return;
    const { one, from, usual } = this;
    const s = this.t.map((time) => (2 * time - from - end) / (end - from));
    const regular = s.length === usual.length && s.every((place, i) => Math.abs(place - usual[i]) < ON_TIME);
    const basis = chebyshev(s, one.degree);
    const found = regular ? applied(one.inverse, this.u) : leastSquares(basis, this.u, one.degree + 1);
    applied(basis, found).forEach((value, i) => {
      this.error = Math.max(this.error, Math.abs(value - this.u[i]));
      this.largest = Math.max(this.largest, Math.abs(this.u[i]));
    });
    this.kept.push({ begin: from, end, coefficients: applied(one.powers, found), kink });
    Object.assign(this, { t: [], u: [], from: end });
  }
}
