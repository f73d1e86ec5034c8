//! Tests a schedule with random inputs; expected results come from plain arithmetic, without any schedule.
//!
//! Every element of every rank's input is a function of a seed, so each rank can compute all others' inputs itself.
//! Moved elements, integers, minima and maxima must be equal to the last bit. A sum of `k` floating-point numbers may
//! be off by `k*u * sum |x|`, a product by `k*u * |product|`, where `u` is half the distance from 1 to the next number
//! of the type: the bound that holds for every order of the operations (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, sections 3.1 and 4.2, to first order).

use std::sync::OnceLock;

use half::{bf16, f16};
use thiserror::Error;

use crate::calls::communicator::Communicator;
use crate::calls::error::RunError;
use crate::calls::group::{Group, RankBuffers};
use crate::compression::compressed::Gathering;
use crate::compression::compressor::Uncompressed;
use crate::playing::element::{Element, ReduceOp};
use crate::transports::transport::Transport;
use collsynth_core::collective::{Holders, Kind};
use collsynth_core::problem::Problem;
use collsynth_core::program::Layout;
use collsynth_core::topology::{RankId, Topology};

/// An element that can be drawn at random and measured.
pub trait Sample: Element {
    /// Half the distance from 1 to the next number; 0 for integers, which are exact.
    const ROUNDING: f64;

    /// An element made of random bits: any integer; a number in -1..1, or for products one near 1.
    fn sample(op: ReduceOp, bits: u64) -> Self;

    /// The value, for comparison and display.
    fn to_f64(self) -> f64;
}

/// A collective on random inputs.
#[derive(Debug)]
pub struct Trial<E> {
    /// The problem as callers see it.
    called: Problem,
    block: usize,
    op: ReduceOp,
    seed: u64,
    /// Every rank's result of an `all_reduce`, computed once.
    first_block: OnceLock<Vec<Expected<E>>>,
}

/// The buffers of one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers<E> {
    /// The rank's contribution; empty for collectives that work in place.
    pub input: Vec<E>,
    /// The result.
    pub output: Vec<E>,
}

/// A wrong element.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("rank {rank}: {}", self.words())]
pub struct Mismatch {
    /// The rank whose output it is.
    pub rank: RankId,
    /// The element's place.
    pub index: usize,
    /// The result of plain arithmetic.
    pub expected: f64,
    /// The value found.
    pub found: f64,
    /// The tolerance.
    pub within: f64,
}

impl Mismatch {
    /// The same in words, with the name of the rank.
    pub fn on(&self, topology: &Topology) -> String {
        format!("rank {}: {}", topology.numbered_name(self.rank), self.words())
    }

    fn words(&self) -> String {
        let Self { index, expected, found, within, .. } = self;
        let tolerance = if *within > 0.0 { format!(", give or take {within:e}") } else { String::new() };
        format!("element {index} of the output is {found}; it must be {expected}{tolerance}")
    }
}

#[derive(Clone, Copy, Debug)]
enum Expected<E> {
    Exactly(E),
    Near { value: f64, within: f64 },
}

impl<E: Sample> Trial<E> {
    /// A trial of a problem's collective with blocks (messages, shards, vectors; for `all_to_allv` chunks) of `block`
    /// elements.
    pub fn new(problem: &Problem, block: usize, op: ReduceOp, seed: u64) -> Self {
        Self { called: problem.called(), block, op, seed, first_block: OnceLock::new() }
    }

    /// The elements of a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// A rank's buffers before the call; a barrier has none.
    pub fn buffers(&self, rank: RankId) -> Buffers<E> {
        let (input, output) = self.layout(rank).map_or((0, 0), |layout| layout.blocks());
        let drawn = |blocks: usize| (0..blocks * self.block).map(|index| self.drawn(rank, index)).collect();
        Buffers { input: drawn(input), output: drawn(output) }
    }

    /// Makes the call for the communicator's problem.
    ///
    /// # Errors
    ///
    /// The call's.
    pub fn call<T: Transport>(
        &self,
        communicator: &mut Communicator<T>,
        buffers: &mut Buffers<E>,
    ) -> Result<(), RunError> {
        let Buffers { input, output } = buffers;
        let kind = &communicator.problem().collective().kind;
        let relays = kind.groups().is_some_and(|groups| groups.place(communicator.rank()).is_none());
        if relays && kind.has_volume() {
            return communicator.relay::<E>(self.block, self.op);
        }
        match *communicator.problem().collective().kind.of_each() {
            Kind::AllToAll => communicator.all_to_all(input, output),
            Kind::AllToAllV(_) => communicator.all_to_allv(input, output, self.block),
            Kind::AllGather => communicator.all_gather(input, output),
            Kind::ReduceScatter => communicator.reduce_scatter(input, output, self.op),
            Kind::AllReduce => communicator.all_reduce(output, self.op),
            Kind::Broadcast(_) => communicator.broadcast(output),
            Kind::Reduce(_) => communicator.reduce(input, output, self.op),
            Kind::Scatter(_) => communicator.scatter(input, output),
            Kind::Gather(_) => communicator.gather(input, output),
            Kind::Barrier => communicator.barrier(),
            // What each group does is in no groups.
            Kind::InGroups(_) => Ok(()),
            Kind::AllReduceGathered => {
                communicator.all_reduce_gathered(output, &mut Uncompressed(self.op), Gathering::default())
            }
        }
    }

