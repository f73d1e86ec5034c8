//! Where the secret of ranks comes from: a file or the environment, never an argument, which `ps` shows to everybody.

use std::env;
use std::fs::{File, Metadata};
use std::io::Read;
use std::path::Path;

use collsynth::runtime::tcp::Secret;

use crate::cli::ending::Failure;

/// An environment variable with the secret.
const VARIABLE: &str = "SYNTH_SECRET";
/// The most bytes of a secret.
const MOST_BYTES: u64 = 4096;

/// The secret in the file, without the line break at its end; without a file, that in the environment, if there is one.
pub fn secret(file: Option<&Path>) -> Result<Option<Secret>, Failure> {
    match (file, env::var_os(VARIABLE)) {
        (Some(path), _) => of_file(path).map(Some),
        (None, Some(value)) => of_bytes(value.as_encoded_bytes(), VARIABLE).map(Some),
        (None, None) => Ok(None),
    }
}

fn of_file(path: &Path) -> Result<Secret, Failure> {
    let name = path.display().to_string();
    let unreadable = |error| Failure::usage(format!("cannot read {name}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(Failure::usage(format!("cannot read {name}: it is a folder")));
    }
    check_private(&metadata, &name)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::usage(format!("{name} is no secret: it has more than {MOST_BYTES} bytes")));
    }
    let text = bytes.strip_suffix(b"\r\n").or_else(|| bytes.strip_suffix(b"\n"));
    of_bytes(text.unwrap_or(&bytes), &name)
}

fn of_bytes(bytes: &[u8], source: &str) -> Result<Secret, Failure> {
    let empty = || {
        Failure::usage(format!("the secret in {source} is empty"))
            .hint("draw one: (umask 077; head -c 32 /dev/urandom | base64 > FILE)")
    };
    if bytes.trim_ascii().is_empty() {
        return Err(empty());
    }
    Secret::new(bytes).map_err(|_| empty())
}

/// Refuses a file that other users of the system may read or change.
#[cfg(unix)]
fn check_private(metadata: &Metadata, name: &str) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;

    match metadata.permissions().mode() & 0o777 {
        mode if mode & 0o077 == 0 => Ok(()),
        mode => Err(Failure::usage(format!("others may read or change the secret in {name} (mode {mode:o})"))
            .hint(format!("`chmod 600 {name}` makes it yours alone"))),
    }
}

#[cfg(not(unix))]
fn check_private(_: &Metadata, _: &str) -> Result<(), Failure> {
    Ok(())
}
