// Pages of comparisons, rank programs, and machines of other forms.
import { count, isCutOff, near, pixels } from "./pixels.mjs";

export async function two_schedules_go_in_step({ browser, pages, assert }) {
  const page = await browser.page(pages.comparison);
  assert.equal(await page.locator("canvas.machine").count(), 2);
  await page.keyboard.press("ArrowRight");
  assert.match(await page.textContent("p.now"), /^Step 2/);
  assert.deepEqual(await page.locator("svg.steps .now").evaluateAll((bars) => bars.map((bar) => bar.dataset.step)), ["2", "2"]);
  // The details are those of the file chosen.
  assert.match(await page.textContent("#panel"), /volume\s*8/);
  await page.click("button.focus >> text=small.json");
  assert.match(await page.textContent("#panel"), /volume\s*10/);
  const dead = [];
  for (const index of [0, 1]) dead.push(count(await pixels(page, "canvas.machine", index), (pixel) => near(pixel, [184, 38, 15])));
  assert(dead[0] === 0 && dead[1] > 60, `red pixels: ${dead}`);
}

export async function a_rank_program_is_a_timeline({ browser, pages, assert }) {
  const page = await browser.page(pages.program);
  assert.match(await page.textContent(".badge"), /holds/);
  const drawn = await pixels(page);
  assert(count(drawn, (pixel) => near(pixel, [0, 115, 90])) > 200, "sends");
  await page.fill("#step", "5");
  assert.match(await page.textContent("p.now"), /^Time 5 of/);
  await page.fill("#search", "rank 5");
  await page.press("#search", "Enter");
  assert.match(await page.textContent("#panel"), /Rank 5 \(1,1\).*Worker 0.*copy input/s);
  const before = await pixels(page);
  await page.locator("canvas.machine").focus();
  await page.keyboard.press("ArrowDown");
  assert.notDeepEqual(before, await pixels(page), "it scrolls");
}

export async function a_program_and_a_pair_on_another_machine({ browser, pages, assert }) {
  const page = await browser.page(pages.program_tonight);
  assert.match(await page.textContent(".head p.failed"), /4x4 torus with 1 failed cable: \d+ operations across what is dead/);
  const red = async (page) => count(await pixels(page), (pixel) => near(pixel, [184, 38, 15]));
  assert((await red(page)) > 150, "operations are framed");
  assert.equal(await red(await browser.page(pages.program)), 0);
  assert.equal(await page.textContent("#panel code"), "synth --torus 4x4 --fail 0,1,x --collective all_to_all");
  // Beside it, one that was planned for this machine.
  const pair = await browser.page(pages.both_tonight);
  const heads = await pair.locator(".head").allTextContents();
  assert.match(heads[0], /refuted.*moves cross what is dead/s);
  assert.match(heads[1], /holds.*nothing crosses what is dead/s);
}

export async function a_deadlock_is_marked({ browser, pages, assert }) {
  const page = await browser.page(pages.stuck);
  assert.match(await page.textContent(".badge"), /refuted: 1 violation/);
  await page.locator("button.finding").first().click();
  assert.match(await page.textContent("button.finding"), /P003.*deadlock: rank 0, worker 0, operation 0/);
  assert(count(await pixels(page), (pixel) => near(pixel, [184, 38, 15])) > 150, "the circle is drawn");
}

export async function a_race_marks_both_operations({ browser, pages, assert }) {
  const page = await browser.page(pages.race);
  const red = async () => count(await pixels(page), (pixel) => near(pixel, [184, 38, 15]));
  assert.equal(await red(), 0);
  await page.locator("button.finding").first().click();
  assert.match(await page.textContent("button.finding"), /P004.*race on output 0: rank 0, worker 0.*rank 0, worker 1/);
  assert((await red()) > 300, "both are framed, and joined");
}

export async function every_form_of_machine_is_drawn({ browser, pages, assert }) {
  for (const name of ["slices", "ring", "graph"]) {
    const page = await browser.page(pages[name]);
    assert(count(await pixels(page), (pixel) => pixel[3] > 200) > 1500, name);
    assert.match(await page.textContent(".badge"), /holds/);
    // Everything that is drawn is within the canvas.
    assert(!(await isCutOff(page)), `${name} is cut off`);
  }
}
