// The panels beside the picture: the verdict, links, a chunk, a rank, charts.
import { lifeChart, ranksBySteps, whoToWhom } from "./drawing/charts.js";
import { count, element, inline, percent, table } from "./drawing/elements.js";
import { marks } from "./data/evidence.js";

/** The most links and hops listed. */
const MOST = 24;

/** A verdict in a word, unmistakable without colours. */
export function badge(file) {
  const holds = file.verdict.verdict === "holds";
  const total = Object.entries(file.verdict.totals ?? {}).reduce((sum, [code, number]) => sum + (code.startsWith("W") ? 0 : number), 0);
  const words = holds ? "✓ holds" : `✕ refuted: ${count(total, "violation")}`;
  return element("span", { class: `badge ${holds ? "holds" : "refuted"}` }, words);
}

export function verdictPanel(file, state) {
  const { verdict } = file;
  const go = (index) => {
    const { step, chunk, label, from, to, rank } = verdict.violations[index];
    const changes = { finding: `${index}`, evidence: "", rank: rank === undefined || rank === null ? "" : `${rank}` };
    if (step) Object.assign(changes, { step, mode: "step" });
    changes.chunk = chunk === undefined || chunk === null ? "" : label.replace(">", "-");
    changes.link = step && from !== null && to !== null && from !== undefined ? `${from}-${to}` : "";
    state.set(changes);
  };
  const entry = ({ code, message, trace, line, column, consequences }, index) => {
    const isChosen = state.get("finding") === `${index}`;
    const place = line ? ` line ${line}, column ${column}` : "";
    const more = consequences ? `, ${count(consequences, "consequence")}` : "";
    return element(
      "li",
      {},
      element(
        "button",
        { type: "button", class: "finding", "aria-pressed": `${isChosen}`, onclick: () => go(index) },
        element("strong", {}, code),
        ` ${message}`,
        trace?.text ? element("small", {}, trace.text) : null,
        element("small", {}, `${place}${more}`),
      ),
    );
  };
  const list = verdict.violations.length ? element("ol", { class: "findings" }, verdict.violations.map(entry)) : null;
  return [
    ...elsewhereOf(file),
    ...brokenOf(file, state),
    list && element("h3", {}, "Violations"),
    list,
    element("h3", {}, "Figures"),
    figures(file.figures),
    ...boundsOf(file, state),
    ...warningsOf(verdict),
    ...originOf(file.origin),
  ];
}

/** How much crosses what is dead or missing, in a few words; empty if nothing does. */
export function brokenWords(file) {
  const obstacle = file.obstacle();
  if (!obstacle) return "";
  if (file.type === "program") {
    const least = file.hasMoreBroken ? "at least " : "";
    return `${least}${count(file.broken.size, "operation")} ${file.hasFailedRanks ? "at or " : ""}across what is ${obstacle}`;
  }
  const moves = file.brokenMoves.reduce((sum, number) => sum + number, 0);
  return `${moves.toLocaleString("en")} of ${count(file.chunks.length, "move")} cross what is ${obstacle}`;
}

/** Of a file that is judged on another machine than it states: which, and the command that plans anew for it. */
function elsewhereOf({ elsewhere }) {
  if (!elsewhere) return [];
  const machine = element("p", {}, `${elsewhere.machine}, not the machine that the file states.`);
  const anew = elsewhere.anew ? [element("p", {}, "This plans it anew:"), element("p", {}, element("code", {}, elsewhere.anew))] : [];
  return [element("h3", {}, "Judged on another machine"), machine, ...anew];
}

/** The transfers that cross what is dead or missing, in order. */
function brokenOf(file, state) {
  if (file.type === "program" || !file.broken.length) return [];
  const { broken } = file;
  const rows = broken.slice(0, MOST).map((transfer) => {
    const [step, key] = [file.stepOf(transfer), `${file.from[transfer]}-${file.to[transfer]}`];
    const go = () => state.set({ step, mode: "step", link: key, finding: "" });
    return [`${step}`, inline(file.wayLabel(transfer), go), file.load(transfer).toLocaleString("en")];
  });
  return [
    element("h3", { class: "failed" }, "Broken moves"),
    element("p", { class: "broken" }, `${brokenWords(file)}, in ${count(broken.length, "transfer")}.`),
    table(["step", "link", "chunks"], rows, { class: "broken" }),
    broken.length > MOST ? element("p", { class: "note" }, `The first ${MOST} of ${broken.length}.`) : null,
  ];
}

/** The lines of the command: what is measured, its value, and remarks on it. */
function figures(text) {
  const lines = text.trimEnd().split("\n").map((line) => line.trim().split(/ {2,}/));
  return element("dl", { class: "figures" }, lines.map(([name, value, ...remarks]) => [
    element("dt", {}, name),
    element("dd", {}, element("b", {}, value ?? ""), remarks.map((remark) => element("span", {}, remark))),
  ]));
}

