//! Words after an option that are neither its value nor an option: `--torus 4x4 allreduce`, `--torus 4 4 4`.

use clap::{ArgAction, Command};

use collsynth::collective::Kind;

/// What is wrong with a word after options, and the line that was probably meant; `typed` are all words but the name of
/// the program.
pub fn misplaced(word: &str, command: &Command, typed: &[String]) -> Option<String> {
    let action = |option: &str| {
        let name = option.strip_prefix("--")?;
        let argument = command.get_arguments().find(|argument| argument.get_long() == Some(name))?;
        Some(argument.get_action())
    };
    let takes_value = |option: &String| action(option).is_some_and(ArgAction::takes_values);
    let at = (1..typed.len()).find(|&at| typed[at] == word && !takes_value(&typed[at - 1]))?;
    let last = (0..at).rev().find(|&before| typed[before].starts_with("--"))?;
    let (option, rest) = (&typed[last], &typed[at + 1..]);
    let line = |words: &[&[String]]| format!("did you mean `synth {}`?", words.concat().join(" "));
    if let Some(named) = command.find_subcommand(word) {
        let takes =
            |option: &str| named.get_arguments().any(|argument| option.strip_prefix("--") == argument.get_long());
        let mut is_kept = true;
        let kept: Vec<String> = typed[..at]
            .iter()
            .filter(|word| {
                is_kept = if word.starts_with("--") { takes(word) } else { is_kept };
                is_kept
            })
            .cloned()
            .collect();
        return Some(format!("`{word}` comes before its options: {}", line(&[&typed[at..=at], rest, &kept])));
    }
    if !takes_value(option) {
        return Some(format!("{option} takes no value: {}", line(&[&typed[..at], rest])));
    }
    let more = at + typed[at..].iter().take_while(|word| !word.starts_with('-')).count();
    let values: Vec<&str> = typed[last + 1..more].iter().map(String::as_str).collect();
    let (before, behind) = (&typed[..last], &typed[more..]);
    let are_numbers = values.iter().all(|value| value.parse::<u32>().is_ok());
    let joined = |with: &str| line(&[before, &[option.clone(), values.join(with)], behind]);
    let meant = match &**option {
        "--torus" | "--slice" | "--blocks" | "--period" if are_numbers => joined("x"),
        "--fail" | "--fail-link" | "--fail-rank" if are_numbers => joined(","),
        _ => match with_options(typed) {
            Some(meant) => line(&[&[meant]]),
            None if matches!(action(option), Some(ArgAction::Append)) => {
                let repeated: Vec<String> =
                    values.iter().flat_map(|value| [option.clone(), (*value).to_owned()]).collect();
                line(&[before, &repeated, behind])
            }
            None => format!("leave `{word}` out, or state the option that it belongs to"),
        },
    };
    Some(format!("{option} takes one value, and `{word}` is another: {meant}"))
}

/// `4x4x8 allreduce --fail 2,x+` with the options of its machine and its kind; None where a word is neither.
pub fn with_options(words: &[String]) -> Option<String> {
    let mut line = Vec::new();
    let mut is_value = false;
    for word in words {
        let is_option = word.starts_with('-');
        let is_again = |option: &str| words.iter().any(|word| word == option);
        line.push(match (is_option || is_value, extents(word), word.parse::<Kind>()) {
            (true, ..) => word.clone(),
            (false, Some(extents), _) if !is_again("--torus") => format!("--torus {extents}"),
            (false, None, Ok(kind)) if !is_again("--collective") => format!("--collective {kind}"),
            (false, ..) => return None,
        });
        is_value = is_option && !word.contains('=');
    }
    Some(line.join(" "))
}

/// `4x4x8`, of this or another spelling of it.
fn extents(word: &str) -> Option<String> {
    let numbers: Vec<&str> = word.split(['x', 'X', ',', '*']).collect();
    numbers.iter().all(|number| number.parse::<u32>().is_ok()).then(|| numbers.join("x"))
}
