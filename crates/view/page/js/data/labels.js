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

  /** May chunks cross it? They may not cross a live link that leaves a group without relays. */
  linkMayCarry(link) {
    return (this.flags[link] & 4) === 4;
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

/** The collective of a file: its chunks, numbered as docs/formats/schedule-format.md says. */
export class Collective {
  constructor(stated, machine, columns) {
    Object.assign(this, stated);
    this.machine = machine;
    this.counts = columns.next();
    this.firsts = this.demand ? starts(this.counts) : null;
    // Without groups, all ranks are one, whose members' places are their numbers.
    this.members = stated.groups ?? [Array.from({ length: machine.ranks }, (_, rank) => rank)];
    this.blocks = starts(this.members.map((ranks) => ranks.length ** this.owners));
    this.place = new Map(this.members.flatMap((ranks, group) => ranks.map((rank, place) => [rank, [group, place]])));
  }

  /** The group of a chunk, and the places of its origin and its destination there, or of its owner twice. */
  located(chunk) {
    const block = Math.floor(chunk / this.parts);
    const group = last(this.blocks, this.members.length, block);
    const [number, size] = [block - this.blocks[group], this.members[group].length];
    return this.owners === 2 ? [group, Math.floor(number / size), number % size] : [group, number, number];
  }

  /** `[origin, destination]` of a chunk, or its owner twice. */
  pair(chunk) {
    const ranks = this.machine.ranks;
    if (this.demand) {
      const pair = last(this.firsts, this.counts.length, chunk);
      return [Math.floor(pair / ranks), pair % ranks];
    }
    const [group, origin, dest] = this.located(chunk);
    return [this.members[group][origin], this.members[group][dest]];
  }

  /** Does the rank begin with the chunk? */
  begins(rank, chunk) {
    return this.isHolder(this.before, rank, chunk, 0);
  }

  /** Must it end with it? Nobody waits for what a failed rank would have begun with. */
  needs(rank, chunk) {
    return this.hasOrigin(chunk) && this.isHolder(this.after, rank, chunk, 1);
  }

  /** Does a live rank begin with the chunk? */
  hasOrigin(chunk) {
    if (!this.demand && this.before === "every") return true;
    return this.machine.isLive[this.before === "root" ? this.members[this.located(chunk)[0]][this.root] : this.pair(chunk)[0]] === 1;
  }

  isHolder(who, rank, chunk, end) {
    if (!this.machine.isLive[rank]) return false;
    if (this.demand) return rank === this.pair(chunk)[end];
    const [group, place] = this.place.get(rank) ?? [];
    const [of, ...owners] = this.located(chunk);
    if (group !== of) return false;
    return who === "every" || place === (who === "root" ? this.root : owners[end]);
  }

  /** `3>7/1`, `5/0` or `5`, as in files; in groups `5/0` too where a chunk is its group's. */
  label(chunk) {
    if (!this.demand && this.owners === 0) {
      const [group] = this.located(chunk);
      return this.groups ? named(`${group}`, chunk - this.blocks[group] * this.parts, this.parts) : `${chunk}`;
    }
    const [origin, dest] = this.pair(chunk);
    const name = this.demand || this.owners === 2 ? `${origin}>${dest}` : `${origin}`;
    if (!this.demand) return named(name, chunk % this.parts, this.parts);
    const pair = origin * this.machine.ranks + dest;
    return named(name, chunk - this.firsts[pair], this.counts[pair]);
  }

  /** Reads a label; `-` may stand for `>`. Null if there is no such chunk. */
  parse(text) {
    const found = /^(\d+)(?:[>-](\d+))?(?:\/(\d+))?$/.exec(text.trim());
    if (!found) return null;
    const [one, other, part = 0] = found.slice(1).map((number) => (number === undefined ? undefined : Number(number)));
    const ranks = this.machine.ranks;
    const pairs = this.demand || this.owners === 2;
    if (pairs !== (other !== undefined)) return null;
    if (this.demand) {
      const pair = one * ranks + other;
      return one < ranks && other < ranks && part < this.counts[pair] ? this.firsts[pair] + part : null;
    }
    if (this.owners === 0) {
      if (!this.groups) return found[3] === undefined && one < this.chunks ? one : null;
      return one < this.members.length && part < this.parts ? one * this.parts + part : null;
    }
    const [[group, place], [of, end]] = [this.place.get(one) ?? [], this.place.get(other ?? one) ?? []];
    if (group === undefined || group !== of || part >= this.parts) return null;
    const number = pairs ? place * this.members[group].length + end : place;
    return (this.blocks[group] + number) * this.parts + part;
  }
}

/** Where the last of `count` ascending firsts is that is at most a value. */
function last(firsts, count, value) {
  let [low, high] = [0, count];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (firsts[middle] <= value) low = middle;
    else high = middle;
  }
  return low;
}

/** What carries nothing, in words. */
export function obstacle(isDead, isMissing) {
  return [isDead && "dead", isMissing && "missing"].filter(Boolean).join(" or ");
}

function named(name, part, parts) {
  return parts > 1 ? `${name}/${part}` : name;
}
