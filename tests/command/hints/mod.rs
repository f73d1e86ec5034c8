//! What the command tells people to type works: every hint is provoked, and followed.
//!
//! `situations.txt` has a situation for each text in the sources that tells people what to type ([`sites`]): a command
//! line, and what its answer is followed by. Commands between backquotes are taken from the answer itself and run, with
//! the placeholders filled in; so are "leave --x out", "did you mean y?" and "write to z". What else an answer asks for
//! is typed in the situation, of words that the answer has. Nothing that is typed may be refused, or be what was typed
//! before.

mod mistakes;
mod pages;
mod sites;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use self::sites::{sites, words};
use crate::support::bench::{Bench, HOLDS, REFUTED, text};

/// Texts that no command line provokes, by how they begin, and why.
const UNPROVOKED: &[(&str, &str)] = &[
    ("please report this with the command line", "an error of ours, which no command line is known to provoke"),
    ("this is a job, schedules of several collectives", "said to programs that read schedules by the library"),
    ("`{text}` is not a list of extents", "said to programs by the library; the command has words of its own"),
    ("start one process for each live rank", "takes an MPI job"),
    ("give every process the same", "takes an MPI job"),
    ("the same command goes on with what is kept", "takes a Ctrl-C"),
    ("choose more --slots", "no schedule of ours gets stuck for want of slots"),
    ("`synth verify FILE` judges such schedules", "every collective has a planner today"),
    ("allow more steps, more time", "planners that may find nothing are asked only where they find something"),
];

/// A command line, and how its answer is followed.
#[derive(Debug, Default)]
struct Situation {
    typed: String,
    /// Who reads it: `synth`, at a terminal or not, a shell, or `synth-verify`.
    by: String,
    /// What is typed next, beside the commands that the answer states.
    next: Vec<String>,
    /// What stands for a placeholder.
    filled: Vec<(String, String)>,
    /// There is nothing to type, and why.
    is_final: bool,
}

