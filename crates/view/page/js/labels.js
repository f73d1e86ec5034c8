// Machines and collectives: what ranks, links and chunks are called, and who begins with a chunk and who needs it.
import { starts } from "./columns.js";

const LETTERS = "xyzwvu";

/** The machine of a file: its ranks, links and places. */
export class Machine {
  constructor(stated, columns) {
    Object.assign(this, stated);
    const places = columns.signed();
    this.places = Array.from({ length: this.ranks }, (_, rank) => [0, 1, 2].map((axis) => places[3 * rank + axis] / 1000));
    this.isLive = columns.next(Uint8Array);
    this.from = columns.next();
    this.to = columns.next();
    this.capacity = columns.next();
    this.direction = columns.next();
    this.flags = columns.next(Uint8Array);
    this.links = this.from.length;
    this.out = Array.from({ length: this.ranks }, () => []);
    for (let link = 0; link < this.links; link++) this.out[this.from[link]].push(link);
  }

  linkIsLive(link) {
    return (this.flags[link] & 1) === 1;
  }

  /** The direction in which a link leaves its sender, if it is drawn as two stubs. */
  stub(link) {
    return this.flags[link] & 2 ? this.stubs[this.direction[link] - 1] : null;
  }

  /** The links from one rank to another. */
  between(from, to) {
    return (this.out[from] ?? []).filter((link) => this.to[link] === to);
  }

  coordinates(rank) {
    const position = [];
    let rest = rank;
    for (const extent of this.extents ?? []) {
      position.push(rest % extent);
      rest = Math.floor(rest / extent);
    }
    return position;
  }

  /** `42 (2,2,2) node42`, as far as the rank has them. */
  rankLabel(rank) {
    const position = this.extents?.length > 1 ? ` (${this.coordinates(rank).join(",")})` : "";
    return `${rank}${position}${this.names ? ` ${this.names[rank]}` : ""}`;
  }

  /** `x+`; empty on a graph. */
  directionName(link) {
    const direction = this.direction[link] - 1;
    if (direction < 0) return "";
    const dim = direction >> 1;
    return (LETTERS[dim] ?? `d${dim}`) + (direction & 1 ? "+" : "-");
  }

  linkLabel(link) {
    const name = this.directionName(link);
    return `${this.rankLabel(this.from[link])} → ${this.rankLabel(this.to[link])}${name && ` ${name}`}`;
  }

  /** Reads `42`, `2.2.2`, `2,2,2` or a name; null if there is no such rank. */
  parseRank(text) {
    const named = (this.names ?? []).indexOf(text.trim());
    if (named >= 0) return named;
    const numbers = text.trim().split(/[.,]/);
    if (!numbers.every((number) => /^\d+$/.test(number))) return null;
    if (numbers.length === 1) return Number(numbers[0]) < this.ranks ? Number(numbers[0]) : null;
    const extents = this.extents ?? [];
    if (numbers.length !== extents.length || numbers.some((number, dim) => Number(number) >= extents[dim])) return null;
    return numbers.reduceRight((rank, number, dim) => rank * extents[dim] + Number(number), 0);
  }
}

/** The collective of a file: its chunks. */
export class Collective {
  constructor(stated, machine, columns) {
    Object.assign(this, stated);
    this.machine = machine;
    this.counts = columns.next();
    this.firsts = this.demand ? starts(this.counts) : null;
  }

  /** `[origin, destination]` of a chunk, or its owner twice. */
  pair(chunk) {
    const ranks = this.machine.ranks;
    if (this.demand) {
      let [low, high] = [0, this.counts.length];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (this.firsts[middle] <= chunk) low = middle;
        else high = middle;
      }
      return [Math.floor(low / ranks), low % ranks];
    }
    const number = Math.floor(chunk / this.parts);
    return this.owners === 2 ? [Math.floor(number / ranks), number % ranks] : [number, number];
  }

  /** Does the rank begin with the chunk? */
  begins(rank, chunk) {
    return this.isHolder(this.before, rank, this.pair(chunk)[0]);
  }

  /** Must it end with it? */
  needs(rank, chunk) {
    return this.isHolder(this.after, rank, this.pair(chunk)[1]);
  }

  isHolder(who, rank, owner) {
    if (!this.machine.isLive[rank]) return false;
    return who === "every" || rank === (who === "root" ? this.root : owner);
  }

  /** `3>7/1`, `5/0` or `5`, as in files. */
  label(chunk) {
    if (!this.demand && this.owners === 0) return `${chunk}`;
    const [origin, dest] = this.pair(chunk);
    const name = this.demand || this.owners === 2 ? `${origin}>${dest}` : `${origin}`;
    const first = this.demand ? this.firsts[origin * this.machine.ranks + dest] : chunk - (chunk % this.parts);
    const parts = this.demand ? this.counts[origin * this.machine.ranks + dest] : this.parts;
    return parts > 1 ? `${name}/${chunk - first}` : name;
  }

  /** Reads a label; `-` may stand for `>`. Null if there is no such chunk. */
  parse(text) {
    const found = /^(\d+)(?:[>-](\d+))?(?:\/(\d+))?$/.exec(text.trim());
    if (!found) return null;
    const [one, other, part] = found.slice(1).map((number) => (number === undefined ? undefined : Number(number)));
    const ranks = this.machine.ranks;
    const pairs = this.demand || this.owners === 2;
    if (pairs !== (other !== undefined) || (this.owners === 0 && !pairs && part !== undefined)) return null;
    if (one >= (this.owners === 0 && !pairs ? this.chunks : ranks) || (other ?? 0) >= ranks) return null;
    if (!pairs && this.owners === 0) return one;
    const number = pairs ? one * ranks + other : one;
    if ((part ?? 0) >= (this.demand ? this.counts[number] : this.parts)) return null;
    return (this.demand ? this.firsts[number] : number * this.parts) + (part ?? 0);
  }
}
