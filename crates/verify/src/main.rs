//! `synth-verify FILE...`: the judge alone, with the verdicts and exit codes of `synth verify`.

use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use collsynth_verify::judge::{FileOptions, Form, Ruling};
use lexopt::{Arg, Parser, ValueExt};
use serde_json::json;

const HELP: &str = "\
Judge schedules and rank programs from any source

Usage: synth-verify [OPTIONS] FILE...

Executes each schedule symbolically and checks its claimed bounds from their evidence; judges a rank program in every
interleaving. Contains no planner.

  FILE                   schedule or rank program files (- for standard input, .gz accepted)
      --format FORM      text (the default) or json
      --max-errors N     list at most N violations, and as many warnings, per file (default 20)
      --contention-free  refuse rank programs in which two transfers may be on one link at a time
  -h, --help             print this text
  -V, --version          print the version

Exit codes: 0 all hold, 1 one is refuted, 2 wrong usage or a file that cannot be read";

fn main() -> ExitCode {
    let (options, files) = match parse(Parser::from_env()) {
        Ok(Command::Judge(options, files)) => (options, files),
        Ok(Command::Print(text)) => return print(&format!("{text}\n"), Ruling::Holds),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}\nhint: `synth-verify --help` lists the options");
            return ExitCode::from(Ruling::Unreadable as u8);
        }
    };
    let verdicts: Vec<_> = files.iter().map(|file| options.judge(file)).collect();
    let worst = verdicts.iter().map(|verdict| verdict.ruling).max().unwrap_or(Ruling::Holds);
    match options.form {
        Form::Text => print(&verdicts.into_iter().map(|verdict| verdict.text).collect::<String>(), worst),
        Form::Json => {
            let all: Vec<_> = verdicts.into_iter().map(|verdict| verdict.json).collect();
            print(&format!("{:#}\n", json!({ "files": all })), worst)
        }
    }
}

enum Command {
    Judge(FileOptions<'static>, Vec<PathBuf>),
    Print(&'static str),
}

fn parse(mut arguments: Parser) -> Result<Command, lexopt::Error> {
    let (mut options, mut files) = (FileOptions::default(), Vec::new());
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
            Arg::Value(file) => files.push(PathBuf::from(file)),
            _ => return Err(argument.unexpected()),
        }
    }
    match files.is_empty() {
        true => Err("name at least one file (- for standard input)".into()),
        false => Ok(Command::Judge(options, files)),
    }
}

/// A reader that has gone away (`| head`) does not change the verdict.
fn print(text: &str, ruling: Ruling) -> ExitCode {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = writeln!(io::stderr(), "error: cannot write to standard output: {error}");
            ExitCode::from(Ruling::Unreadable as u8)
        }
        _ => ExitCode::from(ruling as u8),
    }
}
