//! Writing files atomically.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use flate2::{Compression, GzBuilder};

use super::{FileError, is_gz, is_standard};

/// Writes a file whole or not at all: to a temporary file beside it, which then replaces it. `-` is standard output; a
/// name that ends in `.gz` is packed, deterministically. A replaced file keeps its permissions; symbolic links are
/// followed; pipes, devices and the like are written to directly, as far as their readers want it.
///
/// # Errors
///
/// [`FileError::Write`]; the file is then unchanged.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_streamed(path, |out| out.write_all(bytes))
}

/// As [`write_atomic`], with content that is made while it is written.
///
/// # Errors
///
/// [`FileError::Write`], also if `content` fails; the file is then unchanged.
pub fn write_streamed(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), FileError> {
    let written = if is_standard(path) {
        let mut output = BufWriter::new(io::stdout().lock());
        unless_closed(content(&mut output).and_then(|()| output.flush()))
    } else {
        Beside::write(path, content).and_then(Beside::put)
    };
    written.map_err(|source| FileError::Write { path: path.to_owned(), source })
}

/// A reader that is gone (`| head`) has had enough: what it does not take is no failure.
pub fn unless_closed(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes several files whole or none of them, each as [`write_atomic`] does: all temporary files first, and only then
/// the replacements.
///
/// # Errors
///
/// [`FileError::Write`]; the files are then unchanged, unless a replacement itself failed.
pub fn write_all_atomic(files: impl IntoIterator<Item = (PathBuf, Vec<u8>)>) -> Result<(), FileError> {
    let error = |path: &Path, source| FileError::Write { path: path.to_owned(), source };
    let mut ready = Vec::new();
    for (path, bytes) in files {
        let beside = Beside::write(&path, |out| out.write_all(&bytes)).map_err(|source| error(&path, source))?;
        ready.push((path, beside));
    }
    ready.into_iter().try_for_each(|(path, beside)| beside.put().map_err(|source| error(&path, source)))
}

/// The temporary files of all writes under way; none once these are abandoned.
static UNDER_WAY: Mutex<Option<BTreeSet<PathBuf>>> = Mutex::new(Some(BTreeSet::new()));

/// Removes the temporary files of all writes under way. These writes fail, and so do all later ones: for whoever is
/// about to end the process, at a signal say.
pub fn abandon_writes() {
    for path in under_way().take().into_iter().flatten() {
        // One that cannot be removed is left: there is nobody to tell.
        let _ = fs::remove_file(path);
    }
}

fn under_way() -> MutexGuard<'static, Option<BTreeSet<PathBuf>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

fn abandoned() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the program is ending")
}

/// In a gzip header: the system that wrote the file is unknown.
const SYSTEM_UNKNOWN: u8 = 255;

/// Packs content.
pub(super) fn pack(out: &mut dyn Write, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let header = GzBuilder::new().mtime(0).operating_system(SYSTEM_UNKNOWN);
    let mut encoder = header.write(out, Compression::fast());
    content(&mut encoder)?;
    encoder.finish().map(|_| ())
}

/// A file that is written but not yet in place.
struct Beside {
    target: PathBuf,
    file: Written,
}

enum Written {
    /// In the target's folder.
    Whole(Temporary),
    /// Directly: the target is not a regular file (a pipe, a device).
    Directly,
}

impl Beside {
    fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let content = |out: &mut dyn Write| if is_gz(path) { pack(out, content) } else { content(out) };
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = fs::metadata(&target).ok();
        if before.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let mut out = BufWriter::new(fs::File::create(&target)?);
            unless_closed(content(&mut out).and_then(|()| out.flush()))?;
            return Ok(Self { target, file: Written::Directly });
        }
        let beside = Temporary::beside(&target)?;
        let mut out = BufWriter::new(beside.file.as_file());
        content(&mut out)?;
        out.flush()?;
        drop(out);
        if let Some(metadata) = before {
            fs::set_permissions(beside.file.path(), metadata.permissions())?;
        }
        beside.file.as_file().sync_all()?;
        Ok(Self { target, file: Written::Whole(beside) })
    }

    fn put(self) -> io::Result<()> {
        match self.file {
            Written::Whole(beside) => beside.put(&self.target),
            Written::Directly => Ok(()),
        }
    }
}

/// A temporary file that [`abandon_writes`] knows of.
struct Temporary {
    file: tempfile::NamedTempFile,
    known: Known,
}

/// A path among those under way, until this is dropped.
struct Known(PathBuf);

impl Temporary {
    /// In the folder of its target and named after it, as in `schedule.json.Xm3kZq.part`.
    fn beside(target: &Path) -> io::Result<Self> {
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let name: String = name.chars().take(MOST_OF_A_NAME).collect();
        let mut under_way = under_way();
        let under_way = under_way.as_mut().ok_or_else(abandoned)?;
        let file = new_file(folder, &format!("{name}."))?;
        under_way.insert(file.path().to_owned());
        let known = Known(file.path().to_owned());
        Ok(Self { file, known })
    }

    fn put(self, target: &Path) -> io::Result<()> {
        let Self { file, known } = self;
        let under_way = under_way();
        under_way.as_ref().ok_or_else(abandoned)?;
        file.persist(target)?;
        drop(under_way);
        drop(known);
        Ok(())
    }
}

impl Drop for Known {
    fn drop(&mut self) {
        under_way().as_mut().map(|paths| paths.remove(&self.0));
    }
}

/// The most characters of a name that a temporary file takes over: systems allow 255 bytes, and one has four at most.
const MOST_OF_A_NAME: usize = 50;

/// A new file with default permissions, not those of a secret.
fn new_file(folder: &Path, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder).map_err(|error| plain(&error))
}

/// The error without the name of the temporary file, which means nothing to the user.
fn plain(error: &io::Error) -> io::Error {
    let text = error.to_string();
    io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
}
