//! Plans: of one collective and of several, compared, and as curves.

mod again;
mod compare;
mod jobs;
mod pareto;
mod plan;
