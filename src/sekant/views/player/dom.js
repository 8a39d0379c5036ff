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

const byId = (id) => document.getElementById(id);

function formatNumber(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) return value.toExponential(3).replace("-", "−");
  return String(Number(value.toPrecision(5))).replace("-", "−");
}

function formatUnit(unit) {
  return unit && unit !== "1" ? unit.replaceAll("*", "·").replaceAll("^2", "²").replaceAll("^3", "³") : "";
}
