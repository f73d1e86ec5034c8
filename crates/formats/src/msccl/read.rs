//! From MSCCL XML to a rank program.
//!
//! A dependency waits for the flag of another block, which only steps with `hasdep` raise, so it waits for the first
//! such step at or after the one it names.

use std::collections::HashMap;

use super::algo::{ATTRIBUTES, Algo, flag};
use super::{Form, MAX_BLOCKS, MAX_BLOCKS_PER_CHANNEL, MAX_COUNT, MAX_STEPS, Unsaid};
use crate::xml::{self, Element, Fault, Level};
use collsynth_core::program::{Barriers, Buffer, Channel, Operation, Program, ProgramBuilder, Slot};
use collsynth_core::schedule::Origin;
use collsynth_core::topology::RankId;
use collsynth_verify::json::{FormatCode, ParseError};

/// An algorithm, once for each form that the file claims: runtimes choose it by the form of the call.
#[derive(Clone, Debug)]
pub struct Algorithm {
    /// A form and the program of the calls of that form; at least one, the form in place first.
    pub programs: Vec<(Form, Program)>,
    /// Line and column of each operation's step, both from 1; the same in every program.
    pub places: Vec<(usize, usize)>,
}

/// Reads an algorithm. The file does not name its machine.
///
/// # Errors
///
/// The first place where the text is malformed, unknown, or beyond the runtimes' limits.
pub fn parse(text: &str, unsaid: &Unsaid) -> Result<Algorithm, ParseError> {
    let levels = [
        Level { name: "algo", attributes: ATTRIBUTES },
        Level { name: "gpu", attributes: &["id", "i_chunks", "o_chunks", "s_chunks"] },
        Level { name: "tb", attributes: &["id", "send", "recv", "chan"] },
        Level { name: "step", attributes: STEP_ATTRIBUTES },
    ];
    let mut starts = Vec::new();
    let read = xml::parse(text, &levels).and_then(|algo| programs(&algo, unsaid, &mut starts));
    let programs = read.map_err(|fault| fault.into_error(text))?;
    Ok(Algorithm { programs, places: xml::places(text, &starts) })
}

const STEP_ATTRIBUTES: &[&str] =
    &["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"];

/// Appends the byte offset of each operation to `starts`.
fn programs(element: &Element, unsaid: &Unsaid, starts: &mut Vec<usize>) -> Result<Vec<(Form, Program)>, Fault> {
    let algo = Algo::read(element, unsaid)?;
    let mut by_id: Vec<Option<&Element>> = vec![None; algo.problem.topology().rank_count()];
    for gpu in &element.children {
        let id: usize = gpu.value("id")?;
        match by_id.get_mut(id) {
            Some(place @ None) => *place = Some(gpu),
            Some(Some(_)) => return Err(gpu.fault(FormatCode::F002, format!("gpu {id} appears twice"))),
            None => {
                return Err(gpu.wrong(format!("gpu {id}, but `ngpus` is {}", by_id.len())));
            }
        }
    }
    let mut builder = ProgramBuilder::new(algo.problem.clone(), false, false);
    let mut channels = HashMap::new();
    for (rank, gpu) in by_id.iter().enumerate() {
        let gpu = gpu.ok_or_else(|| element.fault(FormatCode::F002, format!("gpu {rank} is missing")))?;
        algo.check_chunks(gpu)?;
        builder.rank(gpu.value("s_chunks")?);
        Gpu::new(rank as u32, gpu, &algo, unsaid.slots)?.add(&mut builder, &mut channels, starts)?;
    }
    let mut program = builder.finish(Barriers::None);
    program.origin =
        Some(Origin { tool: Some("MSCCL XML".to_owned()), planner: algo.name.clone(), ..Origin::default() });
    let of_form = |&form: &Form| {
        let mut program = program.clone();
        program.in_place = form == Form::InPlace;
        (form, program)
    };
    Ok(algo.forms.iter().map(of_form).collect())
}

type Connections = HashMap<(u32, u32, u32), u32>;

/// The thread blocks of one GPU, read just enough to resolve dependencies.
struct Gpu<'a> {
    rank: u32,
    slots: u32,
    blocks: Vec<(&'a Element, &'a [Element])>,
    steps: Vec<Vec<Step>>,
    /// Blocks by id.
    ids: HashMap<u32, usize>,
}

struct Step {
    number: u32,
    operation: u32,
    /// Whether it raises the block's flag.
    flagged: bool,
}

impl<'a> Gpu<'a> {
    fn new(rank: u32, gpu: &'a Element, algo: &Algo, slots: u32) -> Result<Self, Fault> {
        let (mut blocks, mut steps, mut ids) = (Vec::new(), Vec::new(), HashMap::new());
        let children = &gpu.children;
        if children.len() > MAX_BLOCKS {
            return Err(gpu.wrong(format!("more than {MAX_BLOCKS} thread blocks at a gpu")));
        }
        // Senders and receivers on each channel.
        let mut users: HashMap<(u32, &str), u32> = HashMap::new();
        for block in children {
            let id: u32 = block.value("id")?;
            if ids.insert(id, blocks.len()).is_some() {
                return Err(block.fault(FormatCode::F002, format!("thread block {id} appears twice")));
            }
            let chan: u32 = block.value("chan")?;
            for end in ["send", "recv"] {
                let Some(peer) = peer(block, end)? else { continue };
                if peer == rank || peer as usize >= algo.problem.topology().rank_count() {
                    let why = if peer == rank { "its own gpu" } else { "no gpu of the file" };
                    return Err(block.wrong(format!("`{end}` of thread block {id} is {peer}, {why}")));
                }
                if chan >= algo.channels {
                    let message = format!(
                        "thread block {id} uses channel {chan}, but `nchannels` is {}: it would never be connected",
                        algo.channels
                    );
                    return Err(block.wrong(message));
                }
                let count = users.entry((chan, end)).or_default();
                *count += 1;
                if *count > MAX_BLOCKS_PER_CHANNEL {
                    let many = format!("more than {MAX_BLOCKS_PER_CHANNEL} thread blocks");
                    return Err(block.wrong(format!("{many} on a channel have a `{end}`")));
                }
            }
            let elements = block.children.as_slice();
            if elements.len() > MAX_STEPS {
                return Err(block.wrong(format!("more than {MAX_STEPS} steps in a thread block")));
            }
            let mut own = Vec::new();
            let mut operations = 0;
            for step in elements {
                // The wait, if any, and the step itself.
                operations += u32::from(step.value::<i64>("depid")? >= 0) + 1;
                own.push(Step { number: step.value("s")?, operation: operations - 1, flagged: flag(step, "hasdep")? });
            }
            steps.push(own);
            blocks.push((block, elements));
        }
        Ok(Self { rank, slots, blocks, steps, ids })
    }

