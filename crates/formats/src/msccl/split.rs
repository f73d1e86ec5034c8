//! A worker with more steps than a thread block may have becomes several blocks in sequence: the first step of each
//! depends on the last of its predecessor. A channel is split at the same packet at both ends, and the packets after
//! the split use another connection.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::steps::{Step, Steps};
use super::{ExportError, MAX_BLOCKS_PER_CHANNEL, MAX_STEPS};
use collsynth_core::program::{Program, Slot};
use collsynth_core::topology::RankId;

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) send: Option<RankId>,
    pub(super) receive: Option<RankId>,
    pub(super) chan: u32,
    /// Their dependencies name a block of the rank and its step.
    pub(super) steps: Vec<Step>,
}

pub(super) struct Split {
    /// By rank.
    pub(super) blocks: Vec<Vec<Block>>,
    /// One more than the highest channel.
    pub(super) channels: u32,
}

/// Leaves room for the step that waits for the previous block.
const ROOM: usize = MAX_STEPS - 1;

/// Splits the workers of all ranks where needed.
pub(super) fn split(program: &Program, workers: Vec<Vec<Steps>>) -> Result<Split, ExportError> {
    let cuts = cuts(program, &workers)?;
    let chans = chans(program, &workers, &cuts)?;
    let blocks: Vec<_> = workers.into_iter().map(|own| blocks_of_rank(program, own, &cuts, &chans)).collect();
    let channels = blocks.iter().flatten().map(|block: &Block| block.chan + 1).max().unwrap_or(0);
    Ok(Split { blocks, channels })
}

/// For each piece of each channel, its connection number: distinct between the same ranks, equal for the two channels
/// of one block, and the lowest with room for the blocks at their ranks.
fn chans(program: &Program, workers: &[Vec<Steps>], cuts: &[Vec<usize>]) -> Result<Vec<Vec<u32>>, ExportError> {
    // Channels that share a block belong together.
    let mut group: Vec<usize> = (0..program.channels.len()).collect();
    for steps in workers.iter().flatten() {
        if let (Some(send), Some(receive)) = (steps.send, steps.receive) {
            let (one, other) = (group[send as usize], group[receive as usize]);
            if one != other {
                group.iter_mut().filter(|group| **group == other).for_each(|group| *group = one);
            }
        }
    }
    let mut members = vec![Vec::new(); program.channels.len()];
    for (channel, &group) in group.iter().enumerate() {
        members[group].push(channel);
    }
    // The ranks of each group's blocks, with repetition. Blocks without channels are placed first.
    let mut block_ranks = vec![Vec::new(); program.channels.len()];
    let mut blocks_on: HashMap<(usize, u32), u32> = HashMap::new();
    for (rank, own) in workers.iter().enumerate() {
        let mut local = 0;
        for steps in own {
            match steps.send.or(steps.receive) {
                Some(channel) => block_ranks[group[channel as usize]].push(rank),
                None => {
                    for _ in starts(steps, &[]) {
                        *blocks_on.entry((rank, local_chan(local))).or_default() += 1;
                        local += 1;
                    }
                }
            }
        }
    }
    let ends = |channel: usize| (program.channels[channel].from, program.channels[channel].to);
    let mut taken: HashSet<(RankId, RankId, u32)> = HashSet::new();
    let mut chans = vec![Vec::new(); program.channels.len()];
    for (members, block_ranks) in members.into_iter().zip(block_ranks) {
        let mut more: BTreeMap<usize, u32> = BTreeMap::new();
        for rank in block_ranks {
            *more.entry(rank).or_default() += 1;
        }
        if let Some((&rank, &count)) = more.iter().find(|&(_, &count)| count > MAX_BLOCKS_PER_CHANNEL) {
            return Err(ExportError::Together { rank, count });
        }
        let pieces = members.iter().map(|&channel| cuts[channel].len() + 1).max().unwrap_or(0);
        for _ in 0..pieces {
            let has_room = |chan: u32| {
                let there = |rank| blocks_on.get(&(rank, chan)).copied().unwrap_or(0);
                more.iter().all(|(&rank, &more)| there(rank) + more <= MAX_BLOCKS_PER_CHANNEL)
            };
            let is_free = |chan: &u32| {
                let free = |&channel: &usize| !taken.contains(&(ends(channel).0, ends(channel).1, *chan));
                members.iter().all(free) && has_room(*chan)
            };
            let chan = (0..).find(is_free).unwrap_or_default();
            for (&rank, &more) in &more {
                *blocks_on.entry((rank, chan)).or_default() += more;
            }
            for &channel in &members {
                if !taken.insert((ends(channel).0, ends(channel).1, chan)) {
                    return Err(ExportError::Tangled { from: ends(channel).0.0, to: ends(channel).1.0 });
                }
                chans[channel].push(chan);
            }
        }
    }
    Ok(chans)
}

/// The connection number of a rank's `block`-th block without channels.
fn local_chan(block: u32) -> u32 {
    block / MAX_BLOCKS_PER_CHANNEL
}

