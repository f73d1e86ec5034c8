//! How large input may be, and how much memory it may make its reader take: a small file must not fill a machine.

/// Limits on input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes of a file, packed or not.
    pub file: u64,
    /// The most bytes that a file may make its reader and judge take beyond what they take for its text, as estimated;
    /// `None`: [`BASE`] and [`PER_BYTE`] for each byte of it.
    pub memory: Option<u64>,
}

/// Unless stated: 1 GiB, far above any schedule.
pub const FILE: u64 = 1 << 30;
/// Memory that any file may take. With what reading takes (up to 28 bytes for each byte of the text) and the
/// program itself, judging a file stays below 64 MiB and 40 bytes for each byte.
pub const BASE: u64 = 48 << 20;
/// Memory that may be made of any file that holds: the moves of the compact form, a rank program, a rank's part.
pub const EXPANDED: u64 = 2 << 30;
/// Memory for each byte of a file.
pub const PER_BYTE: u64 = 12;

impl Default for Limits {
    fn default() -> Self {
        Self { file: FILE, memory: None }
    }
}

impl Limits {
    /// The limits that words state, as in [`FILE_WORD`] and [`MEMORY_WORD`]; those not stated stay as they are.
    ///
    /// # Errors
    ///
    /// A sentence without its full stop, if a word is not a size.
    pub fn stated(file: Option<&str>, memory: Option<&str>) -> Result<Self, String> {
        let size = |name: &str, word: Option<&str>| match word.map(size) {
            Some(None) => Err(format!("{name} is \"{}\": write a size, as in 4GiB", word.unwrap_or_default())),
            Some(size) => Ok(size),
            None => Ok(None),
        };
        Ok(Self { file: size(FILE_WORD, file)?.unwrap_or(FILE), memory: size(MEMORY_WORD, memory)? })
    }

    /// The bytes that a schedule in the compact form may take once it is expanded, with all that is made of it.
    pub fn expanded(&self) -> u64 {
        self.memory.unwrap_or(EXPANDED)
    }

    /// The bytes that may be made of what this text states, once it is known to hold.
    pub fn made(&self, text: &str) -> u64 {
        self.expanded().max(self.room(text))
    }

    /// The bytes that judging this text may take.
    pub fn room(&self, text: &str) -> u64 {
        self.memory.unwrap_or(BASE + PER_BYTE * text.len() as u64)
    }
}

/// The message for a file that cannot be judged within this number of bytes.
pub(crate) fn not_judged(most: u64) -> String {
    format!(
        "not judged: that would take more than {} MiB, more than a file of this size may: {MEMORY_WORD} allows more",
        most >> 20
    )
}

/// The environment variable that states [`Limits::file`].
pub const FILE_WORD: &str = "SYNTH_MAX_FILE";
/// The environment variable that states [`Limits::memory`].
pub const MEMORY_WORD: &str = "SYNTH_MAX_MEMORY";

/// `64MiB`, `4GB` or a number of bytes.
fn size(word: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 7] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("", 1),
    ];
    let (digits, unit) = UNITS.iter().find_map(|(name, unit)| Some((word.strip_suffix(name)?, unit)))?;
    let digits = digits.trim_end();
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<u64>().ok().filter(|_| whole)?.checked_mul(*unit)
}

#[cfg(test)]
mod tests {
    use super::{FILE, Limits};

    #[test]
    fn sizes_are_read() {
        let limits = |file, memory| Limits::stated(file, memory);
        assert_eq!(limits(None, None), Ok(Limits::default()));
        assert_eq!(limits(Some("2 MiB"), Some("3GB")), Ok(Limits { file: 2 << 20, memory: Some(3_000_000_000) }));
        assert_eq!(limits(Some("17"), None), Ok(Limits { file: 17, memory: None }));
        for word in ["", "many", "-1", "+1", "1.5GiB", "GiB", "99999999999GiB"] {
            let error = limits(None, Some(word)).unwrap_err();
            assert!(error.starts_with("SYNTH_MAX_MEMORY is \"") && error.contains("as in 4GiB"), "{error}");
        }
        assert!(Limits::default().room("12345678") > Limits::default().room("") && FILE > 0);
    }
}
