// Can it be read and used: contrast, keyboard, narrow screens, motion, print.
import { pixels } from "./pixels.mjs";

/** The least contrast of any text that is seen, with what it says; WCAG 2, 1.4.3. */
async function leastContrast(page) {
  return page.evaluate(() => {
    const parse = (text) => (text.match(/[\d.]+/g) ?? []).map(Number);
    const light = (parts) => {
      const [red, green, blue] = parts.slice(0, 3).map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const parts = parse(getComputedStyle(at).backgroundColor);
        if (parts.length === 3 || parts[3] > 0.99) return parts;
      }
      return [255, 255, 255];
    };
    let least = { ratio: 99 };
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const element = node.parentElement;
      if (!node.textContent.trim() || !element.checkVisibility() || element.closest("script, style, canvas")) continue;
      const [one, other] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
      const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
      if (ratio < least.ratio) least = { ratio, text: node.textContent.trim().slice(0, 40) };
    }
    return least;
  });
}

export async function text_has_contrast_in_both_themes({ browser, pages, assert }) {
  for (const scheme of ["light", "dark"]) {
    for (const address of [pages.cube, `${pages.cube}#tab=links&link=0-1`, `${pages.cube}#tab=chunk&chunk=2-3`, `${pages.wrong}#finding=0`, pages.tonight, `${pages.cube}#tab=rank&rank=5`, `${pages.program}#tab=charts`]) {
      const page = await browser.page(address, { scheme });
      const { ratio, text } = await leastContrast(page);
      assert(ratio >= 4.5, `${scheme}, ${address}: ${ratio.toFixed(2)} for "${text}"`);
    }
  }
}

export async function everything_is_reached_by_keyboard({ browser, pages, assert }) {
  const page = await browser.page(pages.wrong);
  const wanted = await page.evaluate(() => {
    const all = Array.from(document.querySelectorAll("button, input, select, canvas.machine, summary, [role=tabpanel]"));
    const seen = all.filter((element) => element.checkVisibility() && element.tabIndex >= 0);
    seen.forEach((element, index) => (element.dataset.test = `${index}`));
    return seen.length;
  });
  const reached = new Set();
  for (let presses = 0; presses < 2 * wanted + 10; presses++) {
    await page.keyboard.press("Tab");
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      return [element.dataset.test, element.matches(":focus-visible") && style.outlineStyle !== "none"];
    });
    if (at[0] !== undefined) {
      assert(at[1], `the focus on element ${at[0]} is seen`);
      reached.add(at[0]);
    }
  }
  assert.equal(reached.size, wanted, "all are reached");
  // Tabs that are not chosen are reached by arrows.
  await page.focus("#tab-verdict");
  for (const tab of ["links", "chunk", "rank", "charts", "verdict"]) {
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.id), `tab-${tab}`);
    assert.equal(await page.getAttribute(`#tab-${tab}`, "aria-selected"), "true");
  }
}

export async function keys_do_what_the_help_says({ browser, pages, assert }) {
  const page = await browser.page(pages.cube);
  const now = () => page.textContent("p.now");
  await page.keyboard.press("End");
  assert.match(await now(), /^Step 6/);
  await page.keyboard.press("ArrowLeft");
  assert.match(await now(), /^Step 5/);
  await page.keyboard.press("Home");
  assert.match(await now(), /^Step 1/);
  await page.keyboard.press("h");
  assert.match(await now(), /^All 6 steps/);
  await page.keyboard.press("t");
  assert.equal(await page.getAttribute("html", "data-theme"), "dark");
  await page.keyboard.press("/");
  await page.keyboard.type("7>9");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  assert.equal(await page.textContent("#panel h3"), "Chunk 7>9");
  await page.keyboard.press("Escape");
  assert.doesNotMatch(page.url(), /chunk=/);
  await page.keyboard.press("?");
  assert(await page.locator("dialog").isVisible());
  await page.keyboard.press("Escape");
  await page.locator("canvas.machine").focus();
  const before = await pixels(page);
  await page.keyboard.press("ArrowLeft");
  assert.notDeepEqual(before, await pixels(page), "arrows turn the machine");
  assert.match(page.url(), /mode=heat/, "and do not step");
}

export async function a_link_leads_to_a_place_and_back({ browser, pages, assert }) {
  const page = await browser.page(`${pages.cube}#step=4&rank=42&tab=rank`);
  assert.match(await page.textContent("p.now"), /^Step 4/);
  assert.equal(await page.textContent("#panel h3"), "Rank 42 (2,2,2)");
  await page.evaluate(() => (location.hash = "#step=2&chunk=0-63&tab=chunk"));
  await page.waitForFunction(() => document.querySelector("#panel h3").textContent === "Chunk 0>63");
  await page.evaluate(() => (location.hash = "#step=999&chunk=nothing&rank=-3&tab=none&link=x&finding=7&evidence=9"));
  await page.waitForFunction(() => document.querySelector("p.now").textContent.startsWith("Step 6"));
}

export async function narrow_screens_have_no_sideways_scrolling({ browser, pages, assert }) {
  for (const name of ["cube", "comparison", "program", "wrong"]) {
    const page = await browser.page(pages[name], { width: 400, height: 800 });
    const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert(inner <= outer, `${name}: ${inner} in ${outer}`);
    const box = await page.locator("canvas.machine").first().boundingBox();
    assert(box.width > 300 && box.height > 200, `${name}: ${JSON.stringify(box)}`);
  }
}

export async function less_motion_is_respected_and_print_has_all({ browser, pages, assert }) {
  const page = await browser.page(pages.cube, { motion: "reduce" });
  const before = await pixels(page);
  await page.click('button[aria-label="Play"]');
  await page.waitForTimeout(300);
  assert.deepEqual(before, await pixels(page), "nothing travels");
  await page.click('button[aria-label="Pause"]');
  await page.emulateMedia({ media: "print" });
  assert(!(await page.locator("header").isVisible()), "no controls on paper");
  assert(await page.locator("canvas.machine").isVisible());
}
