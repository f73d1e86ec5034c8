//! Commands about `synth` itself: machines, planners, codes, schemas, completions, manuals.

mod completions;
pub mod explain;
mod manual;
pub mod planners;
mod schema;
pub mod topology;
pub mod util;
