// Colors: a palette for bodies that color-blind readers can distinguish, and the two themes.

const PALETTE = ["#3b7dd8", "#e8883a", "#2fa38c", "#d1495b", "#8a63c9", "#b5892e", "#4fa3d9", "#d477b0"];
const NAMED = {
  blue: "#3b7dd8", orange: "#e8883a", green: "#2fa38c", red: "#d1495b", purple: "#8a63c9", brown: "#8d6346",
  pink: "#d477b0", gray: "#8b939c", yellow: "#d9b53a", cyan: "#4fb6c9", dark: "#3a424c", light: "#d5dae0",
};
const THEMES = {
  light: { background: "#eef1f5", grid: "#c3cad3", gridStrong: "#a5aeb9", steel: "#77818d", path: "#8d99a8", ink: "#1d2530",
           shadow: 0.22, sky: "#ffffff", earth: "#aab2bd", ghost: "#5d6875" },
  dark: { background: "#14181e", grid: "#2b333d", gridStrong: "#3d4855", steel: "#8f9aa6", path: "#66717e", ink: "#dfe5ec",
          shadow: 0.45, sky: "#dfe8f5", earth: "#2a313a", ghost: "#aab4c0" },
};

function bodyColor(given, index) {
  if (given) return NAMED[given] || given;
  return PALETTE[((index % PALETTE.length) + PALETTE.length) % PALETTE.length];
}
