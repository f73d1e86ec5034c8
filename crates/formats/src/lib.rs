//! Demand matrices ([`demand`]) and the formats of other tools: read and written ([`msccl`]), read ([`sccl`],
//! [`teccl`], [`forestcoll`]), written ([`chakra`], [`mod@csv`], [`goal`], [`trace`]).
//!
//! `docs/formats/other-tools.md` lists what is supported of each. The project's own formats are in
//! [`collsynth_verify::json`].

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
mod waits;
mod xml;
