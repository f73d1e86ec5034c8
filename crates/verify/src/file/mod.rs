//! Reading and writing whole files: `-` for standard input and output, gzip, never half a file.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use thiserror::Error;

#[cfg(feature = "write")]
mod write;

#[cfg(feature = "write")]
pub use write::{write_all_atomic, write_atomic};

/// Why a file cannot be read or written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
#[non_exhaustive]
pub enum FileError {
    #[error("cannot read {}: {source}", name(path, "standard input"))]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot unpack {}: {source}", name(path, "standard input"))]
    Unpack { path: PathBuf, source: io::Error },
    #[error("cannot unpack {}: it grows to more than {MAX_UNPACKED} bytes", name(path, "standard input"))]
    TooLarge { path: PathBuf },
    #[error("{} is not text: line {line} is not UTF-8", name(path, "standard input"))]
    NotText { path: PathBuf, line: usize },
    #[error("cannot write {}: {source}", name(path, "standard output"))]
    Write { path: PathBuf, source: io::Error },
}

/// The most bytes a packed file may unpack to: 1 GiB, far above any schedule, so that a small file cannot fill memory.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// Reads a text; `-` is standard input. A file named `.gz`, or that begins like gzip, is unpacked.
///
/// # Errors
///
/// A [`FileError`] that names the file: it is unreadable, damaged, unpacks to more than [`MAX_UNPACKED`], or is not
/// UTF-8.
pub fn read_text(path: &Path) -> Result<String, FileError> {
    let error = |source| FileError::Read { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    if is_standard(path) {
        io::stdin().lock().read_to_end(&mut bytes).map_err(error)?;
    } else {
        bytes = fs::read(path).map_err(error)?;
    }
    if is_gz(path) || bytes.starts_with(&GZIP_MAGIC) {
        let unpacked = unpack(&bytes, MAX_UNPACKED);
        let unpacked = unpacked.map_err(|source| FileError::Unpack { path: path.to_owned(), source })?;
        bytes = unpacked.ok_or_else(|| FileError::TooLarge { path: path.to_owned() })?;
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|&&byte| byte == b'\n').count() + 1;
        FileError::NotText { path: path.to_owned(), line }
    })
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn is_gz(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

fn name(path: &Path, standard: &str) -> String {
    if is_standard(path) { standard.to_owned() } else { path.display().to_string() }
}

/// `None` if it is more than `limit` bytes.
fn unpack(bytes: &[u8], limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut unpacked = Vec::new();
    MultiGzDecoder::new(bytes).take(limit + 1).read_to_end(&mut unpacked)?;
    Ok((unpacked.len() as u64 <= limit).then_some(unpacked))
}

#[cfg(all(test, feature = "write"))]
mod tests;
