// Drives the pages in a browser: node run.mjs SYNTH [FOLDER FOR PICTURES]
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { open } from "./browser.mjs";
import { make } from "./files.mjs";
import * as judged from "./judged.mjs";
import * as reading from "./reading.mjs";
import * as schedules from "./schedules.mjs";
import * as others from "./others.mjs";

const [synth, pictures] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), "synth-pages-"));
const pages = make(synth, folder);
const browser = await open();
let failed = 0;
for (const [name, test] of Object.entries({ ...schedules, ...others, ...judged, ...reading })) {
  const began = Date.now();
  try {
    await test({ browser, pages, assert });
    assert.deepEqual(browser.messages.splice(0), [], "the console stays empty");
    console.log(`ok     ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack}`);
    browser.messages.length = 0;
  }
  await browser.closePages();
}
if (pictures) {
  mkdirSync(pictures, { recursive: true });
  for (const [name, address, options] of [
    ["machine", `${pages.cube}#step=3&chunk=2-3&tab=chunk`, {}],
    ["evidence", `${pages.cube}#evidence=1`, {}],
    ["large-dark", `${pages.large}#tab=charts&mode=heat`, { scheme: "dark" }],
    ["refuted", `${pages.wrong}#finding=0`, {}],
    ["tonight", `${pages.tonight}#step=3`, {}],
    ["tonight-dark", `${pages.tonight}#step=3`, { scheme: "dark" }],
    ["program-tonight", pages.program_tonight, {}],
    ["comparison", `${pages.comparison}#step=2&tab=links`, {}],
    ["program", `${pages.program}#step=4`, {}],
    ["stuck", `${pages.stuck}#finding=0`, {}],
    ["slices", `${pages.slices}#step=2&rank=4&tab=rank`, {}],
    ["ring", `${pages.ring}#step=2`, {}],
    ["graph", pages.graph, {}],
    ["narrow", `${pages.cube}#chunk=2-3&tab=chunk`, { width: 400, height: 860 }],
  ]) {
    const page = await browser.page(address, options);
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}
await browser.close();
rmSync(folder, { recursive: true, force: true });
console.log(failed ? `${failed} failed` : "browser: all as it must be");
process.exit(failed ? 1 : 0);
