// Elements of the page. Names from models only ever become text, never markup.

function element(tag, options = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(options)) {
    if (key === "text") made.textContent = value;
    else if (key === "class") made.className = value;
    else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== undefined) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

function download(name, text, type) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const byId = (id) => document.getElementById(id);

function formatNumber(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(3).replace("-", "−");
  return String(Number(value.toPrecision(5))).replace("-", "−");
}

// Labels of the ticks of an axis, with enough digits that no two are equal.
function formatTicks(ticks) {
  const sizes = ticks.map(Math.abs);
  const largest = Math.max(...sizes);
  const step = Math.min(...ticks.slice(1).map((v, i) => Math.abs(v - ticks[i])));
  if (!(step > 0) || !Number.isFinite(step)) return ticks.map(formatNumber);
  const below = (x) => Math.floor(Math.log10(x) + 1e-9);
  let digits = 0;
  while (digits < 12 && Math.abs(Number(step.toExponential(digits)) - step) > 1e-6 * step) digits += 1;
  const last = below(step) - digits;
  const exponential = largest >= 1e5 || largest < 1e-3;
  return ticks.map((v) => {
    if (Math.abs(v) < 1e-6 * step) return "0";
    const text = exponential ? v.toExponential(Math.max(0, below(Math.abs(v)) - last)) : v.toFixed(Math.max(0, -last));
    return text.replace("-", "−");
  });
}

function formatUnit(unit) {
  return unit && unit !== "1" ? unit.replaceAll("*", "·").replaceAll("^2", "²").replaceAll("^3", "³") : "";
}
