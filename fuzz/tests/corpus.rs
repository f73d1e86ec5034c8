//! Every input in `corpus/` is survived by its target.

use std::fs;
use std::path::Path;

use collsynth_fuzz::memory::survive;
use collsynth_fuzz::targets::TARGETS;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// One test, as it counts the memory of the whole process.
#[test]
fn every_input_is_survived() {
    for (name, target) in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
        let mut inputs = 0;
        for entry in fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
            let path = entry.expect("an entry").path();
            survive(target, &fs::read(&path).expect("a file"), &MEMORY);
            inputs += 1;
        }
        assert!(inputs > 0, "{name} has no input");
    }
}
