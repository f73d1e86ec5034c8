//! Every option of every command is applied or refused: alone and beside every other, for every kind of file,
//! collective and format. Commands and options come from the parser's own tree, so that what is added later is walked
//! too; whoever adds an option without an example of its value is told so here.
//!
//! **How applied is told from ignored.** A command runs (in this process, on tiny machines) with and without the
//! option. The option is *applied* if anything differs: the exit code, what is printed, or a file that is written. Two
//! things do not count, since they say what was typed and not what was done: the command line in an `origin`, and
//! times. It is *refused* if the exit code is 2. Otherwise it was ignored, and the test fails, unless [`SILENT`] or
//! [`HIDDEN`] say why its effect cannot show, or the command ended before (a file that does not hold, no schedule). An
//! option that is refused alone because it needs others is tried beside these too ([`BESIDE`]), and every option must
//! be applied in some scene.

mod cases;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use clap::{Arg, Command};
use collsynth::cli;
use collsynth::format::file;
use tempfile::TempDir;

use self::cases::{BESIDE, EXAMPLES, HIDDEN, INSTEAD, SILENT, scenes};
use crate::support::bench::{HOLDS, REFUTED};

/// What a command line gives: the exit code, and all that is printed and written.
#[derive(Clone, PartialEq, Eq)]
struct Outcome {
    code: u8,
    seen: String,
}

impl Outcome {
    fn is_refused(&self) -> bool {
        self.code == 2
    }
}

/// What was typed, an option at a time.
#[derive(Clone, Default)]
struct Line {
    files: Vec<String>,
    options: BTreeMap<String, Vec<String>>,
}

impl Line {
    fn of(words: &str) -> Self {
        let mut line = Self::default();
        let mut option: Option<String> = None;
        for word in words.split_whitespace() {
            let word = if word == "-o" { "--output" } else { word };
            match (word.strip_prefix("--"), &option) {
                (Some(name), _) => {
                    line.options.insert(name.to_owned(), Vec::new());
                    option = Some(name.to_owned());
                }
                (None, Some(name)) => line.options.get_mut(name).expect("inserted").push(word.to_owned()),
                (None, None) => line.files.push(word.to_owned()),
            }
        }
        line
    }

    /// With these options too, in place of those of the same names.
    fn with(&self, other: &Self) -> Self {
        let mut line = self.clone();
        line.options.extend(other.options.clone());
        line
    }

    fn words(&self) -> Vec<String> {
        let mut words = self.files.clone();
        for (option, values) in &self.options {
            words.push(format!("--{option}"));
            words.extend(values.iter().cloned());
        }
        words
    }
}

/// Where files are, and what was run already.
struct Bench {
    folder: TempDir,
    known: HashMap<Vec<String>, Outcome>,
}

