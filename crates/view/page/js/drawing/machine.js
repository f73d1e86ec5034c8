// The machine drawn: ranks, links by their load, what failed, a chunk's path, evidence, violations.
import { percent, sharpCanvas } from "./elements.js";
import { marks } from "../data/evidence.js";
import { isCalm, loadColour, palette } from "./palette.js";
import { Camera } from "./camera.js";
import { arrowhead, between, away, cross, disc, pieces, plate, stroke } from "./strokes.js";

export class MachineView {
  constructor(schedule, state) {
    [this.schedule, this.state, this.phase] = [schedule, state, null];
    const drawn = sharpCanvas(
      { class: "machine", tabindex: "0", role: "img", "aria-label": `${schedule.machine.name}. Arrow keys turn it, + and - zoom, 0 resets.` },
      (context, width, height) => this.paint(context, width, height),
    );
    [this.canvas, this.redraw] = [drawn.canvas, drawn.redraw];
    this.camera = new Camera(schedule.machine, () => this.camera && this.redraw());
    this.camera.attach(this.canvas, (event) => this.click(event));
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.hover(null));
  }

  /** What is asked to be shown, read anew for each picture. */
  look() {
    const { schedule, state } = this;
    const number = (key) => (state.get(key) === "" ? null : Number(state.get(key)));
    const heat = state.get("mode") === "heat";
    const finding = number("finding");
    const bound = number("evidence");
    const chunk = state.get("chunk") === "" ? null : schedule.collective.parse(state.get("chunk"));
    const step = Math.min(state.get("step"), schedule.steps + 1);
    const link = /^(\d+)-(\d+)$/.exec(state.get("link"));
    return {
      step,
      heat,
      loads: heat ? schedule.total : schedule.loads(step || -1),
      path: chunk === null ? null : schedule.path(chunk),
      chunk,
      rank: number("rank"),
      links: link ? schedule.machine.between(Number(link[1]), Number(link[2])) : [],
      finding: finding === null ? null : schedule.verdict.violations[finding],
      marks: bound === null || !schedule.bounds[bound] ? null : marks(schedule, schedule.bounds[bound], step),
    };
  }

  paint(context, width, height) {
    const { machine } = this.schedule;
    const look = this.look();
    const colours = palette();
    const project = this.camera.projection(width, height);
    this.points = machine.places.map(project);
    this.pieces = Array.from({ length: machine.links }, (_, link) => pieces(machine, link, this.points, project));
    const scale = this.points.reduce((sum, point) => sum + point[3], 0) / (this.points.length || 1);
    this.size = Math.max(2.2, Math.min(17, scale * 0.15));
    const depths = this.points.map((point) => point[2]);
    this.nearest = depths.reduce((most, depth) => Math.max(most, depth), -Infinity);
    this.range = Math.max(1e-6, this.nearest - depths.reduce((least, depth) => Math.min(least, depth), Infinity));
    context.lineCap = "butt";
    const by = (one, other) => this.pieces[one][0].depth - this.pieces[other][0].depth;
    const links = Array.from({ length: machine.links }, (_, link) => link).sort(by);
    for (const link of links) if (machine.linkIsLive(link)) this.paintLink(context, link, look, colours);
    if (look.marks) this.paintMarks(context, look, colours);
    const dead = links.filter((link) => !machine.linkIsLive(link));
    for (const link of dead) this.paintDead(context, link, look, colours);
    this.paintOffLinks(context, look, colours);
    if (look.path) this.paintPath(context, look, colours);
    if (look.finding) this.paintFindingLink(context, look.finding, colours);
    this.paintRanks(context, look, colours);
    for (const link of dead) this.paintCross(context, link, colours);
    if (look.path) this.paintHops(context, look, colours);
    if (look.finding) this.paintFinding(context, look.finding, colours);
    this.paintHover(context, look, colours, width);
  }

  /** How clearly something at this depth is seen: what is behind fades. */
  fade(depth) {
    return this.range < 0.1 ? 1 : 1 - 0.72 * Math.min(1, Math.max(0, (this.nearest - depth) / this.range));
  }

  /** A live link, in the colour of its load; dots travel while it plays. */
  paintLink(context, link, look, colours) {
    const load = look.loads[link];
    const share = this.schedule.share(link, load, look.heat ? 0 : look.step);
    const isChosen = look.links.includes(link);
    for (const piece of this.pieces[link]) {
      context.globalAlpha = isChosen ? 1 : this.fade(piece.depth) * (look.path || look.marks ? 0.35 : 1);
      if (!load) {
        stroke(context, piece, isChosen ? colours.text : colours.line, isChosen ? 3 : 1);
        context.globalAlpha = 1;
        continue;
      }
      const colour = loadColour(colours, share);
      const wide = Math.max(1, Math.min(3.4, this.size * (0.1 + 0.14 * share)));
      if (isChosen) stroke(context, piece, colours.text, wide + 5);
      stroke(context, piece, colour, wide);
      if (piece.length > 20) arrowhead(context, piece, colour, wide + 1.5);
      if (this.phase !== null && !isCalm()) disc(context, between(piece, this.phase), wide * 0.9, colours.ground, colour, 1.5);
      context.globalAlpha = 1;
    }
  }

  /** A dead link: dashed, in the colour of failures; what is sent on it nevertheless, solid. */
  paintDead(context, link, look, colours) {
    const used = look.loads[link] > 0;
    const isOwn = this.isOwnFailure(link);
    for (const piece of this.pieces[link]) {
      if (isOwn) stroke(context, piece, colours.ground, used ? 8 : 6);
      context.globalAlpha = isOwn ? 1 : 0.5;
      stroke(context, piece, colours.failed, used ? 4 : isOwn ? 2.4 : 1.2, used ? [] : [5, 4]);
      if (used || this.isAlone(link)) arrowhead(context, piece, colours.failed, 6, 0.8);
      context.globalAlpha = 1;
    }
  }

  /** One cross on a dead cable, or on a dead direction, over everything else. */
  paintCross(context, link, colours) {
    const [alone, back] = [this.isAlone(link), this.back(link)];
    if (!this.isOwnFailure(link) || (!alone && back < link)) return;
    this.pieces[link].forEach((piece, index) => {
      const other = alone ? piece : this.pieces[back][this.pieces[back].length - 1 - index];
      const [one, two] = [between(piece, 0.5), between(other, 0.5)];
      cross(context, [(one[0] + two[0]) / 2, (one[1] + two[1]) / 2], Math.max(6, this.size * 0.62), colours.failed, colours.ground);
    });
  }

  /** Did the link fail itself, and not only a rank at its end? */
  isOwnFailure(link) {
    const { machine } = this.schedule;
    return machine.isLive[machine.from[link]] && machine.isLive[machine.to[link]];
  }

  /** Is the opposite direction of its cable live, or missing? */
  isAlone(link) {
    const back = this.back(link);
    return back === undefined || this.schedule.machine.linkIsLive(back);
  }

  back(link) {
    const { machine } = this.schedule;
    return machine.between(machine.to[link], machine.from[link]).find((other) => this.isBack(link, other));
  }

  /** Is one link the other direction of the other's cable? */
  isBack(link, other) {
    const { direction } = this.schedule.machine;
    return direction[link] === 0 || ((direction[link] - 1) ^ 1) === direction[other] - 1;
  }

  /** Transfers of the step between ranks that no link joins. */
  paintOffLinks(context, look, colours) {
    const { schedule, points } = this;
    if (look.heat) return;
    for (const transfer of schedule.transfersOf(look.step)) {
      const [from, to] = [points[schedule.from[transfer]], points[schedule.to[transfer]]];
      if (schedule.link[transfer] >= 0 || !from || !to) continue;
      const piece = { from, to };
      stroke(context, { from: from.slice(0, 2), to: to.slice(0, 2) }, colours.failed, 2.5, [2, 4]);
      arrowhead(context, piece, colours.failed, 7);
    }
  }

  paintMarks(context, { marks: found }, colours) {
    const most = Math.max(1, ...found.links);
    for (let link = 0; link < this.pieces.length; link++) {
      if (!found.links[link]) continue;
      for (const piece of this.pieces[link]) {
        stroke(context, piece, colours.evidence, 2 + 3 * (found.links[link] / most));
        if (piece.length > 20) arrowhead(context, piece, colours.evidence, 6);
      }
    }
  }

  /** The path of a chunk: hops done solid, hops to come dashed, each with its step. */
  paintPath(context, { path, step, heat }, colours) {
    for (const hop of path) {
      const [from, to] = [this.points[hop.from], this.points[hop.to]];
      if (!from || !to) continue;
      const drawn = hop.link >= 0 ? this.pieces[hop.link] : [{ from: from.slice(0, 2), to: to.slice(0, 2) }];
      const isDone = heat || hop.step <= step;
      for (const piece of drawn) {
        stroke(context, piece, colours.chunk, hop.step === step ? 5 : 3, isDone ? [] : [3, 4]);
        arrowhead(context, piece, colours.chunk, 7, 0.72);
      }
    }
  }

  /** The step of each hop, over everything else. */
  paintHops(context, { path }, colours) {
    if (path.length > 60) return;
    for (const hop of path) {
      if (hop.link < 0) continue;
      const drawn = this.pieces[hop.link];
      plate(context, between(drawn[0], drawn.length > 1 ? 1 : 0.4), `${hop.step}`, colours, colours.chunk);
    }
  }

  paintRanks(context, look, colours) {
    const { schedule, points, size } = this;
    const { machine, collective } = schedule;
    const order = points.map((_, rank) => rank).sort((one, other) => points[one][2] - points[other][2]);
    const holds = look.path ? this.holders(look) : null;
    for (const rank of order) {
      const point = points[rank];
      if (!machine.isLive[rank]) {
        disc(context, point, size, colours.ground, colours.failed, 2);
        cross(context, point, size * 0.5, colours.failed, colours.ground);
        continue;
      }
      const side = look.marks?.ranks[rank] ?? 0;
      let fill = colours.node;
      if (side) fill = side % 2 ? colours.side : colours.other;
      if (holds?.has(rank)) fill = colours.chunk;
      const isChosen = look.rank === rank || this.hovered?.rank === rank;
      const needs = holds && collective.needs(rank, look.chunk);
      const isMarked = isChosen || needs || side || holds?.has(rank);
      const clear = isMarked ? 1 : this.fade(point[2]);
      disc(context, point, size, colours.ground);
      context.globalAlpha = clear;
      disc(context, point, size, fill, isChosen ? colours.text : needs ? colours.chunk : colours.muted, isChosen || needs ? 3 : 1);
      if (size >= 8.5) {
        const isDark = holds?.has(rank) || side;
        context.fillStyle = isDark ? colours.ground : colours.text;
        context.font = `600 ${Math.min(12, size * 0.85)}px system-ui, sans-serif`;
        [context.textAlign, context.textBaseline] = ["center", "middle"];
        context.fillText(side && look.marks.blocks > 2 ? `${rank}·${side}` : `${rank}`, point[0], point[1] + 0.5);
      }
      context.globalAlpha = 1;
    }
  }

  /** The ranks that have the chunk when the step ends. */
  holders({ path, chunk, step, heat }) {
    const { collective, machine } = this.schedule;
    const holders = new Set();
    for (let rank = 0; rank < machine.ranks; rank++) if (collective.begins(rank, chunk)) holders.add(rank);
    for (const hop of path) if (heat || hop.step <= step) holders.add(hop.to);
    return holders;
  }

  paintFindingLink(context, { from, to }, colours) {
    const link = this.schedule.machine.between(from, to)[0];
    for (const piece of link === undefined ? [] : this.pieces[link]) stroke(context, piece, colours.failed, 5);
  }

  paintFinding(context, finding, colours) {
    const [from, to] = [this.points[finding.from], this.points[finding.to]];
    for (const point of [from, to]) {
      if (!point) continue;
      disc(context, point, this.size + 6, null, colours.ground, 6);
      disc(context, point, this.size + 6, null, colours.failed, 3.5);
    }
    const at = to ?? from;
    if (at) plate(context, [at[0], at[1] - this.size - 20], finding.code, colours, colours.failed, "700 12px system-ui, sans-serif");
  }

  paintHover(context, look, colours, width) {
    if (!this.hovered) return;
    const { rank, link, at } = this.hovered;
    const { machine } = this.schedule;
    let text = machine.rankLabel(rank);
    if (rank === undefined) {
      const load = look.loads[link];
      const room = (look.heat ? this.schedule.totalWidth : this.schedule.width[look.step - 1] ?? 0) * machine.capacity[link];
      text = `${machine.linkLabel(link)}: ${machine.linkIsLive(link) ? "" : "failed, "}${load}/${room} chunks`;
      if (room) text += `, ${percent(load / room)}`;
    }
    context.font = "600 12px system-ui, sans-serif";
    const half = context.measureText(text).width / 2 + 6;
    const x = Math.max(half, Math.min(width - half, at[0]));
    plate(context, [x, Math.max(12, at[1] - 22)], text, colours, colours.muted, context.font);
  }

  /** The rank or link at a place of the canvas. */
  find([x, y]) {
    const near = (point) => Math.hypot(point[0] - x, point[1] - y);
    let best = { distance: this.size + 3 };
    this.points.forEach((point, rank) => {
      if (near(point) <= best.distance - (best.rank === undefined ? 0 : 1)) best = { rank, distance: near(point) };
    });
    if (best.rank !== undefined) return best;
    best = { distance: 6 };
    this.pieces.forEach((drawn, link) => {
      for (const piece of drawn) {
        const apart = away([x, y], piece);
        if (apart < best.distance) best = { link, distance: apart };
      }
    });
    return best.link === undefined ? null : best;
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  hover(event) {
    const found = event && this.points && event.buttons === 0 ? this.find(this.place(event)) : null;
    if (!found && !this.hovered) return;
    this.hovered = found && { ...found, at: this.place(event) };
    this.canvas.style.cursor = found ? "pointer" : "";
    this.redraw();
  }

  click(event) {
    const found = this.find(this.place(event));
    const { machine } = this.schedule;
    if (found?.rank !== undefined) this.state.set({ rank: `${found.rank}`, link: "", tab: "rank" });
    else if (found) this.state.set({ link: `${machine.from[found.link]}-${machine.to[found.link]}`, rank: "", tab: "links" });
    else this.state.set({ rank: "", link: "" });
  }
}
