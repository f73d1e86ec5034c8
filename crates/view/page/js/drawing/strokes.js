// Strokes on a canvas: links with arrowheads, crosses on what failed, ranks, labels.

/** The pieces of a link on the canvas, beside the opposite link: one from rank to rank, or two stubs. */
export function pieces(machine, link, points, project) {
  const [from, to] = [machine.from[link], machine.to[link]];
  const stub = machine.stub(link);
  if (!stub) return [aside(points[from], points[to])];
  const end = (rank, sign) => project(machine.places[rank].map((along, axis) => along + sign * 0.42 * stub[axis]));
  return [aside(points[from], end(from, 1)), aside(end(to, -1), points[to])];
}

/** A line moved a little to its right, so that the two directions of a cable are seen apart. */
function aside(one, other) {
  const [x, y] = [other[0] - one[0], other[1] - one[1]];
  const length = Math.hypot(x, y) || 1;
  const by = Math.min(4.5, Math.max(1.2, 0.045 * one[3]));
  const [right, down] = [(-y / length) * by, (x / length) * by];
  return { from: [one[0] + right, one[1] + down], to: [other[0] + right, other[1] + down], depth: (one[2] + other[2]) / 2, length };
}

export function stroke(context, piece, colour, width, dash = []) {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(...piece.from);
  context.lineTo(...piece.to);
  context.stroke();
  if (dash.length) context.setLineDash([]);
}

/** An arrowhead at this share of a piece. */
export function arrowhead(context, piece, colour, size, at = 0.62) {
  const [x, y] = between(piece, at);
  const turn = Math.atan2(piece.to[1] - piece.from[1], piece.to[0] - piece.from[0]);
  const [cos, sin] = [Math.cos(turn), Math.sin(turn)];
  context.fillStyle = colour;
  context.beginPath();
  context.moveTo(x + cos * size, y + sin * size);
  context.lineTo(x - cos * size - sin * size * 0.8, y - sin * size + cos * size * 0.8);
  context.lineTo(x - cos * size + sin * size * 0.8, y - sin * size - cos * size * 0.8);
  context.fill();
}

export function between(piece, at) {
  return [0, 1].map((axis) => piece.from[axis] + (piece.to[axis] - piece.from[axis]) * at);
}

export function cross(context, [x, y], size, colour, ground) {
  for (const [style, width] of [[ground, size * 0.95], [colour, size * 0.45]]) {
    context.strokeStyle = style;
    context.lineWidth = width;
    context.lineCap = "round";
    context.beginPath();
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x + size, y - size);
    context.lineTo(x - size, y + size);
    context.stroke();
    context.lineCap = "butt";
  }
}

export function disc(context, [x, y], radius, fill, line, width = 1) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  if (fill) {
    context.fillStyle = fill;
    context.fill();
  }
  if (line) {
    context.strokeStyle = line;
    context.lineWidth = width;
    context.stroke();
  }
}

/** Text in the middle of a place, on a plate of the ground's colour. */
export function plate(context, [x, y], text, colours, colour, font = "600 11px system-ui, sans-serif") {
  context.font = font;
  const width = context.measureText(text).width + 8;
  context.fillStyle = colours.ground;
  context.strokeStyle = colour;
  context.lineWidth = 1.2;
  context.beginPath();
  context.roundRect(x - width / 2, y - 9, width, 18, 5);
  context.fill();
  context.stroke();
  context.fillStyle = colours.text;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(text, x, y + 0.5);
}

/** The distance of a point from a piece. */
export function away([x, y], piece) {
  const [dx, dy] = [piece.to[0] - piece.from[0], piece.to[1] - piece.from[1]];
  const along = ((x - piece.from[0]) * dx + (y - piece.from[1]) * dy) / (dx * dx + dy * dy || 1);
  const [nearX, nearY] = between(piece, Math.max(0, Math.min(1, along)));
  return Math.hypot(x - nearX, y - nearY);
}
