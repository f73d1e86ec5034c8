//! The codes of violations and warnings, and what each means.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::explanation;

/// What kind of violation or warning a finding is. Codes never change their meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`Code::title` says what each means")]
pub enum Code {
    F001,
    F002,
    F003,
    F004,
    F005,
    F006,
    F007,
    F008,
    F009,
    T001,
    T002,
    T003,
    L001,
    L002,
    D001,
    D002,
    D003,
    R001,
    R002,
    R003,
    C001,
    W001,
    W002,
    W003,
    W004,
}

/// A text that is no code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is no code: codes are {}", Code::ALL.iter().map(Code::to_string).collect::<Vec<_>>().join(" "))]
pub struct UnknownCode {
    /// The text.
    pub text: String,
}

impl Code {
    /// Every code, in the order in which they are declared: files first, warnings last.
    pub const ALL: &'static [Self] = &[
        Self::F001,
        Self::F002,
        Self::F003,
        Self::F004,
        Self::F005,
        Self::F006,
        Self::F007,
        Self::F008,
        Self::F009,
        Self::T001,
        Self::T002,
        Self::T003,
        Self::L001,
        Self::L002,
        Self::D001,
        Self::D002,
        Self::D003,
        Self::R001,
        Self::R002,
        Self::R003,
        Self::C001,
        Self::W001,
        Self::W002,
        Self::W003,
        Self::W004,
    ];

    /// One line: what is wrong.
    pub fn title(self) -> &'static str {
        match self {
            Self::F001 => "the file is not well-formed JSON",
            Self::F002 => "a key is unknown, repeated or missing",
            Self::F003 => "a value has the wrong type or is out of its range",
            Self::F004 => "the format or its version is not supported",
            Self::F005 => "a chunk id is out of range",
            Self::F006 => "a chunk is twice in one transfer",
            Self::F007 => "the schedule moves nothing, but the collective must",
            Self::F008 => "the topology makes no machine",
            Self::F009 => "the collective does not fit the topology",
            Self::T001 => "a rank is out of range, or failed",
            Self::T002 => "there is no such link",
            Self::T003 => "a failed link is used",
            Self::L001 => "two transfers use one directed link in one step",
            Self::L002 => "a transfer carries more chunks than width times capacity",
            Self::D001 => "the sender does not hold the chunk at the beginning of the step",
            Self::D002 => "at the end a rank lacks a chunk it must hold",
            Self::D003 => "a rank receives a chunk more than once in a step, not all to be reduced",
            Self::R001 => "a contribution is counted twice",
            Self::R002 => "at the end a contribution is missing from a reduced chunk",
            Self::R003 => "reduce on a chunk that cannot be combined",
            Self::C001 => "a certificate does not prove what it claims",
            Self::W001 => "a transfer brings nothing new",
            Self::W002 => "a chunk arrives where it is neither needed nor sent on",
            Self::W003 => "ranks add the same contributions in different orders",
            Self::W004 => "a step without transfers",
        }
    }

    /// A few sentences: what it means, a small example, what to do.
    pub fn explanation(self) -> &'static str {
        explanation::of(self)
    }

    /// True if a schedule with such a finding still holds.
    pub fn is_warning(self) -> bool {
        self >= Self::W001
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F001 => "F001",
            Self::F002 => "F002",
            Self::F003 => "F003",
            Self::F004 => "F004",
            Self::F005 => "F005",
            Self::F006 => "F006",
            Self::F007 => "F007",
            Self::F008 => "F008",
            Self::F009 => "F009",
            Self::T001 => "T001",
            Self::T002 => "T002",
            Self::T003 => "T003",
            Self::L001 => "L001",
            Self::L002 => "L002",
            Self::D001 => "D001",
            Self::D002 => "D002",
            Self::D003 => "D003",
            Self::R001 => "R001",
            Self::R002 => "R002",
            Self::R003 => "R003",
            Self::C001 => "C001",
            Self::W001 => "W001",
            Self::W002 => "W002",
            Self::W003 => "W003",
            Self::W004 => "W004",
        })
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// Reads a code in either case.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let wanted = text.to_ascii_uppercase();
        let found = Self::ALL.iter().find(|code| code.to_string() == wanted);
        found.copied().ok_or_else(|| UnknownCode { text: text.to_owned() })
    }
}
