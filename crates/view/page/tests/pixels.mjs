// What is drawn on a canvas, pixel by pixel.

/** The pixels of a canvas, as `[red, green, blue, opacity]` in one array of bytes. */
export async function pixels(page, selector = "canvas.machine", index = 0) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const text = await page.evaluate(([selector, index]) => {
    const canvas = document.querySelectorAll(selector)[index];
    // Reading a copy, the browser has nothing to say about reading often.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let text = "";
    for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
    return btoa(text);
  }, [selector, index]);
  return Buffer.from(text, "base64");
}

/** Is anything drawn at the very edge of the first canvas? */
export async function isCutOff(page) {
  const [wide, high] = await page.evaluate(() => {
    const { width, height } = document.querySelector("canvas.machine");
    return [width, height];
  });
  const bytes = await pixels(page);
  const isDrawn = (x, y) => bytes[4 * (y * wide + x) + 3] > 0;
  const columns = Array.from({ length: wide }, (_, x) => isDrawn(x, 0) || isDrawn(x, high - 1));
  const rows = Array.from({ length: high }, (_, y) => isDrawn(0, y) || isDrawn(wide - 1, y));
  return columns.includes(true) || rows.includes(true);
}

/** How many pixels are as asked. */
export function count(bytes, isWanted) {
  let found = 0;
  for (let at = 0; at < bytes.length; at += 4) if (isWanted(bytes.subarray(at, at + 4))) found += 1;
  return found;
}

/** Is a pixel opaque and near a colour? */
export function near(pixel, colour, most = 30) {
  return pixel[3] > 200 && colour.every((part, index) => Math.abs(part - pixel[index]) <= most);
}
