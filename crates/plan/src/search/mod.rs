//! What several planners share: negotiation over slots, routing of paths and of trees, pipelines, phases, exceptions in
//! few words.

pub mod altered;
pub mod negotiation;
pub mod path_routing;
pub mod phased;
pub mod pipeline;
pub mod rooted;
pub mod tree_routing;
