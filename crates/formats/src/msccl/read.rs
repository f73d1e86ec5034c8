//! From MSCCL XML to a rank program.
//!
//! A dependency waits for the flag of another block, which only steps with `hasdep` raise, so it waits for the first
//! such step at or after the one it names.

use std::collections::HashMap;

use super::{Dialect, MAX_BLOCKS, MAX_BLOCKS_PER_CHANNEL, MAX_CHANNELS, MAX_COUNT, MAX_NAME, MAX_STEPS, Unsaid};
use crate::names;
use crate::xml::{self, Element, Fault};
use collsynth_core::collective::{Collective, Who};
use collsynth_core::problem::Problem;
use collsynth_core::program::{Barriers, Buffer, Channel, Operation, Program, ProgramBuilder, Slot};
use collsynth_core::schedule::Origin;
use collsynth_core::topology::{RankId, Shape, Topology, TopologySpec};
use collsynth_verify::json::{FormatCode, ParseError};

/// Reads an algorithm. The file does not name its machine.
///
/// # Errors
///
/// The first place where the text is malformed, unknown, or beyond the runtimes' limits.
pub fn parse(text: &str, unsaid: &Unsaid) -> Result<Program, ParseError> {
    parse_located(text, unsaid).map(|located| located.program)
}

/// A program with the source locations of its operations.
#[derive(Clone, Debug)]
pub struct Located {
    /// The program.
    pub program: Program,
    /// Line and column of each operation's step, both from 1.
    pub places: Vec<(usize, usize)>,
}

/// As [`parse`], with source locations.
///
/// # Errors
///
/// As [`parse`].
pub fn parse_located(text: &str, unsaid: &Unsaid) -> Result<Located, ParseError> {
    let mut starts = Vec::new();
    let read = xml::parse(text).and_then(|algo| program(&algo, unsaid, &mut starts));
    let program = read.map_err(|fault| fault.into_error(text))?;
    Ok(Located { program, places: xml::places(text, &starts) })
}

/// Appends the byte offset of each operation to `starts`.
fn program(algo: &Element, unsaid: &Unsaid, starts: &mut Vec<usize>) -> Result<Program, Fault> {
    if algo.name != "algo" {
        return Err(algo.fault(FormatCode::F004, format!("<{}> is not an MSCCL algorithm: expected <algo>", algo.name)));
    }
    algo.only(&[
        "name",
        "proto",
        "nchannels",
        "nchunksperloop",
        "ngpus",
        "coll",
        "inplace",
        "outofplace",
        "minBytes",
        "maxBytes",
        "nthreads",
        "redop",
    ])?;
    let dialect = if algo.text("minBytes").is_some() { Dialect::Rccl } else { Dialect::Msccl };
    let in_place = flag(algo, "inplace")?;
    if dialect == Dialect::Rccl {
        algo.value::<u64>("minBytes")?;
        algo.value::<u64>("maxBytes")?;
        flag(algo, "outofplace")?;
    }
    let proto: String = algo.value("proto")?;
    if !["Simple", "LL", "LL128"].contains(&proto.as_str()) {
        return Err(algo.wrong(format!("`proto` is \"{proto}\": expected Simple, LL or LL128")));
    }
    if algo.value::<u32>("nchannels")? > MAX_CHANNELS {
        return Err(algo.wrong(format!("more than {MAX_CHANNELS} channels")));
    }
    if let Some(name) = algo.text("name").filter(|name| name.chars().count() > MAX_NAME) {
        return Err(algo.wrong(format!("the name \"{name}\" has more than {MAX_NAME} letters")));
    }
    let problem = problem(algo, unsaid)?;
    let gpus = algo.children_named("gpu")?;
    let mut by_id: Vec<Option<&Element>> = vec![None; problem.topology().rank_count()];
    for gpu in gpus {
        gpu.only(&["id", "i_chunks", "o_chunks", "s_chunks"])?;
        let id: usize = gpu.value("id")?;
        match by_id.get_mut(id) {
            Some(place @ None) => *place = Some(gpu),
            Some(Some(_)) => return Err(gpu.fault(FormatCode::F002, format!("gpu {id} appears twice"))),
            None => {
                return Err(gpu.wrong(format!("gpu {id}, but `ngpus` is {}", by_id.len())));
            }
        }
    }
    let mut builder = ProgramBuilder::new(problem.clone(), false, in_place);
    let mut channels = HashMap::new();
    for (rank, gpu) in by_id.iter().enumerate() {
        let gpu = gpu.ok_or_else(|| algo.fault(FormatCode::F002, format!("gpu {rank} is missing")))?;
        check_chunks(gpu, algo.value("nchunksperloop")?, &problem)?;
        builder.rank(gpu.value("s_chunks")?);
        Gpu::new(rank as u32, gpu, unsaid.slots)?.add(&mut builder, &mut channels, starts)?;
    }
    let mut program = builder.finish(Barriers::None);
    program.origin = Some(Origin {
        tool: Some("MSCCL XML".to_owned()),
        planner: algo.text("name").map(str::to_owned),
        ..Origin::default()
    });
    Ok(program)
}

