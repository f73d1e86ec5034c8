//! The rules of ARCHITECTURE.md that cargo does not enforce: who uses whom within a crate, where printing happens, how
//! long files are and how many lie side by side; and of the documents: links lead somewhere, every page is listed.

mod circles;
mod crowds;
mod documents;
mod duties;
mod lengths;
mod paths;
mod rooms;
mod roots;
mod sources;
mod trusted;
