// From places in space to places on the canvas, turned and zoomed by mouse, touch and keys.

export class Camera {
  constructor(machine, onchange) {
    this.onchange = onchange;
    this.isFlat = machine.flat;
    this.radius = Math.max(0.7, ...machine.places.map((place) => Math.hypot(...place)));
    this.reach = [0, 1].map((axis) => Math.max(0.2, ...machine.places.map((place) => Math.abs(place[axis]))));
    this.reset();
  }

  reset() {
    [this.yaw, this.pitch] = this.isFlat ? [0, 0] : [-0.62, 0.46];
    this.zoom = 1;
    this.shift = [0, 0];
    this.onchange();
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.max(-1.57, Math.min(1.57, this.pitch + pitch));
    this.onchange();
  }

  scale(factor) {
    this.zoom = Math.max(0.4, Math.min(12, this.zoom * factor));
    this.onchange();
  }

  /** A function from places to `[x, y, depth, scale]` on a canvas of this size. */
  projection(width, height) {
    const [siny, cosy] = [Math.sin(this.yaw), Math.cos(this.yaw)];
    const [sinp, cosp] = [Math.sin(this.pitch), Math.cos(this.pitch)];
    const margin = this.isFlat ? 0.75 : 0.25;
    const straight = this.isFlat && this.yaw === 0 && this.pitch === 0;
    const unit = straight
      ? Math.min(width / (2 * (this.reach[0] + margin)), height / (2 * (this.reach[1] + margin)))
      : Math.min(width / (2 * (0.96 * this.radius + margin)), height / (2 * (0.94 * this.radius + margin)));
    const far = 5 * this.radius;
    const size = Math.min(unit, 170) * this.zoom;
    return ([x, y, z]) => {
      const [turnedX, turnedZ] = [x * cosy + z * siny, z * cosy - x * siny];
      const [turnedY, depth] = [y * cosp - turnedZ * sinp, turnedZ * cosp + y * sinp];
      const scale = size * (straight ? 1 : far / (far - depth));
      return [width / 2 + this.shift[0] + turnedX * scale, height / 2 + this.shift[1] - turnedY * scale, depth, scale];
    };
  }

  /** Lets a canvas turn it: drag to turn (with Shift to move), two fingers or Ctrl and the wheel to zoom, arrows. */
  attach(canvas, onclick) {
    let last = null;
    let moved = 0;
    const fingers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      last = [event.clientX, event.clientY];
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!last || !fingers.has(event.pointerId)) return;
      const before = this.spread(fingers);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (fingers.size > 1) {
        const after = this.spread(fingers);
        if (before && after) this.scale(after / before);
        moved = 99;
        return;
      }
      const [x, y] = [event.clientX - last[0], event.clientY - last[1]];
      last = [event.clientX, event.clientY];
      moved += Math.abs(x) + Math.abs(y);
      if (moved < 4) return;
      if (event.shiftKey) {
        this.shift = [this.shift[0] + x, this.shift[1] + y];
        this.onchange();
      } else this.turn(x * 0.008, y * 0.008);
    });
    const end = (event) => {
      if (fingers.delete(event.pointerId) && event.type === "pointerup" && moved < 4) onclick(event);
      if (!fingers.size) last = null;
    };
    canvas.addEventListener("pointerup", end);
    canvas.addEventListener("pointercancel", end);
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.scale(Math.exp(-event.deltaY * 0.002));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  spread(fingers) {
    const [one, other] = [...fingers.values()];
    return other ? Math.hypot(one[0] - other[0], one[1] - other[1]) : 0;
  }

  key(event) {
    const turns = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
    if (turns[event.key]) this.turn(...turns[event.key]);
    else if (event.key === "+" || event.key === "=") this.scale(1.2);
    else if (event.key === "-") this.scale(1 / 1.2);
    else if (event.key === "0") this.reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
