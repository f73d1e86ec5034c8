// A rank program: workers and their operations, and one run of them in which an operation takes a unit of time, a wait or
// a token a quarter.
import { starts } from "./columns.js";
import { Collective, Machine, obstacle } from "./labels.js";

const KINDS = ["send", "receive", "add and receive", "copy", "reduce", "wait"];
const BUFFERS = ["input", "output", "scratch"];
/** What is wrong with the machine under a program: ranks that failed, links that are missing or failed. */
const MACHINE_CODES = ["T001", "T002", "T003"];
const [SEND, RECEIVE, ADD, COPY, REDUCE, WAIT] = [0, 1, 2, 3, 4, 5];

export class Program {
  constructor(stated, columns) {
    Object.assign(this, stated);
    this.machine = new Machine(stated.machine, columns);
    this.collective = new Collective(stated.collective, this.machine, columns);
    [this.channelFrom, this.channelTo, this.slots] = [columns.next(), columns.next(), columns.next()];
    this.firstWorker = starts(columns.next());
    this.firstOperation = starts(columns.next());
    this.workers = this.firstOperation.length - 1;
    this.kind = columns.next(Uint8Array);
    [this.channel, this.forward, this.count] = [columns.next(), columns.next(), columns.next()];
    [this.reads, this.writes] = [columns.next(Float64Array), columns.next(Float64Array)];
    this.rankOf = new Uint32Array(this.workers);
    for (let rank = 0; rank + 1 < this.firstWorker.length; rank++) {
      this.rankOf.fill(rank, this.firstWorker[rank], this.firstWorker[rank + 1]);
    }
    this.run();
    this.steps = Math.max(1, Math.ceil(this.length));
    this.involved = this.verdict.violations.map((violation) => this.named(violation));
    this.findBroken();
  }

  /** Runs all workers as far as they get: when each operation begins and ends, and which send each receive takes. */
  run() {
    const count = this.kind.length;
    this.begin = new Float64Array(count).fill(-1);
    this.end = new Float64Array(count).fill(-1);
    this.sender = new Int32Array(count).fill(-1);
    const channels = Array.from(this.slots, (slots) => ({ slots, sent: [], freed: [], taken: 0 }));
    const next = Uint32Array.from(this.firstOperation.subarray(0, this.workers));
    const clock = new Float64Array(this.workers);
    let progress = true;
    while (progress) {
      progress = false;
      for (let worker = 0; worker < this.workers; worker++) {
        while (next[worker] < this.firstOperation[worker + 1]) {
          const operation = next[worker];
          const ready = this.ready(operation, worker, channels);
          if (ready === null) break;
          this.begin[operation] = Math.max(clock[worker], ready);
          this.end[operation] = this.begin[operation] + (this.isQuick(operation) ? 0.25 : 1);
          clock[worker] = this.end[operation];
          this.move(operation, channels);
          next[worker] += 1;
          progress = true;
        }
      }
    }
    this.length = clock.reduce((most, time) => Math.max(most, time), 0);
    this.stuck = Array.from({ length: this.workers }, (_, worker) => worker).filter((worker) => next[worker] < this.firstOperation[worker + 1]);
    this.next = next;
    this.cycle = this.findCycle(channels);
  }

  /** Does it carry no data: a wait, a token? */
  isQuick(operation) {
    return this.kind[operation] === WAIT || !this.count[operation];
  }

  /** When an operation may begin at the earliest; null if not yet. */
  ready(operation, worker, channels) {
    const kind = this.kind[operation];
    if (kind === COPY || kind === REDUCE) return 0;
    if (kind === WAIT) {
      const other = this.target(operation, worker);
      return this.end[other] >= 0 ? this.end[other] : null;
    }
    const room = (channel) => {
      const full = channel.sent.length - channel.slots;
      return full < 0 ? 0 : (channel.freed[full] ?? null);
    };
    const own = channels[this.channel[operation]];
    if (!own) return null;
    if (kind === SEND) return room(own);
    const packet = own.sent[own.taken];
    const forward = this.forward[operation] ? room(channels[this.forward[operation] - 1]) : 0;
    return packet === undefined || forward === null ? null : Math.max(this.end[packet], forward);
  }

  /** The operation that a wait is for. */
  target(operation, worker) {
    return this.firstOperation[this.firstWorker[this.rankOf[worker]] + this.channel[operation]] + this.count[operation];
  }

  move(operation, channels) {
    const kind = this.kind[operation];
    if (kind === SEND) channels[this.channel[operation]].sent.push(operation);
    if (kind !== RECEIVE && kind !== ADD) return;
    const own = channels[this.channel[operation]];
    this.sender[operation] = own.sent[own.taken++];
    own.freed.push(this.end[operation]);
    if (this.forward[operation]) channels[this.forward[operation] - 1].sent.push(operation);
  }

