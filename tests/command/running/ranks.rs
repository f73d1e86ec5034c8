//! `synth run` with a process for each rank: lost ones, and secrets.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::run::{RING, run, synth};

/// A process for each rank of a ring of four, and their rank table.
struct Processes {
    children: Vec<Child>,
    _folder: TempDir,
}

/// Free ports, below those that the system assigns by itself.
fn free_ports(count: usize) -> Vec<u16> {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = 10_000 + (std::process::id() % 1000 * 20) as u16;
    let mut ports = Vec::new();
    while ports.len() < count {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            ports.push(port);
        }
    }
    ports
}

fn processes(file: &str, words: &str) -> Processes {
    processes_by(file, words, |_, _| {})
}

/// As [`processes`], each command changed for its rank.
fn processes_by(file: &str, words: &str, change: impl Fn(usize, &mut Command)) -> Processes {
    let folder = TempDir::new().expect("a temporary folder");
    // As on four hosts: on Linux, the loopback interface has all addresses that begin with 127.
    let host = |rank: usize| if cfg!(target_os = "linux") { rank + 1 } else { 1 };
    let line = |(rank, port)| format!("127.0.0.{}:{port}", host(rank));
    let lines: Vec<String> = free_ports(4).into_iter().enumerate().map(line).collect();
    let table = folder.path().join("ranks.txt");
    fs::write(&table, lines.join("\n")).expect("a file");
    let start = |rank| {
        let mut command = synth(&format!("run {file} --transport tcp --rank {rank} {words}"));
        command.arg("--rank-table").arg(&table).env_remove("SYNTH_SECRET");
        change(rank, &mut command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process")
    };
    Processes { children: (0..4).map(start).collect(), _folder: folder }
}

#[test]
fn one_process_for_each_rank() {
    let folder = TempDir::new().expect("a temporary folder");
    let program = folder.path().join("program.json");
    let program = program.to_str().expect("a plain name");
    assert_eq!(run(&format!("lower {RING} --quiet -o {program}")).status.code(), Some(0));
    for file in [RING, program] {
        let started = processes(file, "--bytes 100KB --dtype i64 --format json");
        for child in started.children {
            let output = child.wait_with_output().expect("it ends");
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            let report: Value = serde_json::from_slice(&output.stdout).expect("a JSON object");
            assert_eq!(report["correct"], true);
        }
    }
}

#[test]
fn a_process_that_is_killed_ends_all_others() {
    let started = processes(RING, "--bytes 1MiB --repeat 1000000 --timeout 5s");
    let mut children = at_work(started);
    children[2].kill().expect("killed");
    all_fail_within(Duration::from_secs(6), &mut children, 2);
}

/// A process that keeps its connections and does nothing.
#[cfg(unix)]
#[test]
fn a_process_that_is_stopped_ends_all_others() {
    let started = processes(RING, "--bytes 1MiB --repeat 1000000 --timeout 3s");
    let mut children = at_work(started);
    let stop = Command::new("kill").args(["-STOP", &children[2].id().to_string()]).status().expect("a command");
    assert!(stop.success());
    all_fail_within(Duration::from_secs(4), &mut children, 2);
    children[2].kill().expect("killed");
    children[2].wait().expect("it ends");
}

fn at_work(started: Processes) -> Vec<Child> {
    let mut children = started.children;
    thread::sleep(Duration::from_millis(800));
    for child in &mut children {
        assert!(child.try_wait().expect("a state").is_none(), "still at work");
    }
    children
}

/// All but the lost rank end with an error that names a rank, each in this time.
fn all_fail_within(limit: Duration, children: &mut [Child], lost: usize) {
    let began = Instant::now();
    for (rank, child) in children.iter_mut().enumerate().filter(|(rank, _)| *rank != lost) {
        let status = child.wait().expect("it ends");
        let errors = errors(child);
        assert_eq!(status.code(), Some(2), "rank {rank}: {errors}");
        assert!(errors.contains("rank"), "rank {rank}: {errors}");
        assert!(began.elapsed() < limit, "rank {rank}: {:?}", began.elapsed());
    }
}

fn errors(child: &mut Child) -> String {
    let mut errors = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut errors).expect("text");
    errors
}

/// Strangers take every file that a process may open; its own calls need some.
#[cfg(unix)]
#[test]
fn silent_strangers_leave_files_to_the_ranks() {
    let over = Arc::new(AtomicBool::new(false));
    let started = processes_by(RING, "--bytes 100KB --timeout 20s", |rank, command| {
        let words: Vec<OsString> = command.get_args().map(OsStr::to_owned).collect();
        if rank == 3 {
            let table = fs::read_to_string(words.last().expect("the table")).expect("a table");
            for address in table.lines().map(str::to_owned) {
                let over = Arc::clone(&over);
                thread::spawn(move || {
                    let mut calls = VecDeque::new();
                    while !over.load(Ordering::Relaxed) {
                        calls.extend(TcpStream::connect(&address));
                        if calls.len() > 150 {
                            calls.pop_front();
                        }
                        thread::sleep(Duration::from_millis(2));
                    }
                });
            }
            thread::sleep(Duration::from_secs(1));
        }
        let limited = format!("ulimit -n 32; exec '{}' \"$@\"", env!("CARGO_BIN_EXE_synth"));
        let mut shell = Command::new("sh");
        shell.args(["-c", &limited, "sh"]).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
        *command = shell;
    });
    for child in started.children {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
    over.store(true, Ordering::Relaxed);
}

/// A file with a secret, readable by its owner only unless the mode says otherwise.
#[cfg(unix)]
fn secret_file(folder: &TempDir, name: &str, text: &str, mode: u32) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;

    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
    path
}

