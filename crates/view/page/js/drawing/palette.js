// Colours: from the style sheet, so that both themes have theirs, and the scale of loads.

/** The colours of the theme now in force. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["ground", "text", "muted", "line", "failed", "chunk", "evidence", "side", "other", "node", "accent"];
  const colours = Object.fromEntries(names.map((name) => [name, get(name)]));
  colours.loads = get("loads").split(/\s+/).map(rgb);
  return colours;
}

/** The colour of a load, as a share from 0 to 1; more than 1 is as wrong as a failure. */
export function loadColour(colours, share) {
  if (share > 1.0000001) return colours.failed;
  const at = Math.max(0, Math.min(1, share)) * (colours.loads.length - 1);
  const low = Math.min(Math.floor(at), colours.loads.length - 2);
  const mixed = colours.loads[low].map((one, index) => one + (colours.loads[low + 1][index] - one) * (at - low));
  return `rgb(${mixed.map(Math.round).join(",")})`;
}

function rgb(text) {
  return [1, 3, 5].map((at) => Number.parseInt(text.slice(at, at + 2), 16));
}

/** Should nothing move by itself? */
export function isCalm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
