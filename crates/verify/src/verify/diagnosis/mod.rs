//! Sentences for findings, with coordinates, chunk labels and first causes. Nothing here decides.

mod finding;
mod no_link;
mod scene;
mod trace;
mod words;

pub(super) use scene::Scene;
