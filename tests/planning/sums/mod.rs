//! Plans of an all_reduce, and the classical schemes and baselines that plan one.

mod all_reduce;
mod baselines;
mod butterflies;
mod classical;
mod one_way;
