//! `synth-verify FILE...`: the judge alone, with the verdicts and exit codes of `synth verify`.

use std::env;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use collsynth_core::topology::Topology;
use collsynth_verify::judge::{FileOptions, Form};
use collsynth_verify::limits::{FILE_WORD, Limits, MEMORY_WORD};
use collsynth_verify::shown::shown_lines;
use collsynth_verify::verdict::Verdict;
use collsynth_verify::{file, json};
use lexopt::{Arg, Parser, ValueExt};

const HELP: &str = "\
Judge schedules and rank programs from any source

Usage: synth-verify [OPTIONS] FILE...

Executes each schedule symbolically and checks its claimed bounds from their evidence; judges a rank program in every
interleaving. Contains no planner.

  FILE                   schedule or rank program files (- for standard input, .gz accepted)
      --format FORM      text (the default) or json
      --max-errors N     list at most N violations, and as many warnings, per file (default 20)
      --contention-free  refuse rank programs in which two transfers may be on one link at a time
      --topology FILE    judge on this machine instead of the one that a file states
      --rank-map RANKS   with --topology: the machine's rank for each rank of the program, as in 3,1,2,0
  -h, --help             print this text
  -V, --version          print the version

Exit codes: 0 all hold, 1 one is refuted, 2 wrong usage or a file that cannot be read. A reader that closes the pipe
early (| head) changes none of them.

Environment: SYNTH_MAX_FILE is the largest file that is read, packed or not (1GiB, unless stated); SYNTH_MAX_MEMORY the
most memory that judging a file may take (48MiB and 12 bytes for each of its bytes, unless stated)";

fn main() -> ExitCode {
    let asked = match parse(Parser::from_env()) {
        Ok(Command::Judge(asked)) => asked,
        Ok(Command::Print(text)) => return print(&format!("{text}\n"), Verdict::Holds),
        Err(error) => return wrong(&format!("{error}\nhint: `synth-verify --help` lists the options")),
    };
    let Asked { mut options, files, topology, rank_map } = asked;
    let machine = match topology.as_deref().map(|path| machine(path, &options.limits)).transpose() {
        Ok(machine) => machine,
        Err(error) => return wrong(&error),
    };
    (options.machine, options.rank_map) = (machine.as_ref(), &rank_map);
    let verdicts: Vec<_> = files.iter().map(|file| options.judge(file)).collect();
    let worst = verdicts.iter().map(|verdict| verdict.verdict).max().unwrap_or(Verdict::Holds);
    match options.form {
        Form::Text => print(&verdicts.into_iter().map(|verdict| verdict.text).collect::<String>(), worst),
        Form::Json => {
            let all: Vec<_> = verdicts.into_iter().map(|verdict| verdict.json).collect();
            print(&format!("{:#}\n", serde_json::json!({ "files": all })), worst)
        }
    }
}

enum Command {
    Judge(Asked),
    Print(&'static str),
}

/// What is to be judged, and how.
#[derive(Default)]
struct Asked {
    options: FileOptions<'static>,
    files: Vec<PathBuf>,
    topology: Option<PathBuf>,
    rank_map: Vec<u32>,
}

/// Wrong usage.
fn wrong(error: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {}", shown_lines(error));
    ExitCode::from(Verdict::NotJudged as u8)
}

/// Reads a machine from a topology file.
fn machine(path: &Path, limits: &Limits) -> Result<Topology, String> {
    let text = file::read_text(path, limits.file).map_err(|error| error.to_string())?;
    let spec = json::parse_topology_within(&text, limits)
        .map_err(|error| format!("{}:{}:{}: {}", path.display(), error.line, error.column, error.message))?;
    Topology::new(spec).map_err(|error| error.to_string())
}

fn parse(mut arguments: Parser) -> Result<Command, lexopt::Error> {
    let mut asked = Asked::default();
    let stated = |name| env::var_os(name).map(|word| word.to_string_lossy().into_owned());
    asked.options.limits = Limits::stated(stated(FILE_WORD).as_deref(), stated(MEMORY_WORD).as_deref())?;
    let options = &mut asked.options;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Command::Print(HELP)),
            Arg::Short('V') | Arg::Long("version") => {
                return Ok(Command::Print(concat!("synth-verify ", env!("CARGO_PKG_VERSION"))));
            }
            Arg::Long("format") => {
                options.form = arguments.value()?.parse_with(|form| match form {
                    "text" => Ok(Form::Text),
                    "json" => Ok(Form::Json),
                    _ => Err("the forms are text and json"),
                })?;
            }
            Arg::Long("max-errors") => options.max_errors = arguments.value()?.parse()?,
            Arg::Long("contention-free") => options.contention_free = true,
            Arg::Long("topology") => asked.topology = Some(PathBuf::from(arguments.value()?)),
            Arg::Long("rank-map") => {
                let ranks = arguments.value()?;
                for rank in ranks.string()?.split(',') {
                    asked.rank_map.push(rank.parse().map_err(|_| format!("`{rank}` is not a rank: write 3,1,2,0"))?);
                }
            }
            Arg::Value(file) => asked.files.push(PathBuf::from(file)),
            _ => return Err(argument.unexpected()),
        }
    }
    if !asked.rank_map.is_empty() && asked.topology.is_none() {
        return Err("--rank-map needs --topology".into());
    }
    match asked.files.is_empty() {
        true => Err("name at least one file (- for standard input)".into()),
        false => Ok(Command::Judge(asked)),
    }
}

/// A reader that has gone away (`| head`) does not change the verdict.
fn print(text: &str, verdict: Verdict) -> ExitCode {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: cannot write to standard output: {error}");
            ExitCode::from(Verdict::NotJudged as u8)
        }
        _ => ExitCode::from(verdict as u8),
    }
}
