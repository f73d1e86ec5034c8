// A rank program as a timeline: a row for each worker, an arrow from each send to its receive.
import { count, element, sharpCanvas } from "./elements.js";
import { palette } from "./palette.js";
import { arrowhead, disc, plate, stroke } from "./strokes.js";

const NAMES = 74;
const TOP = 22;

export class Timeline {
  constructor(program, state) {
    [this.program, this.state] = [program, state];
    this.rows = Array.from({ length: program.workers }, (_, worker) => worker).filter(
      (worker) => program.firstOperation[worker] < program.firstOperation[worker + 1],
    );
    this.rowOf = new Map(this.rows.map((worker, row) => [worker, row]));
    [this.wide, this.high, this.left, this.above] = [0, 20, 0, 0];
    const words = `${count(this.rows.length, "worker")} over time. Arrow keys scroll, + and - zoom, 0 shows all.`;
    const drawn = sharpCanvas({ class: "machine timeline", tabindex: "0", role: "img", "aria-label": words }, (context, width, height) =>
      this.paint(context, width, height),
    );
    [this.canvas, this.redraw] = [drawn.canvas, drawn.redraw];
    this.canvas.addEventListener("wheel", (event) => this.wheel(event));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
    this.canvas.addEventListener("click", (event) => this.click(event));
    this.drag();
  }

  paint(context, width, height) {
    const { program, state } = this;
    const colours = palette();
    [this.width, this.height] = [width, height];
    const room = (width - NAMES - 20) / (program.length + 1);
    if (!this.wide) this.wide = Math.min(90, Math.max(room, 7));
    this.high = Math.max(20, Math.min(44, (height - TOP) / (this.rows.length || 1)));
    this.clamp();
    const finding = state.get("finding") === "" ? [] : (program.involved[Number(state.get("finding"))] ?? []);
    this.marked = new Set([...finding, ...program.cycle]);
    const [firstRow, lastRow] = [Math.floor(this.above / this.high), Math.ceil((this.above + height - TOP) / this.high)];
    this.paintGrid(context, width, height, colours);
    context.save();
    context.beginPath();
    context.rect(NAMES, TOP, width - NAMES, height - TOP);
    context.clip();
    for (let row = firstRow; row < Math.min(lastRow, this.rows.length); row++) this.paintRow(context, row, colours);
    this.paintArrows(context, firstRow, lastRow, colours);
    this.paintStuck(context, colours);
    this.paintLinks(context, finding, colours);
    context.restore();
    this.paintNames(context, firstRow, lastRow, colours);
    if (this.hovered >= 0) this.paintHover(context, width, colours);
  }

  x(time) {
    return NAMES + time * this.wide - this.left;
  }

  y(row) {
    return TOP + row * this.high - this.above;
  }

