//! One rank's part, compiled in advance: the sends and receives of every step, each chunk with the place it is read
//! from. Playing a role looks nothing up.
//!
//! A value is in one of three places: the input, the output, or a packet that is kept while it is read. A packet from a
//! peer changes once, when it is taken in: each chunk stays as it is or gets the rank's own value added. From then on
//! values never change, so a place is as good as a copy. A step's packets are assembled before anything arrives, so
//! they carry what the rank held when the step began; a packet sent on whole is not copied. Results are copied to the
//! output as soon as the old contents are no longer read.
//!
//! Roles are compiled [from schedules](of_schedule) and [from rank programs](of_program), and played by `execute`.

mod of_program;
mod of_schedule;
mod rounds;

use std::ops::Range;

use collsynth_core::program::{Block, Layout};
use collsynth_core::topology::RankId;

pub(crate) use of_program::of_program;
pub(crate) use of_schedule::of_schedule;

#[derive(Debug, Default)]
pub(crate) struct Role {
    pub(crate) steps: Vec<Step>,
    pub(crate) sends: Vec<Send>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) packets: Vec<Kept>,
    pub(crate) received: Vec<Received>,
    /// Packets to take in, by their place among `packets`.
    pub(crate) taken_in: Vec<u32>,
    pub(crate) deliveries: Vec<Delivery>,
    /// The number of deliveries before the first step.
    pub(crate) owed: usize,
    /// Packets to release, by their place among `packets`.
    pub(crate) releases: Vec<u32>,
    /// Packets of all ranks are numbered below this.
    pub(crate) packet_count: usize,
    /// The most chunks in a packet of any rank.
    pub(crate) largest_packet: usize,
    /// The number of steps after which the input is no longer read.
    pub(crate) input_steps: usize,
}

/// Ranges of the role's arrays, in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    pub(crate) sends: Range<usize>,
    /// Released once this step's packets are assembled.
    pub(crate) release_early: Range<usize>,
    /// Packets that arrive.
    pub(crate) arrivals: Range<usize>,
    /// Range of `Role::taken_in`.
    pub(crate) taken_in: Range<usize>,
    pub(crate) deliveries: Range<usize>,
    /// Released at the end of the step.
    pub(crate) release_late: Range<usize>,
}

/// A packet to be sent.
#[derive(Debug)]
pub(crate) struct Send {
    pub(crate) to: RankId,
    /// Its number among the packets of all ranks.
    pub(crate) number: u32,
    /// Range of `Role::sent`.
    pub(crate) chunks: Range<usize>,
    /// Set if the packet exists already and need not be assembled.
    pub(crate) whole: Option<Whole>,
}

/// An existing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    Held(u32),
    /// All parts of the only block of the input.
    Input,
}

/// A chunk to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) part: u32,
    pub(crate) from: Place,
}

/// A packet that the rank holds from its arrival or creation.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) origin: Origin,
    /// Range of `Role::received`.
    pub(crate) chunks: Range<usize>,
    /// It is read after it is taken in.
    pub(crate) keep: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// From a peer; the number among the packets of all ranks.
    Peer { from: RankId, number: u32 },
    /// From here: a range of `Role::sent`, copied when the packet is taken in.
    Own { sent: Range<usize> },
}

/// A chunk of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) part: u32,
    /// The value to add to it.
    pub(crate) add: Option<Place>,
    /// The block of the output to copy it to.
    pub(crate) deliver: Option<u32>,
}

/// A value to be copied to the output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) part: u32,
    pub(crate) from: Place,
    /// The block of the output.
    pub(crate) block: u32,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where it was before the first step.
    Own(Block),
    /// In a packet: its place among `packets`, and that of the chunk among `received`.
    Held { packet: u32, chunk: u32 },
}

/// When a packet is read last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LastRead {
    /// From 0.
    step: usize,
    /// When packets are taken in, not only for the step's sends.
    late: bool,
}

impl Role {
    /// Adds a packet of these chunks, unless there are none.
    fn send(&mut self, to: RankId, number: u32, layout: &Layout<'_>, chunks: impl Iterator<Item = Sent>) {
        let start = self.sent.len();
        self.sent.extend(chunks);
        let chunks = start..self.sent.len();
        if !chunks.is_empty() {
            let whole = self.whole(&self.sent[chunks.clone()], layout);
            self.sends.push(Send { to, number, chunks, whole });
        }
    }

    /// The existing packet that consists of these chunks in this order.
    fn whole(&self, sent: &[Sent], layout: &Layout<'_>) -> Option<Whole> {
        match sent.first()?.from {
            Place::Held { packet, .. } => {
                let held = self.packets[packet as usize].chunks.clone();
                let same = held.len() == sent.len()
                    && sent.iter().zip(held).all(|(one, at)| one.from == Place::Held { packet, chunk: at as u32 });
                same.then_some(Whole::Held(packet))
            }
            Place::Own(block) => {
                let all = sent.len() == layout.parts()
                    && sent.iter().zip(0..).all(|(one, part)| one.from == Place::Own(block) && one.part == part);
                (all && layout.blocks().0 == 1 && matches!(block, Block::Input(_))).then_some(Whole::Input)
            }
        }
    }

    /// Records that the current step reads a value.
    fn read(&mut self, last_read: &mut [Option<LastRead>], place: Place, late: bool) {
        match place {
            Place::Own(Block::Input(_)) => self.input_steps = self.steps.len() + 1,
            _ => note_read(last_read, place, self.steps.len(), late),
        }
    }

    /// Sets when packets are released, from when each is last read, if at all.
    fn release(&mut self, last_read: &[Option<LastRead>]) {
        let mut releases: Vec<(usize, bool, u32)> = Vec::new();
        for (packet, last) in last_read.iter().enumerate() {
            self.packets[packet].keep = last.is_some();
            releases.extend(last.map(|last| (last.step, last.late, packet as u32)));
        }
        releases.sort_unstable();
        for (number, step) in self.steps.iter_mut().enumerate() {
            let end = |late| releases.partition_point(|&(step, is_late, _)| (step, is_late) <= (number, late));
            let start = releases.partition_point(|&(step, ..)| step < number);
            step.release_early = start..end(false);
            step.release_late = end(false)..end(true);
        }
        self.releases = releases.into_iter().map(|(.., packet)| packet).collect();
    }
}

/// Records that a step reads a value, if it is in a packet.
fn note_read(last_read: &mut [Option<LastRead>], place: Place, step: usize, late: bool) {
    if let Place::Held { packet, .. } = place {
        let last = &mut last_read[packet as usize];
        *last = (*last).max(Some(LastRead { step, late }));
    }
}
