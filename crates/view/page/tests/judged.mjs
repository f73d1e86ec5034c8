// Pages say what the judge and the specifications say: groups, sums, failed ranks, jobs, origins.
import { count, near, pixels } from "./pixels.mjs";

/** The text of the panel at a place of a page. */
async function panel(browser, address) {
  const page = await browser.page(address);
  return page.textContent("#panel");
}

export async function links_that_a_group_may_not_use_are_alive({ browser, pages, assert }) {
  const page = await browser.page(`${pages.confined}#tab=links`);
  assert.match(await page.textContent(".badge"), /holds/);
  assert.doesNotMatch(await page.textContent("#panel"), /Failed/);
  assert.equal(count(await pixels(page), (pixel) => near(pixel, [184, 38, 15])), 0, "nothing is drawn dead");
  // Over such a link a chunk leaves its group; the link is there.
  const left = await browser.page(pages.left);
  assert.match(await left.textContent("button.finding strong"), /D004/);
  assert.doesNotMatch(await left.textContent("#panel"), /Broken moves/);
  // Evidence counts those links alone that chunks may cross: of the six at a rank, those to and from its neighbor in the row.
  const cut = await browser.page(pages.confined);
  await cut.click("text=volume at least");
  assert.match(await cut.textContent("p.evidence"), /links between them \(2, both ways, are drawn\)/);
}

export async function a_partition_counts_the_vectors_of_all_groups({ browser, pages, assert }) {
  const page = await browser.page(pages.parted);
  await page.click("text=volume at least 3/4");
  assert.match(await page.textContent("p.evidence"), /4 blocks .* in each of the 2 groups: 12 vectors cross between blocks/);
  const ring = await browser.page(pages.ring);
  await ring.click("text=volume at least 4/5");
  assert.match(await ring.textContent("p.evidence"), /^Each of the 5 blocks but one must send, and then hear from all others: 8 vectors/);
}

export async function what_crosses_the_missing_or_a_failed_rank_is_counted({ browser, pages, assert }) {
  const head = async (name) => (await browser.page(pages[name])).textContent(".head p.failed");
  assert.match(await head("line_tonight"), /line of 8 ranks: \d+ of \d+ moves cross what is missing/);
  assert.match(await head("program_line_tonight"), /line of 8 ranks: \d+ operations across what is missing/);
  assert.match(await head("program_rank_tonight"), /1 failed rank: \d+ operations at or across what is dead/);
  const page = await browser.page(pages.line_tonight);
  const rows = await page.locator("table.broken tbody tr").allTextContents();
  assert(rows.length > 0 && rows.every((row) => /0 → 7|7 → 0/.test(row)), rows.join("\n"));
  for (const name of ["program_line_tonight", "program_rank_tonight"]) {
    const red = count(await pixels(await browser.page(pages[name])), (pixel) => near(pixel, [184, 38, 15]));
    assert(red > 150, `${name}: ${red} red pixels, operations are framed`);
  }
}

export async function a_rank_holds_what_the_verdict_says({ browser, pages, assert }) {
  for (const name of ["barrier", "summed", "ring", "small", "confined"]) {
    const page = await browser.page(`${pages[name]}#tab=verdict`);
    const told = /at most ([\d,]+) chunks? at a time: rank (\d+)[^,]*(?:\([\d,]+\))?, (at the start|in step (\d+))/.exec(await page.textContent("#panel"));
    assert(told, name);
    const held = async (rank) => {
      const rows = (await browser.page(`${pages[name]}#tab=rank&rank=${rank}`)).locator("table.life tbody tr td:nth-child(2)");
      return (await rows.allTextContents()).map((text) => Number(text.replaceAll(",", "")));
    };
    const ranks = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).files[0].machine.ranks);
    const most = Number(told[1].replaceAll(",", ""));
    for (let rank = 0; rank < ranks; rank++) {
      const steps = await held(rank);
      assert(Math.max(...steps) <= most, `${name}: rank ${rank} holds ${steps}`);
      if (told[4] && rank === Number(told[2])) assert.equal(steps[Number(told[4]) - 1], most, `${name}: rank ${rank} holds ${steps}`);
    }
  }
}

export async function nobody_waits_for_a_failed_rank({ browser, pages, assert }) {
  for (const [name, chunk] of [["lost", "2"], ["lost_pairs", "2-0"], ["lost_sums", "2"]]) {
    const text = await panel(browser, `${pages[name]}#chunk=${chunk}&tab=chunk`);
    assert.match(text, /From nobody to nobody: 0 hops\. The rank that had it failed, so nobody waits for it/, name);
    assert.doesNotMatch(text, /Never reaches/, name);
  }
  assert.match(await panel(browser, `${pages.lost}#chunk=1&tab=chunk`), /From 1 to 0, 1, 3: \d hops/);
}

export async function a_hop_in_the_step_of_its_arrival_is_remarked({ browser, pages, assert }) {
  const page = await browser.page(`${pages.same_step}#chunk=0&tab=chunk`);
  const rows = await page.locator("table.hops tbody tr").allTextContents();
  assert(rows.some((row) => /does not hold it/.test(row)), rows.join("\n"));
}

export async function both_links_of_a_doubled_cable_are_told_apart({ browser, pages, assert }) {
  const page = await browser.page(`${pages.doubled}#link=0-1&tab=links`);
  const heads = (await page.locator("#panel h3").allTextContents()).filter((text) => text.startsWith("Link"));
  assert.deepEqual(heads, ["Link 0 → 1 x-", "Link 0 → 1 x+"]);
  assert.equal((await page.textContent("#panel")).match(/In step 1: 1 chunk\./g)?.length, 2);
}

export async function each_schedule_of_a_job_has_its_own_verdict({ browser, pages, assert }) {
  const page = await browser.page(pages.half_job);
  assert.deepEqual(await page.locator(".badge").allTextContents(), ["✓ holds", "✕ refuted: 1 violation"]);
}

export async function origins_are_shown_as_they_are_and_do_nothing({ browser, pages, assert }) {
  const text = await panel(browser, pages.origin);
  assert.match(text, /9007199254740993/);
  assert(text.includes("\\u{202e}") && text.includes("\\u{1b}") && text.includes("\\u{2066}"), text);
  assert.doesNotMatch(text, /[\u0007\u001b\u202a-\u202e\u2066-\u2069]/);
}

export async function a_timeline_says_how_long_operations_take({ browser, pages, assert }) {
  const page = await browser.page(pages.program);
  assert.match(await page.textContent("p.now"), /^Time 1 of \d+: an operation takes one unit, a wait or a token a quarter$/);
}
