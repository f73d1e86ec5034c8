// What the evidence of a bound says of each rank and each link, so that it can be drawn. It counts the links that
// chunks may cross.

/**
 * Marks for the ranks (0: none, 1 and 2: the two sides, or numbers of blocks) and for the links (weights), and a
 * sentence. `step` selects the windows of evidence over time.
 */
export function marks(schedule, bound, step) {
  const { machine } = schedule;
  const found = { ranks: new Int32Array(machine.ranks), links: new Float64Array(machine.links), words: "", blocks: 2 };
  const { evidence } = bound;
  const add = (from, to, weight) => {
    for (const link of machine.between(from, to)) if (machine.linkMayCarry(link)) found.links[link] += weight;
  };
  switch (evidence.kind) {
    case "distance":
      distance(machine, evidence, found);
      break;
    case "cut":
      cut(machine, evidence.ranks, found);
      break;
    case "metric":
      for (const [from, to, weight] of evidence.weights) add(from, to, weight);
      metric(machine, found);
      break;
    case "partition":
      partition(schedule, evidence.blocks, found);
      break;
    default:
      overTime(schedule, evidence, step, add, found);
  }
  return found;
}

function distance(machine, { from, to }, found) {
  found.ranks[from] = 1;
  found.ranks[to] = 2;
  const path = shortest(machine, from, to);
  for (const link of path) found.links[link] = 1;
  found.words = `Rank ${machine.rankLabel(to)} needs data of rank ${machine.rankLabel(from)}, ${path.length} hops away, and a step is one hop. One shortest path is drawn.`;
}

function cut(machine, ranks, found) {
  found.ranks.fill(2);
  for (const rank of ranks) found.ranks[rank] = 1;
  let crossing = 0;
  for (let link = 0; link < machine.links; link++) {
    if (!machine.linkMayCarry(link) || found.ranks[machine.from[link]] === found.ranks[machine.to[link]]) continue;
    found.links[link] = 1;
    crossing += 1;
  }
  const side = ranks.length === 1 ? "one rank" : `${ranks.length} ranks`;
  found.words = `What must cross between ${side} and all others, over the links between them (${crossing}, both ways, are drawn).`;
}

function metric(machine, found) {
  const weighted = Array.from(found.links.keys()).filter((link) => found.links[link] > 0);
  const words =
    "Every message covers at least its distance (to several ranks: the lightest tree) by these weights of links, and the links offer only so much.";
  found.words = words;
  if (!weighted.length || weighted.length === machine.links) return;
  // Where the weighted links separate the ranks, they are a cut: draw its two sides.
  const side = reach(machine, machine.from[weighted[0]], (link) => found.links[link] === 0);
  if (weighted.some((link) => !side[machine.from[link]] || side[machine.to[link]])) return;
  let inside = 0;
  for (let rank = 0; rank < machine.ranks; rank++) {
    found.ranks[rank] = side[rank] ? 1 : 2;
    if (side[rank] && machine.isLive[rank]) inside += 1;
  }
  found.words = `All that ${inside === 1 ? "one rank sends" : `${inside} ranks send`} to the others must cross these ${weighted.length} links.`;
}

function partition({ machine, collective }, blocks, found) {
  blocks.forEach((block, index) => {
    for (const rank of block) found.ranks[rank] = index + 1;
  });
  found.blocks = blocks.length;
  for (let link = 0; link < machine.links; link++) {
    const [one, other] = [found.ranks[machine.from[link]], found.ranks[machine.to[link]]];
    if (machine.linkMayCarry(link) && one && other && one !== other) found.links[link] = 1;
  }
  // Each group by itself: the blocks with a live member of it, but one.
  const reached = collective.members.map((ranks) => new Set(ranks.filter((rank) => machine.isLive[rank]).map((rank) => found.ranks[rank])).size);
  const sent = reached.reduce((sum, number) => sum + Math.max(0, number - 1), 0);
  const each = collective.members.length > 1 ? `, in each of the ${collective.members.length} groups` : "";
  found.words = `Each of the ${blocks.length} blocks but one must send, and then hear from all others${each}: ${2 * sent} vectors cross between blocks.`;
}

function overTime(schedule, { kind, units, rank, weights }, step, add, found) {
  const isJoint = kind === "joint";
  let [first, last] = [step, step];
  if (!isJoint) {
    first = 1;
    for (let before = 1; before < step; before++) first += schedule.width[before - 1] ?? 0;
    last = first + (schedule.width[step - 1] ?? 1) - 1;
  }
  for (const [from, to, begin, end, weight] of weights) if (begin <= last && end >= first) add(from, to, weight);
  if (rank !== undefined && rank !== null) found.ranks[rank] = 1;
  const now = isJoint ? `step ${first}` : `units ${first} to ${last}`;
  found.words = `Links have these weights in ${now} of ${units}; play to see them change. All chunks cover more distance than the links offer in that time.`;
}

function reach(machine, from, passes) {
  const seen = new Uint8Array(machine.ranks);
  const queue = [from];
  seen[from] = 1;
  while (queue.length) {
    for (const link of machine.out[queue.pop()]) {
      if (!machine.linkMayCarry(link) || !passes(link) || seen[machine.to[link]]) continue;
      seen[machine.to[link]] = 1;
      queue.push(machine.to[link]);
    }
  }
  return seen;
}

/** The links of a shortest path. */
function shortest(machine, from, to) {
  const entered = new Map([[from, -1]]);
  const queue = [from];
  for (let at = 0; at < queue.length && !entered.has(to); at++) {
    for (const link of machine.out[queue[at]]) {
      if (!machine.linkMayCarry(link) || entered.has(machine.to[link])) continue;
      entered.set(machine.to[link], link);
      queue.push(machine.to[link]);
    }
  }
  const path = [];
  for (let rank = to; entered.get(rank) >= 0; rank = machine.from[entered.get(rank)]) path.unshift(entered.get(rank));
  return path;
}