function boundsOf(file, state) {
  if (!file.bounds.length) return [];
  const chosen = state.get("evidence");
  const entry = (bound, index) => {
    const isChosen = chosen === `${index}`;
    const words = isChosen ? marks(file, bound, state.get("step")).words : "";
    const press = () => state.set({ evidence: isChosen ? "" : `${index}`, finding: "" });
    return element(
      "li",
      {},
      element("button", { type: "button", class: "bound", "aria-pressed": `${isChosen}`, onclick: press }, bound.claim, element("small", {}, bound.evidence.kind)),
      words && element("p", { class: "evidence" }, words),
    );
  };
  const note = element("p", { class: "note" }, "Proven for every schedule, and checked again by the judge. Press one to see its evidence drawn.");
  return [element("h3", {}, "Bounds"), note, element("ul", { class: "bounds" }, file.bounds.map(entry))];
}

function warningsOf({ warnings = [] }) {
  if (!warnings.length) return [];
  const entries = warnings.map(({ code, message }) => element("li", {}, element("strong", {}, code), ` ${message}`));
  const heading = element("summary", {}, `${warnings.length >= 200 ? "The first " : ""}${count(warnings.length, "warning")}`);
  return [element("details", {}, heading, element("ul", { class: "plain" }, entries))];
}

function originOf(origin) {
  if (!origin) return [];
  const rows = Object.entries(origin).filter(([, value]) => value !== null);
  return [element("h3", {}, "Origin"), element("dl", {}, rows.map(([key, value]) => [element("dt", {}, key), element("dd", {}, `${value}`)]))];
}

export function linksPanel(file, state) {
  if (file.type === "program") return [element("p", {}, "A rank program has no steps: choose an operation in the timeline.")];
  const { machine } = file;
  const heat = state.get("mode") === "heat";
  const step = heat ? 0 : state.get("step");
  const rows = (step > file.steps ? [] : file.hottest(step, MOST)).map(({ link, load, share }) => {
    const key = `${machine.from[link]}-${machine.to[link]}`;
    const isChosen = state.get("link") === key;
    return [
      inline(machine.linkLabel(link), () => state.set({ link: isChosen ? "" : key }), { "aria-pressed": `${isChosen}` }),
      load.toLocaleString("en"),
      element("span", { class: "meter" }, element("i", { style: `width:${Math.min(100, 100 * share)}%` }), element("b", {}, percent(share))),
    ];
  });
  const dead = [];
  for (let link = 0; link < machine.links; link++) {
    if (machine.linkIsLive(link) || !machine.isLive[machine.from[link]] || !machine.isLive[machine.to[link]]) continue;
    dead.push(element("li", {}, machine.linkLabel(link)));
  }
  const ranks = Array.from(machine.isLive.keys()).filter((rank) => !machine.isLive[rank]);
  const when = heat ? "over all steps" : `in step ${step}`;
  return [
    ...chosenLink(file, state),
    element("h3", {}, `Hottest links ${when}`),
    table(["link", "chunks", "busy"], rows, { class: "links" }),
    machine.links > MOST ? element("p", { class: "note" }, `The first ${Math.min(MOST, rows.length)} of ${machine.links}.`) : null,
    dead.length || ranks.length ? element("h3", { class: "failed" }, "Failed") : null,
    element("ul", { class: "plain" }, ranks.map((rank) => element("li", {}, `rank ${machine.rankLabel(rank)}`)), dead),
  ];
}

/** What a chosen link carries in this step; of a doubled cable, each of both. */
function chosenLink(file, state) {
  const stated = /^(\d+)-(\d+)$/.exec(state.get("link"));
  if (!stated) return [];
  const [from, to] = [Number(stated[1]), Number(stated[2])];
  const { machine } = file;
  const links = machine.between(from, to);
  const carried = (link) => {
    const transfers = Array.from(file.transfersOf(state.get("step"))).filter((transfer) => file.from[transfer] === from && file.to[transfer] === to);
    const chunks = transfers.filter((transfer) => links.length < 2 || file.link[transfer] === link).flatMap((transfer) => Array.from(file.chunksOf(transfer)));
    const named = chunks.slice(0, 60).map((chunk) => chunkButton(file, state, chunk));
    const more = chunks.length > 60 ? ` and ${chunks.length - 60} more` : "";
    const name = links.length > 1 ? ` ${machine.directionName(link)}` : "";
    return [
      element("h3", {}, `Link ${machine.rankLabel(from)} → ${machine.rankLabel(to)}${name}`),
      element("p", {}, `In step ${state.get("step")}: ${count(chunks.length, "chunk")}. `, named.flatMap((button) => [button, " "]), more),
    ];
  };
  return (links.length ? links : [-1]).flatMap(carried);
}

function chunkButton(file, state, chunk) {
  const label = file.collective.label(chunk);
  return inline(label, () => state.set({ chunk: label.replace(">", "-"), tab: "chunk" }));
}

