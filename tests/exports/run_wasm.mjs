// node run_wasm.mjs JOB: runs a procedure of a WebAssembly module on an image of its memory; see test_targets.py.
import { readFileSync, writeFileSync } from "node:fs";
const job = JSON.parse(readFileSync(process.argv[2]));
const pages = Math.ceil((job.base + job.size) / 65536);
const memory = new WebAssembly.Memory({ initial: pages });
const table = new WebAssembly.Table({ element: "anyfunc", initial: job.entries + 1 }); // 0: no function
const stack = new WebAssembly.Global({ value: "i32", mutable: true }, job.base);
const env = { __linear_memory: memory, __indirect_function_table: table, __stack_pointer: stack };
const module = new WebAssembly.Module(readFileSync(job.module));
for (const { name, kind } of WebAssembly.Module.imports(module)) if (kind === "function") env[name] = Math[name];
new WebAssembly.Instance(module, { env });
const words = readFileSync(job.memory);
new Uint8Array(memory.buffer).set(words, job.base);
const code = Number(table.get(job.procedure)(job.base, job.a, job.b));
writeFileSync(job.result, new Uint8Array(memory.buffer, job.base, words.length));
console.log(code);
