// Runs a program of program.py. Words of structs have eight bytes: an address is the lower half of its word.
// This script also runs in the worker, so it does not use the page.

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

// Functions for modules in addition to Math. A module that requires other functions is refused when it is loaded.
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
const EVENT = 8;
const BORDER_WORDS = 8;
const UNTOUCHED = 0x5ec0_de5e_c0de_5ec0n;

async function inflated(text) {
  const compressed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const source = new ReadableStream({
    start(controller) {
      controller.enqueue(compressed);
      controller.close();
    },
  }); // WebKit does not read a Blob in the worker of a file
  return new Uint8Array(await new Response(source.pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());
}

class Module {
  static async load(program) {
    const [code, image] = await Promise.all([inflated(program.module), inflated(program.memory)]);
    const module = await WebAssembly.compile(code);
    const pages = Math.ceil(program.end / 65536);
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const table = new WebAssembly.Table({ element: "anyfunc", initial: program.table });
    const stack = new WebAssembly.Global({ value: "i32", mutable: true }, program.base);
    const env = { __linear_memory: memory, __indirect_function_table: table, __stack_pointer: stack };
    for (const { name, kind } of WebAssembly.Module.imports(module)) {
      if (kind !== "function") continue;
      const found = Object.hasOwn(LIBRARY, name) ? LIBRARY[name] : Object.getOwnPropertyDescriptor(Math, name)?.value;
      if (typeof found !== "function") throw new Error(`the module requires a function '${name}', which a page does not have`);
      env[name] = found;
    }
    const made = new Module(program, image, memory, table);
    await WebAssembly.instantiate(module, { env });
    made.words.fill(UNTOUCHED, program.border / 8, program.border / 8 + BORDER_WORDS);
    return made;
  }

  constructor(program, image, memory, table) {
    const { border, base, end } = program;
    if (base + image.length > end || end > memory.buffer.byteLength || border + 8 * BORDER_WORDS > base) {
      throw new Error("the memory of the program is damaged");
    }
    Object.assign(this, { program, image, memory, table });
    this.bytes = new Uint8Array(memory.buffer);
    this.words = new BigInt64Array(memory.buffer);
    this.reals = new Float64Array(memory.buffer);
    this.copy(base, end - base);
  }

  // Reset memory from an address on.
  copy(address, size) {
    const first = address - this.program.base;
    this.bytes.fill(0, address, address + size).set(this.image.subarray(first, first + size), address);
  }

  // The values of an array, not a copy.
  array([address, count]) {
    return this.reals.subarray(address / 8, address / 8 + count);
  }

  // The stack grows down toward the module's data: the guard between them must be unchanged.
  intact() {
    const first = this.program.border / 8;
    for (let i = first; i < first + BORDER_WORDS; i++) {
      if (this.words[i] !== UNTOUCHED) throw new Error("the code needs more stack than a page provides");
    }
  }

  // A call of `PageProgram.add_call` with arguments by name; results by name, not copies.
  ask(call, given = {}) {
    for (const [name, values] of Object.entries(given)) if (call.given[name]) this.array(call.given[name]).set(values);
    this.table.get(this.program.numbers[call.function])(call.arg, call.res, call.work);
    this.intact();
    return Object.fromEntries(Object.entries(call.found).map(([name, place]) => [name, this.array(place)]));
  }

  // Reset the memory of a run of `PageProgram.add_run`.
  restart(run) {
    this.copy(run.at, run.size);
  }

  // Call a procedure of a run; returns its code.
  proceed(run, name, a = 0, b = 0) {
    const code = Number(this.table.get(this.program.numbers[run.procedures[name]])(run.at, a, b));
    this.intact();
    return code;
  }

  number(run, field) {
    return this.reals[run.fields[field][0] / 8];
  }

  integer(run, field) {
    return Number(this.words[run.fields[field][0] / 8]);
  }

  setNumber(run, field, value) {
    this.reals[run.fields[field][0] / 8] = value;
  }

  setInteger(run, field, value) {
    this.words[run.fields[field][0] / 8] = BigInt(value);
  }

  // The first `count` values of an array of a run, by default all; not a copy.
  field(run, field, count = run.fields[field][2]) {
    return this.array([run.fields[field][1], count]);
  }

  // Set the number of rows of an array.
  setCount(run, field, count) {
    this.words[run.fields[field][0] / 8 + 1] = BigInt(count);
  }
}