    fn add(
        &self,
        builder: &mut ProgramBuilder,
        connections: &mut Connections,
        starts: &mut Vec<usize>,
    ) -> Result<(), Fault> {
        for &(block, steps) in &self.blocks {
            builder.worker();
            let chan: u32 = block.value("chan")?;
            let mut connect = |from, to| {
                *connections.entry((from, to, chan)).or_insert_with(|| {
                    builder.channel(Channel { from: RankId(from), to: RankId(to), via: None, slots: self.slots })
                })
            };
            let send = peer(block, "send")?.map(|peer| connect(self.rank, peer));
            let receive = peer(block, "recv")?.map(|peer| connect(peer, self.rank));
            for step in steps {
                if let Some(wait) = self.wait(step)? {
                    builder.operation(wait);
                    starts.push(step.at);
                }
                builder.operation(operation(step, send, receive)?);
                starts.push(step.at);
            }
        }
        Ok(())
    }

    fn wait(&self, step: &Element) -> Result<Option<Operation>, Fault> {
        let id = match step.value::<i64>("depid")? {
            -1 => return Ok(None),
            id => u32::try_from(id).ok(),
        };
        let wanted: u32 = step.value("deps")?;
        let Some(&block) = id.and_then(|id| self.ids.get(&id)) else {
            return Err(step.wrong("`depid` names no thread block of this gpu"));
        };
        let Some(found) = self.steps[block].iter().find(|other| other.flagged && other.number >= wanted) else {
            return Err(step.wrong(format!(
                "waits forever: the thread block it depends on has no `hasdep` from step {wanted} on"
            )));
        };
        Ok(Some(Operation::Wait { worker: block as u32, operation: found.operation }))
    }
}

/// The gpu at the other end, if any.
fn peer(block: &Element, key: &str) -> Result<Option<u32>, Fault> {
    match block.value::<i64>(key)? {
        -1 => Ok(None),
        peer => u32::try_from(peer).map(Some).map_err(|_| block.wrong(format!("`{key}` is {peer}, not a gpu"))),
    }
}

fn operation(step: &Element, send: Option<u32>, receive: Option<u32>) -> Result<Operation, Fault> {
    let kind: String = step.value("type")?;
    let count: u32 = step.value("cnt")?;
    let nothing = Operation::Copy { src: Slot::input(0), dst: Slot::input(0), count: 0 };
    if kind == "nop" {
        return Ok(nothing);
    }
    if count == 0 || count > MAX_COUNT {
        return Err(step.wrong(format!("`cnt` is {count}; 1 to {MAX_COUNT} are allowed")));
    }
    let slot = |buffer: &str, offset| -> Result<Slot, Fault> {
        let name: String = step.value(buffer)?;
        let buffer = match name.as_str() {
            "i" => Buffer::Input,
            "o" => Buffer::Output,
            "s" => Buffer::Scratch,
            _ => {
                return Err(step.wrong(format!("`{buffer}` is \"{name}\": expected i, o or s")));
            }
        };
        Ok(Slot { buffer, offset: step.value(offset)? })
    };
    let (src, dst) = (|| slot("srcbuf", "srcoff"), || slot("dstbuf", "dstoff"));
    let peer = |peer: Option<u32>, what| {
        let message = format!("a step `{kind}` in a thread block that {what} nobody");
        peer.ok_or_else(|| step.wrong(message))
    };
    let (to, from) = (|| peer(send, "sends to"), || peer(receive, "receives from"));
    Ok(match kind.as_str() {
        "s" => Operation::Send { channel: to()?, src: src()?, count },
        "r" => Operation::Receive { channel: from()?, add: None, dst: Some(dst()?), forward: None, count },
        "rcs" => Operation::Receive { channel: from()?, add: None, dst: Some(dst()?), forward: Some(to()?), count },
        "rrs" => Operation::Receive { channel: from()?, add: Some(src()?), dst: None, forward: Some(to()?), count },
        "rrc" => Operation::Receive { channel: from()?, add: Some(src()?), dst: Some(dst()?), forward: None, count },
        "rrcs" => {
            Operation::Receive { channel: from()?, add: Some(src()?), dst: Some(dst()?), forward: Some(to()?), count }
        }
        "cpy" => Operation::Copy { src: src()?, dst: dst()?, count },
        "re" => Operation::Reduce { src: src()?, dst: dst()?, count },
        other => {
            return Err(step.wrong(format!("steps of type \"{other}\" are not executed")));
        }
    })
}
