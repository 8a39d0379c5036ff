// Synchronous zlib (RFC 1950, 1951), so that a page has its first frame when its load event fires.

const LENGTHS = [3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13];
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

// A Huffman code from the lengths of its words: for the next `longest` bits, the symbol (times 16) and its length.
function codeOf(lengths) {
  const longest = Math.max(1, ...lengths);
  const starts = new Uint16Array(17);
  for (const length of lengths) if (length) starts[length + 1] += 1;
  for (let k = 1; k < 17; k++) starts[k] = (starts[k] + starts[k - 1]) << 1;
  const table = new Uint16Array(1 << longest);
  lengths.forEach((length, symbol) => {
    if (!length) return;
    let word = starts[length]++;
    let mirrored = 0; // words come with their first bit lowest
    for (let k = 0; k < length; k++, word >>= 1) mirrored = (mirrored << 1) | (word & 1);
    for (let at = mirrored; at < table.length; at += 1 << length) table[at] = (symbol << 4) | length;
  });
  return { table, longest };
}

const FIXED = [
  codeOf(Array.from({ length: 288 }, (_, k) => (k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8))),
  codeOf(Array(30).fill(5)),
];

// The `size` bytes that were compressed to `data`.
function inflate(data, size) {
  const out = new Uint8Array(size);
  let at = 2; // behind the header
  let filled = 0;
  let bits = 0;
  let held = 0;
  const need = (count) => {
    for (; held < count; held += 8) bits |= (data[at++] ?? 0) << held;
  };
  const take = (count) => {
    need(count);
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    held -= count;
    return value;
  };
  const next = ({ table, longest }) => {
    need(longest);
    const entry = table[bits & (table.length - 1)];
    bits >>>= entry & 15;
    held -= entry & 15;
    if (!entry) throw new Error("its data is damaged");
    return entry >> 4;
  };
  const codes = () => {
    const counts = [take(5) + 257, take(5) + 1];
    const short = Array(19).fill(0);
    for (let k = take(4) + 4, i = 0; i < k; i++) short[ORDER[i]] = take(3);
    const code = codeOf(short);
    const lengths = [];
    while (lengths.length < counts[0] + counts[1]) {
      const symbol = next(code);
      if (symbol < 16) lengths.push(symbol);
      else {
        const value = symbol === 16 ? lengths[lengths.length - 1] : 0;
        const times = symbol === 16 ? 3 + take(2) : symbol === 17 ? 3 + take(3) : 11 + take(7);
        for (let k = 0; k < times; k++) lengths.push(value);
      }
    }
    return [codeOf(lengths.slice(0, counts[0])), codeOf(lengths.slice(counts[0], counts[0] + counts[1]))];
  };
  for (let last = 0; !last; ) {
    last = take(1);
    const kind = take(2);
    if (kind === 0) {
      at -= held >> 3; // whole bytes that were read too early
      bits = held = 0;
      const length = data[at] | (data[at + 1] << 8);
      out.set(data.subarray(at + 4, at + 4 + length), filled);
      at += 4 + length;
      filled += length;
      continue;
    }
    const [literals, distances] = kind === 1 ? FIXED : codes();
    for (let symbol = next(literals); symbol !== 256; symbol = next(literals)) {
      if (symbol < 256) {
        out[filled++] = symbol;
        continue;
      }
      const length = LENGTHS[symbol - 257] + take(LENGTH_BITS[symbol - 257]);
      const far = next(distances);
      const back = DISTANCES[far] + take(DISTANCE_BITS[far]);
      for (const end = filled + length; filled < end; filled++) out[filled] = out[filled - back];
    }
    if (filled > size) break;
  }
  if (filled !== size) throw new Error("its data is damaged");
  return out;
}
