//! One target for every reader, each followed by all that is done with what was read, and six that hold the judge
//! against the naive one, on files that the bytes choose.

mod foreign;
mod judging;
mod own;

use collsynth_judging_kit::compare::{
    Compare, compare_certificate, compare_compact, compare_job, compare_placed, compare_program, compare_schedule,
};
use collsynth_judging_kit::dice::Dice;

/// Survives any input.
pub type Target = fn(&[u8]);

/// The targets by name; the inputs of each are in `corpus/NAME/`.
pub const TARGETS: [(&str, Target); 16] = [
    ("schedule", |input| read(own::schedule, input)),
    ("program", |input| read(own::program, input)),
    ("topology", |input| read(own::topology, input)),
    ("msccl", |input| read(foreign::msccl, input)),
    ("sccl", |input| read(foreign::sccl, input)),
    ("teccl", |input| read(foreign::teccl, input)),
    ("forestcoll", |input| read(foreign::forestcoll, input)),
    ("moves", |input| read(foreign::moves, input)),
    ("demand", |input| read(foreign::demand, input)),
    ("table", |input| read(foreign::table, input)),
    ("two_judges_of_schedules", |input| agree(compare_schedule, input)),
    ("two_judges_of_programs", |input| agree(compare_program, input)),
    ("two_judges_of_certificates", |input| agree(compare_certificate, input)),
    ("two_judges_of_jobs", |input| agree(compare_job, input)),
    ("two_judges_of_compact_forms", |input| agree(compare_compact, input)),
    ("two_judges_of_programs_on_machines", |input| agree(compare_placed, input)),
];

/// Hands text to a reader; what is none is refused before.
fn read(reader: fn(&str), input: &[u8]) {
    if let Ok(text) = str::from_utf8(input) {
        reader(text);
    }
}

/// Both judges say the same of the file that these bytes choose.
fn agree(compare: Compare, input: &[u8]) {
    if let Err(disagreement) = compare(&mut Dice::from_bytes(input)) {
        panic!("{disagreement}");
    }
}