  /** The operations that wait for each other in a circle, if any. */
  findCycle(channels) {
    const ends = new Map();
    this.firstOperation.subarray(0, this.workers).forEach((first, worker) => {
      for (let operation = first; operation < this.firstOperation[worker + 1]; operation++) {
        if (this.kind[operation] === SEND) ends.set(`s${this.channel[operation]}`, worker);
        if (this.forward[operation]) ends.set(`s${this.forward[operation] - 1}`, worker);
        if (this.kind[operation] === RECEIVE || this.kind[operation] === ADD) ends.set(`r${this.channel[operation]}`, worker);
      }
    });
    const waitsFor = (worker) => {
      const operation = this.next[worker];
      if (this.kind[operation] === WAIT) return this.firstWorker[this.rankOf[worker]] + this.channel[operation];
      if (this.kind[operation] === SEND) return ends.get(`r${this.channel[operation]}`);
      const own = channels[this.channel[operation]];
      if (own.sent[own.taken] === undefined) return ends.get(`s${this.channel[operation]}`);
      return ends.get(`r${this.forward[operation] - 1}`);
    };
    const isStuck = new Set(this.stuck);
    for (const first of this.stuck) {
      const seen = [];
      for (let worker = first; isStuck.has(worker); worker = waitsFor(worker)) {
        if (seen.includes(worker)) return seen.slice(seen.indexOf(worker)).map((one) => this.next[one]);
        seen.push(worker);
      }
    }
    return [];
  }

  workerOf(operation) {
    let [low, high] = [0, this.workers];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.firstOperation[middle] <= operation) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The sends over channels that cross what is dead or missing, what receives from them, and all that failed ranks do. */
  findBroken() {
    const { violations, totals } = this.verdict;
    const isOfMachine = ({ code }) => MACHINE_CODES.includes(code);
    const [broken, failed] = [new Set(), new Set()];
    violations.forEach((violation, index) => {
      if (!isOfMachine(violation)) return;
      // What is said of a rank is of all its operations; what is said of a channel has the first that sends on it.
      if (violation.message.startsWith("rank ")) failed.add(violation.rank ?? -1);
      else for (const operation of this.involved[index]) broken.add(this.out(operation));
    });
    const receives = (operation) => (this.kind[operation] === RECEIVE || this.kind[operation] === ADD) && broken.has(this.channel[operation]);
    const isBroken = (operation) => broken.has(this.out(operation)) || receives(operation) || failed.has(this.rankOf[this.workerOf(operation)]);
    this.broken = new Set(Array.from(this.kind.keys()).filter(isBroken));
    this.hasFailedRanks = Array.from(failed).some((rank) => rank >= 0);
    // The list of violations may be cut short, their totals are not.
    const [dead, missing] = [(totals.T001 ?? 0) + (totals.T003 ?? 0), totals.T002 ?? 0];
    this.hasMoreBroken = dead + missing > violations.filter(isOfMachine).length;
    this.obstacleOf = this.broken.size || this.hasMoreBroken ? obstacle(dead > 0, missing > 0) : "";
  }

  /** What operations use that carries nothing: `dead`, `missing`, or both; empty if none does. */
  obstacle() {
    return this.obstacleOf;
  }

  /** The channel that an operation sends on, or -1. */
  out(operation) {
    return this.kind[operation] === SEND ? this.channel[operation] : this.forward[operation] - 1;
  }

  /** The operations that a violation names, at its place or in its sentence. */
  named({ message, rank, worker, operation: place }) {
    const found = [];
    if (Number.isInteger(place)) found.push(this.firstOperation[this.firstWorker[rank] + worker] + place);
    for (const [, rank, worker, index] of message.matchAll(/rank (\d+), worker (\d+), operation (\d+)/g)) {
      const operation = this.firstOperation[this.firstWorker[Number(rank)] + Number(worker)] + Number(index);
      if (!found.includes(operation)) found.push(operation);
    }
    return found;
  }

  slot(number) {
    return number ? `${BUFFERS[(number - 1) % 3]} ${Math.floor((number - 1) / 3)}` : "";
  }

  /** `rank 3, worker 1, operation 7: send input 4 to rank 2`. */
  describe(operation) {
    const worker = this.workerOf(operation);
    const rank = this.rankOf[worker];
    const [kind, channel, count] = [this.kind[operation], this.channel[operation], this.count[operation]];
    const many = count > 1 ? ` (${count} slots)` : "";
    const [reads, writes] = [this.slot(this.reads[operation]), this.slot(this.writes[operation])];
    const what = {
      [SEND]: () => `send ${count ? reads : "a token"}${many} to rank ${this.channelTo[channel]}`,
      [RECEIVE]: () => `receive ${count ? "" : "a token "}from rank ${this.channelFrom[channel]}${writes && ` into ${writes}`}${many}`,
      [ADD]: () => `receive from rank ${this.channelFrom[channel]}, add ${reads}${writes && `, into ${writes}`}${many}`,
      [COPY]: () => `copy ${reads} to ${writes}${many}`,
      [REDUCE]: () => `add ${reads} to ${writes}${many}`,
      [WAIT]: () => `wait for worker ${channel}, operation ${count}`,
    }[kind]();
    const forward = this.forward[operation] ? `, on to rank ${this.channelTo[this.forward[operation] - 1]}` : "";
    const index = operation - this.firstOperation[worker];
    return `rank ${rank}, worker ${worker - this.firstWorker[rank]}, operation ${index}: ${what}${forward}`;
  }

  /** How many operations are of each kind. */
  kinds() {
    const counts = new Array(KINDS.length).fill(0);
    for (const kind of this.kind) counts[kind] += 1;
    return counts.map((count, kind) => ({ name: KINDS[kind], count })).filter(({ count }) => count);
  }
}
