//! The codes of violations of rank programs.

use crate::code::codes;

codes! {
    /// The kind of a violation in a program. Codes shared with schedules mean the same here.
    ProgramCode: T001 T002 T003 P001 P002 P003 P004 P005 P006 P007 P008 D002 R001 R002 R003
}
