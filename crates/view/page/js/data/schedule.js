// A schedule: steps of transfers, in flat arrays, and what can be asked of them.
import { starts } from "./columns.js";
import { Collective, Machine, obstacle } from "./labels.js";

export class Schedule {
  constructor(stated, columns) {
    Object.assign(this, stated);
    this.machine = new Machine(stated.machine, columns);
    this.collective = new Collective(stated.collective, this.machine, columns);
    this.width = columns.next();
    this.steps = this.width.length;
    this.firstTransfer = starts(columns.next());
    this.link = columns.signed();
    const ends = columns.next();
    this.reduces = columns.next(Uint8Array);
    this.firstChunk = starts(columns.next());
    this.chunks = columns.signed();
    this.readEnds(ends);
    this.readChunks();
    this.sumUp();
  }

  readEnds(ends) {
    const count = this.link.length;
    [this.from, this.to] = [new Uint32Array(count), new Uint32Array(count)];
    let [number, next] = [0, 0];
    for (let transfer = 0; transfer < count; transfer++) {
      number += this.link[transfer];
      const link = number - 1;
      this.link[transfer] = link;
      this.from[transfer] = link < 0 ? ends[next++] : this.machine.from[link];
      this.to[transfer] = link < 0 ? ends[next++] : this.machine.to[link];
    }
  }

  readChunks() {
    for (let transfer = 0; transfer < this.link.length; transfer++) {
      for (let at = this.firstChunk[transfer] + 1; at < this.firstChunk[transfer + 1]; at++) {
        this.chunks[at] += this.chunks[at - 1];
      }
    }
  }

  /** Totals of every link and step. */
  sumUp() {
    const { machine } = this;
    this.totalWidth = this.width.reduce((sum, width) => sum + width, 0);
    this.total = new Float64Array(machine.links);
    this.moves = new Float64Array(this.steps);
    this.busy = new Float64Array(this.steps);
    // Transfers over links that are dead or missing, and their moves by step.
    [this.broken, this.brokenMoves] = [[], new Float64Array(this.steps)];
    let room = 0;
    for (let link = 0; link < machine.links; link++) if (machine.linkIsLive(link)) room += machine.capacity[link];
    for (let step = 1; step <= this.steps; step++) {
      for (const transfer of this.transfersOf(step)) {
        const load = this.load(transfer);
        this.moves[step - 1] += load;
        const link = this.link[transfer];
        if (link >= 0) this.total[link] += load;
        if (link >= 0 && machine.linkIsLive(link)) continue;
        this.broken.push(transfer);
        this.brokenMoves[step - 1] += load;
      }
      this.busy[step - 1] = room ? this.moves[step - 1] / (room * this.width[step - 1]) : 0;
    }
  }

  /** The transfers of a step, steps counted from 1. */
  *transfersOf(step) {
    if (step < 1 || step > this.steps) return;
    for (let transfer = this.firstTransfer[step - 1]; transfer < this.firstTransfer[step]; transfer++) yield transfer;
  }

  chunksOf(transfer) {
    return this.chunks.subarray(this.firstChunk[transfer], this.firstChunk[transfer + 1]);
  }

  load(transfer) {
    return this.firstChunk[transfer + 1] - this.firstChunk[transfer];
  }

  /** What transfers cross that carries nothing: `dead`, `missing`, or both; empty if none does. */
  obstacle() {
    return obstacle(this.broken.some((transfer) => this.link[transfer] >= 0), this.broken.some((transfer) => this.link[transfer] < 0));
  }

  /** The link of a transfer, or its ends where none joins them. */
  wayLabel(transfer) {
    if (this.link[transfer] >= 0) return this.machine.linkLabel(this.link[transfer]);
    const label = (rank) => (rank < this.machine.ranks ? this.machine.rankLabel(rank) : `${rank}`);
    return `${label(this.from[transfer])} → ${label(this.to[transfer])}`;
  }

