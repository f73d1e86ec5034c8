//! Tolls on the links of tight cuts, and on all where every link is needed.
//!
//! A half of the torus, cut out between two planes, has as many links into it as the planes have live cables. Where
//! what must cross nearly fills them for the whole schedule, a path that crosses twice takes room that another one
//! needs; so crossing is dear, and who can go another way does. Likewise where the hops of all messages on their
//! shortest ways nearly fill all links: then every hop is dear.

use collsynth_core::topology::Torus;

use super::quotient::{Quotient, extents};

/// Cuts whose bound is at least this share of the width are tight, in thousandths.
const TIGHT: u64 = 998;

/// Charges for links of cuts that are tight at this width, and for all links if the hops of a representative's messages
/// are that many that they nearly fill them.
pub(super) fn charge(quotient: &mut Quotient, torus: &Torus, parts: u64, width: u32, hops: u64) {
    let live = || (0..quotient.dead.len()).filter(|&class| !quotient.dead[class]);
    let capacity = |class: usize| u64::from(torus.capacity[class % quotient.directions / 2]);
    let room = live().map(capacity).sum::<u64>() * u64::from(width);
    if hops * quotient.cell() as u64 * 1000 > room * TIGHT {
        (0..quotient.dead.len()).for_each(|class| quotient.charge(class));
    }
    let extents = extents(torus);
    let ranks: usize = extents.iter().product();
    for (dim, &extent) in extents.iter().enumerate() {
        // A wrap that shifts this dimension leads from plane to plane elsewhere.
        if torus.twist.iter().any(|row| row[dim] > 0) {
            continue;
        }
        let (area, period) = (ranks / extent, quotient.period[dim]);
        let copies = area / (quotient.cell() / period);
        let live: Vec<u64> = (0..period).map(|plane| up_from(quotient, dim, plane).len() as u64).collect();
        let capacity = |plane: usize| live[plane % period] * copies as u64 * u64::from(torus.capacity[dim]);
        for first in 0..period {
            for length in 1..=extent / 2 {
                let planes = [first + extent - 1, first + length - 1];
                let crossing = (area * length) as u64 * (area * (extent - length)) as u64 * parts;
                let links = capacity(planes[0]) + capacity(planes[1]);
                if links > 0 && crossing * 1000 > links * u64::from(width) * TIGHT {
                    for plane in planes {
                        for class in up_from(quotient, dim, plane % period) {
                            quotient.charge(class);
                        }
                        for class in down_to(quotient, dim, plane % period) {
                            quotient.charge(class);
                        }
                    }
                }
            }
        }
    }
    quotient.reprice_all();
}

/// The live classes of links that lead up a dimension from a plane.
fn up_from(quotient: &Quotient, dim: usize, plane: usize) -> Vec<usize> {
    across(quotient, dim, plane, 2 * dim)
}

/// Those that lead down to it.
fn down_to(quotient: &Quotient, dim: usize, plane: usize) -> Vec<usize> {
    across(quotient, dim, (plane + 1) % quotient.period[dim], 2 * dim + 1)
}

fn across(quotient: &Quotient, dim: usize, plane: usize, direction: usize) -> Vec<usize> {
    let there = (0..quotient.cell()).filter(|&number| quotient.position(number)[dim] == plane);
    let classes = there.map(|number| number * quotient.directions + direction);
    classes.filter(|&class| !quotient.dead[class]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planners::mended::lattice::quotient::{FREE, TOLL};
    use collsynth_core::topology::Topology;

    /// On an intact torus in cells of 2x2 ranks with 4 links each.
    #[test]
    fn detours_are_dear_where_hops_fill_all_links() {
        let machine = Topology::torus(&[8, 8]).expect("a torus");
        let torus = machine.as_torus().expect("a torus");
        let tolled = |width: u32, hops: u64| {
            let mut quotient = Quotient::new(&machine, &[2, 2], vec![width]);
            charge(&mut quotient, torus, 1, width, hops);
            quotient.price.iter().filter(|&&price| price >= FREE + TOLL).count()
        };
        // Far wider than any cut needs.
        let width = 10_000;
        assert_eq!(tolled(width, 4 * u64::from(width)), 16);
        assert_eq!(tolled(width, 4 * u64::from(width) * 99 / 100), 0);
    }
}
