// Runs a program of program.py. Words of structs have eight bytes: an address is the lower half of its word.
// This text is also that of the worker, so it knows nothing of the page.

// By its series, and from 2.5 on by the continued fraction of its complement (Lentz).
function erf(x) {
  const size = Math.abs(x);
  if (!(size < 6)) return x > 0 ? 1 : x < 0 ? -1 : x;
  const scale = (2 / Math.sqrt(Math.PI)) * Math.exp(-size * size);
  let found = 0;
  if (size < 2.5) {
    let term = size;
    for (let k = 1; term > 1e-17 * found; k++) {
      found += term;
      term *= (2 * size * size) / (2 * k + 1);
    }
    found *= scale;
  } else {
    let fraction = 0;
    for (let k = 60; k > 0; k--) fraction = k / 2 / (size + fraction);
    found = 1 - scale / 2 / (size + fraction);
  }
  return x < 0 ? -found : found;
}

// What a module may call besides Math. One that wants more is refused when it is loaded.
const LIBRARY = {
  fmod: (a, b) => a % b,
  exp2: (x) => 2 ** x,
  exp10: (x) => 10 ** x,
  ldexp: (x, n) => x * 2 ** n,
  fmin: (a, b) => (a <= b || b !== b ? a : b),
  fmax: (a, b) => (a >= b || b !== b ? a : b),
  erf,
};
const MORE = 0;
const FINISHED = 1;
const CHUNK_MS = 12;