impl Bench {
    fn new() -> Self {
        let mut bench = Self { folder: TempDir::new().expect("a folder"), known: HashMap::new() };
        for name in ["in", "out"] {
            fs::create_dir(bench.folder.path().join(name)).expect("a folder");
        }
        let write =
            |name: &str, text: &str| fs::write(bench.folder.path().join("in").join(name), text).expect("a file");
        write("machine.json", r#"{"torus": [2, 4], "failed_links": [{"from": 2, "to": 3}]}"#);
        write("ring3.json", r#"{"torus": [3]}"#);
        write("line3.json", r#"{"torus": [3], "wrap": [false]}"#);
        write("ring8.json", r#"{"torus": [8]}"#);
        write("tonight.json", r#"{"torus": [3, 2], "failed_links": [{"from": 1, "to": 2}]}"#);
        write("names.txt", "a\nb\nc\nd\ne\nf\ng\nh\n");
        write("demand.csv", &"0,1,0,0,2,0,0,1\n".repeat(8));
        write("moves.csv", "step,from,to,chunk,op\n1,0,1,0,copy\n");
        write("pairs.csv", "step,from,to,chunk\n1,0,1,0-1\n");
        write("units.json", r#"{"units": [{"name": "u", "ranks": [0]}, {"name": "v", "ranks": [1]}]}"#);
        write("jobs.json", r#"[{"collective": "all_gather", "groups": "x"}, {"collective": "all_gather"}]"#);
        write("ranks.txt", &"127.0.0.1:1\n".repeat(8));
        write("holds.json", HOLDS);
        write("refuted.json", REFUTED);
        for (name, words) in [
            ("all_reduce", "--torus 2x2 --collective all_reduce --parts 64"),
            ("all_to_all", "--torus 4"),
            ("compact", "--torus 2x4 --collective all_gather --form compact"),
            ("broadcast", "--torus 2x2 --collective broadcast --root 2 --parts 1"),
            ("barrier", "--torus 2x2 --collective barrier"),
            ("groups", "--torus 4x2 --collective all_gather --groups x"),
            ("failed", "--torus 2x2 --fail-rank 3 --collective all_gather"),
            ("job", "--torus 2x4 --job {in}/jobs.json"),
        ] {
            bench.made(&format!("{words} -o {{in}}/{name}.json"));
        }
        bench.made("lower {in}/all_reduce.json -o {in}/program.json");
        bench.made("convert {in}/broadcast.json --to msccl -o {in}/broadcast.xml");
        bench.made("survey --torus 2x2 --cables 1 -o {in}/survey");
        bench.made("fallbacks build --torus 3x2 --collective all_gather --cables 1 --links 1 --ranks 1 -o {in}/set");
        bench
    }

    fn made(&mut self, words: &str) {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        let outcome = self.run(&words);
        assert_eq!(outcome.code, 0, "{words:?}: {}", outcome.seen);
    }

    /// Runs a command line, or recalls what it gave.
    fn outcome(&mut self, command: &str, line: &Line) -> Outcome {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        words.extend(line.words());
        if let Some(known) = self.known.get(&words) {
            return known.clone();
        }
        let outcome = self.run(&words);
        self.known.insert(words, outcome.clone());
        outcome
    }

    fn run(&self, words: &[String]) -> Outcome {
        let path = |name: &str| self.folder.path().join(name).display().to_string();
        let (input, output) = (path("in"), path("out"));
        let foreign = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/outside/formats/foreign").display().to_string();
        let told = words.iter().map(|word| {
            OsString::from(word.replace("{in}", &input).replace("{out}", &output).replace("{foreign}", &foreign))
        });
        let told = std::iter::once(OsString::from("synth")).chain(told);
        let answer = cli::call(told, String::new(), Arc::default(), Arc::new(|_| {}));
        let mut seen = format!("{}\n{}", answer.output, answer.notes);
        let mut files = Vec::new();
        written(Path::new(&output), &mut files);
        for (name, text) in files {
            seen += &format!("\n{name}\n{text}");
        }
        fs::remove_dir_all(&output).expect("a folder");
        fs::create_dir(&output).expect("a folder");
        Outcome { code: answer.exit_code, seen: masked(&seen, words[0] == "run") }
    }
}

/// All files in a folder, unpacked.
fn written(folder: &Path, all: &mut Vec<(String, String)>) {
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        match path.is_dir() {
            true => written(&path, all),
            false => {
                let text = file::read_text(&path, u64::MAX);
                let bytes = || format!("{:?}", fs::read(&path).expect("a file"));
                all.push((path.display().to_string(), text.unwrap_or_else(|_| bytes())));
            }
        }
    }
}

/// Without command lines, and without times that were measured; in the JSON of runs, without fractions.
fn masked(text: &str, of_run: bool) -> String {
    let is_fraction = |line: &str| {
        let value = line.rsplit(": ").next().unwrap_or(line).trim().trim_end_matches(',');
        value.contains('.') && value.parse::<f64>().is_ok() || value.contains("e-")
    };
    let seen = text.lines().map(|line| match line.split_once("\"command\":") {
        Some((before, _)) => before,
        None if line.contains("planning_seconds") || line.contains("planned in ") => "",
        None if of_run && is_fraction(line) => "",
        None => line,
    });
    seen.collect::<Vec<_>>().join("\n")
}

/// The options of every command.
fn commands() -> Vec<(String, Vec<Arg>)> {
    fn add(command: &Command, path: &str, all: &mut Vec<(String, Vec<Arg>)>) {
        let options = command.get_arguments().filter(|option| option.get_long().is_some()).cloned().collect();
        all.push((if path.is_empty() { "plan".to_owned() } else { path.to_owned() }, options));
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "plan") {
            add(inner, format!("{path} {}", inner.get_name()).trim(), all);
        }
    }
    let mut all = Vec::new();
    add(&cli::command(), "", &mut all);
    all
}

fn listed<T: Copy>(table: &[(&str, &str, T)], command: &str, option: &str) -> Option<T> {
    let of = |wanted: &str| table.iter().find(|(c, o, _)| *c == wanted && *o == option).map(|(.., listed)| *listed);
    of(command).or_else(|| of("*"))
}

/// The option with each of the values that it is tried with.
fn tried(command: &str, option: &Arg) -> Vec<Line> {
    let name = option.get_long().expect("an option");
    let values: Vec<String> = match listed(EXAMPLES, command, name) {
        _ if !option.get_action().takes_values() => vec![String::new()],
        Some(values) => values.iter().map(|&value| value.to_owned()).collect(),
        None => option.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect(),
    };
    assert!(!values.is_empty(), "say in `EXAMPLES` what --{name} of `synth {command}` is tried with");
    let default: Vec<String> = option.get_default_values().iter().map(|v| v.to_string_lossy().into_owned()).collect();
    let others = values.into_iter().filter(|value| value.is_empty() || !default.contains(value));
    others.map(|value| Line::of(&format!("--{name} {value}"))).collect()
}

/// Is it known why the effect of this option does not show in this command line?
fn is_hidden(command: &str, option: &str, line: &Line) -> bool {
    let words = line.words().join(" ");
    let mut hidden = HIDDEN.iter().filter(|(c, o, ..)| (*c == command || *c == "*") && *o == option);
    listed(SILENT, command, option).is_some() || hidden.any(|(.., part, _)| words.contains(part))
}

/// Did the command end before its options could matter: at a file that does not hold, or at what cannot be planned?
fn is_cut_short(command: &str, outcome: &Outcome) -> bool {
    outcome.code > 2 || (outcome.code == 1 && command != "verify") || outcome.seen.contains("nothing is written")
}

/// What an option needs and excludes stands in one table: the parser waives some of what it is told.
#[test]
fn the_parser_is_told_nothing_of_it() {
    let mut places = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli")];
    while let Some(path) = places.pop() {
        if path.is_dir() {
            places.extend(fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        for word in ["requires", "requires_all", "requires_if", "conflicts_with", "conflicts_with_all"] {
            assert!(!text.contains(&format!("{word} = ")), "{}: {word}: say it in options/table.rs", path.display());
        }
    }
}

#[test]
fn every_option_alone_is_applied_or_refused() {
    let mut bench = Bench::new();
    let (mut ignored, mut idle) = (Vec::new(), Vec::new());
    for (command, options) in commands() {
        for option in options.iter().filter(|option| option.get_long() != Some("threads")) {
            let name = option.get_long().expect("an option");
            let mut is_applied = listed(SILENT, &command, name).is_some();
            let beside = listed(BESIDE, &command, name).map(Line::of);
            let scenes: Vec<Line> = scenes(&command).iter().map(|scene| Line::of(scene)).collect();
            let more = beside.iter().flat_map(|beside| scenes.iter().map(|scene| scene.with(beside)));
            for mut base in scenes.iter().cloned().chain(more) {
                for gone in listed(INSTEAD, &command, name).unwrap_or_default().iter().chain([&name]) {
                    base.options.remove(*gone);
                }
                let without = bench.outcome(&command, &base);
                for line in tried(&command, option).iter().map(|line| base.with(line)) {
                    let with = bench.outcome(&command, &line);
                    let applied = !with.is_refused() && with != without;
                    is_applied |= applied;
                    let excused = is_hidden(&command, name, &line) || is_cut_short(&command, &with);
                    if !applied && !with.is_refused() && !excused {
                        ignored.push(format!("synth {command} {line}, --{name}"));
                    }
                }
            }
            if !is_applied {
                idle.push(format!("synth {command} --{name}"));
            }
        }
    }
    assert!(ignored.is_empty(), "ignored:\n{}", ignored.join("\n"));
    assert!(idle.is_empty(), "refused in every scene: {idle:?}");
}

#[test]
fn every_option_beside_every_other_is_applied_or_refused() {
    let mut bench = Bench::new();
    let mut ignored = Vec::new();
    for (command, options) in commands() {
        let options: Vec<&Arg> = options.iter().filter(|option| option.get_long() != Some("threads")).collect();
        let scenes = scenes(&command);
        let Some(scene) = scenes.first().map(|scene| Line::of(scene)) else { continue };
        for (at, one) in options.iter().enumerate() {
            for other in &options[at + 1..] {
                let names = [one, other].map(|option| option.get_long().expect("an option"));
                let beside = names.iter().filter_map(|name| listed(BESIDE, &command, name));
                let mut base = beside.fold(scene.clone(), |line, beside| line.with(&Line::of(beside)));
                for name in names {
                    for gone in listed(INSTEAD, &command, name).unwrap_or_default().iter().chain([&name]) {
                        base.options.remove(*gone);
                    }
                }
                // One value, of those that make another form of the answer all.
                let [first, second] = [one, other].map(|option| {
                    let count =
                        if ["format", "output"].contains(&option.get_long().unwrap_or_default()) { 9 } else { 1 };
                    tried(&command, option).into_iter().take(count).collect::<Vec<Line>>()
                });
                for (first, second) in first.iter().flat_map(|one| second.iter().map(move |other| (one, other))) {
                    let line = base.with(first).with(second);
                    let both = bench.outcome(&command, &line);
                    if both.is_refused() || is_cut_short(&command, &both) {
                        continue;
                    }
                    for (name, rest) in [(names[0], second), (names[1], first)] {
                        if !is_hidden(&command, name, &line) && both == bench.outcome(&command, &base.with(rest)) {
                            ignored.push(format!("synth {command} {line}, --{name}"));
                        }
                    }
                }
            }
        }
    }
    assert!(ignored.is_empty(), "ignored:\n{}", ignored.join("\n"));
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.words().join(" "))
    }
}
