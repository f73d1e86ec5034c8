//! Other tools' formats: exports are read again and hold; imports mean what those tools mean.

mod chakra;
mod foreign;
mod goal;
mod moves;
mod msccl;
mod steps;
