//! Reading and writing whole files: `-` for standard input and output, gzip, never half a file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::MultiGzDecoder;
use thiserror::Error;

use crate::guard::limits::FILE_WORD;
use crate::guard::shown::shown;

#[cfg(feature = "write")]
mod write;

#[cfg(feature = "write")]
pub use write::{abandon_writes, write_all_atomic, write_atomic, write_streamed};

/// Why a file cannot be read or written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum FileError {
    #[error("cannot read {}: {source}", name(path, "standard input"))]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot unpack {}: {source}", name(path, "standard input"))]
    Unpack { path: PathBuf, source: io::Error },
    #[error(
        "{} is larger than {most} bytes, packed or unpacked: {FILE_WORD} allows more",
        name(path, "standard input")
    )]
    TooLarge { path: PathBuf, most: u64 },
    #[error("standard input is read once: `-` stands for one file")]
    ReadAlready,
    #[error("{} is not text: line {line} is not UTF-8", name(path, "standard input"))]
    NotText { path: PathBuf, line: usize },
    #[error("cannot write {}: {source}", name(path, "to standard output"))]
    Write { path: PathBuf, source: io::Error },
}

/// Reads a text of at most `most` bytes; `-` is standard input, which a process reads once. A file named `.gz`, or that
/// begins like gzip, is unpacked, and both its packed and its unpacked bytes are counted against the limit.
///
/// # Errors
///
/// A [`FileError`] that names the file: it is unreadable, damaged, too large, or is not UTF-8; or it is standard input
/// for the second time.
pub fn read_text(path: &Path, most: u64) -> Result<String, FileError> {
    let error = |source| FileError::Read { path: path.to_owned(), source };
    let too_large = || FileError::TooLarge { path: path.to_owned(), most };
    let bytes = match is_standard(path) {
        true if STANDARD_READ.swap(true, Ordering::Relaxed) => return Err(FileError::ReadAlready),
        true => read_most(io::stdin().lock(), most),
        false => fs::File::open(path).and_then(|file| read_most(file, most)),
    };
    let mut bytes = bytes.map_err(error)?.ok_or_else(too_large)?;
    if is_gz(path) || bytes.starts_with(&GZIP_MAGIC) {
        let unpacked = read_most(MultiGzDecoder::new(&*bytes), most);
        let unpacked = unpacked.map_err(|source| FileError::Unpack { path: path.to_owned(), source })?;
        bytes = unpacked.ok_or_else(too_large)?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        FileError::NotText { path: path.to_owned(), line }
    })
}

/// Whether standard input was read: a second time, it would be taken for an empty file.
static STANDARD_READ: AtomicBool = AtomicBool::new(false);

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn is_gz(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

fn name(path: &Path, standard: &str) -> String {
    if is_standard(path) { standard.to_owned() } else { shown(&path.display().to_string()).into_owned() }
}

/// `None` if there are more than `most` bytes; then little more than these are read.
fn read_most(source: impl Read, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(all(test, feature = "write"))]
mod tests;
