//! Words after an option that are neither its value nor an option: `--torus 4x4 allreduce`, `--torus 4 4 4`.

use clap::{Arg, ArgAction, Command};

use collsynth::collective::Kind;

/// What is wrong with a word after options, and the line that was probably meant; `typed` are all words but the name of
/// the program.
pub fn misplaced(word: &str, command: &Command, typed: &[String]) -> Option<String> {
    let at = (1..typed.len()).find(|&at| typed[at] == word && !takes_next(command, &typed[at - 1]))?;
    let last = (0..at).rev().find(|&before| is_option(&typed[before]))?;
    let (option, own) = typed[last].split_once('=').map_or((&*typed[last], None), |(name, own)| (name, Some(own)));
    let (before, rest) = (&typed[..last], &typed[at + 1..]);
    let line = |words: &[&[String]]| format!("did you mean `synth {}`?", words.concat().join(" "));
    if let Some(named) = command.find_subcommand(word) {
        return Some(format!(
            "`{word}` comes before its options: {}",
            line(&[&typed[at..=at], rest, &kept(typed, at, named)])
        ));
    }
    let stated = with_options(command, typed).map(|meant| line(&[&[meant]]));
    let argument = argument(command, option)?;
    if !argument.get_action().takes_values() {
        return Some(format!("{option} takes no value: {}", stated.unwrap_or_else(|| line(&[&typed[..at], rest]))));
    }
    let more = at + typed[at..].iter().take_while(|word| !is_option(word)).count();
    let values: Vec<&str> = own.into_iter().chain(typed[last + 1..more].iter().map(String::as_str)).collect();
    let are_numbers = values.iter().all(|value| value.parse::<u32>().is_ok());
    let joined = |with: &str| line(&[before, &[option.to_owned(), values.join(with)], &typed[more..]]);
    let meant = match option {
        "--torus" | "--slice" | "--blocks" | "--period" if are_numbers => joined("x"),
        "--fail" | "--fail-link" | "--fail-rank" if are_numbers => joined(","),
        _ => stated.unwrap_or_else(|| match argument.get_action() {
            ArgAction::Append => joined(&format!(" {option} ")),
            _ => format!("leave `{word}` out, or state the option that it belongs to"),
        }),
    };
    Some(format!("{option} takes one value, and `{word}` is another: {meant}"))
}

/// The options before a word that another command takes too, with their values.
fn kept(typed: &[String], at: usize, command: &Command) -> Vec<String> {
    let mut is_kept = true;
    let words = typed[..at].iter().filter(|word| {
        is_kept = if is_option(word) { argument(command, word).is_some() } else { is_kept };
        is_kept
    });
    words.cloned().collect()
}

/// `4x4x8 allreduce --fail 2,x+` with the options of its machine and its kind; None where a word is neither, or states
/// again what an option does.
pub fn with_options(command: &Command, words: &[String]) -> Option<String> {
    let mut line = Vec::new();
    let mut is_value = false;
    let stated = |option: &str| words.iter().any(|word| word.split('=').next() == Some(option));
    for word in words {
        line.push(match (is_option(word) || is_value, extents(word), word.parse::<Kind>()) {
            (true, ..) => word.clone(),
            (false, Some(extents), _) if !stated("--torus") => format!("--torus {extents}"),
            (false, None, Ok(kind)) if !stated("--collective") => format!("--collective {kind}"),
            (false, ..) => return None,
        });
        // An option that nobody knows may take one.
        is_value =
            takes_next(command, word) || is_option(word) && argument(command, word).is_none() && !word.contains('=');
    }
    Some(line.join(" "))
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

/// Is the word after this one its value?
fn takes_next(command: &Command, word: &str) -> bool {
    !word.contains('=') && argument(command, word).is_some_and(|argument| argument.get_action().takes_values())
}

/// The argument that an option states: `--torus`, `--torus=4x4` or `-o`.
fn argument<'a>(command: &'a Command, option: &str) -> Option<&'a Arg> {
    let name = option.split('=').next()?;
    command.get_arguments().find(|argument| match name.strip_prefix("--") {
        Some(long) => argument.get_long() == Some(long),
        None => name
            .strip_prefix('-')
            .is_some_and(|name| argument.get_short().is_some_and(|short| *name == *short.to_string())),
    })
}

/// `4x4x8`, of this or another spelling of it.
fn extents(word: &str) -> Option<String> {
    let numbers: Vec<&str> = word.split(['x', 'X', ',', '*']).collect();
    numbers.iter().all(|number| number.parse::<u32>().is_ok()).then(|| numbers.join("x"))
}

#[cfg(test)]
mod tests {
    use super::misplaced;

    #[test]
    fn the_line_that_was_meant_is_another_one() {
        let command = crate::cli::command();
        for (typed, word, meant) in [
            ("--torus 4x4 allreduce", "allreduce", "`synth --torus 4x4 --collective all_reduce`"),
            ("--torus=4x4 allreduce", "allreduce", "`synth --torus=4x4 --collective all_reduce`"),
            ("--torus 4x4 -q allreduce", "allreduce", "`synth --torus 4x4 -q --collective all_reduce`"),
            ("--torus 4x4 -o s.json allreduce", "allreduce", "`synth --torus 4x4 -o s.json --collective all_reduce`"),
            ("--torus 4 4 4 -q", "4", "`synth --torus 4x4x4 -q`"),
            ("--torus=4 4 4", "4", "`synth --torus 4x4x4`"),
            ("--torus 4x4 --fail 2 3", "3", "`synth --torus 4x4 --fail 2,3`"),
            ("--torus 4x4 --fail 0,1 5,6", "5,6", "`synth --torus 4x4 --fail 0,1 --fail 5,6`"),
            ("--torus 4x8 --twist yes", "yes", "--twist takes no value: did you mean `synth --torus 4x8 --twist`"),
            (
                "--torus 4x4 -o s.json t.json",
                "t.json",
                "-o takes one value, and `t.json` is another: leave `t.json` out",
            ),
            ("--torus 4x4 --torus 4x4x4 4x4", "4x4", "leave `4x4` out"),
            ("--torus 4x4 -q verify s.json", "verify", "`synth verify s.json`"),
            ("-q --torus 4x4 bound", "bound", "`synth bound --torus 4x4`"),
        ] {
            let words: Vec<String> = typed.split(' ').map(str::to_owned).collect();
            let said = misplaced(word, &command, &words).unwrap_or_default();
            assert!(said.contains(meant) && !said.contains(&format!("`synth {typed}`")), "{typed}: {said}");
        }
    }
}
