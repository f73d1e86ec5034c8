// Charts: the steps (width and use), ranks by steps, who sends to whom.
import { count, element, percent, sharpCanvas } from "./elements.js";
import { loadColour, palette } from "./palette.js";

/** Bars for the steps: as high as the step is wide, filled as far as its links are busy. A click goes to the step. */
export function stepChart(schedule, state) {
  const high = 46;
  const { steps, width, busy } = schedule;
  const most = Math.max(1, ...width);
  const wide = Math.max(3, Math.min(60, 720 / Math.max(1, steps)));
  const bars = [];
  for (let step = 1; step <= steps; step++) {
    const tall = Math.max(2, (width[step - 1] / most) * high);
    const full = tall * Math.min(1, busy[step - 1]);
    const x = (step - 1) * wide;
    const gap = wide > 8 ? 2 : 0.5;
    const broken = schedule.brokenMoves[step - 1];
    const words = `step ${step}: width ${width[step - 1]}, ${count(schedule.moves[step - 1], "chunk")}, links ${percent(busy[step - 1])} busy${broken ? `, ${broken} broken` : ""}`;
    const bar = element(
      "g",
      { class: "bar", "data-step": step, onclick: () => state.set({ step, mode: "step" }) },
      element("title", {}, words),
      element("rect", { class: "reach", x, y: 0, width: wide, height: high }),
      element("rect", { class: "width", x: x + gap / 2, y: high - tall, width: wide - gap, height: tall }),
      element("rect", { class: "busy", x: x + gap / 2, y: high - full, width: wide - gap, height: full }),
      broken ? element("rect", { class: "broken", x: x + gap / 2, y: 0, width: wide - gap, height: 4 }) : null,
    );
    bars.push(bar);
  }
  const size = { viewBox: `0 0 ${Math.max(1, steps) * wide} ${high}`, preserveAspectRatio: "none" };
  const chart = element("svg", { class: "steps", role: "img", "aria-label": "Width and use of the links by step", ...size }, bars);
  const update = () => bars.forEach((bar, index) => bar.classList.toggle("now", index + 1 === state.get("step") && state.get("mode") === "step"));
  update();
  return { chart, update };
}

/** A grid of coloured cells on a canvas; `share(row, column)` is drawn, `words` said of a cell, a click `goes` there. */
function grid(rows, columns, share, words, goes, label) {
  const note = element("p", { class: "note", "aria-live": "polite" }, label);
  let cells = [1, 1];
  const drawn = sharpCanvas({ class: "grid", role: "img", "aria-label": label }, (context, width, height) => {
    const colours = palette();
    cells = [width / columns, height / rows];
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        const value = share(row, column);
        if (!value) continue;
        context.fillStyle = loadColour(colours, value);
        context.fillRect(column * cells[0], row * cells[1], Math.max(1, cells[0] - (cells[0] > 5 ? 1 : 0)), Math.max(1, cells[1] - (cells[1] > 5 ? 1 : 0)));
      }
    }
  });
  const cell = (event) => {
    const box = drawn.canvas.getBoundingClientRect();
    const at = (place, size, most) => Math.max(0, Math.min(most - 1, Math.floor(place / size)));
    return [at(event.clientY - box.top, cells[1], rows), at(event.clientX - box.left, cells[0], columns)];
  };
  drawn.canvas.addEventListener("pointermove", (event) => (note.textContent = words(...cell(event))));
  drawn.canvas.addEventListener("pointerleave", () => (note.textContent = label));
  drawn.canvas.addEventListener("click", (event) => goes(...cell(event)));
  return element("figure", {}, drawn.canvas, element("figcaption", {}, note));
}

/** What each rank sends in each step, as a share of what its links could carry. */
export function ranksBySteps(schedule, state) {
  const { machine, steps } = schedule;
  const sent = Array.from({ length: steps }, () => new Float64Array(machine.ranks));
  for (let step = 1; step <= steps; step++) {
    for (const transfer of schedule.transfersOf(step)) {
      if (schedule.from[transfer] < machine.ranks) sent[step - 1][schedule.from[transfer]] += schedule.load(transfer);
    }
  }
  const room = machine.out.map((links) => links.reduce((sum, link) => sum + (machine.linkIsLive(link) ? machine.capacity[link] : 0), 0));
  const share = (rank, column) => (room[rank] ? sent[column][rank] / (room[rank] * schedule.width[column]) : 0);
  const words = (rank, column) => `rank ${machine.rankLabel(rank)}, step ${column + 1}: sends ${count(sent[column][rank], "chunk")}`;
  const goes = (rank, column) => state.set({ rank: `${rank}`, step: column + 1, mode: "step" });
  return grid(machine.ranks, Math.max(1, steps), steps ? share : () => 0, steps ? words : () => "", goes, "A row for each rank, a column for each step: how busy its links out are.");
}

/** How many chunks go from each rank to each other, over all steps, on links. */
export function whoToWhom(schedule, state) {
  const { machine } = schedule;
  // More cells than pixels would not be seen: ranks are taken together.
  const group = Math.ceil(machine.ranks / 512);
  const side = Math.ceil(machine.ranks / group);
  const sums = new Float64Array(side * side);
  for (let transfer = 0; transfer < schedule.link.length; transfer++) {
    const [from, to] = [schedule.from[transfer], schedule.to[transfer]];
    if (from < machine.ranks && to < machine.ranks) sums[Math.floor(from / group) * side + Math.floor(to / group)] += schedule.load(transfer);
  }
  const most = sums.reduce((most, sum) => Math.max(most, sum), 1);
  const name = (index) => (group === 1 ? `rank ${machine.rankLabel(index)}` : `ranks ${index * group} to ${Math.min(machine.ranks, (index + 1) * group) - 1}`);
  const words = (row, column) => `${name(row)} to ${name(column)}: ${count(sums[row * side + column], "chunk")}`;
  const goes = (row, column) => group === 1 && machine.between(row, column).length && state.set({ link: `${row}-${column}`, tab: "links" });
  return grid(side, side, (row, column) => sums[row * side + column] / most, words, goes, "A row for each sender, a column for each receiver: chunks over all steps.");
}

/** Lines for what a rank holds, sends and receives. */
export function lifeChart({ held, sent, received }) {
  const [wide, high] = [320, 90];
  const most = Math.max(1, ...held, ...sent, ...received);
  const x = (index) => (held.length < 2 ? wide / 2 : (index / (held.length - 1)) * wide);
  const line = (values, name) => {
    const points = Array.from(values, (value, index) => `${x(index).toFixed(1)} ${(high - (value / most) * (high - 4) - 2).toFixed(1)}`);
    return element("path", { class: `life ${name}`, d: `M${points.join("L")}` });
  };
  const lines = [line(held, "held"), line(sent, "sent"), line(received, "received")];
  return element("svg", { class: "life", viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": "Chunks held, sent and received by step; the table below has the numbers" }, lines);
}
