//! Schedules and rank programs to look at: a page for a browser, and pictures.
//!
//! [`page::Page`] collects judged files and writes one HTML file that needs neither network nor server: the scripts and
//! the style of `page/`, and the data in compact columns ([`columns`]). [`layout`] says where ranks and links are
//! drawn. Nothing here decides: verdicts are the judge's, and are shown as they are.

pub mod columns;
pub mod layout;
mod machine;
pub mod map;
pub mod marks;
mod packed;
pub mod page;
pub mod picture;
