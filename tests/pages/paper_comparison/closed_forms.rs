//! The closed forms of Qin et al., MICRO 2025, and the cost model of its table 1: per phase a start-up for each link of
//! the longest logical edge, and the load of the fullest link. Written down from the paper, without any planner.

use collsynth::certificate::Rational;
use collsynth::cost::Line;

use crate::support::plans::ratio;

/// Chunks of its pipeline.
const CHUNKS: f64 = 6.0;

/// A torus of `dims` dimensions of this extent; volumes are in messages.
#[derive(Clone, Copy)]
pub struct Torus {
    pub extent: u32,
    pub dims: u32,
}

/// Start-ups and volume.
#[derive(Clone, Copy)]
pub struct Charge {
    pub startups: f64,
    pub volume: f64,
}

impl Charge {
    /// The time for messages of a size.
    pub fn line(self, alpha: f64, bandwidth: f64) -> Line {
        Line { fixed: alpha * self.startups, per_byte: self.volume / bandwidth }
    }
}

impl Torus {
    pub fn ranks(self) -> f64 {
        f64::from(self.extent).powi(self.dims as i32)
    }

    fn d(self) -> f64 {
        f64::from(self.dims)
    }

    /// Ring all-to-all in one dimension.
    fn ring(self) -> f64 {
        self.ranks() * (f64::from(self.extent) - 1.0) / 4.0
    }

    /// HalfRing in one dimension.
    fn half_ring(self) -> f64 {
        let k = f64::from(self.extent);
        if self.extent.is_multiple_of(2) { self.ranks() * k / 8.0 } else { self.ranks() * (k * k - 1.0) / (8.0 * k) }
    }

    /// The speed of FoldedRing in terms of HalfRing.
    fn r(self) -> f64 {
        let k = f64::from(self.extent);
        if self.extent.is_multiple_of(2) { k / (4.0 * (k - 1.0)) } else { (k + 1.0) / (4.0 * k) }
    }

    /// Start-ups of a folded ring: its longest logical edge walks back over all other links.
    fn detour(self) -> f64 {
        f64::from(self.extent) - 1.0
    }

    /// Pipeline: the first dimension takes its time for every chunk, the others once more each.
    fn pipeline(self, first: Charge, others: Charge) -> Charge {
        let rest = self.d() - 1.0;
        Charge {
            startups: CHUNKS * first.startups + rest * others.startups,
            volume: first.volume + rest * others.volume / CHUNKS,
        }
    }

    pub fn ring_pipeline(self) -> Charge {
        let ring = Charge { startups: 1.0, volume: self.ring() };
        self.pipeline(ring, ring)
    }

    pub fn half_ring_pipeline(self) -> Charge {
        let ring = Charge { startups: 1.0, volume: self.half_ring() };
        self.pipeline(ring, ring)
    }

    pub fn ring_rotation(self) -> Charge {
        Charge { startups: self.d(), volume: self.ring() }
    }

    pub fn half_ring_rotation(self) -> Charge {
        Charge { startups: self.d(), volume: self.half_ring() }
    }

    pub fn folded_pipeline(self) -> Charge {
        let folded = Charge { startups: self.detour(), volume: self.half_ring() / self.r() };
        self.pipeline(folded, Charge { startups: 1.0, volume: self.half_ring() })
    }

    pub fn folded_rotation(self) -> Charge {
        Charge { startups: self.d() * self.detour(), volume: self.half_ring() / self.r() }
    }

    pub fn mate(self) -> Charge {
        let volume = self.half_ring() * (1.0 + 1.0 / (self.d() - 1.0 + self.r()));
        Charge { startups: self.d() * (1.0 + self.detour()), volume }
    }

    /// The folded ring's start-ups delay the normal phases only while messages are small.
    pub fn mate_e(self, message_bytes: f64, alpha: f64, bandwidth: f64) -> f64 {
        let shared = self.d() - 1.0 + self.r();
        let seconds = |startups: f64, volume: f64| alpha * startups + volume * message_bytes / bandwidth;
        let phase = self.half_ring() / self.d();
        let normal = seconds(1.0, phase).max(seconds(self.detour(), phase));
        self.d() * (normal + seconds(self.detour(), phase * (1.0 - self.r()) / shared))
    }
}

/// The same as exact figures, with one dead cable along dimension `dim`: the sum of the loads of a planner's phases.
/// Extents may differ: `T0` is the volume of the longest dimension, `own` that of the dead cable's.
pub fn load(planner: &str, extents: &[u32], dim: usize) -> Option<Rational> {
    let (n, others): (u32, u32) = (extents.iter().product(), extents.len() as u32 - 1);
    let half_ring = |k: u32| match k.is_multiple_of(2) {
        true => ratio(n * k, 8),
        false => ratio(n * (k * k - 1), 8 * k),
    };
    let k = extents[dim];
    let t0 = extents.iter().map(|&extent| half_ring(extent)).max()?;
    let own = half_ring(k);
    let r = match k.is_multiple_of(2) {
        _ if planner.contains("open") => ratio(1, 2),
        true => ratio(k, 4 * (k - 1)),
        false => ratio(k + 1, 4 * k),
    };
    let accelerated = own / (r + ratio(others, 1));
    match planner {
        "dim_rotation" => Some(t0),
        "folded_ring" | "open_ring" => Some(t0.max(own / r)),
        "mate" | "mate_open" => Some(t0 + accelerated),
        "mate_e" | "mate_e_open" => Some(t0 + accelerated * (ratio(1, 1) - (r * t0 / own).min(ratio(1, 1)))),
        _ => None,
    }
}
