//! Commands about `synth` itself: machines, planners, codes, schemas, completions, manuals.

pub mod completions;
pub mod explain;
pub mod manual;
pub mod planners;
pub mod schema;
pub mod topology;