  /** The step of a transfer. */
  stepOf(transfer) {
    let [low, high] = [0, this.steps];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.firstTransfer[middle] <= transfer) low = middle;
      else high = middle;
    }
    return low + 1;
  }

  /** How full a link is in a step, or over all steps: the share of what it could carry. */
  share(link, load, step) {
    const width = step ? this.width[step - 1] : this.totalWidth;
    return width ? load / (width * this.machine.capacity[link]) : 0;
  }

  /** The load of each link in a step; in step 0, over all steps. */
  loads(step) {
    if (!step) return this.total;
    if (this.loadsAt !== step) {
      this.loadsAt = step;
      this.loadsOf = new Float64Array(this.machine.links);
      for (const transfer of this.transfersOf(step)) {
        if (this.link[transfer] >= 0) this.loadsOf[this.link[transfer]] += this.load(transfer);
      }
    }
    return this.loadsOf;
  }

  /** The transfers that carry a chunk, in order. */
  path(chunk) {
    if (this.pathOf !== chunk) {
      this.pathOf = chunk;
      this.hops = [];
      let transfer = 0;
      for (let at = this.chunks.indexOf(chunk); at >= 0; at = this.chunks.indexOf(chunk, at + 1)) {
        while (this.firstChunk[transfer + 1] <= at) transfer++;
        const [from, to, link] = [this.from[transfer], this.to[transfer], this.link[transfer]];
        this.hops.push({ step: this.stepOf(transfer), transfer, from, to, link, reduces: this.reduces[transfer] === 1 });
      }
    }
    return this.hops;
  }

  /**
   * What a rank sends, receives and holds in each step, as docs/formats/schedule-format.md counts what is held: a value
   * from its arrival to its last use, or to the end if the rank ends with it, and every arrival in its step.
   */
  life(rank) {
    const { steps, collective } = this;
    const [sent, received, changes] = [new Float64Array(steps), new Float64Array(steps), new Float64Array(steps + 2)];
    // A value is held from a step until before another; step 0 is the start.
    const hold = ({ since, until }) => {
      changes[since] += 1;
      changes[until] -= 1;
    };
    // What the rank has of each chunk that it sent or received.
    const has = new Map();
    const value = (chunk) => {
      if (!has.has(chunk) && collective.begins(rank, chunk)) has.set(chunk, { since: 0, until: 0 });
      return has.get(chunk);
    };
    for (let step = 1; step <= steps; step++) {
      for (const transfer of this.transfersOf(step)) {
        if (this.from[transfer] !== rank) continue;
        sent[step - 1] += this.load(transfer);
        for (const chunk of this.chunksOf(transfer)) if (value(chunk)) value(chunk).until = step + 1;
      }
      for (const transfer of this.transfersOf(step)) {
        if (this.to[transfer] !== rank) continue;
        received[step - 1] += this.load(transfer);
        for (const chunk of this.chunksOf(transfer)) {
          const [old, arrival] = [value(chunk), { since: step, until: step + 1 }];
          // A sum takes the place of what it is added to; both are held in this step.
          if (old && this.reduces[transfer]) {
            hold(arrival);
            old.until = step + 1;
          } else {
            if (old) hold(old);
            has.set(chunk, arrival);
          }
        }
      }
    }
    for (let chunk = 0; chunk < collective.chunks; chunk++) {
      const last = value(chunk);
      if (last) hold(collective.needs(rank, chunk) ? { since: last.since, until: steps + 1 } : last);
    }
    const held = new Float64Array(steps);
    let now = changes[0];
    for (let step = 1; step <= steps; step++) held[step - 1] = now += changes[step];
    return { sent, received, held };
  }

  /** The links in order of their load in a step (0: over all), the hottest first; dead ones only if they carry data. */
  hottest(step, most) {
    const loads = this.loads(step);
    const links = Array.from({ length: this.machine.links }, (_, link) => link);
    return links
      .map((link) => ({ link, load: loads[link], share: this.share(link, loads[link], step) }))
      .filter(({ link, load }) => load > 0 || this.machine.linkIsLive(link))
      .sort((one, other) => other.share - one.share || one.link - other.link)
      .slice(0, most);
  }
}
