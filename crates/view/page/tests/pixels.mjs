// What is drawn on a canvas, pixel by pixel.

/** The pixels of a canvas, as `[red, green, blue, opacity]` in one array of bytes. */
export async function pixels(page, selector = "canvas.machine") {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const text = await page.evaluate((selector) => {
    const canvas = document.querySelector(selector);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let text = "";
    for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
    return btoa(text);
  }, selector);
  return Buffer.from(text, "base64");
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
