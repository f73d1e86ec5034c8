//! The collectives of a job, as a file states them.

use std::path::{Path, PathBuf};

use collsynth::Size;
use collsynth::collective::{Demand, Groups, Kind};
use collsynth::format::demand::parse_demand;
use collsynth::grouping;
use collsynth::topology::{RankId, Topology};
use serde::Deserialize;
use serde_json::Value;

use super::collective::spelled_kind;
use super::extents::Extents;
use crate::cli::ending::Failure;
use crate::cli::io::input;
use crate::cli::options::quantity::parse_bytes;

/// The form of a job, for hints.
const FORM: &str = "a job is a list of collectives, as in [{\"collective\": \"all_gather\", \"groups\": \"x\", \"bytes\": \
                    \"64KiB\"}, {\"collective\": \"all_to_all\", \"groups\": \"yz\", \"bytes\": \"4KiB\"}]";
/// The form of a demand.
const DEMAND: &str = "a row for each origin, as in [[0, 2], [1, 0]], or the name of a file of them";

/// A collective of a job, as it is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Its name.
    collective: String,
    /// A rank, or with groups the place of a member.
    root: Option<Value>,
    /// Dimensions (`xy`), or a list of lists of ranks.
    groups: Option<Value>,
    /// Extents of the boxes that the torus is cut in (`2x2x4`), or a list of them.
    blocks: Option<Value>,
    /// The units that each rank has for each rank: a matrix, or the file of one.
    demand: Option<Value>,
    relays: Option<bool>,
    /// Parts of a message, in which all chunks of the job are equally large.
    parts: Option<u32>,
    /// Bytes of a message (shard, vector).
    bytes: Option<Value>,
}

/// The collectives that a file states for this machine, and how large their messages are.
///
/// # Errors
///
/// The file cannot be read, is no list of collectives, or states what does not fit together.
pub fn collectives(file: &Path, topology: &Topology) -> Result<Vec<(Kind, Size)>, Failure> {
    let name = file.display();
    let text = input::read_text(file)?;
    if let Some(what) = input::ours(&text) {
        return Err(Failure::usage(format!("{name}: this is {what}; --job takes what is to be planned")).hint(FORM));
    }
    let asked: Vec<Asked> =
        serde_json::from_str(&text).map_err(|error| Failure::usage(input::placed(&name, &error)).hint(FORM))?;
    if asked.is_empty() {
        return Err(Failure::usage(format!("{name}: a job has at least one collective")).hint(FORM));
    }
    let one = |(index, asked): (usize, &Asked)| {
        let one = || Ok((kind(asked, file, topology)?, size(asked)?));
        one().map_err(|message: String| Failure::usage(format!("{name}: collective {index}: {message}")).hint(FORM))
    };
    asked.iter().enumerate().map(one).collect()
}

fn kind(asked: &Asked, file: &Path, topology: &Topology) -> Result<Kind, String> {
    let name = spelled_kind(&asked.collective).unwrap_or(&asked.collective);
    let groups = groups(asked, topology)?;
    let root = match (&asked.root, &groups) {
        (None, _) => RankId(0),
        (Some(value), Some(_)) => {
            let place = value.as_u64().and_then(|place| u32::try_from(place).ok());
            RankId(place.ok_or("in groups, `root` is the place of a member, from 0")?)
        }
        (Some(value), None) => rank(topology, value)?,
    };
    let named = |demand: Demand| {
        let kind = Kind::named(name, root, demand);
        kind.ok_or_else(|| format!("there is no collective `{name}`"))
    };
    let mut kind = named(Demand::default())?;
    match (kind.demand().is_some(), &asked.demand) {
        (true, Some(value)) => kind = named(demand(value, file, topology)?)?,
        (true, None) => return Err(format!("{} needs a `demand`, {DEMAND}", kind.name())),
        (false, Some(_)) => return Err(format!("{} has no demand", kind.name())),
        (false, None) => {}
    }
    if asked.root.is_some() && kind.root().is_none() {
        return Err(format!("{} has no root", kind.name()));
    }
    if asked.bytes.is_some() && !kind.has_volume() {
        return Err(format!("{} has no bytes", kind.name()));
    }
    if asked.parts.is_some() && !kind.has_volume() {
        return Err(format!("{} is not cut in parts", kind.name()));
    }
    Ok(groups.map_or(kind.clone(), |groups| kind.in_groups(groups)))
}

