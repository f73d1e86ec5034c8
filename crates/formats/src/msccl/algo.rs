//! What the element `algo` states about the whole: dialect, forms, limits and the problem.

use super::{Dialect, Form, MAX_CHANNELS, MAX_NAME, MAX_THREADS, Unsaid, WARP};
use crate::names;
use crate::xml::{Element, Fault};
use collsynth_core::collective::{Collective, Kind, Who};
use collsynth_core::problem::Problem;
use collsynth_core::topology::{RankId, Shape, Topology, TopologySpec};
use collsynth_verify::json::FormatCode;

/// The attributes of `algo` in either dialect.
pub(super) const ATTRIBUTES: &[&str] = &[
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
    "maxcount",
    "nthreadblocks",
];

/// Attributes that only RCCL's files have.
const RCCL_ONLY: [&str; 3] = ["outofplace", "maxcount", "nthreadblocks"];

pub(super) struct Algo {
    pub(super) problem: Problem,
    /// Chunks of a loop.
    pub(super) per_loop: u32,
    /// The runtime connects the channels below this number.
    pub(super) channels: u32,
    pub(super) name: Option<String>,
    /// The forms that the file claims, at least one.
    pub(super) forms: Vec<Form>,
}

impl Algo {
    pub(super) fn read(algo: &Element, unsaid: &Unsaid) -> Result<Self, Fault> {
        // RCCL requires `outofplace`; MSCCL has never read it.
        let dialect = if algo.text("outofplace").is_some() { Dialect::Rccl } else { Dialect::Msccl };
        if let Some(key) = RCCL_ONLY.into_iter().find(|key| dialect == Dialect::Msccl && algo.text(key).is_some()) {
            let message = format!("`{key}` belongs to RCCL's dialect, whose files also state `outofplace`");
            return Err(algo.fault(FormatCode::F002, message));
        }
        let proto: String = algo.value("proto")?;
        if !["Simple", "LL", "LL128"].contains(&proto.as_str()) {
            return Err(algo.wrong(format!("`proto` is \"{proto}\": expected Simple, LL or LL128")));
        }
        let channels = algo.value("nchannels")?;
        if channels > MAX_CHANNELS {
            return Err(algo.wrong(format!("more than {MAX_CHANNELS} channels")));
        }
        let name = algo.text("name");
        if let Some(name) = name.filter(|name| name.chars().count() > MAX_NAME) {
            return Err(algo.wrong(format!("the name \"{name}\" has more than {MAX_NAME} letters")));
        }
        check_sizes(algo, dialect)?;
        check_unread(algo)?;
        Ok(Self {
            problem: problem(algo, dialect, unsaid)?,
            per_loop: algo.value("nchunksperloop")?,
            channels,
            name: name.map(str::to_owned),
            forms: forms(algo, dialect)?,
        })
    }

