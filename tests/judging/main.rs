//! The judge: what it refuses and why, what it reports of what holds, and the files it reads.

mod claims;
mod compact;
mod elsewhere;
mod files;
mod hostile;
mod jobs;
mod mutations;
mod observed;
mod programs;
#[path = "../support/mod.rs"]
mod support;
mod walk;
