//! The cost model of table 1 of the paper: for each phase a start-up for each link of its longest logical edge, and the
//! load of its fullest link. Closed forms, written down from the paper without any planner.

use collsynth_plan::cost::Line;

/// Chunks of its pipeline.
const CHUNKS: f64 = 6.0;
/// Seconds of a start-up.
pub const ALPHA: f64 = 100e-9;
/// Bytes per second over a link.
pub const BANDWIDTH: f64 = 32e9;

/// A torus of `dims` dimensions of this extent; volumes are in messages. A dead cable lies along one dimension.
#[derive(Clone, Copy, Debug)]
pub struct Torus {
    /// The extent of each dimension.
    pub extent: u32,
    /// The dimensions.
    pub dims: u32,
}

/// Start-ups and volume.
#[derive(Clone, Copy, Debug)]
pub struct Charge {
    /// Start-ups.
    pub startups: f64,
    /// Messages over the fullest link of each phase, added up.
    pub volume: f64,
}

impl Charge {
    /// The time by the bytes of a message.
    pub fn line(self) -> Line {
        Line { fixed: ALPHA * self.startups, per_byte: self.volume / BANDWIDTH }
    }
}

impl Torus {
    /// Its ranks.
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

    /// Ring + Pipeline, which speed-ups are over.
    pub fn ring_pipeline(self) -> Charge {
        let ring = Charge { startups: 1.0, volume: self.ring() };
        self.pipeline(ring, ring)
    }

    /// The same as a schedule that pays a start-up for every step.
    pub fn ring_pipeline_in_steps(self) -> Charge {
        let steps = (CHUNKS + self.d() - 1.0) * self.detour();
        Charge { startups: steps, volume: self.ring_pipeline().volume }
    }

    /// HalfRing + Pipeline.
    pub fn half_ring_pipeline(self) -> Charge {
        let ring = Charge { startups: 1.0, volume: self.half_ring() };
        self.pipeline(ring, ring)
    }

    /// Ring + DimRotation.
    pub fn ring_rotation(self) -> Charge {
        Charge { startups: self.d(), volume: self.ring() }
    }

    /// HalfRing + DimRotation.
    pub fn half_ring_rotation(self) -> Charge {
        Charge { startups: self.d(), volume: self.half_ring() }
    }

    /// FoldedRing + Pipeline around a dead cable of the first dimension.
    pub fn folded_pipeline(self) -> Charge {
        let folded = Charge { startups: self.detour(), volume: self.half_ring() / self.r() };
        self.pipeline(folded, Charge { startups: 1.0, volume: self.half_ring() })
    }

    /// FoldedRing + DimRotation around a dead cable.
    pub fn folded_rotation(self) -> Charge {
        Charge { startups: self.d() * self.detour(), volume: self.half_ring() / self.r() }
    }

    /// MATE around a dead cable.
    pub fn mate(self) -> Charge {
        let volume = self.half_ring() * (1.0 + 1.0 / (self.d() - 1.0 + self.r()));
        Charge { startups: self.d() * (1.0 + self.detour()), volume }
    }

    /// The seconds of MATEe around a dead cable. The folded ring's start-ups delay the normal phases only while
    /// messages are small.
    pub fn mate_e(self, message_bytes: f64) -> f64 {
        let shared = self.d() - 1.0 + self.r();
        let seconds = |startups: f64, volume: f64| ALPHA * startups + volume * message_bytes / BANDWIDTH;
        let phase = self.half_ring() / self.d();
        let normal = seconds(1.0, phase).max(seconds(self.detour(), phase));
        self.d() * (normal + seconds(self.detour(), phase * (1.0 - self.r()) / shared))
    }
}