    /// A buffer in use must have the size that the collective implies.
    pub(super) fn check_chunks(&self, gpu: &Element) -> Result<(), Fault> {
        let per_loop = self.per_loop;
        let ranks = self.problem.topology().rank_count() as u32;
        let kind = &self.problem.collective().kind;
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
}

/// A number that stands for yes or no.
pub(super) fn flag(element: &Element, key: &str) -> Result<bool, Fault> {
    match element.value::<u32>(key)? {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(element.wrong(format!("`{key}` is {other}: expected 0 or 1"))),
    }
}

/// The calls for which a runtime takes the algorithm. MSCCL: those of the one form that `inplace` names. RCCL: calls in
/// place by `inplace`, all others by `outofplace`.
fn forms(algo: &Element, dialect: Dialect) -> Result<Vec<Form>, Fault> {
    let in_place = flag(algo, "inplace")?;
    let out_of_place = if dialect == Dialect::Rccl { flag(algo, "outofplace")? } else { !in_place };
    let forms = [(Form::InPlace, in_place), (Form::OutOfPlace, out_of_place)];
    let forms: Vec<Form> = forms.into_iter().filter(|(_, is_claimed)| *is_claimed).map(|(form, _)| form).collect();
    match forms.is_empty() {
        true => Err(algo.wrong("`inplace` and `outofplace` are both 0: no call would ever use the algorithm")),
        false => Ok(forms),
    }
}

/// The sizes of calls for which a runtime takes the algorithm.
fn check_sizes(algo: &Element, dialect: Dialect) -> Result<(), Fault> {
    let (least, most) = match dialect {
        Dialect::Rccl => (algo.value("minBytes")?, algo.value("maxBytes")?),
        Dialect::Msccl => (algo.optional("minBytes")?.unwrap_or(0), algo.optional("maxBytes")?.unwrap_or(u64::MAX)),
    };
    // To RCCL, a `maxBytes` of 0 is no limit.
    if least > most && !(dialect == Dialect::Rccl && most == 0) {
        return Err(algo.wrong(format!("`minBytes` is {least}, more than `maxBytes`, {most}: no call would fit")));
    }
    Ok(())
}

/// What generators write, and neither dialect's meaning depends on, must at least make sense.
fn check_unread(algo: &Element) -> Result<(), Fault> {
    const OPERATIONS: [&str; 5] = ["sum", "prod", "max", "min", "nop"];
    if let Some(redop) = algo.text("redop").filter(|redop| !OPERATIONS.contains(redop)) {
        return Err(algo.wrong(format!("`redop` is \"{redop}\": expected {}", OPERATIONS.join(", "))));
    }
    if let Some(threads) = algo.optional::<u32>("nthreads")?
        && (threads > MAX_THREADS || !threads.is_multiple_of(WARP))
    {
        return Err(algo.wrong(format!("`nthreads` is {threads}: expected a multiple of {WARP} up to {MAX_THREADS}")));
    }
    for key in ["maxcount", "nthreadblocks"] {
        algo.optional::<u32>(key)?;
    }
    Ok(())
}

/// The only rank that can be the root: all others receive, if the root has it all before, or send, if it has it all
/// after. None if several do not, or none.
fn only_root(algo: &Element, kind: &Kind) -> Option<u32> {
    let has_all_before = matches!(kind.before(), Who::Root(_));
    let takes_part = |gpu: &&Element| {
        let steps = gpu.children.iter().flat_map(|block| &block.children);
        let mut types = steps.filter_map(|step| step.text("type")).filter(|&name| name != "re");
        types.any(|name| if has_all_before { name.starts_with('r') } else { name.ends_with('s') })
    };
    let mut able = algo.children.iter().filter(|gpu| !takes_part(gpu));
    let only = able.next().filter(|_| kind.stated_root().is_some() && able.next().is_none())?;
    only.text("id")?.parse().ok().filter(|&id: &u32| (id as usize) < algo.children.len())
}

fn problem(algo: &Element, dialect: Dialect, unsaid: &Unsaid) -> Result<Problem, Fault> {
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
    let root = unsaid.root.or_else(|| only_root(algo, &names::kind(coll, RankId(0))?)).unwrap_or(0);
    let kind = names::kind(coll, RankId(root)).ok_or_else(|| {
        let why = match coll {
            "alltoallv" => "not read: its counts come with the call, not the file",
            "send" | "recv" => "not read: a single message is no collective",
            _ => "not known",
        };
        fault(FormatCode::F003, format!("`coll` \"{coll}\" is {why}"))
    })?;
    let name = names::theirs(&kind)[dialect as usize];
    if stated != "custom" && stated != name {
        let hint = if name.is_empty() { String::new() } else { format!(": expected \"{name}\"") };
        return Err(fault(FormatCode::F003, format!("`coll` \"{stated}\" is not known to {}{hint}", dialect.name())));
    }
    let each = kind.owners() > 0;
    if each && (ranks == 0 || !chunks.is_multiple_of(ranks)) {
        return Err(fault(FormatCode::F003, format!("`nchunksperloop` is {chunks}, no multiple of the {ranks} gpus")));
    }
    let parts = if each { chunks / ranks } else { chunks };
    let topology = Topology::new(TopologySpec::new(Shape::Graph { ranks, links: Vec::new() }));
    let topology = topology.map_err(|error| fault(FormatCode::F008, error.to_string()))?;
    Problem::new(topology, Collective { kind, parts }).map_err(|error| fault(FormatCode::F009, error.to_string()))
}
