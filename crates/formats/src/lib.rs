//! Files in and out: where text comes from and goes to ([`file`](mod@file)), the schedule and topology files
//! ([`json`]), demand matrices ([`demand`]), and the formats of other tools: in and out ([`msccl`]), in ([`sccl`],
//! [`teccl`], [`forestcoll`]), out ([`chakra`], [`mod@csv`], [`goal`], [`trace`]).
//!
//! The formats of the project are published in `docs/schedule-format.md` and `docs/rank-program.md`; what is read and
//! written of the others in `docs/formats.md`.

pub mod chakra;
pub mod csv;
pub mod demand;
pub mod forestcoll;
pub mod goal;
pub mod msccl;
mod names;
pub mod sccl;
pub mod teccl;
pub mod trace;
mod xml;
