//! The codes of files that cannot be read.

use crate::code::codes;

codes! {
    /// Why a text is not read. Codes never change their meaning. F005 is a code of schedules too: with a chunk id out
    /// of range, a file is not read and a schedule in memory is refuted.
    FormatCode: F001 F002 F003 F004 F005 F008 F009 F010
}