#[test]
fn every_hint_works() {
    let (situations, files) = read();
    let bench = furnished(&files);
    let mut heard = Vec::new();
    let mut wrong = String::new();
    for situation in situations {
        let said = answer(&bench, &situation);
        let next = next(&situation, &said);
        if next.is_empty() != situation.is_final {
            let _ = writeln!(wrong, "$ synth {}\n{}\nnext: {next:?}\n", situation.typed, short(&said));
        }
        for line in next {
            if let Err(why) = follow(&bench, &situation, &said, &line) {
                let _ = writeln!(wrong, "$ synth {}\n{}\n{why}\n", situation.typed, short(&said));
            }
        }
        heard.push(words(&said));
    }
    for site in sites() {
        let is_heard = heard.iter().any(|said| site.is_in(said));
        let is_excused = UNPROVOKED.iter().any(|(begins, _)| site.text.starts_with(begins));
        if is_heard == is_excused {
            let excused = if is_excused { " is provoked after all" } else { "" };
            let _ = writeln!(wrong, "{}:{}: no situation: {:?}{excused}", site.file, site.line, site.text);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The first lines of an answer.
fn short(said: &str) -> String {
    said.lines().take(12).collect::<Vec<_>>().join("\n")
}

/// A folder with what the situations need.
fn furnished(files: &[String]) -> Bench {
    let bench = Bench::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for line in files {
        let (mark, rest) = line.split_once(' ').expect("a mark");
        let (name, contents) = rest.split_once(' ').expect("a name and contents");
        match mark {
            "file" => bench.write(name, &contents.replace("\\n", "\n")),
            "copy" => bench.write(name, &fs::read_to_string(root.join(contents)).expect("a file of the project")),
            "edit" => {
                let (old, new) = contents.split_once(" => ").expect("a text and another");
                bench.write(name, &text(&bench.read(name)).replacen(old, new, 1));
            }
            "shell" => drop(bench.shell(rest)),
            _ => drop(bench.ended(0, rest)),
        }
    }
    bench.write("holds.json", HOLDS);
    bench.write("refuted.json", REFUTED);
    bench
}

/// The situations, and the lines that furnish a folder for them.
fn read() -> (Vec<Situation>, Vec<String>) {
    let (mut all, mut files) = (Vec::<Situation>::new(), Vec::new());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/command/hints/situations.txt");
    for line in fs::read_to_string(path).expect("the situations").lines() {
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        match mark {
            "" | "#" => {}
            "file" | "copy" | "edit" | "shell" | "made" => files.push(line.to_owned()),
            "$" | "tty" | "sh" | "judge" => {
                all.push(Situation { typed: rest.to_owned(), by: mark.to_owned(), ..Situation::default() });
            }
            ">" => all.last_mut().expect("a situation").next.push(rest.to_owned()),
            "." => all.last_mut().expect("a situation").is_final = true,
            placeholder => all.last_mut().expect("a situation").filled.push((placeholder.to_owned(), rest.to_owned())),
        }
    }
    (all, files)
}

/// What a command line is answered with.
fn answer(bench: &Bench, situation: &Situation) -> String {
    let typed = &situation.typed;
    let output = match &*situation.by {
        "tty" => bench.shell(&format!("script -qec 'synth {typed}' /dev/null < /dev/null")),
        "sh" => bench.shell(typed),
        "judge" => bench.judge(typed),
        _ => bench.run(typed),
    };
    text(&output.stderr) + &text(&output.stdout)
}

/// What the answer says to type next.
fn next(situation: &Situation, said: &str) -> Vec<String> {
    let mut lines: BTreeSet<String> = situation.next.iter().cloned().collect();
    let fill = |line: String, (name, value): &(String, String)| line.replace(name, value);
    let filled = |line: &str| situation.filled.iter().fold(line.to_owned(), fill);
    // Lines that begin with a command, and say in a second column what it does.
    for line in said.lines().map(|line| line.trim_start_matches("next:").trim()) {
        let line = line.split("  ").next().unwrap_or_default();
        if line.starts_with("synth ") && !line.contains(['<', '[']) {
            lines.insert(filled(line));
        }
    }
    let said = words(said);
    let typed: Vec<&str> = situation.typed.split(' ').collect();
    // `synth show s.json`
    for quoted in said.split('`').skip(1).step_by(2) {
        if ["synth", "mkdir", "chmod"].iter().any(|program| quoted.starts_with(program)) {
            lines.insert(filled(quoted));
        }
    }
    // `--message-bytes 1MiB` plans for the least time
    for quoted in said.split('`').skip(1).step_by(2).filter(|quoted| quoted.starts_with("--") && quoted.contains(' ')) {
        lines.insert(format!("synth {} {quoted}", situation.typed));
    }
    // leave --width out
    for rest in said.split("leave ").skip(1).filter(|rest| rest.starts_with("--")) {
        let options = rest.split(" out").next().unwrap_or_default();
        let is_out = |word: &str| options.split([' ', ',']).any(|option| option == word);
        let mut left = false;
        let kept = typed.iter().filter(|word| {
            left = if word.starts_with('-') { is_out(word) } else { left };
            !left
        });
        lines.insert(format!("synth {}", kept.copied().collect::<Vec<_>>().join(" ")));
    }
    // `brodcast`; did you mean broadcast?
    for (before, rest) in said.match_indices("did you mean ").map(|(at, mark)| (&said[..at], &said[at + mark.len()..]))
    {
        let meant = rest.split('?').next().unwrap_or_default();
        let mut quoted = before.rsplit(['`', '\'', '"']).filter(|word| !word.is_empty());
        let wrong = quoted.find(|word| situation.typed.contains(word)).unwrap_or_default();
        let is_option = |word: &&str| meant.starts_with(word.split('=').next().unwrap_or_default());
        if meant.starts_with("--") {
            let at = typed.iter().position(|word| word.starts_with("--") && is_option(word)).expect("the option");
            lines.insert(format!("synth {} {meant} {}", typed[..at].join(" "), typed[at + 2..].join(" ")));
        } else if !meant.starts_with('`') {
            lines.extend((!wrong.is_empty()).then(|| format!("synth {}", situation.typed.replacen(wrong, meant, 1))));
        }
    }
    // write to answer.csv or answer.json
    for (_, rest) in said.match_indices("write to ").map(|(at, mark)| (at, &said[at + mark.len()..])) {
        let names = rest.split(' ').map_while(|word| match word.trim_end_matches(',') {
            name if name.contains(['.', '/']) || name == "out" => Some(name),
            _ => None,
        });
        let at = typed.iter().position(|word| ["-o", "--output", "--proof", "--renumber"].contains(word));
        for name in names.filter(|_| at.is_some()) {
            let at = at.expect("an output");
            lines.insert(format!("synth {} {name} {}", typed[..=at].join(" "), typed[at + 2..].join(" ")));
        }
    }
    lines.into_iter().collect()
}

/// Types a line that an answer asked for.
fn follow(bench: &Bench, situation: &Situation, said: &str, line: &str) -> Result<(), String> {
    let typed = words(&situation.typed);
    let line = words(line);
    // Of what is typed in the table, the words are those typed before, or the answer's, or the reader's own.
    let is_known = |word: &str| {
        let known = |text: &str| text.split([' ', '`', ',', '?', ';', ':', '\'', '"']).any(|known| known == word);
        word == "synth" || word.contains('{') || known(&typed) || typed.contains(word) || words(said).contains(word)
    };
    if let Some(word) = line.split(' ').find(|word| situation.next.contains(&line) && !is_known(word)) {
        return Err(format!("nothing says to type {word} of: {line}"));
    }
    let line = line.replace(['{', '}'], "");
    let command = line.strip_prefix("synth ").map_or(&*line, str::trim);
    if command == typed {
        return Err(format!("this was just typed: {line}"));
    }
    let output = match line.strip_prefix("synth ").filter(|words| !words.contains(" > ")) {
        Some(words) => bench.run(words),
        None => bench.shell(&line),
    };
    let code = output.status.code();
    let judges = ["verify", "convert", "view"].iter().any(|judge| command.starts_with(judge));
    match code {
        Some(0) => Ok(()),
        Some(1) if judges => Ok(()),
        _ => Err(format!("followed: {line}\n{}exit code {code:?}", text(&output.stderr))),
    }
}
