//! Generated pages of docs/ and their upkeep.

use std::fs;
use std::path::Path;

use collsynth::certificate::Rational;
use rayon::prelude::*;

/// Holds a file of the project to this text. `SYNTH_UPDATE_RESULTS=1` writes it instead.
pub fn hold(file: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("SYNTH_UPDATE_RESULTS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let published = fs::read_to_string(&path).unwrap_or_default();
    let line = |text: &str, number: usize| text.lines().nth(number).unwrap_or_default().to_owned();
    let different = (0..).take(text.lines().count() + 1).find(|&number| line(&published, number) != line(text, number));
    if let Some(number) = different.filter(|_| published != text) {
        let (old, new) = (line(&published, number), line(text, number));
        panic!("{file}:{} is not current; SYNTH_UPDATE_RESULTS=1 renews it\n old: {old}\n new: {new}", number + 1);
    }
    assert!(published == text, "{file} is not current; SYNTH_UPDATE_RESULTS=1 renews it");
}

/// The sections of a page, written in parallel.
pub fn sections<P: Default + Into<String>>(writers: &[fn(&mut P)]) -> String {
    let written = writers.par_iter().map(|write| {
        let mut section = P::default();
        write(&mut section);
        section.into()
    });
    written.collect()
}

/// Extents as people write them: `4x4x4`.
pub fn name(extents: &[u32]) -> String {
    extents.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

pub fn float(value: Rational) -> f64 {
    *value.numer() as f64 / *value.denom() as f64
}

/// Three decimals at most.
pub fn decimal(value: Rational) -> String {
    let text = format!("{:.3}", float(value));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
