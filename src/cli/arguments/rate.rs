//! The options of the cost model, for commands that report times by message size.

use std::str::FromStr;

use clap::Args;
use collsynth::collective::Kind;
use collsynth::cost::{Bandwidth, Price, Rates};
use collsynth::topology::{DimRef, Topology, dim_name};

use crate::cli::ending::Failure;
use crate::cli::options::quantity::{parse_bandwidth, parse_bytes, parse_startup};

/// What a step and a byte cost unless stated: [`Price::of`] in words.
pub const ALPHA: &str = "100ns";
pub const BANDWIDTH: &str = "32GB/s";

/// What steps, transfers and bytes cost.
#[derive(Args)]
#[command(next_help_heading = "Times")]
pub struct RateOptions {
    /// Bytes of one message: sizes (64KiB,1MiB), or a range by factors of four (64KiB..64MiB)
    #[arg(long, allow_negative_numbers = true, value_name = "SIZE,..|FROM..TO", default_value = "4KiB..4MiB")]
    message_bytes: Sizes,
    /// The time a step takes to start
    #[arg(long, allow_negative_numbers = true, value_name = "TIME")]
    #[arg(default_value = ALPHA, value_parser = parse_startup)]
    alpha: f64,
    /// The time a rank takes to set up each transfer that it sends in a step
    #[arg(long, allow_negative_numbers = true, value_name = "TIME")]
    #[arg(default_value = "0ns", value_parser = parse_startup)]
    transfer_setup: f64,
    /// What a link of capacity 1 carries: one rate for all, or one for each dimension (x=32GB/s,y=16GB/s)
    #[arg(long, allow_negative_numbers = true, value_name = "RATE|DIM=RATE,..", default_value = BANDWIDTH)]
    bandwidth: BandwidthArgument,
}

/// `64KiB,1MiB` or `64KiB..64MiB`, ascending.
#[derive(Clone)]
pub struct Sizes(pub Vec<u64>);

/// `32GB/s` or `x=32GB/s,y=16GB/s`.
#[derive(Clone)]
enum BandwidthArgument {
    Uniform(f64),
    PerDimension(Vec<(u8, f64)>),
}

impl RateOptions {
    /// The sizes asked for, ascending; a byte for what has none, a barrier.
    pub fn sizes(&self, kind: &Kind) -> Vec<u64> {
        if kind.has_volume() { self.message_bytes.0.clone() } else { vec![1] }
    }

    /// The prices on this machine.
    pub fn rates(&self, topology: &Topology) -> Result<Rates, Failure> {
        let bandwidth = match &self.bandwidth {
            BandwidthArgument::Uniform(bandwidth) => Bandwidth::Uniform(*bandwidth),
            BandwidthArgument::PerDimension(stated) => per_dimension(stated, topology)?,
        };
        Ok(Rates { alpha: self.alpha, transfer_setup: self.transfer_setup, bandwidth })
    }

    /// The price that planning minimizes for each size: without set-ups, at the least bandwidth.
    pub fn prices(&self, rates: &Rates, kind: &Kind) -> Vec<Price> {
        let (alpha, bandwidth) = (self.alpha, rates.bandwidth.least());
        self.sizes(kind).into_iter().map(|message_bytes| Price { message_bytes, alpha, bandwidth }).collect()
    }
}

fn per_dimension(stated: &[(u8, f64)], topology: &Topology) -> Result<Bandwidth, Failure> {
    let Some(torus) = topology.as_torus() else {
        return Err(Failure::usage("a graph has no dimensions").hint("state one --bandwidth for all links"));
    };
    let dims = torus.extents.len();
    if let Some((dim, _)) = stated.iter().find(|(dim, _)| usize::from(*dim) >= dims) {
        return Err(Failure::usage(format!("--bandwidth: the machine has no dimension {}", dim_name(*dim))));
    }
    let of = |dim: usize| {
        let bandwidth = stated.iter().find(|(stated, _)| usize::from(*stated) == dim).map(|(_, bandwidth)| *bandwidth);
        bandwidth.ok_or_else(|| {
            let name = dim_name(dim as u8);
            Failure::usage(format!("--bandwidth says nothing of dimension {name}")).hint(format!("add {name}=RATE"))
        })
    };
    Ok(Bandwidth::PerDimension((0..dims).map(of).collect::<Result<_, _>>()?))
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sizes = match text.split_once("..") {
            None => text.split(',').map(parse_bytes).collect::<Result<Vec<u64>, String>>()?,
            Some((from, to)) => {
                let (from, to) = (parse_bytes(from)?, parse_bytes(to)?);
                if from > to {
                    return Err(format!("`{text}` goes down: write the smaller size first"));
                }
                let steps = std::iter::successors(Some(from), |size| size.checked_mul(4));
                steps.take_while(|&size| size < to).chain([to]).collect()
            }
        };
        sizes.sort_unstable();
        sizes.dedup();
        Ok(Self(sizes))
    }
}

impl FromStr for BandwidthArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains('=') {
            return parse_bandwidth(text).map(Self::Uniform);
        }
        let one = |word: &str| {
            let form = || format!("`{word}` is not the bandwidth of a dimension: write x=32GB/s");
            let (dim, rate) = word.split_once('=').ok_or_else(form)?;
            match dim.trim().parse() {
                Ok(DimRef::Dim(dim)) => Ok((dim, parse_bandwidth(rate.trim())?)),
                _ => Err(form()),
            }
        };
        let stated: Vec<(u8, f64)> = text.split(',').map(one).collect::<Result<_, String>>()?;
        let mut dims: Vec<u8> = stated.iter().map(|(dim, _)| *dim).collect();
        dims.sort_unstable();
        match dims.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(twice) => Err(format!("dimension {} is stated twice", dim_name(twice[0]))),
            None => Ok(Self::PerDimension(stated)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_price_unless_stated_is_that_of_the_library() {
        assert_eq!(parse_startup(ALPHA), Ok(Price::ALPHA));
        assert_eq!(parse_bandwidth(BANDWIDTH), Ok(Price::BANDWIDTH));
    }

    #[test]
    fn sizes_and_ranges() {
        let sizes = |text: &str| text.parse().map(|Sizes(sizes)| sizes);
        assert_eq!(sizes("1KiB..100KiB"), Ok(vec![1 << 10, 4 << 10, 16 << 10, 64 << 10, 100 << 10]));
        assert_eq!(sizes("4KiB,1KiB,4096"), Ok(vec![1 << 10, 4 << 10]));
        assert_eq!(sizes("1KiB..1KiB"), Ok(vec![1 << 10]));
        assert!(sizes("2KiB..1KiB").is_err() && sizes("").is_err() && sizes("..1KiB").is_err());
    }

    #[test]
    fn bandwidths_of_dimensions() {
        let topology = Topology::torus(&[4, 3]).unwrap();
        let of = |text: &str| match text.parse()? {
            BandwidthArgument::Uniform(rate) => Ok(Bandwidth::Uniform(rate)),
            BandwidthArgument::PerDimension(stated) => per_dimension(&stated, &topology).map_err(|e| e.to_string()),
        };
        assert_eq!(of("32GB/s"), Ok(Bandwidth::Uniform(32e9)));
        assert_eq!(of("y=16GB/s,x=32GB/s"), Ok(Bandwidth::PerDimension(vec![32e9, 16e9])));
        for wrong in ["x=1GB/s", "x=1GB/s,y=1GB/s,z=1GB/s", "x=1GB/s,x=1GB/s", "x+=1GB/s,y=1GB/s", "x=1,y=1"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
