// Files to download: the design as YAML and as a table, and its curves, as Sekant reads them.

// A number that every YAML reader reads as a number.
function numberText(value) {
  const text = String(value);
  return /e/.test(text) && !text.includes(".") ? text.replace("e", ".0e") : text;
}

const PLAIN_KEY = /^[A-Za-z_][\w.]*$/;
const WORDS = /^(true|false|null|yes|no|on|off|y|n|nan|inf)$/i;
const keyText = (key) => (PLAIN_KEY.test(key) && !WORDS.test(key) ? key : JSON.stringify(key));

function flowText(value) {
  if (typeof value === "number") return numberText(value);
  if (typeof value === "string") return PLAIN_KEY.test(value) && !WORDS.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(flowText).join(", ")}]`;
  if (value && typeof value === "object") return `{${Object.entries(value).map(([key, own]) => `${keyText(key)}: ${flowText(own)}`).join(", ")}}`;
  return String(value);
}

// One key per line, with the entries of long mappings below it.
function yamlText(data) {
  const lines = [];
  for (const [key, value] of Object.entries(data)) {
    const text = flowText(value);
    const nested = value && typeof value === "object" && !Array.isArray(value) && (key === "points" || text.length > 90);
    if (!nested) lines.push(`${keyText(key)}: ${text}`);
    else lines.push(`${keyText(key)}:`, ...Object.entries(value).map(([name, own]) => `  ${keyText(name)}: ${flowText(own)}`));
  }
  return `${lines.join("\n")}\n`;
}

// The description of the file with the points and set-up changes of the design.
function description(design) {
  const { told, p } = design;
  const data = structuredClone(told.source);
  const size = data.unit === "mm" ? 1e3 : 1;
  const changed = (indices) => indices.some((i) => p[i] !== design.first[i]);
  for (const { name, parameters } of told.points) {
    if (!changed(parameters)) continue;
    const numbers = parameters.map((i) => tidy(p[i] * size));
    if (Object.hasOwn(data.points, name)) data.points[name] = numbers;
    else {
      const [owner, part] = name.split(".");
      if (data.axle?.[owner]) data.axle[owner][part] = numbers;
      else data.points[name] = numbers;
    }
  }
  if (told.setUp.some(({ parameter }) => p[parameter] !== design.first[parameter])) data.set_up = setUpOf(design);
  return data;
}

// Changes by name, in m; equal changes of both sides under one name.
function setUpOf(design) {
  const { told, p } = design;
  const found = {};
  const values = new Map(told.setUp.map(({ name, parameter }) => [name, p[parameter]]));
  for (const [name, value] of values) {
    const own = name.slice(name.indexOf(".") + 1);
    const sides = ["left", "right"].map((side) => values.get(`${side}.${own}`));
    if (own === name) found[name] = value;
    else if (sides[0] === sides[1]) found[own] = value;
    else found[name] = value;
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== 0).map(([name, value]) => [name, tidy(value)]));
}

// Without the last digits from unit conversion, if that changes the value by less than 1e-14.
function tidy(value) {
  const short = Number(value.toPrecision(14));
  return Math.abs(short - value) <= 1e-14 * Math.abs(value) ? short : value;
}

// Key and value in each row, the points as a table below; entries that do not fit into a table are listed.
function tableText(design) {
  const { points, ...rest } = description(design);
  const rows = [];
  const lost = [];
  const cell = (value) => (typeof value === "number" ? numberText(value) : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  const add = (path, value) => {
    if (value === null || value === undefined) return;
    if (Array.isArray(value)) {
      if (value.some((own) => typeof own === "object")) lost.push(path);
      else rows.push([path, ...value].map(cell).join(","));
    } else if (typeof value === "object") {
      const entries = Object.entries(value);
      if (entries.some(([key]) => key.includes("."))) lost.push(path);
      else for (const [key, own] of entries) add(`${path}.${key}`, own);
    } else rows.push([path, value].map(cell).join(","));
  };
  for (const [key, value] of Object.entries(rest)) add(key, value);
  rows.push("point,x,y,z", ...Object.entries(points).map(([name, numbers]) => [name, ...numbers].map(cell).join(",")));
  return { text: `${rows.join("\n")}\n`, lost };
}

// Columns as `sekant kc --csv` writes them, over travel at every position of the rack.
function curvesText(design) {
  const { told } = design;
  const { begun } = design;
  const racks = told.steered ? [...new Set([0, 1, 2, 3, 4].map((k) => told.steering[Math.round((k / 4) * (told.steering.length - 1))]))] : [0];
  const over = design.over === "roll" ? "roll" : "travel";
  const heads = ["travel [mm]", ...(told.steered ? ["rack [mm]"] : []), ...(told.steered && told.rackPerTurn ? ["steering_wheel [deg]"] : [])];
  if (design.axle) heads.push("left.travel [mm]", "right.travel [mm]");
  heads.push(...told.curves.map(({ name, shown }) => (shown ? `${name} [${shown}]` : name)));
  const lines = [heads.join(",")];
  const text = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(12))) : "");
  for (const rack of racks) {
    const { columns } = design.curves(begun.own, over, told.travel, { travel: 0, roll: 0, rack });
    told.travel.forEach((travel, k) => {
      const row = [1e3 * travel];
      if (told.steered) row.push(1e3 * rack);
      if (told.steered && told.rackPerTurn) row.push((360 * rack) / told.rackPerTurn);
      if (design.axle) row.push(1e3 * travel, (over === "roll" ? -1e3 : 1e3) * travel);
      lines.push([...row, ...columns.map((column, c) => column[k] * told.curves[c].factor)].map(text).join(","));
    });
  }
  return `${lines.join("\n")}\n`;
}
