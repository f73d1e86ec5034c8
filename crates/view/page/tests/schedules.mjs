// Pages of schedules: steps, chunks, violations, evidence, links into the page.
import { count, near, pixels } from "./pixels.mjs";
import { size } from "./files.mjs";

export async function a_cube_is_drawn_with_its_dead_cable({ browser, pages, assert }) {
  assert(size(pages.cube) < 200_000, `${size(pages.cube)} bytes`);
  const page = await browser.page(pages.cube);
  assert.equal(await page.textContent(".badge"), "✓ holds");
  assert.match(await page.textContent(".head p"), /all_to_all on a 4x4x4 torus with 1 failed cable/);
  const drawn = await pixels(page);
  assert(count(drawn, (pixel) => near(pixel, [184, 38, 15])) > 60, "the dead cable is red");
  assert(count(drawn, (pixel) => near(pixel, [8, 38, 79], 50)) > 2000, "full links are dark");
}

export async function steps_are_played_clicked_and_slid({ browser, pages, assert }) {
  const page = await browser.page(pages.cube);
  const now = () => page.textContent("p.now");
  assert.match(await now(), /^Step 1 of 6 · width 6 · 382 transfers · 2,283 chunks$/);
  await page.click('button[aria-label="A step on"]');
  assert.match(await now(), /^Step 2 of 6/);
  await page.locator("svg.steps .bar").nth(4).click();
  assert.match(await now(), /^Step 5 of 6/);
  assert.match(page.url(), /#step=5$/);
  await page.fill("#step", "3");
  assert.match(await now(), /^Step 3 of 6/);
  await page.click('button[aria-label="Play"]');
  await page.waitForFunction(() => document.querySelector("p.now").textContent.startsWith("Step 5"));
  await page.click('button[aria-label="Pause"]');
  await page.click("text=heat");
  assert.match(await now(), /^All 6 steps · width 34/);
}

export async function a_chunk_is_followed_and_waits({ browser, pages, assert }) {
  const page = await browser.page(`${pages.cube}#step=3&chunk=3-2&tab=chunk`);
  const rows = await page.locator("table.hops tbody tr").allTextContents();
  assert.equal(rows.length, 3);
  assert.match(rows[1], /7 \(3,1,0\).*6 \(2,1,0\).*waits 1 step/);
  assert(count(await pixels(page), (pixel) => near(pixel, [163, 24, 127])) > 300, "the chunk's path is drawn");
  await page.click("text=stop following");
  assert.equal(count(await pixels(page), (pixel) => near(pixel, [163, 24, 127], 12)), 0);
  await page.click("text=2>3");
  assert.match(await page.textContent("#panel h3"), /Chunk 2>3/);
}

export async function evidence_is_drawn({ browser, pages, assert }) {
  const page = await browser.page(pages.cube);
  await page.click("text=volume at least 1024/31");
  assert.match(await page.textContent("p.evidence"), /32 ranks send to the others must cross these 31 links/);
  const drawn = await pixels(page);
  const [side, other] = [[0, 115, 90], [154, 91, 0]].map((colour) => count(drawn, (pixel) => near(pixel, colour, 20)));
  assert(side > 1500 && other > 1500, `two sides: ${side}, ${other}`);
  await page.click("text=at least 6 steps");
  assert.match(await page.textContent("p.evidence"), /6 hops away/);
}

export async function ranks_and_links_answer_to_the_mouse({ browser, pages, assert }) {
  const page = await browser.page(pages.small);
  const box = await page.locator("canvas.machine").boundingBox();
  // Flat: rank 5 is at (1, 1) of four by four, around the middle.
  const unit = Math.min(box.width / (2 * 2.25), box.height / (2 * 2.25), 170);
  await page.mouse.click(box.x + box.width / 2 - unit / 2, box.y + box.height / 2 + unit / 2);
  assert.match(await page.textContent("#panel h3"), /Rank 5 \(1,1\)/);
  assert.equal(await page.locator("table.life tbody tr").count(), 4);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2 + unit / 2 - 3);
  assert.match(await page.textContent("#panel h3"), /Link [56] .*→ [56] /);
  const before = await pixels(page);
  await page.mouse.move(box.x + 60, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 160, box.y + 120, { steps: 4 });
  await page.mouse.up();
  assert.notDeepEqual(before, await pixels(page), "dragging turns it");
}

export async function violations_lead_to_their_place({ browser, pages, assert }) {
  const page = await browser.page(pages.wrong);
  assert.match(await page.textContent(".badge"), /✕ refuted: \d+ violation/);
  const before = count(await pixels(page), (pixel) => near(pixel, [184, 38, 15]));
  await page.locator("button.finding").first().click();
  assert.match(await page.textContent("button.finding strong"), /T003/);
  assert.match(page.url(), /finding=0/);
  assert(count(await pixels(page), (pixel) => near(pixel, [184, 38, 15])) > before + 100, "the place is ringed");
}

