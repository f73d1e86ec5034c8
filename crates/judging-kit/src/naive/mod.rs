//! A second judge, written from docs/ alone: schedule-format.md, rank-program.md, groups.md and, for what a verdict
//! claims, command-line.md and glossary.md.
//!
//! It shares no code with the judge it is compared with, and is as plain as possible: lists that are searched from the
//! front, sets of contributions, all pairs of operations, fractions of any size. It is slow and meant for small files.

pub mod evidence;
pub mod fraction;
pub mod opinion;
pub mod problem;
pub mod program;
pub mod reader;
pub mod schedule;
pub mod stated;

use serde_json::Value;

use opinion::Opinion;

/// Judges a file of any format, by its format.
pub fn judge(file: &Value) -> Opinion {
    let begins = |word| file["format"].as_str().is_some_and(|format| format.starts_with(word));
    match file {
        _ if begins("rank-program/") => program::judge::judge(file, &program::place::Placing::default()),
        _ if begins("collective-job/") => schedule::job::judge(file),
        _ if file.get("exceptions").is_some() => schedule::compact::judge(file),
        _ => schedule::judge::judge(file),
    }
}
