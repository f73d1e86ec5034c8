//! A folder to try the command in, and two schedules.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;
use std::time::Duration;

use assert_cmd::Command;
use assert_cmd::assert::OutputAssertExt;
use serde_json::Value;
use tempfile::TempDir;

/// A folder to work in, and the command run in it.
pub struct Bench {
    pub folder: TempDir,
}

impl Bench {
    pub fn new() -> Self {
        Self { folder: TempDir::new().expect("a temporary folder") }
    }

    /// `synth` with these words, in this folder.
    pub fn command(&self, words: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_synth"));
        command.args(words.split_whitespace()).current_dir(self.folder.path());
        command.env("COLUMNS", "100").timeout(Duration::from_secs(120));
        command
    }

    pub fn run(&self, words: &str) -> Output {
        self.command(words).output().expect("the command runs")
    }

    /// Runs it, and expects this exit code.
    pub fn ended(&self, code: i32, words: &str) -> Output {
        let output = self.run(words);
        let said = || text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{words}: {}", said());
        output
    }

    /// Runs a line by a shell that finds our programs.
    pub fn shell(&self, line: &str) -> Output {
        let ours = [Path::new(env!("CARGO_BIN_EXE_synth")).parent().expect("a folder"), built()];
        let theirs = std::env::var_os("PATH").unwrap_or_default();
        let paths = ours.into_iter().map(Path::to_path_buf).chain(std::env::split_paths(&theirs));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(line).current_dir(self.folder.path()).env("COLUMNS", "100");
        shell.env("PATH", std::env::join_paths(paths).expect("no path has a colon"));
        shell.timeout(Duration::from_secs(120)).output().expect("the shell runs")
    }

    /// Runs `synth-verify` with these words in this folder.
    pub fn judge(&self, words: &str) -> Output {
        let mut command = Command::new(built().join("synth-verify"));
        command.args(words.split_whitespace()).current_dir(self.folder.path()).output().expect("the judge runs")
    }

    /// Runs it with this on standard input.
    pub fn run_with(&self, words: &str, input: &[u8]) -> Output {
        self.command(words).write_stdin(input).output().expect("the command runs")
    }

    /// Standard output of a successful run.
    pub fn stdout(&self, words: &str) -> String {
        text(&self.run(words).assert().success().get_output().stdout)
    }

    pub fn write(&self, name: &str, contents: &str) {
        fs::write(self.folder.path().join(name), contents).expect("a file");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(name)).expect("a file")
    }

    /// The names of the files in the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

/// Where `synth-verify` and, in `examples/`, the examples are. A test has only the programs of its own package, so
/// these are built here, unless `cargo test --workspace` has built them already.
pub fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_BIN_EXE_synth")).parent().expect("a program is in a folder");
        let profile = match folder.file_name().and_then(|name| name.to_str()) {
            Some("debug") | None => "dev",
            Some(name) => name,
        };
        let words = ["build", "--quiet", "--package", "collsynth", "--package", "collsynth-verify", "--examples"];
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(words).args(["--bin", "synth-verify", "--profile", profile, "--target-dir"]);
        cargo.arg(folder.parent().expect("a profile has its own folder")).current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo.assert().success();
        folder.to_owned()
    })
}

/// Runs `synth` with these words in a folder of its own.
pub fn synth(words: &str) -> Output {
    Bench::new().run(words)
}

/// Standard output of a successful run.
pub fn stdout(words: &str) -> String {
    Bench::new().stdout(words)
}

/// Standard output of a successful run, as JSON.
pub fn json(words: &str) -> Value {
    serde_json::from_str(&stdout(words)).expect("JSON")
}

/// A schedule that uses a link that failed.
pub const REFUTED: &str = r#"{
  "format": "collective-schedule/1",
  "topology": {"torus": [3], "failed_links": [{"from": 0, "to": 1}]},
  "collective": {"kind": "broadcast", "root": 0},
  "steps": [
    {"transfers": [
      {"from": 0, "to": 1, "chunks": [0]},
      {"from": 0, "to": 2, "chunks": [0]}]}
  ]
}
"#;

/// A broadcast on a line of three, from the middle.
pub const HOLDS: &str = r#"{
  "format": "collective-schedule/1",
  "topology": {"torus": [3], "wrap": [false]},
  "collective": {"kind": "broadcast", "root": 1},
  "steps": [
    {"transfers": [
      {"from": 1, "to": 0, "chunks": [0]},
      {"from": 1, "to": 2, "chunks": [0]}]}
  ]
}
"#;

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text is UTF-8")
}
