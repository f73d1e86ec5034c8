//! The codes of files that cannot be read.

use crate::code::codes;

codes! {
    /// Why a text is not read. Codes never change their meaning. Chunk ids that are out of range have F005 here and in
    /// [`verify::Code`](crate::verify::Code): a file of numbers can be read and is refuted, a label cannot.
    FormatCode: F001 F002 F003 F004 F005 F008 F009
}
