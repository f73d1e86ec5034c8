// The files that the tests look at, made by the command, and their pages.
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Schedules written by hand. */
const SCHEDULES = resolve(import.meta.dirname, "../../../../schedules");

/** Makes all pages in a folder; returns the path of each. */
export function make(synth, folder) {
  const path = (name) => join(folder, name);
  const run = (words, codes = [0]) => {
    try {
      execFileSync(synth, words.split(" "), { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      if (!codes.includes(error.status)) throw new Error(`synth ${words}: ${error.stderr}`);
    }
  };
  run("--torus 4x4x4 --fail 2,3,x -q -o cube.json");
  run("--torus 8x8x8 --fail 2,3,x -q -o large.json.gz");
  run("--torus 4x4 --fail 0,1 -q -o small.json");
  run("--torus 4x4 -q -o intact.json");
  run("--torus 3x3x2x2 --fail-link 0,1 --fail-rank 7 --collective broadcast -q -o slices.json");
  run("--torus 5 --collective all_reduce --parts 4 -q -o ring.json");
  run("lower small.json -q -o program.json");
  run("--torus 4x4 --fail 0,1 --groups x --parts 1 -q -o rows.json");
  writeFileSync(path("asked.json"), JSON.stringify([{ collective: "all_gather", groups: "x" }, { collective: "all_reduce", groups: "y" }]));
  run("--torus 4x4 --fail 0,1 --job asked.json -q -o job.json");
  // A message that crosses the dead cable, and a program whose workers wait for each other.
  const small = readFileSync(path("small.json"), "utf8");
  writeFileSync(path("wrong.json"), small.replace('{"from": 0, "to": 4', '{"from": 0, "to": 1'));
  writeFileSync(path("stuck.json"), JSON.stringify(stuck()));
  writeFileSync(path("race.json"), JSON.stringify(race()));
  writeFileSync(path("graph.json"), JSON.stringify(graph()));
  // Groups that have no relays, and a move out of one; sums; ranks that failed; a cable that is there twice.
  run("--torus 2x3 --collective broadcast --groups x --relays no -q -o confined.json");
  run("--torus 4x2 --collective all_reduce --groups x --parts 8 -q -o parted.json");
  run("--torus 3x3 --collective barrier -q -o barrier.json");
  run("--torus 4 --collective all_reduce --parts 4 --planner ring_all_reduce -q -o summed.json");
  run("--torus 4 --fail-rank 2 --collective all_gather -q -o lost.json");
  run("--torus 4 --fail-rank 2 -q -o lost_pairs.json");
  run("--torus 4 --fail-rank 2 --collective all_reduce_gathered -q -o lost_sums.json");
  run("--torus 2 --wrap yes --collective all_gather --parts 2 -q -o doubled.json");
  for (const [name, source] of [["left", "rejected/D004/relayed"], ["same_step", "rejected/D001/same-step"], ["half_job", "jobs/rejected/D002-incomplete"]]) {
    copyFileSync(join(SCHEDULES, `${source}.json`), path(`${name}.json`));
  }
  // Control characters, letters that turn the direction of writing, and a seed that a script would round.
  const origin = { tool: "\u202egnp\u0007", planner: "a\u001b[31m", command: "synth \u2066x", seed: "SEED" };
  const signed = JSON.stringify({ ...JSON.parse(readFileSync(path("intact.json"), "utf8")), origin });
  writeFileSync(path("origin.json"), signed.replace('"SEED"', "9007199254740993"));
  const pages = { cube: "cube.json", large: "large.json.gz", small: "small.json", slices: "slices.json", ring: "ring.json", program: "program.json", wrong: "wrong.json", stuck: "stuck.json", race: "race.json", graph: "graph.json", comparison: "intact.json small.json", rows: "rows.json", job: "job.json" };
  for (const name of ["confined", "parted", "barrier", "summed", "lost", "lost_pairs", "lost_sums", "doubled", "left", "same_step", "half_job", "origin"]) pages[name] = `${name}.json`;
  // Yesterday's files on tonight's machine: broken, as a program too, and beside one that holds there.
  run("lower intact.json -q -o before.json");
  Object.assign(pages, { tonight: "intact.json --fail 0,1", program_tonight: "before.json --fail 0,1", both_tonight: "intact.json small.json --fail 0,1", rank_tonight: "intact.json --fail-rank 5" });
  // A ring's files on a line, which lacks a cable, and without one of its ranks.
  run("--torus 8 -q -o eight.json");
  run("lower eight.json -q -o eight-program.json");
  run("topology --torus 8 --wrap no -o line.json");
  Object.assign(pages, { line_tonight: "eight.json --topology line.json", program_line_tonight: "eight-program.json --topology line.json", program_rank_tonight: "eight-program.json --fail-rank 3" });
  const found = {};
  for (const [name, files] of Object.entries(pages)) {
    found[name] = path(`${name}.html`);
    const isRefuted = ["wrong", "stuck", "race", "left", "same_step", "half_job"].includes(name) || name.endsWith("tonight");
    run(`view ${files} -o ${name}.html`, isRefuted ? [1] : [0]);
  }
  return found;
}

export function size(path) {
  return statSync(path).size;
}

/** Two ranks that each wait for the other's packet before they send. */
function stuck() {
  const worker = (rank) => [
    { op: "recv_reduce", channel: 1 - rank, src: ["i", 0], dst: ["o", 0] },
    { op: "send", channel: rank, src: ["i", 0] },
  ];
  return {
    format: "rank-program/1",
    ranks: 2,
    collective: { kind: "all_reduce", parts: 1 },
    channels: [{ from: 0, to: 1, slots: 1 }, { from: 1, to: 0, slots: 1 }],
    programs: [0, 1].map((rank) => ({ scratch: 0, workers: [worker(rank)] })),
  };
}

/** Two workers of a rank that write one slot, in no order. */
function race() {
  const copy = { op: "copy", src: ["i", 0], dst: ["o", 0] };
  return { format: "rank-program/1", ranks: 1, collective: { kind: "all_gather", parts: 1 }, channels: [], programs: [{ scratch: 0, workers: [[copy], [copy]] }] };
}

/** A broadcast on a star with a chord. */
function graph() {
  const pairs = [[0, 1], [0, 2], [0, 3], [0, 4], [2, 3]];
  const links = pairs.flatMap(([from, to]) => [{ from, to }, { from: to, to: from }]);
  const transfers = [1, 2, 3, 4].map((to) => ({ from: 0, to, chunks: [0] }));
  return { format: "collective-schedule/1", topology: { links }, collective: { kind: "broadcast", root: 0 }, steps: [{ transfers }] };
}
