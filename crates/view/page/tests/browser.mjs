// Headless Chromium, and pages opened from disk in it. What a page says on the console is kept.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

// Packages are installed below target/, where `.ci/browser` puts them.
const { chromium } = createRequire(resolve(import.meta.dirname, "../../../../target/browser/index.js"))("playwright-core");

const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts the browser with a profile of its own. */
export async function open() {
  const profile = mkdtempSync(join(tmpdir(), "synth-view-"));
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args: FLAGS });
  const messages = [];
  return {
    messages,
    /** Opens `file.html#hash` and waits until it is drawn. */
    async page(address, { width = 1440, height = 900, scheme = "light", motion = "no-preference" } = {}) {
      const [file, hash = ""] = address.split("#");
      const page = await context.newPage();
      page.on("console", (message) => messages.push(`${file}: ${message.text()}`));
      page.on("pageerror", (error) => messages.push(`${file}: ${error.message}`));
      page.on("request", (request) => {
        if (!request.url().startsWith("file:") && !request.url().startsWith("data:") && !request.url().startsWith("blob:")) {
          messages.push(`${file}: asks for ${request.url()}`);
        }
      });
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: motion });
      await page.goto(pathToFileURL(resolve(file)).href + (hash && `#${hash}`));
      await page.waitForSelector("html[data-ready]", { state: "attached", timeout: 20000 }).catch((error) => {
        throw new Error([error.message, ...messages].join("\n"));
      });
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      return page;
    },
    async closePages() {
      for (const page of context.pages().slice(1)) await page.close();
    },
    async close() {
      await context.close();
      // The browser may still be writing to it.
      rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
