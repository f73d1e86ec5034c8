//! Machines as text: what they are called, and extents read.

use std::fmt;
use std::str::FromStr;

use super::{Topology, TopologyError, TopologySpec, Torus, dim_name};
use crate::exact::dimension;

/// Up to this many dead switches are named; of more, only the number is given.
const NAMED: usize = 4;

/// The machine in a few words: `4x4x4 torus with 1 failed cable`, `8x8x8 torus with 8 failed cables (switch x:1,2)`.
impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shape(self))?;
        let spec = self.spec();
        let cables = spec.failed_links.iter().filter(|failed| failed.both).count();
        let failed = [
            (cables, "failed cable"),
            (spec.failed_links.len() - cables, "failed link"),
            (spec.failed_ranks.len(), "failed rank"),
        ];
        for (index, (number, noun)) in failed.into_iter().filter(|(number, _)| *number > 0).enumerate() {
            write!(f, "{}{number} {noun}{}", if index == 0 { " with " } else { ", " }, plural(number))?;
            if noun == "failed cable" {
                f.write_str(&switches(self, number))?;
            }
        }
        Ok(())
    }
}

/// An intact torus by its extents, as the command takes them: `4x4x4`.
///
/// ```
/// # use collsynth_core::topology::Topology;
/// let torus: Topology = "4x4x4".parse()?;
/// assert_eq!(torus.fail_cable(2, 3)?.to_string(), "4x4x4 torus with 1 failed cable");
/// # Ok::<(), collsynth_core::topology::TopologyError>(())
/// ```
impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        let extents: Result<Vec<u32>, _> = text.split(['x', 'X']).map(|extent| extent.trim().parse()).collect();
        let extents = extents.map_err(|_| TopologyError::NotExtents { text: text.to_owned() })?;
        Self::new(TopologySpec::torus(&extents))
    }
}

/// The dead switches behind this number of failed cables, in parentheses.
fn switches(topology: &Topology, cables: usize) -> String {
    let dead = topology.dead_switches();
    let of = match dead.iter().map(|(_, cables)| cables).sum::<usize>() {
        0 => return String::new(),
        all if all == cables => String::new(),
        some => format!("{some} of "),
    };
    let names = match dead.len() {
        few if few <= NAMED => dead.iter().map(|(switch, _)| format!(" {switch}")).collect(),
        _ => String::new(),
    };
    let number = if names.is_empty() { format!("{} ", dead.len()) } else { String::new() };
    format!(" ({of}{number}switch{}{names})", if dead.len() == 1 { "" } else { "es" })
}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn shape(topology: &Topology) -> String {
    let Some(torus) = topology.as_torus() else {
        return format!("graph of {}", ranks(topology.rank_count()));
    };
    if let ([extent], [wrap]) = (&torus.extents[..], &torus.wrap[..]) {
        return format!("{} of {}", if *wrap { "ring" } else { "line" }, ranks(*extent as usize));
    }
    let extents: Vec<String> = torus.extents.iter().map(u32::to_string).collect();
    let extents = extents.join("x");
    let unusual: Vec<String> = torus
        .wrap
        .iter()
        .zip(torus.default_wrap())
        .enumerate()
        .filter(|(_, (wrap, usual))| *wrap != usual)
        .map(|(dim, (wrap, _))| format!("{} {}", dim_name(dimension(dim)), if *wrap { "closed" } else { "open" }))
        .collect();
    if torus.is_twisted() {
        return twisted(torus, &extents, unusual);
    }
    match unusual.len() {
        0 => format!("{extents} torus"),
        _ if !torus.wrap.contains(&true) => format!("{extents} mesh"),
        _ => format!("{extents} torus ({})", unusual.join(", ")),
    }
}