export function chunkPanel(file, state) {
  if (file.type === "program") return [element("p", {}, "Chunks are followed in schedules. `synth verify` follows them in a program.")];
  const { machine, collective } = file;
  const chunk = state.get("chunk") === "" ? null : collective.parse(state.get("chunk"));
  if (chunk === null) {
    const example = collective.label(Math.min(collective.chunks - 1, collective.owners === 2 ? machine.ranks > 3 ? (2 * machine.ranks + 3) * collective.parts : 1 : 0));
    const hint = element("p", {}, "Follow one chunk from its origin to all who get it. Search for it by its label, or try ", inline(example, () => state.set({ chunk: example.replace(">", "-") })), ".");
    return [hint, state.get("chunk") === "" ? null : element("p", { class: "failed" }, `There is no chunk ${state.get("chunk")} here.`)];
  }
  const path = file.path(chunk);
  const has = new Map();
  for (let rank = 0; rank < machine.ranks; rank++) if (collective.begins(rank, chunk)) has.set(rank, 0);
  const rows = path.slice(0, 200).map((hop) => {
    const since = has.get(hop.from);
    const waits = since === undefined || since >= hop.step ? "does not hold it" : hop.step - since - 1 > 0 ? `waits ${count(hop.step - since - 1, "step")}` : "";
    if (!has.has(hop.to)) has.set(hop.to, hop.step);
    const button = inline(`${hop.step}`, () => state.set({ step: hop.step, mode: "step" }), { "aria-label": `go to step ${hop.step}` });
    return [button, machine.rankLabel(hop.from), `${machine.rankLabel(hop.to)}${hop.link >= 0 ? ` ${machine.directionName(hop.link)}` : ""}`, `${hop.reduces ? "reduce " : ""}${waits}`];
  });
  const needs = Array.from({ length: machine.ranks }, (_, rank) => rank).filter((rank) => collective.needs(rank, chunk));
  const lacking = needs.filter((rank) => !has.has(rank));
  const begin = Array.from({ length: machine.ranks }, (_, rank) => rank).filter((rank) => collective.begins(rank, chunk));
  const named = (ranks) => (ranks.length > 8 ? `${ranks.length} ranks` : ranks.map((rank) => machine.rankLabel(rank)).join(", ") || "nobody");
  return [
    element("h3", {}, `Chunk ${collective.label(chunk)}`),
    element("p", {}, `From ${named(begin)} to ${named(needs)}: ${count(path.length, "hop")}.${collective.hasOrigin(chunk) ? "" : " The rank that had it failed, so nobody waits for it."}`),
    lacking.length ? element("p", { class: "failed" }, `Never reaches ${named(lacking)}.`) : null,
    table(["step", "from", "to", ""], rows, { class: "hops" }),
    element("p", {}, inline("stop following", () => state.set({ chunk: "" }))),
  ];
}

export function rankPanel(file, state) {
  const { machine } = file;
  const rank = state.get("rank") === "" ? -1 : Number(state.get("rank"));
  if (!(rank >= 0 && rank < machine.ranks)) return [element("p", {}, "Choose a rank in the picture, or search for it by its number or coordinates.")];
  const head = element("h3", {}, `Rank ${machine.rankLabel(rank)}${machine.isLive[rank] ? "" : ", failed"}`);
  if (file.type === "program") return [head, ...workersOf(file, rank)];
  const life = file.life(rank);
  const rows = Array.from(life.held, (held, index) => [
    inline(`${index + 1}`, () => state.set({ step: index + 1, mode: "step" }), { "aria-label": `go to step ${index + 1}` }),
    held.toLocaleString("en"),
    life.sent[index].toLocaleString("en"),
    life.received[index].toLocaleString("en"),
  ]);
  const key = element("p", { class: "note" }, element("span", { class: "key held" }, "holds"), element("span", { class: "key sent" }, "sends"), element("span", { class: "key received" }, "receives"));
  return [head, lifeChart(life), key, table(["step", "holds", "sends", "receives"], rows, { class: "life" })];
}

/** The operations of a rank in a program. */
function workersOf(program, rank) {
  const found = [];
  for (let worker = program.firstWorker[rank]; worker < program.firstWorker[rank + 1]; worker++) {
    const first = program.firstOperation[worker];
    const operations = Array.from({ length: program.firstOperation[worker + 1] - first }, (_, index) => first + index);
    const entries = operations.slice(0, 200).map((operation) => element("li", {}, program.describe(operation).replace(/^.*?operation \d+: /, "")));
    found.push(element("h4", {}, `Worker ${worker - program.firstWorker[rank]}`), element("ol", { class: "operations", start: "0" }, entries));
  }
  return found;
}

export function chartsPanel(file, state) {
  if (file.type === "program") return [element("h3", {}, "Operations"), table(["kind", "number"], file.kinds().map(({ name, count: number }) => [name, number.toLocaleString("en")]))];
  return [
    element("h3", {}, "Ranks by steps"),
    ranksBySteps(file, state),
    element("h3", {}, "Who sends to whom"),
    whoToWhom(file, state),
  ];
}