/// A matrix, or the name of the file of one, from the folder of the job's file.
fn demand(value: &Value, file: &Path, topology: &Topology) -> Result<Demand, String> {
    let ranks = topology.rank_count() as u32;
    match value {
        Value::String(name) => {
            let path = file.parent().map_or(PathBuf::from(name), |folder| folder.join(name));
            let text = input::read_text(&path).map_err(|failure| failure.message().to_owned())?;
            parse_demand(&text, ranks).map_err(|error| format!("{}:{error}", path.display()))
        }
        Value::Array(_) => {
            parse_demand(&value.to_string(), ranks).map_err(|error| format!("`demand`: {}", error.message))
        }
        _ => Err(format!("`demand` is {DEMAND}")),
    }
}

fn size(asked: &Asked) -> Result<Size, String> {
    match (&asked.bytes, asked.parts) {
        (Some(_), Some(_)) => Err("state `bytes` or `parts`, not both".to_owned()),
        (Some(bytes), None) => bytes_of(bytes).map(Size::Bytes),
        (None, Some(parts)) => Ok(Size::Parts(parts)),
        (None, None) => Ok(Size::Equal),
    }
}

fn bytes_of(value: &Value) -> Result<u64, String> {
    match value {
        Value::String(text) => parse_bytes(text).map_err(|error| format!("`bytes`: {error}")),
        _ => value.as_u64().ok_or_else(|| "`bytes` is a number, or a size as in \"64KiB\"".to_owned()),
    }
}

fn groups(asked: &Asked, topology: &Topology) -> Result<Option<Groups>, String> {
    let members = match (&asked.groups, &asked.blocks) {
        (Some(_), Some(_)) => return Err("state `groups` or `blocks`, not both".to_owned()),
        (Some(Value::String(text)), None) => {
            let dims = grouping::dimensions(text).ok_or_else(|| format!("`{text}` names no dimensions: write xy"))?;
            grouping::spanned(topology, &dims).map_err(|error| error.to_string())?
        }
        (Some(Value::Array(lists)), None) => {
            let list = |list: &Value| {
                let ranks = list.as_array().ok_or("`groups` are dimensions, or a list of lists of ranks")?;
                ranks.iter().map(|value| rank(topology, value)).collect::<Result<Vec<_>, String>>()
            };
            lists.iter().map(list).collect::<Result<Vec<_>, String>>()?
        }
        (Some(_), None) => return Err("`groups` are dimensions, as in \"xy\", or a list of lists of ranks".to_owned()),
        (None, Some(extents)) => grouping::boxes(topology, &blocks(extents)?).map_err(|error| error.to_string())?,
        (None, None) if asked.relays.is_some() => {
            return Err("`relays` is about groups, and none are stated".to_owned());
        }
        (None, None) => return Ok(None),
    };
    let groups = Groups::new(members).map_err(|error| error.to_string())?;
    Ok(Some(groups.with_relays(asked.relays.unwrap_or(true))))
}

/// Extents as on the command line, or in a list.
fn blocks(value: &Value) -> Result<Vec<u32>, String> {
    match value {
        Value::String(text) => {
            text.parse().map(|Extents(extents)| extents).map_err(|error| format!("`blocks`: {error}"))
        }
        _ => serde_json::from_value(value.clone())
            .map_err(|_| "`blocks` are extents, as in \"2x2x4\" or [2, 2, 4]".to_owned()),
    }
}

fn rank(topology: &Topology, value: &Value) -> Result<RankId, String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    topology.parse_rank(&text).map_err(|error| error.to_string())
}
