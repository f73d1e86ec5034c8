// A picture of a page: node shot.mjs PAGE.html#hash PICTURE.png [WIDTHxHEIGHT] [dark]
import { open } from "./browser.mjs";

const [page, picture, size = "1440x900", scheme = "light"] = process.argv.slice(2);
const [width, height] = size.split("x").map(Number);
const browser = await open();
const shown = await browser.page(page, { width, height, scheme });
await shown.screenshot({ path: picture });
await browser.close();
if (browser.messages.length) throw new Error(browser.messages.join("\n"));