  paintGrid(context, width, height, colours) {
    const every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000].find((every) => every * this.wide > 46) ?? 10000;
    context.font = "11px system-ui, sans-serif";
    [context.textAlign, context.textBaseline] = ["center", "middle"];
    for (let time = 0; time <= this.program.length; time += every) {
      const x = this.x(time);
      if (x < NAMES || x > width) continue;
      context.fillStyle = colours.line;
      context.fillRect(x, TOP, 1, height - TOP);
      context.fillStyle = colours.muted;
      context.fillText(`${time}`, x, TOP / 2);
    }
    const now = this.x(this.state.get("step"));
    if (now >= NAMES) {
      context.fillStyle = colours.accent;
      context.fillRect(now - 1, TOP - 5, 2, height);
    }
  }

  box(operation) {
    const { program } = this;
    const row = this.rowOf.get(program.workerOf(operation));
    const [begin, end] = [this.x(program.begin[operation]), this.x(program.end[operation])];
    return { x: begin, y: this.y(row) + 2, width: Math.max(1.5, end - begin - 1), height: this.high - 4 };
  }

  paintRow(context, row, colours) {
    const { program } = this;
    const worker = this.rows[row];
    const chosen = this.state.get("rank") !== "" && Number(this.state.get("rank")) === program.rankOf[worker];
    if (chosen) {
      context.globalAlpha = 0.12;
      context.fillStyle = colours.accent;
      context.fillRect(NAMES, this.y(row), this.width, this.high);
      context.globalAlpha = 1;
    }
    for (let operation = program.firstOperation[worker]; operation < program.firstOperation[worker + 1]; operation++) {
      if (program.end[operation] < 0) break;
      const { x, y, width, height } = this.box(operation);
      if (x > this.width || x + width < NAMES) continue;
      const fill = [colours.side, colours.accent, colours.other, colours.node, colours.other, colours.line][program.kind[operation]];
      const later = program.begin[operation] >= this.state.get("step");
      context.globalAlpha = later ? 0.45 : 1;
      context.fillStyle = program.isQuick(operation) ? colours.line : fill;
      context.fillRect(x, y, width, height);
      context.globalAlpha = 1;
      const isBroken = this.marked.has(operation) || program.broken.has(operation);
      if (isBroken || this.hovered === operation) {
        context.strokeStyle = isBroken ? colours.failed : colours.text;
        context.lineWidth = 2.5;
        context.strokeRect(x - 1, y - 1, width + 2, height + 2);
      }
    }
  }

  /** Arrows from sends to receives: those near the present, or, of few, all. */
  paintArrows(context, firstRow, lastRow, colours) {
    const { program } = this;
    const [early, late] = [this.left / this.wide, (this.left + this.width) / this.wide];
    const now = this.state.get("step");
    const few = program.kind.length < 400;
    for (let operation = 0; operation < program.kind.length; operation++) {
      const sender = program.sender[operation];
      if (sender < 0 || program.end[operation] < early || program.begin[sender] > late) continue;
      const isNow = program.begin[sender] <= now && program.end[operation] >= now;
      const isMarked = (this.marked.has(operation) && this.marked.has(sender)) || (program.broken.has(operation) && program.broken.has(sender));
      const isHovered = this.hovered === operation || this.hovered === sender;
      if (!few && !isNow && !isMarked && !isHovered) continue;
      const rows = [sender, operation].map((one) => this.rowOf.get(program.workerOf(one)));
      if (Math.max(...rows) < firstRow || Math.min(...rows) > lastRow) continue;
      const [one, other] = [this.box(sender), this.box(operation)];
      const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
      const piece = { from: middle(one), to: middle(other) };
      const colour = isMarked ? colours.failed : colours.text;
      context.globalAlpha = isNow || isMarked || isHovered ? 0.9 : 0.35;
      disc(context, piece.from, 2.4, colour);
      stroke(context, piece, colour, isMarked || isHovered ? 2 : 1);
      arrowhead(context, piece, colour, 4, 0.97);
      context.globalAlpha = 1;
    }
  }

  /** Workers that never get on: hatched boxes at the end of their rows, those of a cycle joined. */
  paintStuck(context, colours) {
    const { program } = this;
    const at = (worker) => {
      const before = program.next[worker] - 1;
      const end = before >= program.firstOperation[worker] ? program.end[before] : 0;
      return [this.x(Math.max(end, 0)) + 4, this.y(this.rowOf.get(worker)) + this.high / 2];
    };
    for (const worker of program.stuck) {
      const [x, y] = at(worker);
      context.setLineDash([4, 3]);
      context.strokeStyle = colours.failed;
      context.lineWidth = 2;
      context.strokeRect(x, y - this.high / 2 + 3, Math.max(12, this.wide - 6), this.high - 6);
      context.setLineDash([]);
    }
    const cycle = program.cycle.map((operation) => at(program.workerOf(operation)));
    cycle.forEach((from, index) => {
      const to = cycle[(index + 1) % cycle.length];
      const side = Math.max(12, this.wide - 6) + 6;
      context.strokeStyle = colours.failed;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(from[0] + side - 6, from[1]);
      context.bezierCurveTo(from[0] + side + 30, from[1], to[0] + side + 30, to[1], to[0] + side - 2, to[1] + (to[1] > from[1] ? -3 : 3));
      context.stroke();
      arrowhead(context, { from: [to[0] + side + 10, to[1]], to: [to[0] + side - 4, to[1]] }, colours.failed, 5, 0.9);
    });
    if (cycle.length) plate(context, [cycle[0][0] + 60, cycle[0][1] - 14], "deadlock", colours, colours.failed, "700 12px system-ui, sans-serif");
  }

  /** A line between the operations that one violation names. */
  paintLinks(context, finding, colours) {
    const drawn = finding.filter((operation) => this.program.end[operation] >= 0).map((operation) => this.box(operation));
    for (let index = 1; index < drawn.length && !this.program.cycle.length; index++) {
      const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
      context.setLineDash([5, 4]);
      context.strokeStyle = colours.failed;
      context.lineWidth = 2;
      context.beginPath();
      context.moveTo(...middle(drawn[index - 1]));
      context.lineTo(...middle(drawn[index]));
      context.stroke();
      context.setLineDash([]);
    }
  }

  paintNames(context, firstRow, lastRow, colours) {
    const { program } = this;
    context.font = "11px system-ui, sans-serif";
    [context.textAlign, context.textBaseline] = ["right", "middle"];
    for (let row = firstRow; row < Math.min(lastRow, this.rows.length); row++) {
      const worker = this.rows[row];
      const rank = program.rankOf[worker];
      const isFirst = row === 0 || program.rankOf[this.rows[row - 1]] !== rank;
      const y = this.y(row);
      if (y < TOP - 4) continue;
      if (isFirst) {
        context.fillStyle = colours.line;
        context.fillRect(0, y, this.width, 1);
      }
      context.fillStyle = isFirst ? colours.text : colours.muted;
      context.fillText(`${isFirst ? `rank ${rank} · ` : ""}w${worker - program.firstWorker[rank]}`, NAMES - 6, y + this.high / 2);
    }
  }

  paintHover(context, width, colours) {
    context.font = "600 12px system-ui, sans-serif";
    const text = this.program.describe(this.hovered);
    const half = context.measureText(text).width / 2 + 6;
    plate(context, [Math.max(half, Math.min(width - half, this.at[0])), Math.max(12, this.at[1] - 20)], text, colours, colours.muted, context.font);
  }

  /** The operation at a place. */
  find([x, y]) {
    const { program } = this;
    const worker = this.rows[Math.floor((y - TOP + this.above) / this.high)];
    if (worker === undefined || x < NAMES || y < TOP) return -1;
    const time = (x - NAMES + this.left) / this.wide;
    for (let operation = program.firstOperation[worker]; operation < program.firstOperation[worker + 1]; operation++) {
      if (program.end[operation] < 0) return operation === program.next[worker] ? operation : -1;
      if (program.begin[operation] <= time && time <= program.end[operation]) return operation;
    }
    return -1;
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  hover(event) {
    const found = event ? this.find(this.place(event)) : -1;
    if (found === (this.hovered ?? -1) && found < 0) return;
    this.hovered = found;
    if (event) this.at = this.place(event);
    this.redraw();
  }

  click(event) {
    const found = this.find(this.place(event));
    if (found >= 0) this.state.set({ rank: `${this.program.rankOf[this.program.workerOf(found)]}` });
  }

  /** Scrolls to a violation. */
  show(operations) {
    const seen = operations.filter((operation) => this.program.end[operation] >= 0);
    if (!seen.length || !this.width) return;
    const times = seen.map((operation) => this.program.begin[operation]);
    const rows = seen.map((operation) => this.rowOf.get(this.program.workerOf(operation)));
    this.left = Math.min(...times) * this.wide - (this.width - NAMES) / 3;
    this.above = Math.min(...rows) * this.high - 60;
    this.redraw();
  }

  clamp() {
    this.left = Math.max(0, Math.min(this.left, (this.program.length + 2) * this.wide - (this.width - NAMES)));
    this.above = Math.max(0, Math.min(this.above, this.rows.length * this.high - (this.height - TOP) + 6));
  }

  scroll(x, y) {
    this.left += x;
    this.above += y;
    this.redraw();
  }

  wheel(event) {
    if (event.ctrlKey) this.scale(Math.exp(-event.deltaY * 0.002));
    else if (document.activeElement !== this.canvas) return;
    else this.scroll(event.deltaX, event.deltaY);
    event.preventDefault();
  }

  scale(factor) {
    const middle = (this.left + (this.width - NAMES) / 2) / this.wide;
    this.wide = Math.max(1, Math.min(200, this.wide * factor));
    this.left = middle * this.wide - (this.width - NAMES) / 2;
    this.redraw();
  }

  reset() {
    [this.left, this.above] = [0, 0];
    this.wide = Math.max(1, Math.min(90, (this.width - NAMES - 20) / (this.program.length + 1)));
    this.redraw();
  }

  key(event) {
    const moves = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, -40], ArrowDown: [0, 40] };
    if (moves[event.key]) this.scroll(...moves[event.key]);
    else if (event.key === "+" || event.key === "=") this.scale(1.25);
    else if (event.key === "-") this.scale(0.8);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  drag() {
    this.canvas.addEventListener("pointerdown", (event) => this.canvas.setPointerCapture(event.pointerId));
    this.canvas.addEventListener("pointermove", (event) => event.buttons === 1 && this.scroll(-event.movementX, -event.movementY));
  }
}

/** What the colours of a timeline mean. */
export function timelineKey() {
  const entry = (name, words) => element("span", { class: `key ${name}` }, words);
  return [entry("side", "send"), entry("accent", "receive"), entry("other", "add"), entry("node", "copy"), entry("idle", "wait, token"), entry("failed", "violation")];
}
