//! Steps and transfers as files state them.

use serde_json::Value;

use crate::naive::reader::Faults;

/// A step.
#[derive(Clone, Debug)]
pub struct Step {
    /// Its width.
    pub width: u64,
    /// Its transfers.
    pub transfers: Vec<Transfer>,
    /// In the compact form, the transfers of rank 0's chunks that hold for every other rank as well.
    pub pattern: Vec<Transfer>,
    /// With a period, the transfers of the first cell that hold for every other cell as well.
    pub cell: Vec<Transfer>,
    /// In the compact form, what is left out of the pattern and the cell.
    pub without: Vec<Transfer>,
}

/// A transfer.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The sender; may be out of range.
    pub from: usize,
    /// The receiver; may be out of range.
    pub to: usize,
    /// The chunks.
    pub chunks: Vec<usize>,
    /// Combines instead of replacing.
    pub reduce: bool,
    /// The direction, if stated.
    pub via: Option<(usize, bool)>,
}

/// Does an op, copy if there is none, reduce?
pub(super) fn op(stated: Option<&Value>, faults: &mut Faults) -> Option<bool> {
    match stated {
        None => Some(false),
        Some(op) if op == "copy" || op == "reduce" => Some(op == "reduce"),
        Some(_) => faults.note("F003"),
    }
}
