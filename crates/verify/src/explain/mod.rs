//! The texts behind `synth explain`, from `codes.md`. Nothing here decides.

/// What a code means.
#[derive(Clone, Copy, Debug)]
pub struct Explanation {
    /// The code.
    pub code: &'static str,
    /// One line: what is wrong.
    pub title: &'static str,
    /// A few sentences, broken into lines: meaning, a small example, what to do.
    pub text: &'static str,
}

/// What every code means: those of files, of schedules, warnings, then those only rank programs have.
pub fn explanations() -> impl Iterator<Item = Explanation> {
    include_str!("codes.md").split("\n## ").skip(1).filter_map(|section| {
        let (heading, text) = section.split_once("\n\n")?;
        let (code, title) = heading.split_once(": ")?;
        Some(Explanation { code, title, text: text.trim_end() })
    })
}

/// What a code means; `None` if there is no such code. Takes either case.
pub fn explanation(code: &str) -> Option<Explanation> {
    explanations().find(|one| one.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::{explanation, explanations};
    use crate::audit::ProgramCode;
    use crate::json::FormatCode;
    use crate::verify::{Code, JobCode};

    #[test]
    fn every_code_is_explained_once_and_nothing_else() {
        let mut codes: Vec<String> = FormatCode::ALL.iter().map(FormatCode::to_string).collect();
        codes.extend(Code::ALL.iter().map(Code::to_string));
        codes.extend(JobCode::ALL.iter().map(JobCode::to_string));
        codes.extend(ProgramCode::ALL.iter().map(ProgramCode::to_string));
        assert!(codes.iter().all(|code| explanation(&code.to_lowercase()).is_some_and(|one| one.code == code)));
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), explanations().count());
        for one in explanations() {
            assert!(!one.title.ends_with('.') && one.text.ends_with('.'), "{}", one.code);
        }
    }
}
