//! Reading and writing whole files: `-` for standard input and output, gzip, never half a file.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use flate2::{Compression, GzBuilder};
use thiserror::Error;

/// Why a file cannot be read or written.
#[derive(Debug, Error)]
#[expect(missing_docs, reason = "the message of each variant says what it means and names its fields")]
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

/// The most bytes a packed file may unpack to: 1 GiB, far above any schedule; a small file could else fill the memory.
pub const MAX_UNPACKED: u64 = 1 << 30;

/// Reads a text; `-` is standard input. What is named `.gz`, or begins like gzip, is unpacked.
///
/// # Errors
///
/// A [`FileError`] that names the file: it cannot be read, is damaged, unpacks to more than [`MAX_UNPACKED`], or is not
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

/// Writes a file whole or not at all: beside its place first, then into it. `-` is standard output; a name that ends in
/// `.gz` is packed, the same bytes always alike. A file that is replaced keeps its permissions; a link is followed; what
/// is no regular file (a pipe, a device) is written to directly.
///
/// # Errors
///
/// [`FileError::Write`]; then what was there before still is.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let written = if is_standard(path) {
        write_standard(bytes)
    } else if is_gz(path) {
        pack(bytes).and_then(|packed| replace(path, &packed))
    } else {
        replace(path, bytes)
    };
    written.map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// Writes several files whole or none of them: all beside their places first, and only then into them.
///
/// # Errors
///
/// [`FileError::Write`]; then what was there before still is, unless a file cannot be put in its place at the very end.
pub fn write_all_atomic(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Result<(), FileError> {
    let error = |path: &Path, source| FileError::Write { path: path.to_owned(), source };
    let mut ready = Vec::new();
    for (path, bytes) in files {
        let beside = Beside::write(&path, &bytes).map_err(|source| error(&path, source))?;
        ready.push((path, beside));
    }
    ready.into_iter().try_for_each(|(path, beside)| beside.put().map_err(|source| error(&path, source)))
}

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// In the header of a gzip file: the system that wrote it is not known.
const SYSTEM_UNKNOWN: u8 = 255;

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

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let header = GzBuilder::new().mtime(0).operating_system(SYSTEM_UNKNOWN);
    let mut encoder = header.write(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn write_standard(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(bytes)?;
    output.flush()
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    Beside::write(path, bytes)?.put()
}

/// A file that is written, but not yet in its place.
struct Beside {
    target: PathBuf,
    file: Written,
}

enum Written {
    /// In the folder of its place.
    Whole(tempfile::NamedTempFile),
    /// What is no regular file (a pipe, a device) is written to directly.
    Directly,
}

impl Beside {
    fn write(path: &Path, bytes: &[u8]) -> io::Result<Self> {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&target).ok();
        if before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            fs::write(&target, bytes)?;
            return Ok(Self { target, file: Written::Directly });
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut beside = new_file(folder)?;
        beside.write_all(bytes)?;
        if let Some(metadata) = before {
            fs::set_permissions(beside.path(), metadata.permissions())?;
        }
        beside.as_file().sync_all()?;
        Ok(Self { target, file: Written::Whole(beside) })
    }

    fn put(self) -> io::Result<()> {
        if let Written::Whole(beside) = self.file {
            beside.persist(&self.target)?;
        }
        Ok(())
    }
}

/// A new file with the permissions any new file gets, not those of a secret.
#[cfg(unix)]
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let created = tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder);
    created.map_err(|error| plain(&error))
}

#[cfg(not(unix))]
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    tempfile::NamedTempFile::new_in(folder).map_err(|error| plain(&error))
}

/// The error without the name of the temporary file, of which nobody has heard.
fn plain(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacking_stops_at_the_limit() {
        let packed = pack(&[b' '; 1000]).unwrap();
        assert_eq!(unpack(&packed, 1000).unwrap(), Some(vec![b' '; 1000]));
        assert_eq!(unpack(&packed, 999).unwrap(), None);
        assert_eq!(unpack(&[&packed[..], &packed[..]].concat(), 1999).unwrap(), None, "members count together");
    }
}
