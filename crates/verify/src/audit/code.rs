//! The codes of what can be wrong with a program.

use std::fmt;

use crate::verify;

/// What kind of violation a finding is. Codes that schedules have too mean the same here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "`Code::title` says what each means")]
pub enum Code {
    T001,
    T002,
    T003,
    P001,
    P002,
    P003,
    P004,
    P005,
    P006,
    P007,
    P008,
    D002,
    R001,
    R002,
    R003,
}

impl Code {
    /// Every code, in the order in which they are declared.
    pub const ALL: &'static [Self] = &[
        Self::T001,
        Self::T002,
        Self::T003,
        Self::P001,
        Self::P002,
        Self::P003,
        Self::P004,
        Self::P005,
        Self::P006,
        Self::P007,
        Self::P008,
        Self::D002,
        Self::R001,
        Self::R002,
        Self::R003,
    ];

    /// The code of schedules that means the same.
    pub fn of_schedules(self) -> Option<verify::Code> {
        match self {
            Self::T001 => Some(verify::Code::T001),
            Self::T002 => Some(verify::Code::T002),
            Self::T003 => Some(verify::Code::T003),
            Self::D002 => Some(verify::Code::D002),
            Self::R001 => Some(verify::Code::R001),
            Self::R002 => Some(verify::Code::R002),
            Self::R003 => Some(verify::Code::R003),
            _ => None,
        }
    }

    /// One line: what is wrong.
    pub fn title(self) -> &'static str {
        match self {
            Self::P001 => "a packet is never received, or a receive has no packet",
            Self::P002 => "a packet is received as one of another length",
            Self::P003 => "workers wait for each other for ever",
            Self::P004 => "two unordered operations touch a slot, one of them to write",
            Self::P005 => "two workers use the same end of a channel",
            Self::P006 => "an operation names what does not exist, or overlaps itself",
            Self::P007 => "at the end a slot of the output holds the wrong value",
            Self::P008 => "two transfers may be on one link at a time",
            _ => self.of_schedules().map_or("", verify::Code::title),
        }
    }

    /// A few sentences: what it means, what to do.
    pub fn explanation(self) -> &'static str {
        super::explain::of(self)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::P001 => "P001",
            Self::P002 => "P002",
            Self::P003 => "P003",
            Self::P004 => "P004",
            Self::P005 => "P005",
            Self::P006 => "P006",
            Self::P007 => "P007",
            Self::P008 => "P008",
            _ => return self.of_schedules().map_or(Ok(()), |code| fmt::Display::fmt(&code, f)),
        })
    }
}