async function inflated(text) {
  const compressed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function nextAfter(x, up) {
  if (x === 0) return up ? 5e-324 : -5e-324;
  const number = new Float64Array([x]);
  const word = new BigInt64Array(number.buffer);
  word[0] += x > 0 === up ? 1n : -1n;
  return number[0];
}

class Engine {
  static async load(program) {
    const [code, image] = await Promise.all([inflated(program.module), inflated(program.memory)]);
    const module = await WebAssembly.compile(code);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(program.end / 65536), maximum: Math.ceil(program.end / 65536) });
    const table = new WebAssembly.Table({ element: "anyfunc", initial: program.table });
    const stack = new WebAssembly.Global({ value: "i32", mutable: true }, program.base);
    const env = { __linear_memory: memory, __indirect_function_table: table, __stack_pointer: stack };
    for (const { name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== "function") continue;
      const found = Object.hasOwn(LIBRARY, name) ? LIBRARY[name] : Object.getOwnPropertyDescriptor(Math, name)?.value;
      if (typeof found !== "function") throw new Error(`the module needs a function '${name}', which a page has not`);
      env[name] = found;
    }
    await WebAssembly.instantiate(module, { env });
    return new Engine(program, image, memory, table);
  }

  constructor(program, image, memory, table) {
    if (program.base + image.length > program.end || program.end > memory.buffer.byteLength) {
      throw new Error("the memory of the program is damaged");
    }
    Object.assign(this, { program, image, memory, table });
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new BigInt64Array(memory.buffer);
    this.reals = new Float64Array(memory.buffer);
  }

  view(address, count) {
    return this.reals.subarray(address / 8, address / 8 + count);
  }

  integer(address) {
    return Number(this.words[address / 8]);
  }

  call({ function: name, arg, res, work }) {
    this.table.get(this.program.numbers[name])(arg, res, work);
  }

  // Memory as at first, with these parameters (SI) and changes of the start.
  reset(values, start) {
    const { program: own, bytes } = this;
    bytes.fill(0, own.base + this.image.length, own.end).set(this.image, own.base);
    this.view(...own.values).set(values);
    own.parameters.forEach((address, i) => {
      if (address) this.reals[address / 8] = values[i];
    });
    this.call(own.begin);
    const [x, starts, scales] = own.begin.found.map(([address, count]) => this.view(address, count).slice());
    for (const [i, value] of start || []) x[i] = value;
    const message = own.assembly ? new Assembly(this).close(x) : "";
    own.states.forEach((address, i) => {
      this.reals[address / 8] = x[i] ?? 0;
    });
    if (own.run.x_old) this.view(own.run.x_old[1], own.states.length).set(own.states.map((address) => this.reals[address / 8]));
    if (own.edges) {
      this.view(own.run.rows[1], own.width).set(own.states.map((address) => this.reals[address / 8]));
      this.setEdges(starts, scales);
    }
    return message;
  }

  // Segments between the times at which signals switch, as `merge_stops` makes them.
  setEdges(starts, scales) {
    const { run, interval, switches } = this.program;
    const [first, last] = interval;
    const snap = 1e-14 * Math.max(Math.abs(first), Math.abs(last));
    const stops = [];
    switches.forEach((knots, i) => {
      const [start, scale] = [starts[i], scales[i]];
      if (knots) for (const k of knots) stops.push(start + k * scale);
      else if (scale) {
        const [low, high] = [(first - start) / scale, (last - start) / scale].sort((x, y) => x - y);
        if (high - low > 1e5) throw new Error("a signal switches too often for a page");
        for (let k = Math.ceil(low); k <= high; k++) stops.push(start + k * scale);
      }
    });
    const edges = [first];
    for (const t of stops.sort((x, y) => x - y)) if (t - edges.at(-1) > snap && last - t > snap) edges.push(t);
    edges.push(last);
    if (edges.length > run.edges[2]) throw new Error(`signals switch at ${edges.length - 2} times, a page has room for ${run.edges[2] - 2}`);
    const low = edges.slice(0, -1).map((t) => nextAfter(t, true));
    const high = edges.slice(1).map((t) => nextAfter(t, false));
    for (const [name, values] of Object.entries({ edges, low, high, sampled: null })) {
      if (!run[name]) continue;
      if (values) this.view(run[name][1], values.length).set(values);
      this.words[run[name][0] / 8 + 1] = BigInt(edges.length - (name === "edges" ? 0 : 1));
    }
    this.reals[run.earliest[0] / 8] = low[0];
    this.reals[run.latest[0] / 8] = high[0];
  }

  // One run in pieces: yields the part that is done; returns what came of it.
  *pieces(values, start) {
    const { run, kernel, interval, report } = this.program;
    const advance = this.table.get(this.program.advance);
    const message = this.reset(values, start);
    if (message) return { code: -1, row: 0, steps: 0, rejected: 0, message };
    let code = MORE;
    let budget = 256;
    while (code === MORE) {
      const began = performance.now();
      code = Number(advance(this.program.runAt, budget, kernel));
      const spent = performance.now() - began;
      budget = Math.min(1e9, Math.max(16, Math.round(budget * Math.min(8, CHUNK_MS / Math.max(spent, 0.01)))));
      if (code === MORE) yield (this.reals[run.t[0] / 8] - interval[0]) / (interval[1] - interval[0]);
    }
    const row = this.integer(run.row[0]);
    this.words[report.count / 8] = BigInt(row);
    this.table.get(report.procedure)(report.at, 0, 0);
    const counts = { steps: this.integer(run.steps[0]), rejected: this.integer(run.rejected[0]) };
    return { code, row, ...counts, message: code === FINISHED ? "" : this.explain(code) };
  }

  explain(code) {
    const { run, statuses, stateNames, rowNames } = this.program;
    const t = this.reals[run.t[0] / 8];
    const blamed = this.integer(run.blamed[0]);
    const status = statuses[code] || "stopped";
    const names = status === "constraints" ? rowNames : stateNames;
    const item = blamed >= 0 && names[blamed] ? ` (${names[blamed]})` : "";
    return `The run stops at t = ${Number(t.toPrecision(6))} s: ${status.replaceAll("_", " ")}${item}. Choose other values.`;
  }

  // Outputs row by row, as a view: copy what is to stay.
  get outputs() {
    const [address, width] = this.program.report.y;
    return { width, values: this.view(address, width * this.program.times.length) };
  }
}
