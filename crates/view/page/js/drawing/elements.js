// Elements of the page in one call, and numbers as text.

/** An element with attributes, listeners (`onclick`) and children (elements or text). */
export function element(tag, attributes = {}, ...children) {
  const isDrawing = ["svg", "rect", "line", "path", "text", "g", "title"].includes(tag);
  const made = isDrawing ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(9).filter((child) => child !== null && child !== undefined));
  return made;
}

/** Signs of 16 by 16, drawn, as not every font has them. */
const ICONS = {
  first: "M8 3 2 8l6 5zM14 3 8 8l6 5z",
  back: "M12 3 6 8l6 5zM3 3h2v10H3z",
  play: "M4 2.5 13 8l-9 5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  on: "M4 3l6 5-6 5zM11 3h2v10h-2z",
  last: "M8 3l6 5-6 5zM2 3l6 5-6 5z",
  theme: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zm0 1.6v9.8a4.9 4.9 0 0 1 0-9.8z",
  plus: "M7 3h2v4h4v2H9v4H7V9H3V7h4z",
  minus: "M3 7h10v2H3z",
  reset: "M8 3V.8L12 4 8 7.2V5a3.5 3.5 0 1 0 3.5 3.5h2A5.5 5.5 0 1 1 8 3z",
};

export function icon(name) {
  return element("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, element("path", { d: ICONS[name], "fill-rule": "evenodd" }));
}

/** `1 step`, `3 steps`. */
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** `96 %`. */
export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

/** A table with a heading row. */
export function table(headings, rows, attributes = {}) {
  const head = element("tr", {}, headings.map((text) => element("th", { scope: "col" }, text)));
  const cells = (row) => element("tr", {}, row.map((cell) => element("td", {}, cell)));
  return element("table", attributes, element("thead", {}, head), element("tbody", {}, rows.map(cells)));
}

/** A button that looks like the text it stands in. */
export function inline(text, onclick, attributes = {}) {
  return element("button", { type: "button", class: "inline", onclick, ...attributes }, text);
}

/** A canvas that is as sharp as the screen; `draw(context, width, height)` is called when its size changes. */
export function sharpCanvas(attributes, draw) {
  const canvas = element("canvas", attributes);
  const redraw = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide || canvas.height !== high) [canvas.width, canvas.height] = [wide, high];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, width, height);
  };
  new ResizeObserver(redraw).observe(canvas);
  return { canvas, redraw };
}
