//! The root of a crate names its parts for others: nobody inside has a name from there.

use crate::paths::packages;

#[test]
fn nobody_inside_a_crate_goes_through_its_root() {
    let mut broken = Vec::new();
    for package in packages() {
        for used in package.uses.iter().filter(|used| !used.by.is_empty()) {
            if !package.has(&used.written[..1]) {
                broken.push(format!(
                    "{}: {} uses crate::{}",
                    package.name,
                    used.by.join("::"),
                    used.written.join("::")
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
