//! The paper's synthetic averages (its figure 11 and section 5.2).

use collsynth::cost::Line;

use super::closed_forms::{Charge, Torus};
use super::page::Page;
use super::planned::ALPHA;

pub const BANDWIDTH: f64 = 32e9;

/// An algorithm, the paper's average, and what it charges.
type Charged = (&'static str, f64, fn(Torus) -> Charge);

/// What the averages must come within.
const NEAR: f64 = 0.03;

/// 8 KiB to 2 GiB a rank, doubled again and again.
fn sizes() -> impl Iterator<Item = f64> {
    (13..=31).map(|power| f64::from(1_u32 << power))
}

/// The average speed-up over fault-free Ring and Pipeline on 5^dims, for a time by bytes of a message.
fn speedup(dims: u32, seconds: impl Fn(f64) -> f64) -> f64 {
    speedup_over(Torus { extent: 5, dims }.ring_pipeline().line(ALPHA, BANDWIDTH), dims, seconds)
}

/// The same over a baseline.
pub fn speedup_over(base: Line, dims: u32, seconds: impl Fn(f64) -> f64) -> f64 {
    let torus = Torus { extent: 5, dims };
    let ratio = |bytes: f64| at(base, bytes / torus.ranks()) / seconds(bytes / torus.ranks());
    let ratios: Vec<f64> = sizes().map(ratio).collect();
    ratios.iter().sum::<f64>() / ratios.len() as f64
}

pub fn at(line: Line, bytes: f64) -> f64 {
    line.fixed + line.per_byte * bytes
}

pub fn write(page: &mut Page) {
    page.text(
        "\n## The synthetic averages\n\n\
         Speed-ups over Ring and Pipeline (6 chunks) without failures, averaged over 8 KiB to 2 GiB per rank\n\
         (doubling sizes) and over 5x5, 5x5x5 and 5x5x5x5; 32 GB/s, 100 ns. A message is the bytes of a rank\n\
         over the number of ranks. Charged as in table 1 of the paper: a start-up for each link of the longest\n\
         logical edge of a phase, so `k-1` for a folded ring; one dead cable in the first dimension if a\n\
         failure is named. In MATEe a normal phase takes the longer of HalfRing and the folded ring's share.\n",
    );
    page.table(&["algorithm", "paper", "by its cost model", "difference", "5x5", "5x5x5", "5x5x5x5"]);
    let mut rows: Vec<(&str, f64, [f64; 3])> = Vec::new();
    let charged: [Charged; 6] = [
        ("HalfRing + Pipeline", 1.56, Torus::half_ring_pipeline),
        ("Ring + DimRotation", 1.45, Torus::ring_rotation),
        ("HalfRing + DimRotation", 2.28, Torus::half_ring_rotation),
        ("FoldedRing + Pipeline, one cable", 0.55, Torus::folded_pipeline),
        ("FoldedRing + DimRotation, one cable", 0.67, Torus::folded_rotation),
        ("MATE, one cable", 1.36, Torus::mate),
    ];
    let each = |of: &dyn Fn(u32) -> f64| [2, 3, 4].map(of);
    for (name, paper, charge) in charged {
        let of = |dims| {
            let line = charge(Torus { extent: 5, dims }).line(ALPHA, BANDWIDTH);
            speedup(dims, |bytes| at(line, bytes))
        };
        rows.push((name, paper, each(&of)));
    }
    let of = |dims| speedup(dims, |bytes| Torus { extent: 5, dims }.mate_e(bytes, ALPHA, BANDWIDTH));
    rows.push(("MATEe, one cable", 1.37, each(&of)));
    for (name, paper, each) in rows {
        let average = each.iter().sum::<f64>() / 3.0;
        assert!((average / paper - 1.0).abs() < NEAR, "{name}: {average} is not near {paper}");
        let difference = format!("{:+.1} %", (average / paper - 1.0) * 100.0);
        let mut cells = vec![name.to_owned(), paper.to_string(), format!("{average:.3}"), difference];
        cells.extend(each.iter().map(|speedup| format!("{speedup:.3}")));
        page.row(cells);
    }
}
