//! Surveys over sets of failures, and fallback plans for them.

mod fallbacks;
mod jobs;
mod survey;