/// The doubled tori in one word, other twists and wraps one by one.
fn twisted(torus: &Torus, extents: &str, mut unusual: Vec<String>) -> String {
    if Torus::twisted(&torus.extents).is_some_and(|usual| (&usual.twist, &usual.wrap) == (&torus.twist, &torus.wrap)) {
        return format!("twisted {extents} torus");
    }
    for (dim, row) in torus.twist.iter().enumerate() {
        let shifts = row.iter().enumerate().filter(|(_, shift)| **shift > 0);
        let name = |dim: usize| dim_name(dimension(dim));
        unusual.extend(shifts.map(|(shifted, shift)| format!("{} shifts {} by {shift}", name(dim), name(shifted))));
    }
    format!("{extents} torus ({})", unusual.join(", "))
}

fn ranks(number: usize) -> String {
    format!("{number} rank{}", plural(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Shape;

    fn torus(extents: &[u32], wrap: &[bool]) -> Topology {
        let torus = Torus { wrap: wrap.to_vec(), ..Torus::new(extents) };
        Topology::new(TopologySpec::new(Shape::Torus(torus))).expect("a machine")
    }

    #[test]
    fn shapes_in_words() {
        assert_eq!(torus(&[4, 4], &[]).to_string(), "4x4 torus");
        assert_eq!(torus(&[4, 4], &[false, false]).to_string(), "4x4 mesh");
        assert_eq!(torus(&[4, 2], &[true, true]).to_string(), "4x2 torus (y closed)");
        assert_eq!(torus(&[4, 4], &[true, false]).to_string(), "4x4 torus (y open)");
        let of = |torus: Torus| Topology::new(TopologySpec::new(Shape::Torus(torus))).expect("a machine").to_string();
        let twisted = Torus::twisted(&[4, 4, 8]).expect("a doubled torus");
        assert_eq!(of(twisted.clone()), "twisted 4x4x8 torus");
        let once = vec![vec![0, 0, 4], vec![0; 3], vec![0; 3]];
        assert_eq!(of(Torus { twist: once, ..twisted }), "4x4x8 torus (x shifts z by 4)");
    }

    #[test]
    fn dead_switches_in_words() {
        let dead = |switches: &[&str], cables: &[(u32, u32)]| {
            let mut spec = TopologySpec::torus(&[8, 8, 8]).without_cables(cables);
            for switch in switches {
                let switch: crate::topology::Switch = switch.parse().expect("a switch");
                spec.failed_links.extend(switch.cables(&torus(&[8, 8, 8], &[]), &[4; 3]).expect("a switch"));
            }
            Topology::new(spec).expect("a machine").to_string()
        };
        assert_eq!(dead(&["x:1,2"], &[]), "8x8x8 torus with 8 failed cables (switch x:1,2)");
        let words = "8x8x8 torus with 17 failed cables (16 of switches x:1,2 y:0,0)";
        assert_eq!(dead(&["y:0,0", "x:1,2"], &[(0, 1)]), words);
        let many = dead(&["x:0,0", "x:0,1", "x:0,2", "x:0,3", "x:1,0"], &[]);
        assert_eq!(many, "8x8x8 torus with 40 failed cables (5 switches)");
        // A cable alone is no switch, even if its switch has no other.
        assert_eq!(torus(&[4, 4], &[]).fail_cable(0, 3).unwrap().to_string(), "4x4 torus with 1 failed cable");
    }

    #[test]
    fn extents_are_read() {
        let read =
            |text: &str| text.parse::<Topology>().map(|torus| torus.to_string()).map_err(|error| error.to_string());
        assert_eq!(read("4x4x4").as_deref(), Ok("4x4x4 torus"));
        assert_eq!(read("8").as_deref(), Ok("ring of 8 ranks"));
        assert_eq!(read(" 4 x 4\n").as_deref(), Ok("4x4 torus"));
        for wrong in ["", "4x", "4*4", "-1", "4x4 torus", "99999999999"] {
            assert!(read(wrong).unwrap_err().contains("as in 4x4x4"), "{wrong}");
        }
        assert!(read("0").is_err() && read("65536x65536").is_err());
    }
}
