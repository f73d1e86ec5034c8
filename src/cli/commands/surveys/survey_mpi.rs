//! `synth survey --mpi`: a process of an MPI job does its part; the first puts all parts together.

use std::fs;
use std::path::{Path, PathBuf};

use mpi::collective::{CommunicatorCollectives, SystemOperation};
use mpi::traits::Communicator as _;

use super::merge::merge;
use crate::cli::ending::{Ending, Failure};

/// Does the part of this process (the folder, the part from 1, the number of parts), waits for all others, and then, in
/// the first process, merges all parts into `folder`.
pub fn run(folder: &Path, part: impl Fn(&Path, usize, usize) -> Result<Ending, Failure>) -> Result<Ending, Failure> {
    let universe = mpi::initialize().ok_or_else(|| Failure::usage("MPI cannot be initialized"))?;
    let world = universe.world();
    let (rank, size) = (world.rank() as usize, world.size() as usize);
    let folders: Vec<PathBuf> = (1..=size).map(|part| folder.join(format!("part-{part}-of-{size}"))).collect();
    let done = part(&folders[rank], rank + 1, size);
    // All parts are written, or none is merged.
    let mine = done.as_ref().map_or_else(|failure| failure.ending, |ending| *ending) as u8;
    let mut worst = 0;
    world.all_reduce_into(&mine, &mut worst, SystemOperation::max());
    if worst != Ending::Success as u8 {
        return done;
    }
    if rank != 0 {
        return Ok(Ending::Success);
    }
    let merged = merge(&folders, folder)?;
    for part in &folders {
        let _ = fs::remove_dir_all(part);
    }
    Ok(merged)
}
