// The files that the tests look at, made by the command, and their pages.
import { execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

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
  const pages = { cube: "cube.json", large: "large.json.gz", small: "small.json", slices: "slices.json", ring: "ring.json", program: "program.json", wrong: "wrong.json", stuck: "stuck.json", race: "race.json", graph: "graph.json", comparison: "intact.json small.json", rows: "rows.json", job: "job.json" };
  // Yesterday's files on tonight's machine: broken, as a program too, and beside one that holds there.
  run("lower intact.json -q -o before.json");
  Object.assign(pages, { tonight: "intact.json --fail 0,1", program_tonight: "before.json --fail 0,1", both_tonight: "intact.json small.json --fail 0,1", rank_tonight: "intact.json --fail-rank 5" });
  const found = {};
  for (const [name, files] of Object.entries(pages)) {
    found[name] = path(`${name}.html`);
    const isRefuted = ["wrong", "stuck", "race"].includes(name) || name.endsWith("tonight");
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