/// The packets before which each channel is cut.
fn cuts(program: &Program, workers: &[Vec<Steps>]) -> Result<Vec<Vec<usize>>, ExportError> {
    // The steps that send, and that receive, on each channel.
    let mut sends = vec![Vec::new(); program.channels.len()];
    let mut receives = sends.clone();
    let mut both = vec![None; program.channels.len()];
    for (rank, own) in workers.iter().enumerate() {
        for (worker, steps) in own.iter().enumerate() {
            for (number, step) in steps.steps.iter().enumerate().filter(|(_, step)| is_packet(step)) {
                if let Some(channel) = steps.send.filter(|_| step.kind.ends_with('s')) {
                    sends[channel as usize].push(number);
                }
                if let Some(channel) = steps.receive.filter(|_| step.kind.starts_with('r')) {
                    receives[channel as usize].push(number);
                }
            }
            if let (Some(send), Some(receive)) = (steps.send, steps.receive) {
                both[send as usize] = Some((rank, worker));
                both[receive as usize] = Some((rank, worker));
                if steps.steps.len() > MAX_STEPS {
                    return Err(too_long(rank, worker, steps.steps.len()));
                }
            }
        }
    }
    let mut cuts = Vec::new();
    for (channel, (sends, receives)) in sends.iter().zip(&receives).enumerate() {
        let mut own = Vec::new();
        let (mut first_send, mut first_receive) = (0, 0);
        for packet in 0..sends.len().min(receives.len()) {
            let too_many = sends[packet] - first_send >= ROOM || receives[packet] - first_receive >= ROOM;
            if too_many && packet > 0 {
                own.push(packet);
                (first_send, first_receive) = (sends[packet - 1] + 1, receives[packet - 1] + 1);
            }
        }
        if let Some((rank, worker)) = both[channel].filter(|_| !own.is_empty()) {
            return Err(too_long(rank, worker, MAX_STEPS + 1));
        }
        cuts.push(own);
    }
    Ok(cuts)
}

/// True if the step sends or receives; `re` does neither.
fn is_packet(step: &Step) -> bool {
    matches!(step.kind, "s" | "r" | "rcs" | "rrs" | "rrc" | "rrcs")
}

fn too_long(rank: usize, worker: usize, steps: usize) -> ExportError {
    let what = format!("has {steps} steps or more and cannot be split; MSCCL allows {MAX_STEPS}");
    ExportError::Worker { rank: rank as u32, worker, what }
}

fn blocks_of_rank(program: &Program, workers: Vec<Steps>, cuts: &[Vec<usize>], chans: &[Vec<u32>]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    // The block and step that each worker's steps became.
    let mut gone: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut local = 0;
    for steps in workers {
        let channel = steps.send.or(steps.receive);
        let starts = starts(&steps, channel.map_or(&[], |channel| cuts[channel as usize].as_slice()));
        let ends = |channel: u32| program.channels[channel as usize];
        let mut own = Vec::new();
        for (part, &start) in starts.iter().enumerate() {
            let stop = starts.get(part + 1).copied().unwrap_or(steps.steps.len());
            if stop == 0 {
                continue;
            }
            let mut block = Block {
                send: steps.send.map(|channel| ends(channel).to),
                receive: steps.receive.map(|channel| ends(channel).from),
                chan: match channel {
                    Some(channel) => chans[channel as usize][part],
                    None => {
                        local += 1;
                        local_chan(local - 1)
                    }
                },
                steps: Vec::new(),
            };
            // `gone` is still incomplete, so dependencies are translated at the end.
            if part > 0 {
                let any = Slot::input(0);
                block.steps.push(Step { kind: "nop", src: any, dst: any, count: 0, after: None });
            }
            for &step in &steps.steps[start..stop] {
                own.push((blocks.len(), block.steps.len()));
                block.steps.push(step);
            }
            blocks.push(block);
        }
        gone.push(own);
    }
    let mut before: Option<usize> = None;
    for own in &gone {
        for &(block, step) in own {
            if let Some((worker, number)) = blocks[block].steps[step].after {
                blocks[block].steps[step].after = Some(gone[worker][number]);
            }
            if before.is_some_and(|before| before != block) && step == 1 && blocks[block].steps[0].kind == "nop" {
                let last = before.map(|before| (before, blocks[before].steps.len() - 1));
                blocks[block].steps[0].after = blocks[block].steps[0].after.or(last);
            }
            before = Some(block);
        }
        before = None;
    }
    blocks
}

/// The first step of each block of a worker.
fn starts(steps: &Steps, cuts: &[usize]) -> Vec<usize> {
    if steps.send.is_none() && steps.receive.is_none() {
        return (0..steps.steps.len().max(1)).step_by(ROOM).collect();
    }
    let packets: Vec<usize> = (0..steps.steps.len()).filter(|&number| is_packet(&steps.steps[number])).collect();
    let mut starts = vec![0];
    starts.extend(cuts.iter().map(|&packet| packets[packet - 1] + 1));
    starts
}