fn flag(element: &Element, key: &str) -> Result<bool, Fault> {
    match element.value::<u32>(key)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(element.wrong(format!("`{key}` is {other}: expected 0 or 1"))),
    }
}

fn problem(algo: &Element, unsaid: &Unsaid) -> Result<Problem, Fault> {
    let fault = |code, message: String| Fault::new(code, algo.at, message);
    let ranks: u32 = algo.value("ngpus")?;
    let chunks: u32 = algo.value("nchunksperloop")?;
    let stated: String = algo.value("coll")?;
    let coll = match (stated.as_str(), unsaid.custom) {
        ("custom", Some(meant)) => meant,
        ("custom", None) => {
            let message = "`coll` \"custom\" names no goal: say which collective is meant";
            return Err(fault(FormatCode::F003, message.to_owned()));
        }
        (other, None) => other,
        (other, Some(meant)) => {
            let message = format!("`coll` is \"{other}\": only \"custom\" can be given a meaning, here \"{meant}\"");
            return Err(fault(FormatCode::F003, message));
        }
    };
    let kind = names::kind(coll, RankId(unsaid.root)).ok_or_else(|| {
        let why = match coll {
            "alltoallv" => "not read: its counts come with the call, not the file",
            "send" | "recv" => "not read: a single message is no collective",
            _ => "not known",
        };
        fault(FormatCode::F003, format!("`coll` \"{coll}\" is {why}"))
    })?;
    let each = kind.owners() > 0;
    if each && (ranks == 0 || !chunks.is_multiple_of(ranks)) {
        return Err(fault(FormatCode::F003, format!("`nchunksperloop` is {chunks}, no multiple of the {ranks} gpus")));
    }
    let parts = if each { chunks / ranks } else { chunks };
    let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks, links: Vec::new() }));
    let topology = topology.map_err(|error| fault(FormatCode::F008, error.to_string()))?;
    Problem::new(topology, Collective { kind, parts }).map_err(|error| fault(FormatCode::F009, error.to_string()))
}

/// A buffer in use must have the size that the collective implies.
fn check_chunks(gpu: &Element, per_loop: u32, problem: &Problem) -> Result<(), Fault> {
    let ranks = problem.topology().rank_count() as u32;
    let kind = &problem.collective().kind;
    let (input, output) = match (kind.before() == Who::Owner, kind.after() == Who::Owner) {
        (true, false) => (ranks, 1),
        (false, true) => (1, ranks),
        _ => (1, 1),
    };
    for (key, times) in [("i_chunks", input), ("o_chunks", output)] {
        let stated: u32 = gpu.value(key)?;
        // In place, either name may stand for all of it.
        if stated != 0 && stated.checked_mul(times) != Some(per_loop) && stated != per_loop {
            let message = format!("`{key}` is {stated}, which does not fit the {per_loop} chunks of a loop");
            return Err(gpu.wrong(message));
        }
    }
    Ok(())
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
    fn new(rank: u32, gpu: &'a Element, slots: u32) -> Result<Self, Fault> {
        let (mut blocks, mut steps, mut ids) = (Vec::new(), Vec::new(), HashMap::new());
        let children = gpu.children_named("tb")?;
        if children.len() > MAX_BLOCKS {
            return Err(gpu.wrong(format!("more than {MAX_BLOCKS} thread blocks at a gpu")));
        }
        // Senders and receivers on each channel.
        let mut users: HashMap<(u32, &str), u32> = HashMap::new();
        for block in children {
            block.only(&["id", "send", "recv", "chan"])?;
            let id = block.value("id")?;
            if ids.insert(id, blocks.len()).is_some() {
                return Err(block.fault(FormatCode::F002, format!("thread block {id} appears twice")));
            }
            for end in ["send", "recv"] {
                let count = users.entry((block.value("chan")?, end)).or_default();
                *count += u32::from(block.value::<i64>(end)? >= 0);
                if *count > MAX_BLOCKS_PER_CHANNEL {
                    let many = format!("more than {MAX_BLOCKS_PER_CHANNEL} thread blocks");
                    return Err(block.wrong(format!("{many} on a channel have a `{end}`")));
                }
            }
            let elements = block.children_named("step")?;
            if elements.len() > MAX_STEPS {
                return Err(block.wrong(format!("more than {MAX_STEPS} steps in a thread block")));
            }
            let mut own = Vec::new();
            let mut operations = 0;
            for step in elements {
                step.only(&["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"])?;
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
            let peer = |key| match block.value::<i64>(key)? {
                -1 => Ok(None),
                peer => u32::try_from(peer).map(Some).map_err(|_| block.wrong(format!("`{key}` is {peer}, not a gpu"))),
            };
            let mut connect = |from, to| {
                *connections.entry((from, to, chan)).or_insert_with(|| {
                    builder.channel(Channel { from: RankId(from), to: RankId(to), via: None, slots: self.slots })
                })
            };
            let send = peer("send")?.map(|peer| connect(self.rank, peer));
            let receive = peer("recv")?.map(|peer| connect(peer, self.rank));
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
