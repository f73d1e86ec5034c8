//! `synth survey merge`: the parts of a survey put together.

use std::path::{Path, PathBuf};

use collsynth::report::survey::Survey;

use super::survey_store;
use crate::cli::ending::{Ending, Failure};
use crate::cli::io::output;

/// Puts the parts of a survey together.
pub fn merge(parts: &[PathBuf], output: &Path) -> Result<Ending, Failure> {
    let mut whole: Option<Survey> = None;
    for folder in parts {
        let part = survey_store::read(folder)?.ok_or_else(|| {
            Failure::usage(format!("{} holds no survey.json", folder.display())).hint("is this part done?")
        })?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => {
                survey_store::same(folder, &whole.head, &part.head)?;
                whole.records.extend(part.records);
            }
        }
    }
    let Some(mut whole) = whole else { return Err(Failure::usage("no part is given")) };
    whole.records.sort_by_key(|record| record.number);
    whole.records.dedup();
    if let Some(twice) = whole.records.windows(2).find(|pair| pair[0].number == pair[1].number) {
        let set = if twice[0].set.is_empty() { "the machine as it is".to_owned() } else { twice[0].set.join(" ") };
        return Err(Failure::usage(format!("two parts disagree on {set}")));
    }
    if whole.records.len() < whole.expected() {
        let missing = whole.expected() - whole.records.len();
        return Err(Failure::usage(format!("{missing} of {} classes are in none of these parts", whole.expected()))
            .hint("give the folders of all parts"));
    }
    if let Some(flaw) = whole.flaw() {
        return Err(Failure::usage(format!("these parts are no survey: {flaw}"))
            .hint("survey again the part that was changed after it was written"));
    }
    survey_store::write(output, &whole)?;
    output::print(&whole.to_text())?;
    Ok(Ending::Success)
}