export async function chunks_of_groups_have_the_names_of_files({ browser, pages, assert }) {
  // Rows: rank 5 is the second member of the second.
  const page = await browser.page(`${pages.rows}#chunk=5-7&tab=chunk`);
  assert.match(await page.textContent("#panel h3"), /Chunk 5>7$/);
  assert.match(await page.textContent("#panel"), /From 5 \(1,1\) to 7 \(3,1\)/);
  // Ranks of different groups owe each other nothing.
  const none = await browser.page(`${pages.rows}#chunk=5-9&tab=chunk`);
  assert.match(await none.textContent("#panel"), /There is no chunk 5-9 here/);
}

export async function a_job_stands_side_by_side({ browser, pages, assert }) {
  const page = await browser.page(`${pages.job}#right=1&chunk=0/0&tab=chunk`);
  const text = await page.textContent("body");
  assert.match(text, /all_gather in 4 groups of 4/);
  assert.match(text, /all_reduce in 4 groups of 4/);
}

export async function broken_moves_of_another_machine_are_marked({ browser, pages, assert }) {
  const page = await browser.page(pages.tonight);
  assert.match(await page.textContent(".badge"), /✕ refuted: \d+ violation/);
  const [, broken, all] = /4x4 torus with 1 failed cable: (\d+) of (\d+) moves cross what is dead/.exec(await page.textContent(".head p.failed"));
  assert(Number(broken) > 0 && Number(broken) < Number(all));
  // The rows add up, each leads to its place, and the command that plans anew is there to copy.
  const rows = await page.locator("table.broken tbody tr").evaluateAll((rows) => rows.map((row) => Array.from(row.cells, (cell) => cell.textContent).join(" | ")));
  assert.equal(rows.reduce((sum, row) => sum + Number(/(\d+)$/.exec(row)[1]), 0), Number(broken));
  assert(rows.every((row) => /[01] \([01],0\) → [01] \([01],0\) x[+-]/.test(row)), rows.join("\n"));
  assert.match(await page.textContent("p.broken"), new RegExp(`in ${rows.length} transfers`));
  assert.equal(await page.textContent("#panel code"), "synth --torus 4x4 --fail 0,1,x --collective all_to_all");
  await page.locator("table.broken button").last().click();
  assert.match(page.url(), /link=1-0/);
  const step = /^\d+/.exec(rows.at(-1))[0];
  assert.match(await page.textContent("p.now"), new RegExp(`^Step ${step} of .* broken$`));
  assert.equal(await page.locator("svg.steps rect.broken").count(), new Set(rows.map((row) => /^\d+/.exec(row)[0])).size);
  assert(count(await pixels(page), (pixel) => near(pixel, [184, 38, 15])) > 250, "both directions are drawn solid");
  const dead = await browser.page(pages.rank_tonight);
  assert.match(await dead.textContent(".head p.failed"), /with 1 failed rank: \d+ of \d+ moves cross what is dead/);
}

export async function search_finds_by_name({ browser, pages, assert }) {
  const page = await browser.page(pages.cube);
  const find = async (text) => {
    await page.fill("#search", text);
    await page.press("#search", "Enter");
  };
  for (const [text, heading] of [["42", "Rank 42 (2,2,2)"], ["3.0.0", "Rank 3 (3,0,0)"], ["1,2", "Link 1 (1,0,0) → 2 (2,0,0)"], ["7>9", "Chunk 7>9"]]) {
    await find(text);
    assert.equal(await page.textContent("#panel h3"), heading, text);
  }
  await find("step 4");
  assert.match(await page.textContent("p.now"), /^Step 4/);
  await find("99>2");
  assert.match(await page.textContent(".message"), /There is no 99>2/);
}

export async function charts_say_what_is_under_the_mouse({ browser, pages, assert }) {
  const page = await browser.page(`${pages.small}#tab=charts`);
  const grid = page.locator("canvas.grid").first();
  const drawn = await pixels(page, "canvas.grid");
  assert(count(drawn, (pixel) => pixel[3] > 0) > 10_000, "cells are drawn");
  await grid.hover({ position: { x: 5, y: 5 } });
  assert.match(await page.textContent("figcaption"), /rank 0 \(0,0\), step 1: sends \d+ chunk/);
}

export async function a_large_schedule_is_there_in_three_seconds({ browser, pages, assert }) {
  assert(size(pages.large) < 6_000_000, `${size(pages.large)} bytes`);
  const began = Date.now();
  const page = await browser.page(pages.large);
  const took = Date.now() - began;
  await page.click('button[aria-label="A step on"]');
  assert.match(await page.textContent("p.now"), /^Step 2 of 12/);
  await page.fill("#search", "0>511");
  await page.press("#search", "Enter");
  assert((await page.locator("table.hops tbody tr").count()) >= 3);
  assert(count(await pixels(page), (pixel) => pixel[3] > 0) > 50_000, "drawn");
  // No test of the time: a busy machine is slow. The figure is for people.
  console.log(`       8x8x8: ${size(pages.large)} bytes, drawn after ${took} ms, all of this after ${Date.now() - began} ms`);
}
