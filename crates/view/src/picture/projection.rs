//! From space to the canvas.

use super::{HEIGHT, WIDTH};
use crate::layout::{Layout, Point};

/// How a machine in space is turned: around the upright axis, then towards the reader. As on a page.
const TURN: (f64, f64) = (-0.62, 0.46);

/// A line on the canvas.
pub(super) struct Piece {
    pub(super) from: [f64; 2],
    pub(super) to: [f64; 2],
    pub(super) depth: f64,
}

impl Piece {
    /// The point at a share of its length.
    pub(super) fn at(&self, share: f64) -> [f64; 2] {
        [0, 1].map(|axis| self.from[axis] + share * (self.to[axis] - self.from[axis]))
    }
}

/// From space to the canvas.
pub(super) struct Projection {
    turn: (f64, f64),
    /// How long a unit is on the canvas.
    pub(super) unit: f64,
    far: f64,
}

impl Projection {
    /// A projection in which the whole machine is seen.
    pub(super) fn new(layout: &Layout) -> Self {
        let size = |axis: usize| layout.ranks.iter().map(|place| place[axis].abs()).fold(0.0, f64::max);
        let radius = layout.ranks.iter().map(|place| place.iter().map(|part| part * part).sum::<f64>().sqrt());
        let radius = radius.fold(0.7, f64::max);
        let (turn, wide, high) = match layout.is_flat {
            true => ((0.0, 0.0), size(0) + 0.75, size(1) + 0.75),
            false => (TURN, 0.96 * radius + 0.25, 0.94 * radius + 0.25),
        };
        let unit = (WIDTH / (2.0 * wide)).min(HEIGHT / (2.0 * high)).min(140.0);
        Self { turn, unit, far: if layout.is_flat { f64::INFINITY } else { 5.0 * radius } }
    }

    /// The place on the canvas, and how near it is.
    pub(super) fn point(&self, [x, y, z]: Point) -> Point {
        let ((sin_yaw, cos_yaw), (sin_pitch, cos_pitch)) = (self.turn.0.sin_cos(), self.turn.1.sin_cos());
        let (x, z) = (x * cos_yaw + z * sin_yaw, z * cos_yaw - x * sin_yaw);
        let (y, depth) = (y * cos_pitch - z * sin_pitch, z * cos_pitch + y * sin_pitch);
        let scale = if self.far.is_finite() { self.unit * self.far / (self.far - depth) } else { self.unit };
        [WIDTH / 2.0 + x * scale, HEIGHT / 2.0 - y * scale, depth]
    }

    /// A line moved a little to its right, so that it lies beside its opposite.
    pub(super) fn beside(&self, from: Point, to: Point) -> Piece {
        let (x, y) = (to[0] - from[0], to[1] - from[1]);
        let by = (0.045 * self.unit).clamp(1.2, 4.5) / x.hypot(y).max(1e-9);
        let (right, down) = (-y * by, x * by);
        let moved = |point: Point| [point[0] + right, point[1] + down];
        Piece { from: moved(from), to: moved(to), depth: (from[2] + to[2]) / 2.0 }
    }
}
