//! Other tools' formats: what is written is read again and holds; what is read means what those tools mean.

mod chakra;
mod foreign;
mod goal;
mod msccl;
mod steps;
