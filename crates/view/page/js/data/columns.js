// Columns of numbers: base64 of gzip of variable-length numbers, as columns.rs packs them.

/** Unpacks a text of columns. */
export async function unpack(text) {
  const packed = bytesOf(text.trim());
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Columns(new Uint8Array(await new Response(stream).arrayBuffer()));
}

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

/** Reads columns in the order in which they were added. */
class Columns {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    const bytes = this.bytes;
    let byte = bytes[this.at++];
    let value = byte & 0x7f;
    let scale = 128;
    while (byte >= 0x80) {
      byte = bytes[this.at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    }
    return value;
  }

  /** The next column, as an array of this type. */
  next(Type = Uint32Array) {
    const column = new Type(this.number());
    for (let index = 0; index < column.length; index++) column[index] = this.number();
    return column;
  }

  /** The next column, of signed numbers. */
  signed(Type = Int32Array) {
    const column = new Type(this.number());
    for (let index = 0; index < column.length; index++) {
      const value = this.number();
      column[index] = value % 2 ? -(value + 1) / 2 : value / 2;
    }
    return column;
  }
}

/** Where each run of a column of lengths begins, and the end of the last. */
export function starts(lengths) {
  const starts = new Uint32Array(lengths.length + 1);
  for (let index = 0; index < lengths.length; index++) starts[index + 1] = starts[index] + lengths[index];
  return starts;
}
