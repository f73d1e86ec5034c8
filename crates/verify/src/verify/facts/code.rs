//! The codes of violations and warnings of schedules.

use crate::code::codes;

codes! {
    /// The kind of a violation or warning. Codes never change their meaning.
    Code: F005 F006 F007 T001 T002 T003 L001 L002 D001 D002 D003 D004 R001 R002 R003 C001 C002 W001 W002 W003 W004
}

impl Code {
    /// True if a schedule with such a finding still holds.
    pub fn is_warning(self) -> bool {
        self >= Self::W001
    }
}