    /// Makes the calls of all ranks; the buffers are those of the live ranks, ascending.
    ///
    /// # Errors
    ///
    /// The group's.
    pub fn call_group(&self, group: &mut Group, buffers: &mut [Buffers<E>]) -> Result<(), RunError> {
        let of_ranks = buffers.iter_mut().map(|Buffers { input, output }| RankBuffers { input, output });
        group.run(&mut of_ranks.collect::<Vec<_>>(), self.op)
    }

    /// Compares a rank's output after the call, element by element, with plain arithmetic. O(elements * ranks).
    ///
    /// # Errors
    ///
    /// The first wrong element.
    pub fn check(&self, rank: RankId, output: &[E]) -> Result<(), Mismatch> {
        let mut index = 0;
        for (holders, first, blocks) in self.layout(rank).map_or(Vec::new(), |layout| layout.sources()) {
            let alive = |origin: RankId| self.called.topology().is_alive(origin);
            for at in first as usize * self.block..(first + blocks) as usize * self.block {
                let expected = match holders {
                    Holders::One(origin) if alive(origin) => Expected::Exactly(self.drawn(origin, at)),
                    // The block of a failed rank is unchanged.
                    Holders::One(_) => Expected::Exactly(self.drawn(rank, index)),
                    Holders::Every if at < self.block => self.first_block()[at],
                    holders => self.combined(holders, at),
                };
                self.compare(rank, index, output[index], expected)?;
                index += 1;
            }
        }
        Ok(())
    }

    /// Whether these have the same bits.
    pub fn same_bits(&self, one: &[E], other: &[E]) -> bool {
        bytemuck::cast_slice::<E, u8>(one) == bytemuck::cast_slice::<E, u8>(other)
    }

    /// The callers' blocks; none if there is nothing to move.
    fn layout(&self, rank: RankId) -> Option<Layout<'_>> {
        self.called.collective().kind.has_volume().then(|| Layout::of_call(&self.called, rank))
    }

    /// The first blocks of all live ranks' inputs, combined.
    fn first_block(&self) -> &[Expected<E>] {
        self.first_block.get_or_init(|| (0..self.block).map(|at| self.combined(Holders::Every, at)).collect())
    }

    /// Element `index` of a rank's input; in place, of its output before the call.
    fn drawn(&self, rank: RankId, index: usize) -> E {
        E::sample(self.op, mix(mix(self.seed ^ u64::from(rank.0)).wrapping_add(index as u64)))
    }

    /// The elements at `index` of the inputs of these ranks, combined.
    fn combined(&self, holders: Holders, index: usize) -> Expected<E> {
        let mut all = self.called.holders(holders).map(|rank| self.drawn(rank, index));
        let rounds = E::ROUNDING > 0.0 && matches!(self.op, ReduceOp::Sum | ReduceOp::Product);
        if !rounds {
            let first = all.next().unwrap_or_else(E::zeroed);
            return Expected::Exactly(all.fold(first, |one, other| {
                let mut into = [other];
                E::combine(self.op, &[one], &mut into);
                into[0]
            }));
        }
        let (mut count, mut value, mut size) = (0.0, if self.op == ReduceOp::Sum { 0.0 } else { 1.0 }, 0.0);
        for element in all.map(E::to_f64) {
            count += 1.0;
            size += element.abs();
            match self.op {
                ReduceOp::Sum => value += element,
                _ => value *= element,
            }
        }
        // This value is itself rounded, as much as one in f64.
        let rounding = E::ROUNDING + f64::ROUNDING;
        let size: f64 = if self.op == ReduceOp::Sum { size } else { f64::abs(value) };
        Expected::Near { value, within: count * rounding * size }
    }

    fn compare(&self, rank: RankId, index: usize, found: E, expected: Expected<E>) -> Result<(), Mismatch> {
        let (holds, expected, within) = match expected {
            Expected::Exactly(value) => (bytemuck::bytes_of(&found) == bytemuck::bytes_of(&value), value.to_f64(), 0.0),
            Expected::Near { value, within } => ((found.to_f64() - value).abs() <= within, value, within),
        };
        if holds { Ok(()) } else { Err(Mismatch { rank, index, expected, found: found.to_f64(), within }) }
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a bijection that scatters.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in -1..1, or for products within 1/16 of 1.
fn fraction(op: ReduceOp, bits: u64) -> f64 {
    let centered = (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
    if op == ReduceOp::Product { 1.0 + centered / 16.0 } else { centered }
}

macro_rules! samples {
    ($($element:ty, $rounding:expr, $sample:expr, $to_f64:expr;)*) => {$(
        impl Sample for $element {
            const ROUNDING: f64 = $rounding;

            fn sample(op: ReduceOp, bits: u64) -> Self {
                $sample(op, bits)
            }

            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
        }
    )*};
}

samples! {
    f32, f32::EPSILON as f64 / 2.0, |op, bits| fraction(op, bits) as f32, f64::from;
    f64, f64::EPSILON / 2.0, fraction, f64::from;
    f16, 1.0 / 2048.0, |op, bits| f16::from_f64(fraction(op, bits)), f16::to_f64;
    bf16, 1.0 / 256.0, |op, bits| bf16::from_f64(fraction(op, bits)), bf16::to_f64;
    i32, 0.0, |_, bits| (bits >> 32) as i32, f64::from;
    i64, 0.0, |_, bits| bits as i64, |value| value as f64;
    u8, 0.0, |_, bits| (bits >> 56) as u8, f64::from;
}
