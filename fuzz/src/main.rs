//! The fuzzer: libFuzzer on the target that the environment variable `SYNTH_FUZZ` names. Built by `.ci/fuzz`.

#![no_main]

use std::env;
use std::sync::LazyLock;

use collsynth_fuzz::memory::survive;
use collsynth_fuzz::targets::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let names = TARGETS.map(|(name, _)| name).join(", ");
    let wanted = env::var("SYNTH_FUZZ").unwrap_or_else(|_| panic!("state a target as SYNTH_FUZZ: {names}"));
    let found = TARGETS.iter().find(|(name, _)| *name == wanted);
    found.unwrap_or_else(|| panic!("there is no target `{wanted}`; known: {names}")).1
});

fuzz_target!(|input: &[u8]| survive(*TARGET, input, &MEMORY));