#[cfg(unix)]
#[test]
fn ranks_with_the_same_secret_find_each_other() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = secret_file(&folder, "secret", "a tiger in the tank\n", 0o600);
    // From a file or from the environment; the file goes first.
    let started = processes_by(RING, "--bytes 100KB --format json", |rank, command| {
        match rank {
            0 => command.env("SYNTH_SECRET", "a tiger in the tank"),
            1 => command.arg("--secret-file").arg(&path).env("SYNTH_SECRET", "another"),
            _ => command.arg("--secret-file").arg(&path),
        };
    });
    for child in started.children {
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[cfg(unix)]
#[test]
fn ranks_without_the_same_secret_say_so() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = secret_file(&folder, "secret", "a tiger in the tank", 0o400);
    for (other, said) in [(None, "has no secret, and this rank has one"), (Some("a lion"), "does not have the secret")]
    {
        let started = processes_by(RING, "--timeout 2s", |rank, command| {
            match (rank, other) {
                (2, None) => command,
                (2, Some(other)) => command.env("SYNTH_SECRET", other),
                _ => command.arg("--secret-file").arg(&path),
            };
        });
        let mut children = started.children;
        // As many more as processes need to start on a busy machine.
        let began = Instant::now();
        let all: Vec<String> = children
            .iter_mut()
            .map(|child| {
                assert_eq!(child.wait().expect("it ends").code(), Some(2));
                errors(child)
            })
            .collect();
        assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
        assert!(all[1].contains(said) && all[3].contains(said), "{all:?}");
        let said = if other.is_none() { "has a secret, and this rank has none" } else { said };
        assert!(all[2].contains(said), "{all:?}");
        assert!(all.iter().all(|errors| !errors.contains("tiger") && !errors.contains("lion")), "{all:?}");
    }
}

#[test]
fn ranks_of_other_options_are_no_wrong_result() {
    for (option, here, there) in [
        ("--repeat", "2", "1"),
        ("--seed", "0", "5"),
        ("--bytes", "4KiB", "8KiB"),
        ("--dtype", "f32", "i32"),
        // As many bytes are twice as many elements.
        ("--dtype", "f32", "bf16"),
    ] {
        let started = processes_by(RING, "--timeout 2s", |rank, command| {
            command.args([option, if rank == 2 { there } else { here }]);
        });
        let mut children = started.children;
        let all: Vec<String> = children
            .iter_mut()
            .map(|child| {
                assert_eq!(child.wait().expect("it ends").code(), Some(2), "{option}");
                errors(child)
            })
            .collect();
        // Whoever compares first says it: the rank, or a neighbor on the ring. Others hear that it closed connections.
        let differs = format!("does not make the same call: its {option} differs");
        assert!(all[1..].iter().any(|errors| errors.contains(&differs)) && !all[0].contains(&differs), "{all:?}");
    }
}

#[cfg(unix)]
#[test]
fn secrets_that_are_none_are_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let table = folder.path().join("ranks");
    fs::write(&table, free_ports(4).iter().map(|port| format!("127.0.0.1:{port}\n")).collect::<String>())
        .expect("a file");
    let refused = |path: &Path, variable: Option<&str>, said: &str| {
        let mut command = synth(&format!("run {RING} --transport tcp --rank 0 --timeout 1s"));
        command
            .arg("--rank-table")
            .arg(&table)
            .env_remove("SYNTH_SECRET")
            .envs(variable.map(|it| ("SYNTH_SECRET", it)));
        if variable.is_none() {
            command.arg("--secret-file").arg(path);
        }
        let output = command.output().expect("the command runs");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(said) && !errors.contains("tiger"), "{errors}");
    };
    let file = |text: &str, mode: u32| secret_file(&folder, &format!("{mode:o}-{}", text.len()), text, mode);
    for mode in [0o644, 0o640, 0o604, 0o622] {
        let said = format!("(mode {mode:o})");
        refused(&file("a tiger in the tank", mode), None, &said);
        refused(&file("a tiger in the tank", mode), None, "chmod 600");
    }
    for empty in ["", "\n", "\r\n", " \n\n\n"] {
        refused(&file(empty, 0o600), None, "is empty");
        refused(Path::new(""), Some(empty), "the secret in SYNTH_SECRET is empty");
    }
    refused(&file(&"tiger".repeat(1000), 0o600), None, "more than 4096 bytes");
    refused(Path::new("/dev/zero"), None, "/dev/zero");
    refused(&folder.path().join("none"), None, "cannot read");
    refused(folder.path(), None, "cannot read");

    // It is for ranks that are processes, joined by TCP.
    let path = file("a tiger in the tank", 0o600);
    for words in ["", "--transport tcp", "--transport group --rank 0 --rank-table none"] {
        let output = synth(&format!("run {RING} {words}")).arg("--secret-file").arg(&path).output();
        assert_eq!(output.expect("the command runs").status.code(), Some(2), "{words}");
    }
}

/// Ranks that other hosts reach should have a secret.
#[test]
fn a_run_without_a_secret_is_warned() {
    let folder = TempDir::new().expect("a temporary folder");
    let table = folder.path().join("ranks");
    let ports = free_ports(2);
    for (host, warned) in [("127.0.0.1", false), ("0.0.0.0", true)] {
        let text = format!("127.0.0.1:{}\n{host}:{}\nlocalhost:1\n[::1]:1\n", ports[0], ports[1]);
        fs::write(&table, text).expect("a file");
        let mut command = synth(&format!("run {RING} --transport tcp --rank 0 --timeout 200ms"));
        let output = command.arg("--rank-table").arg(&table).env_remove("SYNTH_SECRET").output().expect("it runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors.contains("warning: without a secret"), warned, "{errors}");
    }
}
